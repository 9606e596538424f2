"""The pages of the examples, made once for all tests that read them."""

from functools import cache

import pytest

import curvewise as cw
from curvewise.questions.section import Settings
from curvewise.report import page as report_page
from curvewise.report.sections import page_sections

EXAMPLES = ("search", "curves", "counts")


@cache
def example_sections(name):
    """Return the sections of an example, in their order."""
    trials = cw.example(name)
    settings = Settings.of(trials, None, "last", "worst")
    return page_sections(trials, settings)


@cache
def example_page(name):
    """Return the page of an example, as it is written."""
    made = example_sections(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "page_sections", lambda _trials, _settings: made)
        return report_page.render(cw.example(name), failed="worst")
