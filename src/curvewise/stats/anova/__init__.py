"""Tests of whole curves: do they differ, where, which ones, and how many are needed."""

from curvewise.stats.anova.answers import (
    Anova,
    Decision,
    Draws,
    EffectTest,
    Noise,
    Null,
    RandomizedAnova,
    two_way,
)
from curvewise.stats.anova.contrasts import (
    LineContrast,
    Pair,
    all_pairs,
    contrast,
    pair_of,
)
from curvewise.stats.anova.draws import FEWEST_TO_FLIP
from curvewise.stats.anova.effects import (
    EffectShares,
    EffectSizes,
    Explained,
    effect_shares,
    effect_sizes,
    explained,
)
from curvewise.stats.anova.lines import (
    greenhouse_geisser,
    noise_ratio,
    step_correlation,
    window_edges,
    window_means,
)
from curvewise.stats.anova.planning import (
    FEWEST_TO_PLAN,
    LinesForPower,
    lines_for_power,
    refuse_pilot,
)
from curvewise.stats.anova.power import StretchPower, stretch_power
from curvewise.stats.anova.randomized import randomized_anova
from curvewise.stats.anova.steps import (
    Where,
    difference_band,
    mean_band,
    where_different,
)
from curvewise.stats.anova.tasks import OverTasks, TaskTest, over_tasks

__all__ = [
    "FEWEST_TO_FLIP",
    "FEWEST_TO_PLAN",
    "Anova",
    "Decision",
    "Draws",
    "EffectShares",
    "EffectSizes",
    "EffectTest",
    "Explained",
    "LineContrast",
    "LinesForPower",
    "Noise",
    "Null",
    "OverTasks",
    "Pair",
    "RandomizedAnova",
    "StretchPower",
    "TaskTest",
    "Where",
    "all_pairs",
    "contrast",
    "difference_band",
    "effect_shares",
    "effect_sizes",
    "explained",
    "greenhouse_geisser",
    "lines_for_power",
    "mean_band",
    "noise_ratio",
    "over_tasks",
    "pair_of",
    "randomized_anova",
    "refuse_pilot",
    "step_correlation",
    "stretch_power",
    "two_way",
    "where_different",
    "window_edges",
    "window_means",
]
