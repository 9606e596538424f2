"""What a page answers, to be held against what explain promises."""

from curvewise.questions.needs import usual_at
from curvewise.questions.section import Settings
from curvewise.report.sections import page_sections

ANCHORS = {
    "performance": "performance",
    "robustness": "robustness",
    "difference": "difference",
    "learning": "learning",
    "confusion": "confusion",
    "variance_shares": "variance",
    "plan.trials": "plan",
}


def sections_of(trials, **settings):
    asked = Settings.of(trials, None, usual_at(trials), "worst", **settings)
    return page_sections(trials, asked)


def answered_on(sections):
    """Return the analyses that a page has an answer of."""
    return {
        name
        for name, anchor in ANCHORS.items()
        for section in sections
        if section.anchor.partition("-")[0] == anchor and section.groups
    }
