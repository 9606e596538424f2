"""Forms of learning curves: fitted, chosen and averaged, one curve or thousands."""

from curvewise.stats.forms.catalogue import FORMS, Design, Form, form_of
from curvewise.stats.forms.fit import FittedForm, fit_form, fit_forms
from curvewise.stats.forms.selection import (
    EXTRAPOLATING,
    FormMix,
    average_forms,
    select_form,
)

__all__ = [
    "EXTRAPOLATING",
    "FORMS",
    "Design",
    "FittedForm",
    "Form",
    "FormMix",
    "average_forms",
    "fit_form",
    "fit_forms",
    "form_of",
    "select_form",
]
