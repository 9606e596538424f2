"""Two definitions of one thing are not mixed in one table."""

import pytest

import curvewise
from curvewise import Algorithm, CurvewiseError, Experiment, Task, store
from curvewise.flow.plan import refuse_changes

KNOWN = {
    "streams": "seed: 1\nvary: params",
    "task moons": "def sample(rng):\n    return rng.random()",
    "algorithm svm": "C: one of 1, 2\ndef run(params):\n    a\n    b\n    c\n    d",
}


def refused(now, known=KNOWN):
    with pytest.raises(CurvewiseError) as caught:
        refuse_changes(known, now, "runs.db")
    return str(caught.value)


# --- texts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "now",
    [KNOWN, {}, KNOWN | {"algorithm new": "x"}, {"task moons": KNOWN["task moons"]}],
)
def test_what_is_the_same_or_new_or_left_out_is_fine(now):
    refuse_changes(KNOWN, now, "runs.db")


def test_a_change_is_refused_with_the_difference_and_what_to_do():
    changed = KNOWN["algorithm svm"].replace("    c", "    C")
    assert refused(KNOWN | {"algorithm svm": changed}) == (
        "runs.db has trials of another algorithm of the same name. What changed:\n"
        "  --- algorithm svm, in the store\n"
        "  +++ algorithm svm, now\n"
        "  @@ -4,3 +4,3 @@\n"
        "       b\n"
        "  -    c\n"
        "  +    C\n"
        "       d\n"
        "Take the change back, give it another name, or use another store: two "
        "definitions in one table are not one distribution."
    )


def test_every_change_is_shown():
    text = refused(KNOWN | {"streams": "seed: 2\nvary: params", "task moons": "x"})
    assert "  -seed: 1\n  +seed: 2\n" in text
    assert "task moons, now" in text
    assert "algorithm svm" not in text


# --- runs ----------------------------------------------------------------------------


def train(params, data, rng):
    yield 0, {"accuracy": data}


def train_otherwise(params, data, rng):
    yield 0, {"accuracy": 1 - data}


def sample(rng):
    return rng.random()


def sample_otherwise(rng):
    return rng.random() ** 2


def plan(run=train, draw=sample, space=None, trials=5, seed=1, **options):
    algorithm = Algorithm("svm", {"C": [1, 2]} if space is None else space, run)
    return Experiment(Task("moons", draw), algorithm, trials, seed, **options)


def ran(experiment, path):
    return curvewise.run(experiment, store=path, executor="serial", progress=False)


@pytest.fixture
def filled(tmp_path):
    path = tmp_path / "runs.db"
    ran(plan(), path)
    return path


@pytest.mark.parametrize(
    ("change", "what", "line"),
    [
        (
            {"run": train_otherwise},
            "algorithm svm",
            "+    yield (0, {'accuracy': 1 - data})",
        ),
        ({"draw": sample_otherwise}, "task moons", "+    return rng.random() ** 2"),
        ({"space": {"C": [1, 3]}}, "algorithm svm", "+C: one of 1, 3"),
        ({"seed": 2}, "streams", "+seed: 2"),
        ({"vary": ["params"]}, "streams", "+vary: params"),
    ],
    ids=["run", "sample", "space", "seed", "vary"],
)
def test_a_run_into_a_store_of_something_else_is_refused(filled, change, what, line):
    before = store.read(filled)
    with pytest.raises(CurvewiseError) as caught:
        ran(plan(**change, trials=9), filled)
    assert caught.value.argument == what
    assert f"\n  {line}\n" in str(caught.value)
    assert store.read(filled) == before


@pytest.mark.parametrize("change", [{}, {"trials": 9}, {"trials": 2}], ids=str)
def test_a_run_into_its_own_store_is_not(filled, change):
    ran(plan(**change), filled)


def test_under_another_name_it_is_another_algorithm(filled):
    algorithms = [plan().algorithm("svm"), Algorithm("other", {}, train_otherwise)]
    ran(Experiment(Task("moons", sample), algorithms, 5, 1), filled)
    assert store.read(filled).algorithms == ("svm", "other")


def test_a_crossed_design_may_grow(tmp_path):
    path = tmp_path / "runs.db"
    draw = {"draw": lambda train_rng, test_rng: 0.5}
    ran(plan(trials=None, cross={"params": 2, "seed": 3}, **draw), path)
    ran(plan(trials=None, cross={"params": 4, "seed": 3}, **draw), path)
    assert len(store.read(path)) == 12
    with pytest.raises(CurvewiseError, match="another seed") as caught:
        ran(plan(trials=None, cross={"params": 4, "seed": 4}, **draw), path)
    assert "-cross: params x {'seed': 3}" in str(caught.value)


def test_what_came_with_a_refused_change_is_not_kept(filled):
    """The new algorithm has no trials; it can still be put right."""
    both = [
        Algorithm("svm", {"C": [1, 2]}, train_otherwise),
        Algorithm("new", {}, train),
    ]
    with pytest.raises(CurvewiseError, match="another algorithm"):
        ran(Experiment(Task("moons", sample), both, 5, 1), filled)
    better = [plan().algorithm("svm"), Algorithm("new", {}, train_otherwise)]
    ran(Experiment(Task("moons", sample), better, 5, 1), filled)


def test_what_has_no_trials_yet_may_change(tmp_path):
    """The message says that there are trials of another: there are none."""
    path = tmp_path / "runs.db"
    with store.open(path) as held:
        held.define(plan().definition())  # as a run that was stopped at once
    ran(plan(run=train_otherwise), path)
