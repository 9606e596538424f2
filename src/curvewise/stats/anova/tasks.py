"""Do two algorithms differ over several tasks, and does it depend on the task?"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError, listed, unknown
from curvewise.stats.anova.draws import (
    FEWEST_TO_FLIP,
    NONE,
    Residuals,
    batches,
    evidence,
    is_within,
    least,
    random_signs,
    rounding_of_deals,
    split,
    welch_f,
)
from curvewise.stats.anova.lines import (
    Design,
    LinesLike,
    checked_lines,
    line_means,
    relative,
)
from curvewise.stats.anova.randomized import ENUMERATED, is_exact
from curvewise.stats.deals import Labels, all_deals, labels_as_they_lie, random_labels
from curvewise.stats.validation import Floats, checked_chance, checked_level

__all__ = [
    "OverTasks",
    "TaskTest",
    "over_tasks",
]


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
    >>> found.depends_on_task
    True
    """
    draws = checked_chance(shuffles, rng, 99, "shuffles")
    checked_level(level)
    designs = _checked_tasks(tasks)
    means, ties = _heights(list(designs.values()))
    sizes = [design.sizes for design in means]
    logs = [_log_deals(*pair) for pair in sizes]
    deals = math.exp(min(sum(logs), 700))
    tries_all = is_exact(exact, deals, ENUMERATED)
    is_guarded = min(map(min, sizes)) >= FEWEST_TO_FLIP
    if tries_all:
        every = _every_deal(means)
        # Judged once more, by themselves, the lines as they came could differ from the
        # first of all deals in the last digits.
        z = np.array([deviates[0] for deviates in every])
        by_deals = _shares(z, ties, _combined(every), 0)
    else:
        z = _observed(means)
        by_deals = _shares(z, ties, _some_deals(means, draws, rng), 1)
    by_flips = None
    if is_guarded:
        by_flips = _shares(z, ties, _some_flips(means, draws, rng), 1)
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
        algorithms=(first.names[0], first.names[1]),
        tasks=tuple(designs),
        difference=np.array([_gap(design) for design in designs.values()]),
        z=z,
        whole=whole,
        somewhere=somewhere,
        reversal=reversal,
        is_exact=tries_all,
        is_guarded=is_guarded,
    )


def _checked_tasks(tasks: Any) -> dict[str, Design]:
    """Return the lines of each task, both algorithms in the same order everywhere."""
    if isinstance(tasks, Mapping):
        by_name = {str(name): lines for name, lines in tasks.items()}
    elif isinstance(tasks, Sequence) and not isinstance(tasks, str):
        by_name = {str(i + 1): lines for i, lines in enumerate(tasks)}
    else:
        raise CurvewiseError(
            f"tasks are {type(tasks).__name__}. Pass a mapping from the name of each task "
            f"to the lines of both algorithms.",
            argument="tasks",
            value=tasks,
        )
    if not by_name:
        raise CurvewiseError(
            "There are no tasks. Pass the lines of one or more.",
            argument="tasks",
            value=tasks,
        )
    designs: dict[str, Design] = {}
    names: tuple[str, ...] = ()
    for task, lines in by_name.items():
        try:
            design = checked_lines(lines, least_steps=1, least_lines=2)
        except CurvewiseError as error:
            raise CurvewiseError(
                f"Task '{task}': ", error.message, argument="tasks", value=task
            ) from None
        if len(design.names) != 2:
            raise CurvewiseError(
                f"Task '{task}' has lines of {len(design.names)} algorithms: "
                f"{listed(design.names)}. Pass those of two; go through pairs for more.",
                argument="tasks",
                value=task,
            )
        names = names or design.names
        for name in design.names:
            if name not in names:
                raise unknown("algorithm", name, names)
        same = design.names == names
        designs[task] = design if same else design.of((1, 0))
    return designs


def _heights(designs: Sequence[Design]) -> tuple[list[Design], Floats]:
    """Return the means of lines, in some unit, and the rounding of what is made of them."""
    parts = [split(design.values[None], design.sizes) for design in designs]
    means = [
        design.with_values(part.means.T)
        for design, part in zip(designs, parts, strict=True)
    ]
    ties = [rounding_of_deals(part, "studentised")[0][0] for part in parts]
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


# --- Shuffles and flips within tasks, all tasks at once --------------------------------


_PARTS = (np.maximum, np.minimum)  # above 0, and below


def _deviates(means: Floats, variances: Floats, sizes: Sequence[int]) -> Floats:
    """Return signed normal deviates, from means and variances of shape (2, draw)."""
    f, df = welch_f(means, variances, np.array(sizes, dtype=np.float64))
    signed: Floats = np.sign(means[0] - means[1]) * evidence(f, df, 2)
    return signed


