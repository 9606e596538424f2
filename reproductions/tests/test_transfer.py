"""Networks that start from elsewhere: what is frozen, what is tuned, what it is worth."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from curvewise import CurvewiseError
from curvewise_papers.transfer import Network, Source, jittered, learnt, through


@pytest.fixture
def rings(tmp_path, monkeypatch):
    """Write a table of six rings around the origin, and return what is in it.

    What tells one pair of rings apart, the distance, tells all: to learn four of them
    first helps with the other two.
    """
    rng = np.random.default_rng(7)
    ring = np.arange(2400) % 6
    angle = rng.uniform(0, 2 * np.pi, 2400)
    radius = 1 + ring / 2 + 0.1 * rng.standard_normal(2400)
    table = {"x": radius * np.cos(angle), "y": radius * np.sin(angle), "target": ring}
    (tmp_path / "tabular").mkdir()
    parquet.write_table(pa.table(table), tmp_path / "tabular" / "rings.parquet")
    monkeypatch.setenv("CURVEWISE_DATA", str(tmp_path))
    learnt.cache_clear()
    yield np.column_stack([table["x"], table["y"]]), ring
    learnt.cache_clear()


SOURCE = Source("rings", (0, 2, 3, 5))
OTHERS = (1, 4)


def error(network, rings, n=60, seed=0):
    X, y = rings
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    here = np.flatnonzero(np.isin(y, OTHERS))
    train, test = here[:n], here[200:]
    predict = network({}, X[train], y[train], np.random.default_rng(seed))
    return float((predict(X[test]) != y[test]).mean())


def test_what_was_learnt_before_helps(rings):
    """Seeds are fixed: .005 and .42 with hidden layers frozen, .007 and .07 tuned."""
    before = error(Network((16,), SOURCE, is_tuned=False, passes=5), rings)
    never = error(Network((16,), is_tuned=False, passes=5), rings)
    assert before < 0.05 < 0.2 < never
    tuned = error(Network((16,), SOURCE, passes=5), rings)
    scratch = error(Network((16,), passes=5), rings)
    assert tuned < 0.04 < scratch


def test_the_same_seed_gives_the_same_network(rings):
    one = error(Network((8,), SOURCE, passes=1), rings)
    assert one == error(Network((8,), SOURCE, passes=1), rings)
    first = learnt(SOURCE, (8,))
    learnt.cache_clear()
    for old, new in zip(first, learnt(SOURCE, (8,)), strict=True):
        assert (old[0] == new[0]).all()


def test_tuning_does_not_change_what_was_learnt(rings):
    before = [weights.copy() for weights, _ in learnt(SOURCE, (8,))]
    error(Network((8,), SOURCE, passes=1), rings)
    after = [weights for weights, _ in learnt(SOURCE, (8,))]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


def test_layers_have_the_shapes_that_were_asked_for(rings):
    for by in ("labels", "inputs"):
        layers = learnt(Source("rings", (0, 1), by), (8, 4))
        assert [w.shape for w, _ in layers] == [(2, 8), (8, 4)]
        assert through(layers, np.zeros((3, 2))).shape == (3, 4)
    reduced = Source("rings", features=1)
    X, _ = reduced.examples()
    assert X.shape == (2400, 1)
    assert X.std() == pytest.approx(1)
    with pytest.raises(CurvewiseError, match="'inputs'"):
        learnt(Source("rings", (0, 1), "outputs"), (8,))


def test_copies_are_near_and_members_vote():
    rng = np.random.default_rng(0)
    X, y = jittered(np.zeros((500, 3)), np.arange(500) % 2, 3, 0.2, rng)
    assert X.shape == (2000, 3)
    assert (X[:500] == 0).all()
    assert X[500:].std() == pytest.approx(0.2, abs=0.01)  # 4500 numbers: 5 sigma
    assert y[500:1000].tolist() == y[:500].tolist()
    assert Network((64,), members=6).parameters == 6 * Network((64,)).parameters
    assert Network((64,)).parameters == 17 * 64 + 65 * 13


def test_several_members_and_copies_learn(rings):
    network = Network((16,), SOURCE, members=2, copies=1, passes=5)
    network.warm_up()
    assert error(network, rings) < 0.15
    sgd = Network((16,), SOURCE, solver="sgd", momentum=0.9, rate=0.05, passes=5)
    assert error(sgd, rings) < 0.05
