"""Forms of learning curves: fitted, chosen and averaged, one curve or thousands."""

from curvewise.stats.forms.catalogue import FORMS, Design, Form, form_of
from curvewise.stats.forms.fit import FittedForm, FittedForms, fit_form, fit_forms
from curvewise.stats.forms.selection import (
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
