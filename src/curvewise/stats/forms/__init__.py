"""Forms of learning curves: fitted, chosen and averaged, one curve or thousands."""

from curvewise.stats.forms.answers import FittedForm, FittedForms
from curvewise.stats.forms.catalogue import FORMS, form_of
from curvewise.stats.forms.fits import fit_form, fit_forms
from curvewise.stats.forms.form import Design, Form
from curvewise.stats.forms.weighing import (
    EXTRAPOLATING,
    FormMix,
    FormRow,
    WeighedForms,
    average_each,
    average_forms,
    select_each,
    select_form,
)

__all__ = [
    "EXTRAPOLATING",
    "FORMS",
    "Design",
    "FittedForm",
    "FittedForms",
    "Form",
    "FormMix",
    "FormRow",
    "WeighedForms",
    "average_each",
    "average_forms",
    "fit_form",
    "fit_forms",
    "form_of",
    "select_each",
    "select_form",
]
