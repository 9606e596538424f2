"""Do two algorithms differ over several tasks, and does it depend on the task?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.stats._sample import Floats, checked_chance, checked_level
from curvewise.stats.anova._drawing import rounding
from curvewise.stats.anova._drawing.draws import is_within
from curvewise.stats.anova._drawing.making import ENUMERATED, is_exact
from curvewise.stats.anova._drawing.statistics import split
from curvewise.stats.anova._drawing.task_draws import (
    combined,
    every_deal,
    observed,
    shares,
    some_deals,
    some_flips,
)
from curvewise.stats.anova._lines.designs import (
    Design,
    LinesLike,
    checked_lines,
    line_means,
    relative,
)
from curvewise.stats.anova._lines.flips import FEWEST

__all__ = ["OverTasks", "TaskTest", "over_tasks"]


@dataclass(frozen=True, slots=True, eq=False)
class TaskTest:
    """One question about all tasks together.

    Parameters
    ----------
    p_shuffles : float
        Share of deals of lines, within each task, at least as extreme: exact for
        algorithms whose lines are exchangeable in every task.
    p_flips : float or None
        The same for sign flips of residual lines, which do not take equal noise; None
        with three lines or fewer, of which flips say nothing.
    smallest_p : float
        Below which no answer of this design could be.
    level : float
    """

    p_shuffles: float
    p_flips: float | None
    smallest_p: float
    level: float

    @property
    def p(self) -> float:
        """The larger one of both."""
        return max(self.p_shuffles, self.p_flips or 0.0)

    @property
    def is_rejected(self) -> bool:
        """Whether p is at most the level."""
        return is_within(self.p, self.level)

    @property
    def cannot_reject(self) -> bool:
        """Whether no data of this design could be significant at the level."""
        return not is_within(self.smallest_p, self.level)


@dataclass(frozen=True, slots=True, eq=False)
class OverTasks:
    """Two algorithms on several tasks.

    Parameters
    ----------
    algorithms : tuple of str
        The two, in the order in which differences are taken.
    tasks : tuple of str
    difference : ndarray, shape (task,)
        Of the means of lines, in the scores of the task.
    z : ndarray, shape (task,)
        Welch's t for it as a normal deviate, above 0 where the first algorithm is above.
    whole : TaskTest
        Is one above the other on the whole? From the size of the sum of z.
    somewhere : TaskTest
        Do they differ on any task, in any direction? From the sum of squares of z.
    reversal : TaskTest
        Is each above the other on some task?
    is_exact : bool
        Whether all deals were gone through, rather than some at random.
    is_guarded : bool
        Whether unequal noise is guarded against; not with three lines or fewer.
    """

    algorithms: tuple[str, str]
    tasks: tuple[str, ...]
    difference: Floats
    z: Floats
    whole: TaskTest
    somewhere: TaskTest
    reversal: TaskTest
    is_exact: bool
    is_guarded: bool

    @property
    def depends_on_task(self) -> bool:
        """Whether each is above the other on some task, and neither on the whole.

        Where they differ on some task and no more was shown, it may or may not depend.
        """
        return self.reversal.is_rejected and not self.whole.is_rejected

    @property
    def verdict(self) -> str:
        """What may be said, in words."""
        first, second = self.algorithms
        if self.z.sum() < 0:
            first, second = second, first
        n = len(self.tasks)
        tasks = f"{n} tasks" if n > 1 else "1 task"
        if self.whole.cannot_reject and self.somewhere.cannot_reject:
            least = min(self.whole.smallest_p, self.somewhere.smallest_p)
            said = (
                f"So few lines can show no difference over {tasks}; the smallest p is "
                f"{least:.2g}"
            )
        elif self.whole.is_rejected:
            turned = self.reversal.is_rejected
            but = ", though each is above the other on some task" if turned else ""
            said = f"'{first}' is above '{second}' on the whole{but}"
        elif self.depends_on_task:
            said = "It depends on the task: each is above the other on some task"
        elif self.somewhere.is_rejected:
            said = (
                "They differ on some task, and neither is above the other on the whole for "
                "sure"
            )
        else:
            said = f"No difference was shown over {tasks}"
        free = "" if self.is_guarded else " (unequal noise not guarded)"
        return f"{said}{free}."


def over_tasks(
    tasks: Mapping[str, LinesLike] | Sequence[LinesLike],
    *,
    shuffles: int = 9999,
    exact: bool | None = None,
    level: float = 0.05,
    rng: np.random.Generator,
) -> OverTasks:
    r"""Return whether two algorithms differ over tasks, on the whole or somewhere.

    .. math:: z_q = \mathrm{sign}(\bar x_{q1} - \bar x_{q2})\,
       \sqrt{f_q \log(1 + t_q^2 / f_q)}\; \frac{8 f_q + 1}{8 f_q + 3}, \qquad
       \Bigl|\sum_q z_q\Bigr|, \qquad \sum_q z_q^2

    with Welch's :math:`t_q` of the means of lines of task q and its degrees of freedom.

    Parameters
    ----------
    tasks : mapping of str to lines, or sequence of lines
        Of each task the lines of both algorithms: a mapping from their names, or a pair,
        of arrays of shape (line, step). Tasks may have steps and numbers of lines of their
        own; two lines or more of each.
    shuffles : int
        How many deals, and how many flips.
    exact : bool, optional
        Whether to go through all deals. By default if there are a million or fewer, over
        all tasks together.
    level : float
        Of each test.
    rng : numpy.random.Generator

    Notes
    -----
    Scores of tasks are never added up: a deviate has no scale, and each task is judged
    with its own noise. Lines are dealt, and flipped, within tasks, all tasks at once; p is
    the larger one of both. The sum finds what is the same everywhere, the sum of squares
    also what is found on one task, or in opposite directions. Of 2,000 data sets without a
    difference, on 3 and 10 tasks, 3.2 to 5.4 % were rejected at level .05 by the sum and
    3.4 to 6.4 % by the sum of squares (5 and 5 or 5 and 15 lines, noise up to 4 to 1,
    normal, heavy-tailed or skewed); shuffles of raw scores reject 26 % of those with 5
    noisy and 15 quiet lines.

    *Reversal* tests what "it depends on the task" says most clearly: that the first
    algorithm is above on one task and the second on another, after [1]_,

    .. math:: Q_- = \sum_{q:\, z_q < 0} z_q^2, \qquad Q_+ = \sum_{q:\, z_q > 0} z_q^2

    Both must be larger than chance makes them where one task, whichever, is taken out: the
    hardest case without a reversal is one in which the first algorithm is far above on one
    task and equal on all others. In that case 0.6 to 4.4 % were rejected; of reversals by
    1.3 standard deviations of a line's mean, with eight lines each, it found 44 %. There
    is no test of the *sizes* of differences: tasks whose noise or numbers of lines differ
    have different z with the same difference. Of 2,000 data sets with three
    tasks of 5, 10 and 20 lines and the same difference on each, the spread of z about their
    mean rejects 4, 11 and 29 %, where it is 0, 1 and 2 standard deviations of a line's
    mean.

    References
    ----------
    .. [1] M. Gail, R. Simon. "Testing for qualitative interactions between treatment
       effects and patient subsets." Biometrics 41, 1985.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> def task(shift):
    ...     noise = rng.standard_normal((2, 8, 5)).cumsum(axis=2)
    ...     return {"new": noise[0] + shift, "old": noise[1]}
    >>> found = over_tasks({"walk": task(4), "run": task(-4)}, rng=rng)
    >>> found.z.round(1).tolist()
    [4.9, -4.4]
    >>> found.verdict
    'It depends on the task: each is above the other on some task.'
    """
    draws = checked_chance(shuffles, rng, 99, "shuffles")
    checked_level(level)
    designs = _checked_tasks(tasks)
    means, ties = _heights(list(designs.values()))
    sizes = [design.sizes for design in means]
    logs = [_log_deals(*pair) for pair in sizes]
    deals = math.exp(min(sum(logs), 700))
    tries_all = is_exact(exact, deals, ENUMERATED)
    is_guarded = min(map(min, sizes)) >= FEWEST
    if tries_all:
        every = every_deal(means)
        # Judged once more, by themselves, the lines as they came could differ from the
        # first of all deals in the last digits.
        z = np.array([own[0] for own in every])
        by_deals = shares(z, ties, combined(every), 0)
    else:
        z = observed(means)
        by_deals = shares(z, ties, some_deals(means, draws, rng), 1)
    by_flips = None
    if is_guarded:
        by_flips = shares(z, ties, some_flips(means, draws, rng), 1)
    floor = 1 / (1 + draws) if is_guarded or not tries_all else 0.0
    free = sum(math.log(2) for one, other in sizes if one == other)
    # The mirror image of a deal has the same squares, the one of all deals the same |sum|.
    turns = math.log(2) if all(one == other for one, other in sizes) else 0.0
    smallest = (turns - sum(logs), free - sum(logs), -sum(logs) / 2)
    whole, somewhere, reversal = (
        TaskTest(
            # Some deals at random can look rarer than any deal is, by chance.
            max(by_deals[i], math.exp(smallest[i])),
            None if by_flips is None else by_flips[i],
            max(floor, math.exp(smallest[i])),
            level,
        )
        for i in range(3)
    )
    first = next(iter(designs.values()))
    return OverTasks(
        (first.names[0], first.names[1]),
        tuple(designs),
        np.array([_gap(design) for design in designs.values()]),
        z,
        whole,
        somewhere,
        reversal,
        tries_all,
        is_guarded,
    )


def _checked_tasks(tasks: Any) -> dict[str, Design]:
    """Return the lines of each task, both algorithms in the same order everywhere."""
    if isinstance(tasks, Mapping):
        named = {str(name): lines for name, lines in tasks.items()}
    elif isinstance(tasks, Sequence) and not isinstance(tasks, str):
        named = {str(i + 1): lines for i, lines in enumerate(tasks)}
    else:
        raise CurvewiseError(
            f"tasks are {type(tasks).__name__}. Pass a mapping from the name of each task "
            f"to the lines of both algorithms."
        )
    if not named:
        raise CurvewiseError("There are no tasks. Pass the lines of one or more.")
    designs: dict[str, Design] = {}
    known: tuple[str, ...] = ()
    for task, lines in named.items():
        try:
            design = checked_lines(lines, least_steps=1, least_lines=2)
        except CurvewiseError as error:
            raise CurvewiseError(f"Task '{task}': ", error.message) from None
        if len(design.names) != 2:
            raise CurvewiseError(
                f"Task '{task}' has lines of {len(design.names)} algorithms: "
                f"{listed(design.names)}. Pass those of two; go through pairs for more."
            )
        known = known or design.names
        for name in design.names:
            if name not in known:
                raise unknown("algorithm", name, known)
        same = design.names == known
        designs[task] = design if same else design.of((1, 0))
    return designs


def _heights(designs: Sequence[Design]) -> tuple[list[Design], Floats]:
    """Return the means of lines, in some unit, and the rounding of what is made of them."""
    parts = [split(design.values[None], design.sizes) for design in designs]
    means = [
        design.with_values(part.means.T)
        for design, part in zip(designs, parts, strict=True)
    ]
    ties = [rounding.of_deals(part, "studentised")[0][0] for part in parts]
    return means, np.array(ties)


def _gap(design: Design) -> float:
    """Return the difference of the means of lines, in scores."""
    near, unit = relative(design)
    first, second = line_means(near).groups
    return float(first.mean() - second.mean()) * unit


def _log_deals(one: int, other: int) -> float:
    """Return the logarithm of how many deals of the lines of a task there are."""
    n = one + other
    return math.lgamma(n + 1) - math.lgamma(one + 1) - math.lgamma(other + 1)
