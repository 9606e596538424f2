"""Whole matrices drawn: what is asked, shares of classes, what errors are called."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, ndtri

from curvewise.stats.confusion.data import Concern, CountTable
from curvewise.stats.validation import Floats, bad_value

Target: TypeAlias = Literal["mean", "observed", "model"]
TARGETS = ("mean", "observed", "model")
DRAWS = 2048  # points of the rule by which draws are averaged
_BEYOND, _MOST_DRAWS = 20, 2**16
CELLS = 2**22  # numbers held at once, so that memory stays flat


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question about curves.

    The target are rates averaged over training sets (*mean*); those that the mean of
    `runs` models would show on one test set of `test_size` examples (*observed*); or those
    of one more model (*model*).
    """

    sizes: Floats  # (asked,): training examples that the models would see
    target: Target
    # Of *observed*, (curve, asked); NaN stands for tests like those that were seen.
    test_size: Floats
    runs: Floats


class Fit(Protocol):
    """What every method of fitting gives: points and draws, for all curves at once."""

    @property
    def table(self) -> CountTable:
        """What was fitted."""

    def concerns_at(self, sizes: Floats) -> Iterator[Concern]:
        """Yield what may be wrong with each curve where sizes are asked for."""

    def recalls(self, sizes: Floats) -> Floats:
        """Return the recall of each class, shape (curve, asked, class)."""

    def draw(self, asked: Asked, points: Floats) -> Floats:
        """Return draws of the recalls, shape (draw, curve, asked, class).

        `points`, shape (draw, 2 + 2 x class), are evenly spread over the unit cube: one
        column for what both the shape and the rest take, and so on, as the method says.
        """


@lru_cache(maxsize=8)
def even_points(dimensions: int, count: int = DRAWS) -> Floats:
    """Return points evenly spread over the unit cube, shape (count, dimensions).

    Always the same ones: what is averaged over them leaves nothing to chance. They are
    Sobol points with a fixed scramble, none of them on the boundary.
    """
    from scipy.stats import qmc  # takes most of a second

    points = qmc.Sobol(dimensions, scramble=True, seed=0).random(count)
    out: Floats = np.clip(points, 1e-12, 1 - 1e-12)
    out.setflags(write=False)
    return out


def _draws_for(confidence: float) -> int:
    """Return how many draws it takes to know both ends: twenty beyond each at least."""
    beyond = (1.0 - confidence) / 2
    count = int(2 ** math.ceil(math.log2(_BEYOND / beyond)))
    if count > _MOST_DRAWS:
        raise bad_value(
            "confidence",
            confidence,
            "So far out bands by draws are not known; pass 0.999 at most.",
        )
    return max(DRAWS, count)


