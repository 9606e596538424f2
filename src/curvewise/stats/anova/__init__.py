"""Tests of whole curves: do they differ, where, which ones, and how many are needed."""

from curvewise.stats.anova._drawing.answers import Noise, Null
from curvewise.stats.anova._drawing.draws import Draws
from curvewise.stats.anova.band import difference_band
from curvewise.stats.anova.contrasts import LineContrast, contrast
from curvewise.stats.anova.diagnostics import (
    greenhouse_geisser,
    level_correlation,
    noise_ratio,
)
from curvewise.stats.anova.effects import EffectSizes, effect_sizes
from curvewise.stats.anova.means import mean_band
from curvewise.stats.anova.omega import Explained, explained
from curvewise.stats.anova.pairs import Pair, all_pairs
from curvewise.stats.anova.planning import LinePlan, lines_for_power
from curvewise.stats.anova.power import StretchPower, stretch_power
from curvewise.stats.anova.randomized import (
    EffectTest,
    RandomizedAnova,
    randomized_anova,
)
from curvewise.stats.anova.shares import EffectShares, effect_shares
from curvewise.stats.anova.table import Anova, two_way
from curvewise.stats.anova.tasks import OverTasks, TaskTest, over_tasks
from curvewise.stats.anova.where import Where, where_different
from curvewise.stats.anova.windows import window_edges, window_means

__all__ = [
    "Anova",
    "Draws",
    "EffectShares",
    "EffectSizes",
    "EffectTest",
    "Explained",
    "LineContrast",
    "LinePlan",
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
    "level_correlation",
    "lines_for_power",
    "mean_band",
    "noise_ratio",
    "over_tasks",
    "randomized_anova",
    "stretch_power",
    "two_way",
    "where_different",
    "window_edges",
    "window_means",
]
