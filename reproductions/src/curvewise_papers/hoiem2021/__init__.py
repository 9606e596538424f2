"""Hoiem et al. (2021): learning curves in three numbers, and what they are used for."""

from curvewise_papers.hoiem2021 import comparisons, table3, validation
from curvewise_papers.study import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    "hoiem2021",
    "Test error against the number of training examples falls as a power law with an "
    "asymptote. The paper fits it by weighted least squares, sums it up as error and "
    "data-reliance at a reference size, and uses both to judge design choices of deep "
    "networks.",
    (table3.STUDY, validation.STUDY, comparisons.STUDY),
)
