"""Stores that were written when modules were called otherwise go on as they are."""

import pkgutil
from importlib import import_module
from pathlib import Path

import pytest
from moved_experiment import QUIET, learnt, played
from support import refused

import curvewise as cw
from curvewise import store
from curvewise.engine.former_names import MODULES, current
from curvewise.flow.plan import changed, outlook
from curvewise.flow.toml import imported
from curvewise_papers.tictactoe import TdLearner

KEPT = Path(__file__).parent / "assets" / "before_the_move.db"
MADE = {"learnt": (learnt, "1-NN"), "played": (played, "TD")}


@pytest.fixture
def older(tmp_path):
    """A copy of the store of an earlier version, with two of four trials."""
    path = tmp_path / "older.db"
    path.write_bytes(KEPT.read_bytes())
    return path


@pytest.fixture(params=MADE)
def made(request):
    if request.param == "played":
        pytest.importorskip("numba")
    return MADE[request.param]


def own(path, experiment):
    names = [task.name for task in experiment.tasks]
    return store.read(path).where(task=names)


def test_the_store_has_old_names():
    """Or the tests below would show nothing."""
    with store.open(KEPT, create=False) as opened:
        texts = "\n".join(opened.notes().values())
    for module in (
        *("curvewise.papers.hoiem2021.learners", "curvewise.papers.xue2025.moved"),
        "curvewise.zoo.tictactoe.learner",
    ):
        assert f"{module}." in texts
        assert f"{current(module)}." not in texts


def test_a_half_finished_store_resumes_to_the_same_table(older, made):
    make, _ = made
    first = own(older, make(4))
    assert len(first) == 2
    assert outlook(make(4), str(older)).trials == 2
    cw.run(make(4), store=older, **QUIET)
    whole = cw.run(make(4), **QUIET)
    assert own(older, make(4)).digest() == whole.digest()
    assert [trial in first for trial in whole] == [True, True, False, False]


def test_a_trial_of_it_replays_bit_for_bit(older, made):
    make, algorithm = made
    experiment = make(2)
    (task,) = experiment.tasks
    assert cw.replay(experiment, older, task.name, algorithm, 1).agrees
    with store.open(older, create=False) as opened:
        notes = opened.notes()
    assert changed(experiment, notes, task.name, algorithm) == []


@pytest.mark.parametrize(
    "other", [lambda: learnt(4, n_neighbors=3), lambda: played(4, rate=0.2)]
)
def test_a_change_is_still_refused(older, other):
    """The negative control: what moved has not become equal to what changed."""
    name = other().algorithms[0].name
    assert refused(cw.run, other(), store=older, **QUIET)[0] == f"algorithm {name}"


def test_what_is_new_beside_old_names_is_defined(older):
    both = learnt(2)
    more = cw.Algorithm("2-NN", {}, learnt(2, n_neighbors=2).algorithms[0].run)
    cw.run(
        cw.Experiment(both.tasks, [*both.algorithms, more], 2, seed=7),
        store=older,
        **QUIET,
    )
    other = cw.Algorithm("2-NN", {}, learnt(2, n_neighbors=5).algorithms[0].run)
    changed = cw.Experiment(both.tasks, [other], 2, seed=7)
    assert refused(cw.run, changed, store=older, **QUIET)[0] == "algorithm 2-NN"


def test_old_names_are_imported_from_where_they_are_now(tmp_path):
    old = "curvewise.zoo.tictactoe.learner:TdLearner"
    assert imported(old, tmp_path) is TdLearner


# --- the table ---------------------------------------------------------------------------


PAPERS = [old for old, new in MODULES.items() if new.startswith("curvewise_papers")]


@pytest.mark.parametrize("old", PAPERS)
def test_every_module_that_moved_is_where_the_table_says(old):
    if old.endswith("pendulum.environment"):
        pytest.importorskip("gymnasium")
    new = pkgutil.resolve_name(MODULES[old])
    assert current(MODULES[old]) == MODULES[old]
    with pytest.raises(ModuleNotFoundError):
        import_module(old)
    # An old name means nothing else today.
    parent, _, name = old.rpartition(".")
    if not old.startswith("curvewise."):
        assert getattr(pkgutil.resolve_name(current(parent)), name, new) is new
