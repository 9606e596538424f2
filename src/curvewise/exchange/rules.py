"""The rules of `check`: each is one pure function from trials to findings.

A new rule is one function and one entry here. Its name, with spaces, is what a clean
bill of health says was looked for.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from curvewise.exchange.finding import Finding
from curvewise.exchange.rules_axis import wrong_replication_axis
from curvewise.exchange.rules_curves import (
    constant_scores,
    duplicates,
    unequal_lengths,
)
from curvewise.exchange.rules_design import (
    few_runs,
    missing_seeds,
)
from curvewise.exchange.rules_params import params_not_drawn_at_random
from curvewise.exchange.rules_pooled import pooled_groups
from curvewise.exchange.rules_scores import failed_runs, ties, units_and_ranges
from curvewise.trials import Trials

Rule: TypeAlias = Callable[[Trials], Iterator[Finding]]

RULES: tuple[Rule, ...] = (
    wrong_replication_axis,
    pooled_groups,
    duplicates,
    unequal_lengths,
    missing_seeds,
    few_runs,
    units_and_ranges,
    constant_scores,
    ties,
    failed_runs,
    params_not_drawn_at_random,
)
