r"""What wrong answers are called: the shares of the errors of each true class.

A row of a matrix is the recall of its class and, off the diagonal, (1 - recall) x shares.
The shares change slowly with training data, so they are those of the nearest sizes, and
beyond the last one about those of the last two.

How far they may be off is told in wrong answers: shares :math:`s` of one true class that
rest on m wrong answers vary as a Dirichlet with m s. Parts that vary by themselves add up
as 1/(m + 1):

- finite test sets: the wrong answers of one run, and some more for further runs;
- models: a row varies from one training set to the next like a Dirichlet around its
  mean. Between-run variances of the recalls say of which concentration M, and the shares
  of errors then vary with M (1 - recall);
- distance: shares at sizes that nobody ran.
"""

from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from curvewise.stats._sample import Floats
from curvewise.stats.confusion._asked import Asked, even_points
from curvewise.stats.confusion._data import CountTable

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
    return _estimated(table, sizes)[0]


def draw_error_shares(
    table: CountTable, asked: Asked, count: int, recalls: Floats
) -> Floats:
    """Return draws of what wrong answers are called, (draw, curve, asked, class, class).

    Parameters
    ----------
    table : CountTable
    asked : Asked
        Where a test size is NaN, runs are tested as those seen were.
    count : int
        How many draws. Those that follow each other may be the same.
    recalls : ndarray, shape (curve, asked, class)
        So many are right at the sizes asked, which says how many are wrong.
    """
    if table.classes == 2:
        return _of_two((count, len(table), len(asked.sizes)))
    shares, spread = _estimated(table, asked.sizes)
    if asked.target != "mean":
        spread = spread + _one_more(table, asked, 1.0 - recalls)
    answers = np.maximum(1 / spread - 1, 0.2)
    drawn = _dirichlet(answers[..., None] * shares)
    return np.asarray(drawn[np.arange(count) * len(drawn) // count])


def _one_more(table: CountTable, asked: Asked, missing: Floats) -> Floats:
    """Return what other models and a finite test set add to 1/(m + 1)."""
    own = _model_spread(table, asked.sizes, missing)
    if asked.target == "model":
        return own
    runs = asked.runs[..., None]
    most = table.test_size.max(1)[:, None]
    as_seen = np.isnan(asked.test_size)
    held = np.where(as_seen, most, asked.test_size)[..., None]
    wrong = held * table.shares[:, None] * missing
    alike = np.where(as_seen, 0.0, _ALIKE)[..., None]
    return own / runs + (alike + (1 - alike) / runs) / np.maximum(wrong, 0.1)


def _of_two(shape: tuple[int, ...]) -> Floats:
    """Return the shares where there is one wrong answer only."""
    return np.broadcast_to(1.0 - np.eye(2), (*shape, 2, 2))


def _estimated(table: CountTable, sizes: Floats) -> tuple[Floats, Floats]:
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
    own = np.maximum(table.shares, 1e-9)
    total = np.maximum(table.total, 1e-9)
    right = table.right / total
    known = np.isfinite(table.sampling) & (table.runs > 1)[..., None]
    more = np.diagonal(table.spread, axis1=-2, axis2=-1) - table.sampling
    expected = right * (1 - right) / (table.sizes[..., None] * own[:, None])
    freedom = np.where(known, np.maximum(table.runs - 1, 0)[..., None], 0.0)
    found = (np.where(known, more, 0.0) * freedom).sum((1, 2))
    scale = (expected * freedom).sum((1, 2))
    behind = freedom.max((1, 2))
    factor = np.maximum(_over(found, scale, empty=1.0), 0.25)
    factor = (_PRIOR_RUNS + behind * factor) / (_PRIOR_RUNS + behind)
    spread = np.clip(factor[:, None, None] / (sizes[:, None] * own[:, None]), 1e-4, 0.5)
    return np.asarray(1 / (1 + (1 / spread - 1) * missing))


def _dirichlet(weights: Floats) -> Floats:
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
    drawn = np.exp(logs - logs.max(-1, keepdims=True))
    drawn /= drawn.sum(-1, keepdims=True)
    return np.asarray(drawn)


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
