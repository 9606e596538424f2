"""Several drivers share a plan on PostgreSQL: none is done twice, the dead are replaced."""

import pytest
from driver_to_kill import experiment
from killing import Driver
from postgres import postgres_url  # noqa: F401  a fixture

import curvewise as cw

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def undisturbed():
    return cw.run(experiment(), executor="serial", progress=False)


def test_two_drivers_do_each_trial_once(postgres_url, undisturbed):  # noqa: F811
    drivers = [Driver(postgres_url) for _ in range(2)]
    said = [d.process.communicate(timeout=120)[0].split("\n")[:-1] for d in drivers]
    assert [d.process.returncode for d in drivers] == [0, 0]
    assert all(said)  # both had something to do
    both = said[0] + said[1]
    assert len(both) == len(set(both)) == experiment().size
    assert cw.read(postgres_url) == undisturbed


def test_a_killed_driver_is_replaced_at_once(postgres_url, undisturbed):  # noqa: F811
    first, second = Driver(postgres_url), Driver(postgres_url)
    acknowledged = first.kill_after(20)
    rest = second.process.communicate(timeout=120)[0].split("\n")[:-1]
    assert second.process.returncode == 0
    done = {(t, a, int(n)) for t, a, n in map(str.split, rest)}
    assert done.isdisjoint(acknowledged)
    assert cw.read(postgres_url) == undisturbed


def test_a_changed_definition_is_refused_there_too(postgres_url):  # noqa: F811
    def run(params, data, rng):
        yield 0, {"accuracy": 0.5}

    def other(params, data, rng):
        yield 0, {"accuracy": 0.6}

    task = cw.Task("t", lambda rng: None)
    for function in (run, run):
        plan = cw.Experiment([task], [cw.Algorithm("a", {}, function)], 3, 1)
        trials = cw.run(plan, store=postgres_url, executor="serial", progress=False)
    assert len(trials) == 3
    plan = cw.Experiment([task], [cw.Algorithm("a", {}, other)], 3, 1)
    with pytest.raises(
        cw.CurvewiseError, match=r"\+    yield \(0, {'accuracy': 0.6}\)"
    ):
        cw.run(plan, store=postgres_url, executor="serial", progress=False)


def test_a_second_driver_with_another_definition_is_refused_before_any_result(
    postgres_url,  # noqa: F811
):
    """The first has nothing to show yet, and still its definition holds."""

    def run(params, data, rng):
        yield 0, {"accuracy": 0.5}

    def other(params, data, rng):
        yield 0, {"accuracy": 0.6}

    task = cw.Task("t", lambda rng: None)
    first, second = (
        cw.Experiment([task], [cw.Algorithm("a", {}, function)], 3, 1)
        for function in (run, other)
    )
    with cw.store.open(postgres_url) as store, store.driving():
        store.define(first.definition())
        with pytest.raises(
            cw.CurvewiseError, match="another algorithm of the same name"
        ):
            cw.run(second, store=postgres_url, executor="serial", progress=False)
        assert store.define(first.definition()) == first.definition()
    # It left without a result: now there is nothing to contradict.
    trials = cw.run(second, store=postgres_url, executor="serial", progress=False)
    assert set(trials.scores("accuracy")["a"]) == {0.6}
