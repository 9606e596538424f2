"""What a report contains: one file per section, one line each in `SECTIONS`."""

from collections.abc import Callable

from curvewise.report.sections.audit import audit_sections
from curvewise.report.sections.cannot import cannot_sections
from curvewise.report.sections.check import check_sections
from curvewise.report.sections.confusion import confusion_sections
from curvewise.report.sections.difference import difference_sections
from curvewise.report.sections.directions import direction_sections
from curvewise.report.sections.learning import learning_sections
from curvewise.report.sections.parts import (
    Block,
    Group,
    Method,
    Section,
    Settings,
    by_task_metrics,
    chosen_metrics,
    undirected_metrics,
)
from curvewise.report.sections.performance import performance_sections
from curvewise.report.sections.plan import plan_sections
from curvewise.report.sections.provenance import provenance_sections
from curvewise.report.sections.robustness import robustness_sections
from curvewise.report.sections.spaces import space_sections
from curvewise.report.sections.variance import variance_sections
from curvewise.trials import Trials

__all__ = [
    "SECTIONS",
    "Block",
    "Group",
    "Method",
    "Section",
    "Settings",
    "by_task_metrics",
    "chosen_metrics",
    "undirected_metrics",
]

# A new analysis adds its line here.
SECTIONS: tuple[Callable[[Trials, Settings], list[Section]], ...] = (
    performance_sections,
    direction_sections,
    robustness_sections,
    difference_sections,
    learning_sections,
    confusion_sections,
    variance_sections,
    plan_sections,
    audit_sections,
    space_sections,
    check_sections,
    cannot_sections,
    provenance_sections,
)