def blocks(count: int, classes: int, most: int = 64) -> list[slice]:
    """Return slices of curves, few enough that draws of a block stay small."""
    step = max(1, min(most, CELLS // (DRAWS * classes**2)))
    return [slice(start, start + step) for start in range(0, count, step)]


# --- From the recalls of classes to whole matrices -------------------------------------


def matrices(recalls: Floats, shares: Floats, errors: Floats) -> Floats:
    """Return confusion matrices that sum to 1, shape (..., class, class)."""
    classes = recalls.shape[-1]
    rows = errors * (1.0 - recalls)[..., None] + np.eye(classes) * recalls[..., None]
    return np.asarray(rows * shares[..., None])


# --- How often classes occur: known where tests were balanced by design, else estimated ---


def draw_shares(table: CountTable, asked: Asked, points: Floats) -> Floats:
    """Return draws of class shares, shape (draw or 1, curve, asked or 1, class).

    Where all test sets of a curve hold the classes in the same shares, so will the next
    one. Elsewhere shares are a Dirichlet around what was seen, with as many examples as
    were different ones; and *observed* is a test set, whose own shares vary besides.
    """
    shares = table.shares
    if table.is_fixed.all():
        return shares[None, :, None]
    size = _different_examples(table)[:, None]
    if asked.target == "observed":
        # Two sources of variance, each as 1 / examples; tests like those seen hold as many.
        examples = np.where(np.isnan(asked.test_size), size, asked.test_size)
        size = 1.0 / (1.0 / size + 1.0 / examples)
    draws = _dirichlet_at(shares[:, None] * size[..., None], points)
    fixed = table.is_fixed[None, :, None, None]
    return np.where(fixed, shares[None, :, None], draws)


def _different_examples(table: CountTable) -> Floats:
    """Return how many different examples each curve was tested on; a guess without ids.

    Where nobody kept which examples they were, all sizes are taken to have been tested on
    those of the size that was tested most.
    """
    guess = table.counts.sum((2, 3)).max(1)
    for i, examples in enumerate(table.examples):
        if examples is not None:
            guess[i] = np.asarray(examples.asked).any(0).sum()
    return np.asarray(guess)


def _dirichlet_at(alpha: Floats, points: Floats) -> Floats:
    """Return Dirichlet draws: normal where there are many, gamma where there are few."""
    by = points[:, None, None, :]
    few = 100.0
    # Wilson and Hilferty: the cube root of a gamma is close to normal.
    a = np.maximum(alpha, 1e-3)
    root = 1 - 1 / (9 * a) + ndtri(by) / (3 * np.sqrt(a))
    draws = a * np.maximum(root, 0.0) ** 3
    is_few = (alpha < few) & np.ones_like(by, dtype=bool)
    if is_few.any():
        some = np.broadcast_to(a, draws.shape)[is_few]
        draws[is_few] = gammaincinv(some, np.broadcast_to(by, draws.shape)[is_few])
    draws = np.maximum(draws, 1e-300)
    return np.asarray(draws / draws.sum(-1, keepdims=True))


# --- Draws of matrices and metrics, made like what is estimated and what is counted ----


_LEAST = {"mcc": -1.0, "kappa": -1.0, "cost": -np.inf}
_MOST = {"cost": np.inf}


def as_counted(matrices: Floats, asked: Asked) -> Floats:
    """Return draws (draw, curve, asked, class, class) as a test set would show them.

    What is *observed* are whole numbers of answers: a class may be found without a single
    mistake, which no draw of rates says. Other targets are left as they are, and so are
    questions without a test size.
    """
    if asked.target != "observed":
        return matrices
    answers = (asked.test_size * asked.runs)[..., None, None]
    with np.errstate(invalid="ignore"):
        counted = np.round(matrices * answers) / answers
    return np.where(np.isnan(answers), matrices, counted)


def centred(name: str, draws: Floats, value: Floats) -> Floats:
    """Return draws whose median is the estimate, still inside the range of the metric.

    A recall near 1 can be off by more below than above. For one class that is so, and the
    median stays; but an average over many classes of which each is off by itself has all
    its draws below the estimate, and the more so the more classes there are.
    """
    least, most = _LEAST.get(name, 0.0), _MOST.get(name, 1.0)
    moved = np.clip(draws + (value - np.median(draws, axis=0)), least, most)
    return np.where((draws == least) | (draws == most), draws, moved)


# --- What wrong answers are called: the shares of the errors of each true class --------
#
# A row of a matrix is the recall of its class and, off the diagonal, (1 - recall) x shares.
# The shares change slowly with training data, so they are those of the nearest sizes, and
# beyond the last one about those of the last two.
#
# How far they may be off is told in wrong answers: shares :math:`s` of one true class that
# rest on m wrong answers vary as a Dirichlet with m s. Parts that vary by themselves add up
# as 1/(m + 1):
#
# - finite test sets: the wrong answers of one run, and some more for further runs;
# - models: a row varies from one training set to the next like a Dirichlet around its
#   mean. Between-run variances of the recalls say of which concentration M, and the shares
#   of errors then vary with M (1 - recall);
# - distance: shares at sizes that nobody ran.


# Measured on ten classes of digits, three learners, one half of the seeds against the
# other: what predicts wrong answers best (the first three), and by how much it misses.
_PER_OCTAVE = 4.0  # a size twice as far off weighs so many times less
_POOLED = 2.0  # wrong answers that the pooled shares of all sizes are worth
_EVEN = 5.0  # wrong answers, spread evenly, that are added to those before
_DRIFT = 0.03  # 1/m of one octave between what is asked and what was run
_PRIOR_RUNS = 2.0  # runs that the rule M = training examples of the class is worth
# How alike the answers of two models are on one example, and on test sets that overlap.
_ALIKE, _APART = 0.6, 0.2
_DRAWS = 256  # of shares: each meets several draws of recalls


def error_shares(table: CountTable, sizes: Floats) -> Floats:
    """Return what wrong answers are called, shape (curve, asked, class, class).

    Rows are true classes and sum to 1; the diagonal is 0.
    """
    if table.classes == 2:
        return _of_two((len(table), len(sizes)))
    return estimated_shares(table, sizes)[0]


def draw_error_shares(
    table: CountTable, asked: Asked, count: int, recalls: Floats
) -> Floats:
    """Return draws of what wrong answers are called, (draw, curve, asked, class, class)."""
    if table.classes == 2:
        return _of_two((count, len(table), len(asked.sizes)))
    shares, spread = estimated_shares(table, asked.sizes)
    if asked.target != "mean":
        spread = spread + _one_more(table, asked, 1.0 - recalls)
    answers = np.maximum(1 / spread - 1, 0.2)
    draws = dirichlet_rows(answers[..., None] * shares)
    return np.asarray(draws[np.arange(count) * len(draws) // count])


def _one_more(table: CountTable, question: Asked, missing: Floats) -> Floats:
    """Return what other models and a finite test set add to 1/(m + 1)."""
    spread = _model_spread(table, question.sizes, missing)
    if question.target == "model":
        return spread
    runs = question.runs[..., None]
    most = table.test_size.max(1)[:, None]
    as_seen = np.isnan(question.test_size)
    examples = np.where(as_seen, most, question.test_size)[..., None]
    wrong = examples * table.shares[:, None] * missing
    alike = np.where(as_seen, 0.0, _ALIKE)[..., None]
    return spread / runs + (alike + (1 - alike) / runs) / np.maximum(wrong, 0.1)


def _of_two(shape: tuple[int, ...]) -> Floats:
    """Return the shares where there is one wrong answer only."""
    return np.broadcast_to(1.0 - np.eye(2), (*shape, 2, 2))


def estimated_shares(table: CountTable, sizes: Floats) -> tuple[Floats, Floats]:
    """Return shares, and 1/(m + 1) for each row of them."""
    classes = table.classes
    off = 1.0 - np.eye(classes)
    runs = np.maximum(table.runs, 1)[..., None]
    wrong = table.counts * off / runs[..., None]  # of one run
    by_row = wrong.sum(-1)  # (curve, size, class)
    is_there = table.runs > 0
    apart = np.abs(np.log2(table.sizes[:, None] / sizes[:, None]))
    apart = np.where(is_there[:, None], apart, np.inf)  # (curve, asked, size)
    nearest = apart.min(-1, keepdims=True)
    near = _PER_OCTAVE ** (nearest - apart)
    near /= near.sum(-1, keepdims=True)
    # A size with four times the wrong answers counts twice: noise against what is alike.
    local = np.einsum("bqk,bkij->bqij", near, _over(wrong, np.sqrt(by_row)[..., None]))
    local = _over(local, local.sum(-1, keepdims=True))
    pooled = wrong.sum(1) + _EVEN * off / (classes - 1)
    pooled /= pooled.sum(-1, keepdims=True)
    total = near @ table.total
    missing = 1.0 - _over(near @ table.right, total, empty=0.5)
    alike = np.where(table.is_fixed, _ALIKE, _APART)[:, None, None]
    tested = near @ (by_row * runs / (1 + (runs - 1) * alike))
    # Sizes share their runs, so runs are averaged, not summed.
    ran = near @ table.runs[..., None]
    models = _model_spread(table, sizes, missing) / ran
    answers = 1 / (1 / np.maximum(tested, 1e-9) + models)[..., None]
    shares = answers * local + _POOLED * pooled[:, None]
    answers = shares.sum(-1)
    return shares / answers[..., None], 1 / (1 + answers) + _DRIFT * nearest


def _model_spread(table: CountTable, sizes: Floats, missing: Floats) -> Floats:
    """Return 1/(m + 1) for the shares of one model, shape (curve, asked, class).

    For each class M + 1 = n x its share / f: training examples of it, over a factor that
    the between-run variances of the recalls say, or 1 where nobody knows.
    """
    share = np.maximum(table.shares, 1e-9)
    total = np.maximum(table.total, 1e-9)
    right = table.right / total
    is_known = np.isfinite(table.sampling) & (table.runs > 1)[..., None]
    more = np.diagonal(table.spread, axis1=-2, axis2=-1) - table.sampling
    expected = right * (1 - right) / (table.sizes[..., None] * share[:, None])
    freedom = np.where(is_known, np.maximum(table.runs - 1, 0)[..., None], 0.0)
    between = (np.where(is_known, more, 0.0) * freedom).sum((1, 2))
    scale = (expected * freedom).sum((1, 2))
    behind = freedom.max((1, 2))
    factor = np.maximum(_over(between, scale, empty=1.0), 0.25)
    factor = (_PRIOR_RUNS + behind * factor) / (_PRIOR_RUNS + behind)
    spread = np.clip(
        factor[:, None, None] / (sizes[:, None] * share[:, None]), 1e-4, 0.5
    )
    return np.asarray(1 / (1 + (1 / spread - 1) * missing))


def dirichlet_rows(weights: Floats) -> Floats:
    """Return draws of rows that sum to 1, (draw, ..., class, class), without chance.

    A gamma variate of shape a is one of shape a + 1 times u^(1/a); that of shape a + 1 is
    the cube of a normal one, as Wilson and Hilferty had it, good to a percent from 1 up.
    """
    normal, log_uniform = _points(weights.shape[-1])
    between = (slice(None), *[None] * (weights.ndim - 2))
    a = weights + 1.0
    cube = 1 - 1 / (9 * a) + normal[between] / (3 * np.sqrt(a))
    with np.errstate(divide="ignore"):
        boost = log_uniform[between] / weights  # -inf on the diagonal
    logs = 3 * np.log(np.maximum(cube, 1e-3)) + np.log(a) + boost
    rows = np.exp(logs - logs.max(-1, keepdims=True))
    rows /= rows.sum(-1, keepdims=True)
    return np.asarray(rows)


@lru_cache(maxsize=4)
def _points(classes: int) -> tuple[Floats, Floats]:
    """Return normal values and logs of uniform ones, each (draw, class, class).

    Every row has the same even points, in another fixed order.
    """
    points = even_points(2 * classes, _DRAWS)
    rng = np.random.default_rng(0)
    rows = np.stack([points[rng.permutation(_DRAWS)] for _ in range(classes)], axis=1)
    normal: Floats = ndtri(rows[..., :classes])
    return normal, np.log(rows[..., classes:])


def _over(above: Floats, below: Floats, empty: float = 0.0) -> Floats:
    """Return a ratio, and what it is where nothing is below."""
    out = np.full(np.broadcast_shapes(above.shape, below.shape), empty)
    ratio: Floats = np.divide(above, below, out=out, where=below > 0)
    return ratio


# --- Rates of fitted curves, and intervals of their metrics ----------------------------


def rates_of(fit: Fit, sizes: Floats, shares: ArrayLike | None) -> Floats:
    """Return matrices of rates, shape (curve, asked, class, class)."""
    weights = _shares(fit.table, shares)[:, None]
    return matrices(fit.recalls(sizes), weights, error_shares(fit.table, sizes))


def _shares(table: CountTable, shares: ArrayLike | None) -> Floats:
    """Return how often classes occur, as observed or as the caller says."""
    if shares is None:
        return table.shares
    share = np.asarray(shares, dtype=np.float64)
    if share.shape != (table.classes,) or not (share >= 0).all() or share.sum() <= 0:
        raise bad_value(
            "shares",
            shares,
            f"Pass how often each of the {table.classes} classes occurs, numbers >= 0.",
        )
    return np.broadcast_to(share / share.sum(), table.shares.shape)


def intervals_of(
    fit: Fit,
    functions: dict[str, Callable[[Floats], Floats]],
    asked: Asked,
    shares: ArrayLike | None,
    confidence: float,
    is_joint: bool,
) -> tuple[Floats, Floats]:
    """Return both ends for each metric, shape (metric, curve, asked)."""
    count = _draws_for(confidence)
    lower, upper = zip(
        *(
            _ends(_draws(fit, functions, part, shares, count), confidence, is_joint)
            for part in _in_turn(fit.table, asked, count)
        ),
        strict=True,
    )
    return np.concatenate(lower, -1), np.concatenate(upper, -1)


def _in_turn(table: CountTable, question: Asked, count: int) -> Iterator[Asked]:
    """Yield the question in pieces of a few sizes."""
    per_size = count * len(table) * table.classes**2
    step = max(1, CELLS // per_size)
    for start in range(0, len(question.sizes), step):
        piece = slice(start, start + step)
        yield Asked(
            question.sizes[piece],
            question.target,
            question.test_size[:, piece],
            question.runs[:, piece],
        )


def _draws(
    fit: Fit,
    functions: dict[str, Callable[[Floats], Floats]],
    question: Asked,
    shares: ArrayLike | None,
    count: int,
) -> Floats:
    """Return draws of the metrics, shape (metric, draw, curve, asked)."""
    classes = fit.table.classes
    points = even_points(2 + 3 * classes, count)
    recalls = fit.draw(question, points[:, : 2 + 2 * classes])
    weights = (
        draw_shares(fit.table, question, points[:, 2 + 2 * classes :])
        if shares is None
        else _shares(fit.table, shares)[None, :, None]
    )
    likely = fit.recalls(question.sizes)
    wrong = draw_error_shares(fit.table, question, len(points), likely)
    draws = matrices(recalls, np.broadcast_to(weights, recalls.shape), wrong)
    draws = as_counted(draws, question)
    if classes == 2:
        return np.array([function(draws) for function in functions.values()])
    rates = rates_of(fit, question.sizes, shares)
    return np.array(
        [
            centred(key, function(draws), function(rates))
            for key, function in functions.items()
        ]
    )


def _ends(draws: Floats, confidence: float, is_joint: bool) -> tuple[Floats, Floats]:
    """Return the quantiles of draws (metric, draw, curve, asked) that hold so often."""
    tail = (1.0 - confidence) / 2
    if not is_joint or len(draws) == 1:
        low, high = np.quantile(draws, [tail, 1 - tail], axis=1)
        return low, high
    # How extreme a draw is, is the rank of its most extreme metric; the least extreme
    # draws, as many as asked for, span the intervals.
    ranks = draws.argsort(1).argsort(1)
    depth = np.minimum(ranks, draws.shape[1] - 1 - ranks).min(0)
    outside = np.quantile(depth, 1.0 - confidence, axis=0, method="lower").astype(int)
    order = np.sort(draws, axis=1)
    low = np.take_along_axis(order, outside[None, None], 1)[:, 0]
    high = np.take_along_axis(order, order.shape[1] - 1 - outside[None, None], 1)[:, 0]
    return low, high
