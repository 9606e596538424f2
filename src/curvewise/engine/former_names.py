"""Modules that were called otherwise in earlier versions.

Stores keep names of modules: in what tasks and algorithms are defined by, and in the
experiments that they remember. What stands there in an old name is meant in the new one.
"""

import re

# Old name to new name, also of what is inside: all that tasks and algorithms can hold.
# Of two that fit, the longer one holds; what moved twice is looked up twice.
MODULES = {
    "curvewise.analyses": "curvewise.questions",
    "curvewise.analyses._audit": "curvewise.questions.audit",
    "curvewise.analyses._band_plan": "curvewise.questions.plan.score_plan",
    "curvewise.analyses._count_asking": "curvewise.questions.confusion.fit",
    "curvewise.analyses._count_fits": "curvewise.questions.confusion.fit",
    "curvewise.analyses._count_telling": "curvewise.questions.confusion",
    "curvewise.analyses._curve_fits": "curvewise.questions.learning.fit",
    "curvewise.analyses._curve_questions": "curvewise.questions.learning.fit",
    "curvewise.analyses._curve_questions.Forecasts": (
        "curvewise.questions.learning.forecasts.Forecasts"
    ),
    "curvewise.analyses._curve_questions.NextRuns": (
        "curvewise.questions.learning.forecasts.NextRuns"
    ),
    "curvewise.analyses._curve_questions.SizesNeeded": (
        "curvewise.questions.learning.forecasts.SizesNeeded"
    ),
    "curvewise.analyses._gaps": "curvewise.questions.robustness.fit",
    "curvewise.analyses._gaps.tuned_pairs": "curvewise.questions.sampling.tuned_pairs",
    "curvewise.analyses._line_plan": "curvewise.questions.plan.line_plan",
    "curvewise.analyses._line_tasks": "curvewise.questions.difference.fit",
    "curvewise.analyses._score_plan": "curvewise.questions.plan.score_plan",
    "curvewise.analyses._shares": "curvewise.questions.variance.fit",
    "curvewise.analyses._telling": "curvewise.questions.plan.score_plan",
    "curvewise.analyses._versions_changes": "curvewise.questions.versions.fit",
    "curvewise.analyses._versions_margin": "curvewise.questions.versions.fit",
    "curvewise.engine.cell": "curvewise.engine.trial_run",
    "curvewise.engine.code": "curvewise.engine.definitions",
    "curvewise.engine.growing": "curvewise.engine.supervised.growing",
    "curvewise.engine.parts": "curvewise.engine.experiment",
    "curvewise.engine.running": "curvewise.engine.trial_run",
    "curvewise.engine.sizes": "curvewise.engine.supervised.sizes",
    "curvewise.engine.sources": "curvewise.engine.definitions",
    "curvewise.engine.spaces.combining": "curvewise.engine.spaces.space",
    "curvewise.engine.spaces.describing": "curvewise.engine.spaces.space",
    "curvewise.engine.spaces.distributions": "curvewise.engine.spaces.laws",
    "curvewise.engine.spaces.drawing": "curvewise.engine.spaces.space",
    "curvewise.engine.spaces.functions": "curvewise.engine.definitions",
    "curvewise.engine.spaces.suggest": "curvewise.engine.spaces.adapters",
    "curvewise.engine.supervised.Supervised": (
        "curvewise.engine.supervised.data.Supervised"
    ),
    "curvewise.engine.supervised.features": "curvewise.engine.supervised.data",
    "curvewise.engine.supervised.from_sets": (
        "curvewise.engine.supervised.data.from_sets"
    ),
    "curvewise.engine.supervised.split": "curvewise.engine.supervised.data.split",
    "curvewise.engine.tuning": "curvewise.engine.supervised.tuning",
    "curvewise.engine.workers.board": "curvewise.engine.workers.process",
    "curvewise.engine.workers.interrupts": "curvewise.engine.drive",
    "curvewise.engine.workers.main_guard": "curvewise.engine.workers.process",
    "curvewise.engine.workers.meeting": "curvewise.engine.workers.process",
    "curvewise.engine.workers.queue": "curvewise.engine.drive",
    "curvewise.engine.workers.serial": "curvewise.engine.workers.local",
    "curvewise.engine.workers.work": "curvewise.engine.drive",
    "curvewise.engine.workers.worker": "curvewise.engine.workers.local",
    "curvewise.exchange.writing": "curvewise.exchange.write",
    "curvewise.figures.audit": "curvewise.questions.audit.charts",
    "curvewise.figures.confusion": "curvewise.questions.confusion.charts",
    "curvewise.figures.difference": "curvewise.questions.difference.charts",
    "curvewise.figures.learning": "curvewise.questions.learning.charts",
    "curvewise.figures.performance": "curvewise.questions.performance.charts",
    "curvewise.figures.plan": "curvewise.questions.plan.charts",
    "curvewise.figures.robustness": "curvewise.questions.robustness.charts",
    "curvewise.figures.slices": "curvewise.questions.slices.charts",
    "curvewise.figures.variance": "curvewise.questions.variance.charts",
    "curvewise.figures.versions": "curvewise.questions.versions.charts",
    "curvewise.flow.explaining": "curvewise.questions.explain",
    "curvewise.flow.explaining.answer": "curvewise.questions.explain",
    "curvewise.flow.explaining.everything": "curvewise.questions.explain",
    "curvewise.flow.reading": "curvewise.flow.read",
    "curvewise.flow.replaying": "curvewise.flow.run",
    "curvewise.flow.running": "curvewise.flow.run",
    "curvewise.flow.until.criterion": "curvewise.flow.until",
    "curvewise.flow.watching": "curvewise.flow.watch",
    "curvewise.flow.watching.forecast.forecast": "curvewise.flow.watch.moment.forecast",
    "curvewise.metrics.Metric": "curvewise.metrics.meaning.Metric",
    "curvewise.metrics.words": "curvewise.metrics.names",
    "curvewise.papers": "curvewise_papers",
    "curvewise.stats.anova.band": "curvewise.stats.anova.steps",
    "curvewise.stats.anova.diagnostics": "curvewise.stats.anova.lines",
    "curvewise.stats.anova.means": "curvewise.stats.anova.steps",
    "curvewise.stats.anova.omega": "curvewise.stats.anova.effects",
    "curvewise.stats.anova.pairs": "curvewise.stats.anova.contrasts",
    "curvewise.stats.anova.shares": "curvewise.stats.anova.effects",
    "curvewise.stats.anova.table": "curvewise.stats.anova.answers",
    "curvewise.stats.anova.where": "curvewise.stats.anova.steps",
    "curvewise.stats.anova.windows": "curvewise.stats.anova.lines",
    "curvewise.stats.comparison.aso": "curvewise.stats.comparison.quantiles",
    "curvewise.stats.comparison.family": "curvewise.stats.comparison.differences",
    "curvewise.stats.comparison.over_tasks": "curvewise.stats.comparison.improvement",
    "curvewise.stats.comparison.shift": "curvewise.stats.comparison.quantiles",
    "curvewise.stats.confusion._examples": "curvewise.stats.confusion.data",
    "curvewise.stats.confusion.fit": "curvewise.stats.confusion.curve",
    "curvewise.stats.counts.answers": "curvewise.stats.counts.posterior",
    "curvewise.stats.counts.f_scores": "curvewise.stats.counts.rates",
    "curvewise.stats.counts.recover": "curvewise.stats.counts.recovery",
    "curvewise.stats.forms.answers": "curvewise.stats.forms.fit",
    "curvewise.stats.forms.fits": "curvewise.stats.forms.fit",
    "curvewise.stats.forms.form": "curvewise.stats.forms.catalogue",
    "curvewise.stats.forms.weighing": "curvewise.stats.forms.selection",
    "curvewise.stats.learning.best": "curvewise.stats.learning.comparison",
    "curvewise.stats.learning.better": "curvewise.stats.learning.comparison",
    "curvewise.stats.learning.differences": "curvewise.stats.learning.comparison",
    "curvewise.stats.learning.extrapolation.answer": (
        "curvewise.stats.learning.extrapolation"
    ),
    "curvewise.stats.learning.extrapolation.many": (
        "curvewise.stats.learning.extrapolation"
    ),
    "curvewise.stats.learning.extrapolation.predicting": (
        "curvewise.stats.learning.extrapolation"
    ),
    "curvewise.stats.learning.multiplier": "curvewise.stats.learning.amount",
    "curvewise.stats.learning.next_run.NextRun": (
        "curvewise.stats.learning.advice.NextRun"
    ),
    "curvewise.stats.learning.next_run.Suggestion": (
        "curvewise.stats.learning.advice.Suggestion"
    ),
    "curvewise.stats.learning.next_run.next_run": (
        "curvewise.stats.learning.advice.next_run"
    ),
    "curvewise.stats.learning.size_for.SizeFor": (
        "curvewise.stats.learning.amount.SizeFor"
    ),
    "curvewise.stats.learning.size_for.size_for": (
        "curvewise.stats.learning.amount.size_for"
    ),
    "curvewise.stats.learning.stability.Stability": (
        "curvewise.stats.learning.validation.Stability"
    ),
    "curvewise.stats.learning.stability.stability": (
        "curvewise.stats.learning.validation.stability"
    ),
    "curvewise.stats.planning.shape": "curvewise.stats.planning.trials",
    "curvewise.stats.planning.telling": "curvewise.stats.planning.trials",
    "curvewise.stats.planning.widths": "curvewise.stats.planning.precision",
    "curvewise.stats.powerlaw.batch": "curvewise.stats.powerlaw.fit",
    "curvewise.stats.powerlaw.bootstrap": "curvewise.stats.powerlaw.fit",
    "curvewise.stats.powerlaw.curves": "curvewise.stats.powerlaw.curve",
    "curvewise.stats.powerlaw.draws": "curvewise.stats.powerlaw.curve",
    "curvewise.stats.powerlaw.light": "curvewise.stats.powerlaw.fit",
    "curvewise.trials.arranging": "curvewise.trials.content",
    "curvewise.trials.cells": "curvewise.trials.settings",
    "curvewise.trials.choosing": "curvewise.trials.table",
    "curvewise.trials.failures": "curvewise.trials.doors",
    "curvewise.trials.grids": "curvewise.trials.doors",
    "curvewise.trials.identity": "curvewise.trials.content",
    "curvewise.trials.ragged": "curvewise.trials.columns",
    "curvewise.trials.search": "curvewise.trials.settings",
    "curvewise.trials.values": "curvewise.trials.doors",
    "curvewise.zoo.faces": "curvewise_papers.tasks",
    "curvewise.zoo.fitting": "curvewise.zoo.estimators",
    "curvewise.zoo.making": "curvewise.zoo.learners",
    "curvewise.zoo.pendulum": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.actor_critic": "curvewise_papers.pendulum",
    "curvewise.zoo.pendulum.kernels": "curvewise_papers.pendulum_kernels",
    "curvewise.zoo.pendulum.ppo": "curvewise_papers.pendulum",
    "curvewise.zoo.tabular": "curvewise_papers.tasks",
    "curvewise.zoo.tictactoe": "curvewise_papers.tictactoe",
    "curvewise.zoo.transfer": "curvewise_papers.transfer",
    "curvewise_papers.claim": "curvewise_papers.claims",
    "curvewise_papers.faces": "curvewise_papers.tasks",
    "curvewise_papers.hoiem2021.comparing": "curvewise_papers.hoiem2021.comparisons",
    "curvewise_papers.hoiem2021.comparisons_figures": (
        "curvewise_papers.hoiem2021.comparisons"
    ),
    "curvewise_papers.hoiem2021.figure2": "curvewise_papers.hoiem2021.validation",
    "curvewise_papers.hoiem2021.halves": "curvewise_papers.hoiem2021.comparisons",
    "curvewise_papers.hoiem2021.learners": "curvewise_papers.hoiem2021.curves",
    "curvewise_papers.hoiem2021.measuring": "curvewise_papers.hoiem2021.curves",
    "curvewise_papers.hoiem2021.networks": "curvewise_papers.hoiem2021.curves",
    "curvewise_papers.hoiem2021.printed_curves": "curvewise_papers.hoiem2021.curves",
    "curvewise_papers.hoiem2021.public": "curvewise_papers.hoiem2021.table3",
    "curvewise_papers.hoiem2021.running": "curvewise_papers.hoiem2021.curves",
    "curvewise_papers.hoiem2021.validation_figures": (
        "curvewise_papers.hoiem2021.validation"
    ),
    "curvewise_papers.hoiem2021.words": "curvewise_papers.hoiem2021.table3",
    "curvewise_papers.jordan2018.classification_claims": (
        "curvewise_papers.jordan2018.classification"
    ),
    "curvewise_papers.jordan2018.classification_figures": (
        "curvewise_papers.jordan2018.classification_numbers"
    ),
    "curvewise_papers.jordan2018.classification_settings": (
        "curvewise_papers.jordan2018.classification_numbers"
    ),
    "curvewise_papers.jordan2018.classification_words": (
        "curvewise_papers.jordan2018.classification"
    ),
    "curvewise_papers.jordan2018.pendulum_claims": (
        "curvewise_papers.jordan2018.pendulum"
    ),
    "curvewise_papers.jordan2018.pendulum_figures": (
        "curvewise_papers.jordan2018.pendulum"
    ),
    "curvewise_papers.jordan2018.pendulum_running": (
        "curvewise_papers.jordan2018.pendulum_numbers"
    ),
    "curvewise_papers.pages": "curvewise_papers.page",
    "curvewise_papers.pendulum.actor_critic.ActorCritic": (
        "curvewise_papers.pendulum.ActorCritic"
    ),
    "curvewise_papers.pendulum.actor_critic.actor_critic": (
        "curvewise_papers.pendulum.actor_critic"
    ),
    "curvewise_papers.pendulum.dynamics": "curvewise_papers.pendulum",
    "curvewise_papers.pendulum.environment": "curvewise_papers.pendulum_environment",
    "curvewise_papers.pendulum.fourier": "curvewise_papers.pendulum",
    "curvewise_papers.pendulum.playing": "curvewise_papers.pendulum",
    "curvewise_papers.pendulum.ppo.Proximal": "curvewise_papers.pendulum.Proximal",
    "curvewise_papers.pendulum.ppo.ppo": "curvewise_papers.pendulum.ppo",
    "curvewise_papers.pendulum.task": "curvewise_papers.pendulum",
    "curvewise_papers.piater1998.curves": "curvewise_papers.piater1998.tables",
    "curvewise_papers.piater1998.levels": "curvewise_papers.piater1998.power",
    "curvewise_papers.piater1998.printed_tables": "curvewise_papers.piater1998.tables",
    "curvewise_papers.piater1998.table_figures": "curvewise_papers.piater1998.tables",
    "curvewise_papers.printed": "curvewise_papers.study",
    "curvewise_papers.reproducing": "curvewise_papers.study",
    "curvewise_papers.results": "curvewise_papers.study",
    "curvewise_papers.tabular": "curvewise_papers.tasks",
    "curvewise_papers.tictactoe.board": "curvewise_papers.tictactoe",
    "curvewise_papers.tictactoe.games": "curvewise_papers.tictactoe_games",
    "curvewise_papers.tictactoe.learner": "curvewise_papers.tictactoe",
    "curvewise_papers.xue2025.answers": "curvewise_papers.xue2025.blocks",
    "curvewise_papers.xue2025.bands": "curvewise_papers.xue2025.forecasts",
    "curvewise_papers.xue2025.beyond": "curvewise_papers.xue2025.tables",
    "curvewise_papers.xue2025.curves": "curvewise_papers.xue2025.forecasts",
    "curvewise_papers.xue2025.foresee": "curvewise_papers.xue2025.forecasts",
    "curvewise_papers.xue2025.judge": "curvewise_papers.xue2025.forecasts",
    "curvewise_papers.xue2025.kept": "curvewise_papers.xue2025.tables",
    "curvewise_papers.xue2025.moved": "curvewise_papers.xue2025.forecasts",
    "curvewise_papers.xue2025.said": "curvewise_papers.xue2025.tables",
}

_OLD = re.compile(
    rf"(?<![\w.])(?:{'|'.join(map(re.escape, sorted(MODULES, key=len, reverse=True)))})"
    r"(?!\w)"
)


def current(text: str) -> str:
    """Return a text, or the name of a module, with today's names of our modules.

    Examples
    --------
    >>> current("curvewise.papers.study")
    'curvewise_papers.study'
    >>> current("curvewise.zoo.pendulum.task._Drawn(number=2)")
    'curvewise_papers.pendulum._Drawn(number=2)'
    """
    while (new := _OLD.sub(lambda old: MODULES[old[0]], text)) != text:
        text = new
    return text
