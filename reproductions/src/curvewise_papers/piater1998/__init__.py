"""Piater and Cohen (1998): a randomised analysis of variance of learning curves."""

from curvewise_papers.piater1998 import arithmetic, power, tables
from curvewise_papers.study import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    "piater1998",
    "Do two algorithms differ, given ten learning curves of each? A two-way analysis of "
    "variance asks the right question, and its textbook answers it wrongly, because points "
    "of one curve hang together. The paper shuffles whole curves instead, on learners of "
    "tic-tac-toe. `curvewise.difference` goes on from there.",
    (arithmetic.STUDY, tables.STUDY, power.POWER, power.LEVELS),
)
