"""How does error fall with data, and what would more data buy? Curves, task by task."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from curvewise.answer import Provenance
from curvewise.errors import CurvewiseError, Message, trials_where
from curvewise.metrics import Floats, Metric
from curvewise.questions.base import (
    TaskAnswer,
    marked,
    of_algorithm,
    of_task,
    pair_of,
)
from curvewise.questions.learning import text
from curvewise.questions.learning.fit import (
    Advice,
    CurveFit,
    CurvePair,
    CurveTask,
    ErrorScale,
    Method,
    Needed,
    Predicted,
    advised,
    curve_task,
    error_scale,
    has_curves,
    is_timed,
    lowest,
    measured_by_task,
    needed,
    predicted,
)
from curvewise.questions.learning.forecasts import Forecasts, NextRuns, SizesNeeded
from curvewise.questions.sampling import (
    Inquiry,
    failed_score,
    plain_setting,
)
from curvewise.questions.sentences import titled
from curvewise.questions.sizes import asked_sizes
from curvewise.stats.validation import checked_confidence, is_number, one_of
from curvewise.text import Cell, Piece, Table, joined, step
from curvewise.trials import Trials
from curvewise.trials.doors import Failed

__all__ = [
    "Advice",
    "CurveFit",
    "CurvePair",
    "CurveTask",
    "Forecasts",
    "Learning",
    "Needed",
    "NextRuns",
    "Predicted",
    "SizesNeeded",
    "learning",
]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Learning(TaskAnswer):
    """The answer of `learning`: how the error of each algorithm falls with data.

    Parameters
    ----------
    metric : Metric
    scale : ErrorScale
        How the metric became an error.
    confidence : float
    failed_score : str
        What a failed trial scores.
    found : tuple of CurveTask
    left_out : tuple of str
        Tasks on which nobody was trained on three sizes.
    advice : Advice, optional
        The run that would tell most of what four times the data would bring; None of runs
        so few that nothing is known of their noise.
    provenance : Provenance
    """

    metric: Metric
    scale: ErrorScale
    confidence: float
    failed_score: str
    found: tuple[CurveTask, ...]
    left_out: tuple[str, ...]
    advice: Advice | None
    provenance: Provenance

    @property
    def failed(self) -> int:
        """How many trials failed."""
        return sum(fit.measured.failed for task in self.found for fit in task.fits)

    def of(self, task: str | None = None) -> CurveTask:
        """Return the curves of a task; it may be left out where there is one."""
        return of_task(self.found, task)[0]

    def curve(self, algorithm: str, task: str | None = None) -> CurveFit:
        """Return the curve of an algorithm."""
        return of_algorithm(self.of(task).fits, algorithm)

    def pair(self, one: str, other: str, task: str | None = None) -> CurvePair:
        """Return what the curves of two algorithms say together."""
        curves = self.of(task)
        lacking = Message(
            "Of so many algorithms only pairs with the best one were compared. "
            "Choose fewer with ",
            trials_where(algorithm=[...]),
            ".",
        )
        return pair_of(curves.pairs, curves.algorithms, one, other, lacking=lacking)

    # --- questions -----------------------------------------------------------------------

    def at(self, size: ArrayLike) -> Forecasts:
        """Return what error to expect with other amounts of data.

        Parameters
        ----------
        size : float or array_like
            Sizes of training sets, from the smallest that was observed up.

        Examples
        --------
        >>> import curvewise as cw
        >>> answer = cw.learning(cw.example("counts"), "error")
        >>> [row["algorithm"] for row in answer.at(12_800).rows()]
        ['trees', 'bayes']
        """
        sizes = asked_sizes(size)
        predictions = tuple(
            prediction
            for task in self.found
            for prediction in predicted(task, sizes, self.confidence)
        )
        concerns = [line for task in self.found for line in text.concern_lines(task)]
        return Forecasts(
            *(self.scale.label, self.confidence, predictions, tuple(concerns)),
            self.provenance.asked(
                "at", {"to": joined([step(float(n)) for n in sizes])}
            ),
        )

    def size_for(self, error: float) -> SizesNeeded:
        """Return how much data an error takes of each algorithm.

        Parameters
        ----------
        error : float
            As the answer counts errors: of an accuracy of 0.95, pass 0.05. Looked for up
            to 1,000 times the largest size that was observed.

        Examples
        --------
        >>> import curvewise as cw
        >>> answer = cw.learning(cw.example("counts"), "error")
        >>> [row["algorithm"] for row in answer.size_for(0.09).rows()]
        ['trees', 'bayes']
        """
        sizes = tuple(
            size for task in self.found for size in needed(task, error, self.confidence)
        )
        return SizesNeeded(
            *(self.scale.label, float(error), self.confidence, sizes),
            self.provenance.asked("size_for", {"error": float(error)}),
        )

    def next_run(
        self,
        to: float,
        *,
        seconds: Callable[[Floats], Floats] | None = None,
        budget: float | None = None,
    ) -> NextRuns:
        """Return which size to train on next, and how often, to know more of a far one.

        Parameters
        ----------
        to : float
            The size to know more of.
        seconds : callable, optional
            From sizes to the seconds that one run takes. If left out, as long as the
            trials took, were time to grow with the number of examples; examples are
            counted where that is not known.
        budget : float, optional
            How many seconds, or examples, there are; twice what a run of the largest
            size takes, if left out.

        Examples
        --------
        >>> import curvewise as cw
        >>> answer = cw.learning(cw.example("counts"), "error")
        >>> advice = answer.next_run(12_800, seconds=lambda n: 0.01 * n, budget=60)
        >>> advice.found[0].algorithm, advice.found[0].run.best.seconds <= 60
        ('trees', True)
        """
        fits = [fit for task in self.found for fit in task.fits]
        is_known = seconds is not None or all(is_timed(fit) for fit in fits)
        arguments = (to, seconds, budget, self.scale.unit, is_known)
        runs = tuple(
            advice for task in self.found for advice in advised(task, *arguments)
        )
        settings: dict[str, Cell] = {"to": float(to), "budget": budget}
        return NextRuns(
            *(self.scale.label, float(to), is_known, runs),
            self.provenance.asked("next_run", settings),
        )

    # --- tables --------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and algorithm.

        ``error``, ``reliance``, ``exponent`` and ``asymptote`` are of the power law, at
        the reference ``size``, each with its interval in ``_lower`` and ``_upper``.
        """
        return [
            text.fit_row(task.task, fit, self.confidence)
            for task in self.found
            for fit in task.fits
        ]

    def pair_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task and pair of algorithms, first minus second.

        The intervals of the differences hold for all pairs of the task at once.
        """
        return [
            text.pair_row(task.task, task.size, pair)
            for task in self.found
            for pair in task.pairs
        ]

    def size_rows(self) -> list[dict[str, Cell]]:
        """Return one row per task, algorithm and size: what was observed, and the fit."""
        return [
            row
            for task in self.found
            for fit in task.fits
            for row in text.size_rows(task.task, fit, self.confidence)
        ]

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        verdicts = [(t, verdict) for t in self.tasks for verdict in self.verdicts(t)]
        return {
            "pairs": self.pair_rows(),
            "sizes": self.size_rows(),
            "verdicts": [{"task": t, "verdict": verdict} for t, verdict in verdicts],
            "notes": [{"note": note} for note in self.notes()],
        }

    # --- for people ----------------------------------------------------------------------

    def table(self, task: str) -> list[dict[str, Cell]]:
        """Return the curves of one task with headings for people."""
        return text.fit_table(self.of(task), self.confidence)

    def pair_table(self, task: str) -> list[dict[str, Cell]]:
        """Return the pairs of one task with headings for people."""
        return text.pair_table(self.of(task))

    def beyond_table(self, task: str) -> list[dict[str, Cell]]:
        """Return what more data would buy on one task."""
        return text.beyond_table(self.of(task), self.confidence)

    def headline(self) -> str:
        """Return in one sentence whose error is lowest, and what more data would buy."""
        return text.headline(self)

    def would_change(self) -> str:
        """Return what would change that: which run would tell most, what it rests on."""
        return text.would_change(self)

    def verdicts(self, task: str) -> list[str]:
        """Return in words what more data would buy, and which algorithm is better."""
        curves = self.of(task)
        return [
            *(text.fit_verdict(curves, fit, self.confidence) for fit in curves.fits),
            *(text.pair_verdict(curves, pair) for pair in curves.pairs),
        ]

    def concerns(self, task: str) -> list[str]:
        """Return what may be wrong with the curves of a task."""
        return text.concern_lines(self.of(task))

    def notes(self) -> list[str]:
        """Return what a reader must know to read the tables."""
        return text.notes_of(self)

    def _title(self) -> str:
        return text.tables_heading(self.scale.label, self.confidence)

    def _records(self) -> Sequence[CurveTask]:
        return self.found

    def _about(self, task: str) -> Iterator[Piece]:
        label = f"{self.scale.label} against data, {titled(task)}"
        yield Table(self.table(task), label)
        if self.of(task).pairs:
            yield Table(self.pair_table(task), f"Pairs of algorithms, {titled(task)}")
        yield from self.verdicts(task)
        yield from marked(self.concerns(task))


def learning(
    trials: Trials,
    metric: str | None = None,
    *,
    size: float | None = None,
    method: Method = "calibrated",
    failed: Failed = "raise",
    confidence: float = 0.95,
    anyway: bool = False,
) -> Learning:
    r"""Return how the error of each algorithm falls with data, and what more would buy.

    Parameters
    ----------
    trials : Trials
        Whose steps are sizes of training sets, at least three of them: curves, or runs of
        one size each.
    metric : str, optional
        A rate or a loss; of a score such as accuracy, what it lacks to 1 is the error. Of a
        loss that was never below 0, 0 is taken for the best. May be left out where the
        trials have only one.
    size : float, optional
        The size N at which algorithms are compared. If left out, the largest that all of
        a task have.
    method : {"calibrated", "paper"}
        How the power law is fitted: with intervals that hold, or as published [1]_, where
        they do not. Forecasts are the same.
    failed : {"raise", "worst"} or float
        What a failed trial scores at the sizes that it did not reach.
    confidence : float
        Of intervals.
    anyway : bool
        Whether to answer in spite of what `curvewise.check` objects to.

    Returns
    -------
    Learning
        Print it; ask it `Learning.at` for the error with more data, and
        `Learning.size_for` for the data that an error takes.

    Notes
    -----
    A power law describes what was observed [1]_:

    .. math:: e(n) = \alpha + \eta n^\gamma, \qquad e_N = e(N), \qquad
       \beta_N = -2 \eta \gamma N^\gamma

    with error e_N and data-reliance beta_N at the size N. What lies beyond is forecast by
    `curvewise.stats.learning.extrapolate`, whose intervals were measured on real curves:
    those of a power law are far too narrow there, since real curves are no power laws.

    References
    ----------
    .. [1] D. Hoiem, T. Gupta, Z. Li, M. Shlapentokh-Rothman. "Learning Curves for Analysis
       of Deep Networks." ICML, 2021.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.learning(cw.example("counts"), "error")
    >>> [(row["algorithm"], row["size"]) for row in answer.rows()]
    [('trees', 1280.0), ('bayes', 1280.0)]
    >>> bool(0.05 < answer.at(12_800).rows()[0]["error"] < 0.11)
    True
    """
    one_of("method", method, ("calibrated", "paper"))
    checked_confidence(confidence)
    if size is not None and not (is_number(size) and size > 0):
        raise CurvewiseError(
            f"size is {size!r}. Pass a number of training examples.",
            argument="size",
            value=size,
        )
    inquiry = Inquiry.of(trials, metric, "learning", anyway=anyway)
    meant = inquiry.metric
    scale = error_scale(meant, lowest(trials, meant.name))
    by_task = measured_by_task(trials, meant.name, scale, failed)
    enough = [task for task, measured in by_task.items() if has_curves(measured)]
    curves = tuple(
        curve_task(task, by_task[task], scale, size, method, confidence)
        for task in enough or by_task
    )
    settings: dict[str, Cell] = {
        "metric": meant.name,
        "size": size,
        "method": method,
        "failed": plain_setting(failed),
        "confidence": confidence,
    }
    return Learning(
        metric=meant,
        scale=scale,
        confidence=confidence,
        failed_score=failed_score(meant, failed),
        found=curves,
        left_out=tuple(task for task in by_task if task not in enough),
        advice=text.most_telling(curves, scale.unit, confidence),
        provenance=inquiry.provenance("learning", settings),
    )