def _observed(designs: Sequence[Design]) -> Floats:
    """Return the deviates of the lines as they came, shape (task,)."""
    deviates = [
        _dealt(design, labels_as_they_lie(design.sizes))[0] for design in designs
    ]
    return np.array(deviates)


def _dealt(design: Design, labels: Labels) -> Floats:
    """Return deviates of deals, given as labels 0 and 1, shape (draw, line)."""
    x = design.values[:, 0] - design.values[:, 0].mean()
    counts = np.array(design.sizes)[:, None]
    second = labels.astype(np.float64) @ np.stack((x, x**2), axis=1)
    sums = np.stack((x.sum() - second[:, 0], second[:, 0]))
    squares = np.stack(((x**2).sum() - second[:, 1], second[:, 1]))
    means = sums / counts
    spread = (squares - sums * means) / (counts - 1)
    # Deals that are equally perfect are judged equal.
    floor = NONE * float((x**2).sum()) / (len(x) - 1)
    return _deviates(means, np.maximum(spread, floor), design.sizes)


def _every_deal(designs: Sequence[Design]) -> list[Floats]:
    """Return deviates of all deals of each task, that of the lines as they came first."""
    deviates = []
    for design in designs:
        z = np.concatenate([_dealt(design, some) for some in all_deals(design.sizes)])
        # Of two deals that are mirror images, one is given where sizes are equal.
        deviates.append(np.concatenate((z, -z)) if len(set(design.sizes)) == 1 else z)
    return deviates


def _combined(deviates: Sequence[Floats]) -> Iterator[Floats]:
    """Yield every deal of one task with every deal of all others, shape (deal, task)."""
    counts = tuple(len(z) for z in deviates)
    done = 0
    for now in batches(math.prod(counts), 4 * len(deviates)):
        places = np.unravel_index(np.arange(done, done + now), counts)
        yield np.stack([z[i] for z, i in zip(deviates, places, strict=True)], axis=1)
        done += now


def _some_deals(
    designs: Sequence[Design], draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield z of each task under random deals within it, batches of (draw, task)."""
    for now in batches(draws, _width(designs)):
        z = [_dealt(d, random_labels(d.sizes, now, rng)) for d in designs]
        yield np.stack(z, axis=1)


def _width(designs: Sequence[Design]) -> int:
    """Return how many floats a draw takes."""
    return 4 * max(*(len(design.values) for design in designs), len(designs))


def _some_flips(
    designs: Sequence[Design], draws: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield z of each task under flips within it, batches of (draw, task)."""
    residuals = [Residuals(design) for design in designs]
    for now in batches(draws, _width(designs)):
        z = []
        for design, residual in zip(designs, residuals, strict=True):
            signs = random_signs(now, residual.lines, rng)
            means, spread = residual.flipped(signs)
            z.append(_deviates(means[..., 0], spread[..., 0], design.sizes))
        yield np.stack(z, axis=1)


def _shares(
    observed: Floats, rounding: Floats, chance: Iterator[Floats], counted: int
) -> tuple[float, float, float]:
    """Return how often draws are as extreme: in sum, in squares, in both directions.

    `counted` is 1 where the data themselves are one draw more, and 0 where they are
    among the draws. What differs from the data by no more than the rounding of each task
    is as extreme.
    """
    size = np.abs(observed)
    low = least(size, rounding)
    total = abs(observed.sum()) - (size - low).sum()
    # Nothing is below none: there a little less is as good as tied.
    signed = np.sign(observed) * np.maximum(low, 0.0)
    squares = (signed**2).sum()
    up, down = (float((part(signed, 0) ** 2).sum()) for part in _PARTS)
    whole = somewhere = counted
    turned = np.full((2, len(observed)), counted, dtype=np.int64)
    draws = counted
    for z in chance:
        draws += len(z)
        whole += int((np.abs(z.sum(axis=1)) >= total).sum())
        somewhere += int(((z**2).sum(axis=1) >= squares).sum())
        for i, (part, limit) in enumerate(zip(_PARTS, (up, down), strict=True)):
            each = part(z, 0) ** 2
            # Without one task, whichever: see `over_tasks`.
            rest = each.sum(axis=1, keepdims=True) - each
            turned[i] += (rest >= limit).sum(axis=0)
    reversal = 1.0 if min(up, down) <= 0 else float(turned.max()) / draws
    return whole / draws, somewhere / draws, reversal
