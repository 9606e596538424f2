"""Learners on nested blocks of normal data: confusion counts whose truth is known.

Two classes of ten features, N(0, I) and N(1/2, 2 I). A sample of 1280 is cut into
disjoint blocks of 40, 80, ... 1280; each block trains a learner on two thirds and
validates it on one. What is to be predicted are learners trained on whole blocks, on one
test set of 320. This is how Xue et al. (2025) judge curves, and stands in for their data
*simple*, which they do not define: lengths and coverage of their Table 3 come out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from curvewise.stats.confusion.data import CountTable, Examples

SIZES = np.array([40, 80, 160, 320, 640, 1280])
SAMPLE, TEST, FEATURES = 1280, 320, 10
SHIFT, SCALE = 0.5, 2.0
LEARNERS = ("LDA", "NB", "TREE")
# Recalls of class 0 and class 1 averaged over training sets of each size, by
# `fresh_recalls` with some thousand models: standard errors are below .001. With 10 % of
# positives, samples are stratified.
MEANS = {
    ("LDA", 0.5): (
        [0.7296, 0.7548, 0.7691, 0.7772, 0.7814, 0.7832],
        [0.6219, 0.6622, 0.6855, 0.6978, 0.7038, 0.7094],
    ),
    ("NB", 0.5): (
        [0.7483, 0.81, 0.8425, 0.8584, 0.8667, 0.8704],
        [0.7956, 0.8043, 0.8063, 0.807, 0.8065, 0.8077],
    ),
    ("TREE", 0.5): (
        [0.653, 0.672, 0.6881, 0.7008, 0.7102, 0.7198],
        [0.5992, 0.6344, 0.6558, 0.6775, 0.6928, 0.7063],
    ),
    ("LDA", 0.1): (
        [0.95, 0.9695, 0.9794, 0.9846, 0.987, 0.9883],
        [0.2645, 0.2735, 0.2833, 0.2907, 0.2952, 0.2985],
    ),
    ("NB", 0.1): (
        [0.9801, 0.9801, 0.9832, 0.9852, 0.9859, 0.9867],
        [0.1705, 0.345, 0.4433, 0.487, 0.506, 0.5142],
    ),
    ("TREE", 0.1): (
        [0.9282, 0.9313, 0.9318, 0.9327, 0.9338, 0.9347],
        [0.2495, 0.289, 0.33, 0.3618, 0.3829, 0.404],
    ),
}


@dataclass(frozen=True)
class Blocks:
    """What learners did, replication by replication.

    `right` and `asked`, shape (size, replication, example), are of validation;
    `counts` and `tests` hold one array (replication, block, class, class) for each size:
    of validation, and of learners of whole blocks on the test set.
    """

    truth: np.ndarray
    trained_on: np.ndarray
    right: np.ndarray
    asked: np.ndarray
    counts: list[np.ndarray]
    tests: list[np.ndarray]


def simulate(
    learner: str,
    replications: int,
    rng: np.random.Generator,
    *,
    positives: float = 0.5,
    is_stratified: bool = False,
    sizes: np.ndarray = SIZES,
) -> Blocks:
    """Return what a learner does on many samples; all of them at once.

    `is_stratified`: every block, every two thirds of it and the test set hold the
    classes in the same shares. Otherwise classes are drawn like features.
    """
    truth = _labels(replications, SAMPLE, positives, is_stratified, rng)
    x = _features(truth, rng)
    test_truth = _labels(replications, TEST, positives, is_stratified, rng)
    test_x = _features(test_truth, rng)
    learn = _by_tree if learner == "TREE" else _by_statistics(learner)
    right, asked, counts, tests, trained_on = [], [], [], [], []
    for size in sizes:
        shape = (replications, SAMPLE // size, size)
        y, own = truth.reshape(shape), x.reshape(*shape, FEATURES)
        is_train = _two_thirds(y, is_stratified, rng)
        said = learn(own, y, is_train, own, rng)
        is_asked = ~is_train
        right.append(((said == y) & is_asked).reshape(replications, SAMPLE))
        asked.append(is_asked.reshape(replications, SAMPLE))
        counts.append(_counted(y, said, is_asked))
        everyone = np.ones_like(is_train)
        at = np.broadcast_to(test_x[:, None], (*shape[:2], TEST, FEATURES))
        y_at = np.broadcast_to(test_truth[:, None], (*shape[:2], TEST))
        tests.append(_counted(y_at, learn(own, y, everyone, at, rng), y_at >= 0))
        trained_on.append(float(is_train[0, 0].sum()))
    return Blocks(
        truth,
        np.array(trained_on),
        np.array(right),
        np.array(asked),
        counts,
        tests,
    )


def together(parts: list[Blocks]) -> Blocks:
    """Return the replications of several simulations in one."""
    return Blocks(
        np.concatenate([p.truth for p in parts]),
        parts[0].trained_on,
        np.concatenate([p.right for p in parts], axis=1),
        np.concatenate([p.asked for p in parts], axis=1),
        [np.concatenate(c) for c in zip(*(p.counts for p in parts), strict=True)],
        [np.concatenate(c) for c in zip(*(p.tests for p in parts), strict=True)],
    )


def in_parts(learner: str, replications: int, seed: int, **how: object) -> Blocks:
    """Return as many replications as asked, some at a time to bound memory."""
    at_once = 100
    return together(
        [
            simulate(
                learner,
                min(at_once, replications - done),
                np.random.default_rng([seed, done]),
                **how,
            )
            for done in range(0, replications, at_once)
        ]
    )


def table_of(
    blocks: Blocks, left_out: int | None = None, has_examples: bool = True
) -> CountTable:
    """Return the validation counts of all replications, less those of one size."""
    kept = [k for k in range(len(blocks.counts)) if k != left_out]
    counts = [blocks.counts[k] for k in kept]
    replications = len(blocks.truth)
    between = [_between(own) for own in counts]
    totals = [own.sum(-1) for own in counts]
    examples: tuple[Examples | None, ...] = (None,) * replications
    if has_examples:
        examples = tuple(
            Examples(truth, right, asked)
            for truth, right, asked in zip(
                blocks.truth,
                blocks.right[kept].swapaxes(0, 1),
                blocks.asked[kept].swapaxes(0, 1),
                strict=True,
            )
        )
    return CountTable(
        np.broadcast_to(blocks.trained_on[kept], (replications, len(kept))).copy(),
        np.stack([own.sum(1) for own in counts], axis=1),
        np.broadcast_to(
            [float(own.shape[1]) for own in counts], (replications, len(kept))
        ),
        np.stack([spread for spread, _ in between], axis=1),
        np.stack([sampling for _, sampling in between], axis=1),
        np.array([_is_fixed([t[i] for t in totals]) for i in range(replications)]),
        examples,
    )


def fresh_recalls(
    learner: str,
    size: int,
    models: int,
    rng: np.random.Generator,
    *,
    positives: float = 0.5,
    is_stratified: bool = False,
    test: int = 2000,
) -> np.ndarray:
    """Return recalls of independent learners, shape (model, class).

    Each of a sample of its own, on `test` examples of its own, half of each class.
    """
    learn = _by_tree if learner == "TREE" else _by_statistics(learner)
    out = []
    for begin in range(0, models, 100):
        count = min(100, models - begin)
        y = _labels(count, size, positives, is_stratified, rng)[:, None]
        at_truth = np.broadcast_to(np.arange(test) % 2, (count, 1, test))
        x, at = _features(y, rng), _features(at_truth, rng)
        said = learn(x, y, np.ones(y.shape, dtype=bool), at, rng)
        is_right = said == at_truth
        out.append(np.stack([is_right[:, 0, c::2].mean(-1) for c in (0, 1)], axis=-1))
    return np.concatenate(out)


def observed(
    blocks: Blocks, size: int, metric: Callable[..., np.ndarray]
) -> np.ndarray:
    """Return the metric of learners of whole blocks, its mean over blocks."""
    return metric(blocks.tests[size]).mean(axis=1)


def mean_matrix(learner: str, size: int, positives: float = 0.5) -> np.ndarray:
    """Return the matrix averaged over training sets and all examples, summing to 1."""
    low, high = (rates[size] for rates in MEANS[learner, positives])
    share = np.array([1 - positives, positives])
    return share[:, None] * np.array([[low, 1 - low], [1 - high, high]])


def _labels(count, size, positives, is_stratified, rng) -> np.ndarray:
    if not is_stratified:
        return (rng.random((count, size)) < positives).astype(np.int64)
    unit = SIZES[0]  # classes alike in every smallest block, so in every block
    one = (np.arange(unit) < round(positives * unit)).astype(np.int64)
    return np.broadcast_to(np.tile(one, size // unit), (count, size)).copy()


def _features(truth, rng) -> np.ndarray:
    z = rng.normal(size=(*truth.shape, FEATURES))
    scale = np.where(truth == 1, np.sqrt(SCALE), 1.0)[..., None]
    return z * scale + SHIFT * truth[..., None]


def _two_thirds(y, is_stratified, rng) -> np.ndarray:
    """Return which examples of each block are trained on."""
    key = rng.random(y.shape)
    if is_stratified:
        key += y  # class 0 first
        order = np.argsort(np.argsort(key, axis=-1), axis=-1)
        low = y.shape[-1] - y[0, 0].sum()
        high = y[0, 0].sum()
        is_low = order < round(2 * low / 3)
        return is_low | ((order >= low) & (order < low + round(2 * high / 3)))
    order = np.argsort(np.argsort(key, axis=-1), axis=-1)
    return order < round(2 * y.shape[-1] / 3)


def _counted(truth, said, is_asked) -> np.ndarray:
    """Return confusion counts over the last axis."""
    cell = 2 * truth + said
    cells = [((cell == j) & is_asked).sum(-1) for j in range(4)]
    return np.stack(cells, axis=-1).reshape(*truth.shape[:-1], 2, 2).astype(float)


def _by_statistics(learner):
    """Return linear discriminants or naive Bayes, from sums over classes."""

    def learn(x, y, is_train, at, rng):
        w = np.stack([is_train & (y == 0), is_train & (y == 1)], axis=-2).astype(float)
        n = w.sum(-1)
        safe = np.maximum(n, 1)
        mean = w @ x / safe[..., None]
        prior = np.log(safe[..., 1] / safe[..., 0])
        if learner == "LDA":
            used = x * is_train[..., None]
            inside = used.swapaxes(-1, -2) @ x
            inside -= np.einsum("...c,...ci,...cj->...ij", n, mean, mean)
            inside /= (n.sum(-1) - 2)[..., None, None]
            apart = mean[..., 1, :] - mean[..., 0, :]
            slope = np.linalg.solve(inside, apart[..., None])
            middle = mean.sum(-2)[..., None, :] / 2
            score = ((at - middle) @ slope)[..., 0] + prior[..., None]
            fewest = 1
        else:
            var = w @ (x**2) / safe[..., None] - mean**2
            var = np.maximum(var, 1e-9)
            score = np.broadcast_to(prior[..., None], at.shape[:-1]).copy()
            for c, sign in ((0, -1), (1, 1)):
                # -((x - m)^2 / v) / 2 expanded: three products instead of a big array
                inverse = 1 / var[..., c, :]
                tilted = (inverse * mean[..., c, :])[..., None]
                squares = (at**2 @ inverse[..., None] - 2 * at @ tilted)[..., 0]
                level = (inverse * mean[..., c, :] ** 2 + np.log(var[..., c, :])).sum(
                    -1
                )
                score -= sign / 2 * (squares + level[..., None])
            fewest = 2
        is_one_sided = n.min(-1) < fewest
        score = np.where(
            is_one_sided[..., None], (n[..., 1] - n[..., 0] - 0.5)[..., None], score
        )
        return (score > 0).astype(np.int64)

    return learn


def _by_tree(x, y, is_train, at, rng) -> np.ndarray:
    from sklearn import config_context
    from sklearn.tree import DecisionTreeClassifier

    said = np.empty(at.shape[:-1], dtype=np.int64)
    seeds = rng.integers(2**31, size=x.shape[:2])
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for i, j in np.ndindex(*x.shape[:2]):
            own = is_train[i, j]
            tree = DecisionTreeClassifier(random_state=int(seeds[i, j]))
            tree.fit(x[i, j][own], y[i, j][own])
            said[i, j] = tree.predict(at[i, j])
    return said


def _between(own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what a table keeps of the spread between runs, for all replications."""
    runs = own.shape[1]
    total = own.sum(-1)
    is_known = (total > 0).all((1, 2)) & (runs > 1)
    some = np.maximum(total, 1)
    recall = np.diagonal(own, axis1=-2, axis2=-1) / some
    away = recall - recall.mean(1, keepdims=True)
    spread = np.einsum("rfc,rfd->rcd", away, away) / max(runs - 1, 1)
    pooled = np.diagonal(own.sum(1), axis1=-2, axis2=-1) / np.maximum(total.sum(1), 1)
    sampling = pooled * (1 - pooled) * (1 / some).mean(1)
    spread[~is_known], sampling[~is_known] = np.nan, np.nan
    return spread, sampling


def _is_fixed(totals: list[np.ndarray]) -> bool:
    every = np.concatenate(totals)
    share = every.sum(0) / every.sum()
    return bool((np.abs(every - share * every.sum(-1, keepdims=True)) <= 1.0).all())
