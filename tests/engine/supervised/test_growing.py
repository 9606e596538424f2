import pickle

import numpy as np
import pytest

from curvewise.engine.recording import Record
from curvewise.engine.supervised.data import from_sets, split
from curvewise.engine.supervised.growing import growing
from curvewise.errors import CurvewiseError
from curvewise.metrics import accuracy, error


def rng(seed=0):
    return np.random.default_rng(seed)


def remember(params, X, y, rng):
    """A learner that knows what it has seen, and says the first label otherwise."""
    known = dict(zip(X.tolist(), y.tolist(), strict=True))
    return lambda X: np.array([known.get(x, y[0]) for x in X.tolist()])


def data(n=60, **options):
    y = np.array(["a", "b", "c"])[rng(5).integers(0, 3, n)]
    return split(np.arange(n), y, rng=rng(), **options)


def yielded(run, data, params=None, seed=0):
    return list(run(params or {}, data, rng(seed)))


def test_counts_are_those_of_the_test_set_at_every_size():
    given = data(sizes=[5, 10, 36])
    steps = yielded(growing(remember), given)
    assert [n for n, _ in steps] == [5, 10, 36]
    X, y = given.test
    for n, scores in steps:
        called = remember({}, *given.train(n), None)(X)
        counts = scores["counts"]
        for i, true in enumerate("abc"):
            for j, other in enumerate("abc"):
                assert counts[i, j] == ((y == true) & (called == other)).sum()
        assert (scores["correct"] == (called == y)).all()
        assert (scores["examples"] == given.test_ids).all()
        assert "trained_on" not in scores
        assert accuracy(counts) == pytest.approx((called == y).mean())


def test_classes_that_a_small_training_set_lacks_are_counted_all_the_same():
    given = from_sets(
        (np.arange(4), list("aabc")), (np.arange(4, 7), list("abc")), sizes=[1]
    )
    ((_, scores),) = yielded(growing(remember), given)
    assert scores["counts"].tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(("n", "held"), [(3, 1), (4, 1), (5, 1), (6, 2), (36, 12)])
def test_a_third_rounded_down_is_validated_on(n, held):
    given = data(sizes=[n])
    ((_, scores),) = yielded(growing(remember, validate="third"), given)
    assert scores["counts"].sum() == held
    assert scores["trained_on"] == n - held
    assert set(scores["examples"]) <= set(given.train(n)[0])


def test_which_third_it_is_is_drawn_at_random():
    given, run = data(sizes=[30]), growing(remember, validate="third")
    one, again, other = (
        yielded(run, given, seed=s)[0][1]["examples"] for s in (1, 1, 2)
    )
    assert set(one) == set(again) != set(other)


def test_cross_validation_asks_every_example_of_a_size_once_and_sums_counts():
    given = data(sizes=[10, 36])
    for n, scores in yielded(growing(remember, validate=5), given):
        assert scores["counts"].sum() == n
        assert sorted(scores["examples"]) == sorted(given.train(n)[0])
        assert scores["trained_on"] == pytest.approx(n * 4 / 5)
        assert scores["correct"].sum() == np.trace(scores["counts"])


def test_numbers_are_scored_by_rmse_and_r2():
    y = np.array([0.5, 1, 2, 4, 4, 8])
    given = from_sets((np.arange(6), y), (np.arange(6), y + 0.5))

    def same(params, X, y, rng):
        return lambda X: y[X]

    ((_, scores),) = yielded(growing(same), given)
    spread = ((y - y.mean()) ** 2).sum()
    assert scores == pytest.approx({"rmse": 0.5, "r2": 1 - 6 * 0.25 / spread})
    constant = from_sets((np.arange(2), [0.5, 1.0]), (np.arange(2), [3.5, 3.5]))
    (((_, hit),), ((_, missed),)) = (
        yielded(growing(lambda p, X, y, r, c=c: lambda X: X * 0 + c), constant)
        for c in (3.5, 3.0)
    )
    assert (hit["r2"], missed["r2"]) == (1.0, 0.0)


def test_answers_need_not_be_kept():
    ((_, scores),) = yielded(growing(remember, examples=False), data())
    assert set(scores) == {"counts"}


def test_more_sizes_change_nothing_at_the_first_ones():
    def random(params, X, y, rng):
        return lambda X: rng.choice(y, len(X))

    few, more = (
        yielded(growing(random, validate="third"), data(sizes=s))
        for s in ([10, 20], [10, 20, 30])
    )
    for (_, one), (_, other) in zip(few, more, strict=False):
        assert (one["counts"] == other["counts"]).all()
        assert (one["examples"] == other["examples"]).all()


@pytest.mark.parametrize("validate", ["test", "third", 3])
def test_what_happens_at_a_size_does_not_hang_on_the_other_sizes(validate):
    def random(params, X, y, rng):
        return lambda X: rng.choice(["a", "b", "c"], len(X))

    run = growing(random, validate=validate)
    alone, *others = (
        dict(yielded(run, data(400, sizes=sizes)))[40]
        for sizes in ([40], [40, 80], [20, 40, 80], [10, 20, 30, 40, 160])
    )
    for other in others:
        assert (alone["counts"] == other["counts"]).all()
        assert (alone["correct"] == other["correct"]).all()
        assert (alone["examples"] == other["examples"]).all()


def test_every_size_and_every_trial_has_a_stream_of_its_own():
    seen = []

    def draw(params, X, y, rng):
        seen.append(rng.random())
        return lambda X: np.full(len(X), "a")

    given = data(sizes=[5, 10, 36])
    for seed in (0, 1):
        yielded(growing(draw), given, seed=seed)
    for own in rng(0).spawn(2):  # as in a search, which hands out children
        list(growing(draw)({}, given, own))
    assert len(set(seen)) == len(seen) == 12
    again = np.random.Generator(np.random.Philox(3))
    list(growing(draw)({}, given, again))  # the kind of generator stays
    key = np.random.SeedSequence(3, spawn_key=(5,))
    assert seen[12] == np.random.Generator(np.random.Philox(key)).random()


@pytest.mark.parametrize("validate", ["test", "third", 3])
def test_the_engine_can_write_it_down(validate):
    record = Record(0)
    for item in yielded(growing(remember, validate=validate), data(sizes=[9, 36])):
        record.add(item)
    record.finish()
    assert record.status == "ok"
    assert len(record.counts) == 2
    assert 0 <= error(record.counts[-1]) <= 1


def test_it_travels_and_says_what_it_is():
    run = growing(remember, validate=3)
    assert pickle.loads(pickle.dumps(run)) == run
    assert "validate=3" in repr(run)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: growing("svm"), "fit is svm, which cannot be called"),
        (lambda: growing(remember, validate="half"), "validate is 'half'. Pass 'test'"),
        (lambda: growing(remember, validate=1), "validate is 1. Pass 'test', 'third'"),
        (lambda: growing(remember, validate=True), "validate is True"),
        (
            lambda: yielded(growing(remember), data(test=0)),
            "no test set. Hold examples out, or pass validate='third'",
        ),
        (
            lambda: yielded(growing(remember, validate="third"), data(sizes=[2])),
            "needs at least 3 examples, and a size is 2",
        ),
        (
            lambda: yielded(growing(lambda *_: lambda X: np.zeros((2, 2))), data()),
            r"predict answered with shape \(2, 2\) to 24 examples",
        ),
        (
            lambda: yielded(growing(lambda *_: lambda X: np.full(len(X), "z")), data()),
            "'z'.* was predicted, and the classes are",
        ),
    ],
)
def test_what_cannot_be_scored_says_why(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()
