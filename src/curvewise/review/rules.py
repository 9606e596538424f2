"""The rules of `check`: each is one pure function from trials to findings.

A new rule is one function and one entry here. Its name, with spaces, is what a clean
bill of health says was looked for.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from curvewise.review.axis import wrong_replication_axis
from curvewise.review.curves import (
    constant_scores,
    duplicates,
    flat_curves,
    unequal_lengths,
)
from curvewise.review.design import runs_that_are_not_independent
from curvewise.review.directions import assumed_directions
from curvewise.review.finding import Finding
from curvewise.review.groups import pooled_groups
from curvewise.review.params import params_not_drawn_at_random
from curvewise.review.ranges import failed_runs, ties, units_and_ranges
from curvewise.review.seeds import (
    few_runs,
    missing_seeds,
)
from curvewise.trials import Trials

Rule: TypeAlias = Callable[[Trials], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    wrong_replication_axis,
    runs_that_are_not_independent,
    pooled_groups,
    duplicates,
    unequal_lengths,
    missing_seeds,
    few_runs,
    units_and_ranges,
    constant_scores,
    flat_curves,
    failed_runs,
    ties,
    params_not_drawn_at_random,
    assumed_directions,
)
