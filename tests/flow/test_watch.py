"""The watcher: piece by piece it knows what one would who reads everything."""

import hashlib
import itertools
import json
import math

import numpy as np
import pytest
from postgres import GUARDED, new_url
from support import refused

import curvewise as cw
from curvewise import Algorithm, CurvewiseError, Experiment, Task, Trial, Trials, store
from curvewise.flow import watch
from curvewise.flow.progress import Pace
from curvewise.flow.until import until
from curvewise.flow.watch import forecast, reader
from curvewise.flow.watch import reader as sources
from curvewise.flow.watch.table import GRID, MOST_MESSAGES, TRIAL
from curvewise.flow.watch.watcher import question_of, state_of
from curvewise.stats.bands import cdf_band, half_width
from curvewise.trials import STATUSES

TASK = Task("t", lambda rng: rng.random())


_open = []


class Watcher(watch.Watcher):
    """A watcher that is closed when its test has ended."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        _open.append(self)


@pytest.fixture(autouse=True)
def _closed():
    yield
    while _open:
        _open.pop().close()


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    """Give a clock that goes when it is told to."""
    return Clock()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.service)])
def where(request, tmp_path):
    """Return a place where no store is yet."""
    return str(tmp_path / "runs.db") if request.param == "sqlite" else new_url()


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "runs.db")


def some(numbers, algorithm="a", task="t", score=0.5, **fields):
    return Trials(
        Trial(task, algorithm, n, {"accuracy": score}, **fields) for n in numbers
    )


def random_trials(n, seed=0):
    """Return trials of all kinds: curves, gaps, failures, several tasks and algorithms."""
    rng = np.random.default_rng(seed)
    trials = []
    for i in range(n):
        length = int(rng.integers(1, 4))
        values = rng.random(length).tolist()
        status = str(rng.choice(STATUSES, p=[0.8, 0.1, 0.04, 0.04, 0.02]))
        if rng.random() < 0.1:
            values[int(rng.integers(length))] = None if length > 1 else math.nan
        trials.append(
            Trial(
                f"t{i % 3}",
                f"a{i % 2}",
                i,
                {"accuracy": values} if length > 1 or status == "ok" else {},
                steps=range(1, length + 1) if length > 1 or status == "ok" else None,
                status=status,
                seconds=float(rng.choice([math.nan, rng.exponential()])),
                error="" if status == "ok" else f"Error {rng.integers(3)}\nmore",
            )
        )
    return trials


def watched(where, **options):
    """Return a watcher that has read all that there is."""
    watcher = Watcher(where, **options)
    for _ in range(100):
        if not watcher.look().ahead and not watcher._reader.is_busy:
            return watcher
    raise AssertionError


# --- piece by piece ----------------------------------------------------------------------


def shown(watcher):
    """Return all that a watcher says, but for times."""
    moment = watcher.moment()
    views = [watcher.view(task.name) for task in moment.tasks]
    return (
        (moment.done, moment.failed, moment.states, set(moment.mishaps)),
        [
            (view.task, view.notes, [(c.states, c.algorithm) for c in view.cells])
            for view in views
        ],
        [
            (c.algorithm, c.trials, c.failed, c.y.tolist(), c.lower.tolist())
            for view in views
            for c in view.curves
        ],
    )


@pytest.mark.parametrize("at", ["last", "mean", "best", 2.0])
def test_increments_are_the_whole(where, at):
    """Whatever comes in whichever pieces: scores, states, times and errors are equal."""
    trials = random_trials(300)
    with store.open(where) as s:
        watcher = Watcher(where, at=at)
        for start in range(0, 300, 37):
            s.write(Trials(trials[start : start + 37]))
            watcher.look()
        found = s.read()
        tally = s.tally()
    assert shown(watcher) == shown(watched(where, at=at))
    moment = watcher.moment()
    assert [task.name for task in moment.tasks] == list(found.tasks)
    assert set(moment.mishaps) == set(tally.mishaps)
    for task in found.tasks:
        scores = found.where(task=task).scores("accuracy", at=at, failed="worst")
        view = watcher.view(task)
        assert [curve.algorithm for curve in view.curves] == list(scores)
        for cell in view.cells:
            ended = tally.cells[task, cell.algorithm]
            assert cell.states.items() <= ended.states.items()
            assert cell.done == sum(ended.states.values())
            assert cell.mean == pytest.approx(ended.mean, rel=1e-6)
        for curve in view.curves:
            own = np.sort(scores[curve.algorithm])
            assert curve.trials == len(own)
            # The scores themselves, by their quantiles at all steps of the ECDF.
            assert set(curve.y.tolist()) <= set(own.tolist())
            band = cdf_band(own, kind="anytime", support=(0, 1))
            lower, upper = band.quantile(GRID)
            assert curve.lower.tolist() == lower.tolist()
            assert curve.upper.tolist() == upper.tolist()
            assert curve.half_width == band.half_width


def test_a_look_costs_what_is_new(where, monkeypatch):
    """Of what was seen, nothing is read again."""
    asked = []
    with store.open(where) as s:
        kind = type(s)
    usual = kind.news

    def counted(self, after=0, **options):
        found = usual(self, after, **options)
        asked.append((after, len(found)))
        return found

    monkeypatch.setattr(kind, "news", counted)
    store.write(some(range(5000)), where)
    watcher = watched(where)
    asked.clear()
    store.write(some([5000, 5001]), where)
    assert watcher.look().done == 5002
    assert asked == [(5000, 2)]


def test_a_large_store_is_read_in_short_stretches(path, monkeypatch):
    """A snapshot of seconds would keep a writer from emptying its log."""
    monkeypatch.setattr(reader, "_LONG", 0.0)
    monkeypatch.setattr(reader, "_SHORT", 0.0)
    monkeypatch.setattr(reader, "_SMALLEST", 100)
    store.write(some(range(3000)), path)
    watcher = Watcher(path)
    seen = [watcher.look() for _ in range(6)]
    assert seen[0].state == "reading"
    assert 0 < seen[0].done < 3000
    assert seen[0].done + seen[0].ahead == 3000
    assert [one.done for one in seen] == sorted(one.done for one in seen)
    watcher._took = 0.25
    assert watcher.pause() == 0.25  # while there is much to read, half of the time
    while watcher.look().ahead:
        pass
    assert watcher.moment().done == 3000
    watcher._took = 0.25
    assert watcher.pause() == 5.0  # then a twentieth,
    watcher._took = 0.0
    assert watcher.pause() == 1.0  # and once a second at most


def test_a_trial_takes_34_bytes():
    """A million of them fit anywhere."""
    assert TRIAL.itemsize == 34


# --- what is replaced --------------------------------------------------------------------


def test_what_is_run_again_is_seen_at_once(where):
    """Commits that bring nothing new have replaced something."""
    bad = some(range(20), status="failed", error="ValueError: diverged")
    store.write(bad, where)
    watcher = watched(where)
    before = watcher.moment()
    assert (before.failed, before.mishaps[0].count) == (20, 20)
    store.write(some(range(15), score=0.75), where)
    after = watched_on(watcher)
    assert (after.done, after.failed, after.mishaps[0].count) == (20, 5, 5)
    assert after.mishaps[0].number == 15  # the first that still failed
    assert shown(watcher) == shown(watched(where))


def watched_on(watcher):
    for _ in range(20):
        moment = watcher.look()
        if not watcher._reader.is_busy:
            return moment
    raise AssertionError


def test_what_is_replaced_beside_something_new_is_seen_later(where, clock):
    """One commit with both hides the first, until the next search."""
    store.write(some(range(10), status="failed", error="bad"), where)
    watcher = Watcher(where, clock=clock)
    assert watcher.look().failed == 10
    clock.now += 1
    with store.open(where) as s:
        s.write(some([3], score=1.0))
    assert watcher.look().failed == 9  # by itself, it is seen
    with store.open(where) as s:
        s.write(some([4, 10], score=1.0))
    clock.now += 1
    assert (watcher.look().done, watcher.moment().failed) == (11, 9)
    clock.now += 301
    assert watcher.look().failed == 8
    assert shown(watcher) == shown(watched(where))


def test_a_search_goes_on_where_it_stopped(path, monkeypatch):
    """A store of any size is searched a little at each look."""
    store.write(some(range(5000), status="failed"), path)
    watcher = watched(path)
    monkeypatch.setattr(reader, "_SHORT", 0.0)
    watcher._reader._stretch = reader._SMALLEST
    store.write(some([1, 4999], score=1.0), path)
    left = [watcher.look().failed for _ in range(5)]
    assert left[0] == 4999
    assert left[-1] == 4998


def test_a_store_that_is_begun_anew_is_watched_anew(where):
    store.write(some(range(50)), where)
    watcher = watched(where)
    if "://" in where:
        with store.open(where) as s:
            s._db.execute(f"DROP SCHEMA {s._db.place} CASCADE")
        assert "does not exist" in watcher.look().trouble
        store.write(some(range(7), algorithm="b"), where)
    else:
        (sources.Path(where)).unlink()
        assert watcher.look().state == "waiting"
        store.write(some(range(70), algorithm="b"), where)  # more than there were
    assert watcher.look().done in (7, 70)
    assert [c.algorithm for c in watcher.view("t").curves] == ["b"]


# --- beside a writer ---------------------------------------------------------------------


def digest(path):
    return hashlib.sha256(sources.Path(path).read_bytes()).hexdigest()


def test_nothing_is_written(path):
    store.write(random_store := Trials(random_trials(200)), path)
    folder = sources.Path(path).parent
    before = digest(path), sorted(p.name for p in folder.iterdir())
    watcher = watched(path)
    for task in random_store.tasks:
        watcher.view(task)
    watcher.close()
    assert (digest(path), sorted(p.name for p in folder.iterdir())) == before


def test_a_file_that_nobody_has_open_is_left_alone(path, monkeypatch):
    """A finished run may be watched for days."""
    store.write(some(range(10)), path)
    watcher = watched(path)
    opened = []
    usual = store.open
    monkeypatch.setattr(
        sources.stores, "open", lambda *a, **o: opened.append(a) or usual(*a, **o)
    )
    for _ in range(5):
        assert watcher.look().done == 10
    assert not opened
    store.write(some([10]), path)
    opened.clear()
    assert watcher.look().done == 11
    assert len(opened) == 1


def test_a_run_that_is_over_before_notes_are_due_is_known_to_its_end(path, clock):
    """Notes are read every few seconds; the file rests from then on."""
    run(path, experiment(5))
    watcher = Watcher(path, clock=clock)
    assert watcher.look().planned == 10
    run(path, experiment(15))
    for seconds in (1, 1, 10):  # not due, not due, and nothing has changed since
        clock.now += seconds
        moment = watcher.look()
    assert (moment.done, moment.planned) == (30, 30)


def test_the_last_trials_of_a_run_are_in_its_file(path):
    """Who copies the file without its log must not lose what a watcher kept in it."""
    watcher = Watcher(path)
    with store.open(path) as s:
        s.write(some(range(100)))
        assert watcher.look().done == 100
    watcher.look()
    assert not sources.Path(f"{path}-wal").exists()
    copy = sources.Path(path).with_name("copy.db")
    copy.write_bytes(sources.Path(path).read_bytes())
    assert len(store.read(copy)) == 100


def test_a_store_that_is_not_there_is_waited_for(path):
    watcher = Watcher(path)
    moment = watcher.look()
    assert (moment.state, moment.done, moment.trouble) == ("waiting", 0, "")
    assert moment.headline() == "waiting for runs.db to appear"
    sources.Path(path).touch()  # a run is just about to make it
    assert watcher.look().state == "waiting"
    sources.Path(path).unlink()
    store.write(some(range(3)), path)
    assert watcher.look().done == 3


def test_what_is_no_store_is_told(tmp_path):
    """In words, without the folders that it is in."""
    (tmp_path / "notes.txt").write_text("hello")
    watcher = Watcher(str(tmp_path / "notes.txt"))
    with pytest.raises(CurvewiseError, match="not a SQLite file"):
        watcher.read()
    trouble = watcher.look().trouble
    assert trouble.startswith("notes.txt is no store")
    assert str(tmp_path) not in trouble


@pytest.mark.service
def test_no_password_is_shown():
    url = new_url()
    store.write(some([0]), url)
    named = url.replace("postgres:@", f"postgres:{GUARDED.replace(' ', '')}@")
    assert named != url
    assert "sesame" not in json.dumps(Watcher(named).look().to_dict())
    assert "schema=" in Watcher(named).look().store


# --- how fast, how long ------------------------------------------------------------------


def planned(path, trials=100, cells=(("t", "a"),), **notes):
    """Give a store a plan, as a run does."""
    plan = [[*cell, trials] for cell in cells]
    with store.open(path) as s:
        s.note({"plan": json.dumps(plan)} | notes)


def test_a_rate_is_of_what_came_while_somebody_watched(path, clock):
    planned(path, 1000)
    store.write(some(range(500)), path)
    watcher = Watcher(path, clock=clock)
    first = watcher.look()
    assert (first.done, first.planned, first.rate) == (500, 1000, None)
    for second in range(4):
        clock.now += 1
        store.write(some(range(500 + 10 * second, 510 + 10 * second)), path)
        moment = watcher.look()
    assert moment.rate == pytest.approx(10)
    assert moment.seconds_left == pytest.approx(46)
    assert moment.left_words() == "about 46 s"
    clock.now += 8
    assert watcher.look().rate == pytest.approx(40 / 12)  # it falls while nothing comes


def test_after_a_pause_a_rate_is_measured_anew(clock):
    pace = Pace(clock=clock)
    for _ in range(60):
        clock.now += 1
        pace.note(10, may_pause=True)
    clock.now += 3600  # the run was stopped, and went on
    for _ in range(4):
        clock.now += 1
        pace.note(2, may_pause=True)
    assert pace.rate == pytest.approx(2)


def test_trials_that_take_ten_minutes_have_a_rate(clock):
    """A long time between two trials is no pause if it is always so long."""
    pace = Pace(clock=clock)
    for _ in range(4):
        clock.now += 600
        pace.note(1, may_pause=True)
    assert pace.rate == pytest.approx(1 / 600)
    assert pace.is_fresh
    clock.now += 3000
    assert not pace.is_fresh


def test_nobody_says_how_long_it_takes_before_it_is_known(clock):
    pace = Pace(clock=clock)
    assert (pace.batches, pace.seconds_for(10)) == (0, None)
    clock.now += 0.5
    pace.note(1, may_pause=True)
    assert pace.seconds_for(10) is None


@pytest.mark.parametrize(
    ("facts", "state"),
    [
        ({"is_there": False}, "waiting"),
        ({"is_reading": True, "is_driven": True}, "reading"),
        ({"is_driven": True, "is_recent": True}, "running"),
        ({"is_driven": True}, "quiet"),
        ({"is_driven": None, "has_plan": True}, "quiet"),
        ({"is_driven": False, "is_recent": True}, "running"),  # a writer of one's own
        ({"is_driven": False, "has_plan": True}, "stopped"),
        ({"is_driven": False}, "idle"),
        ({"is_driven": False, "has_plan": True, "is_complete": True}, "ended"),
        ({"is_driven": None, "has_plan": True, "is_complete": True}, "ended"),
        # What failed is run again: all are there, and a run is at it.
        ({"is_driven": True, "has_plan": True, "is_complete": True}, "quiet"),
    ],
)
def test_what_is_going_on(facts, state):
    usual = dict.fromkeys(
        ("is_reading", "is_recent", "has_plan", "is_complete"), False
    ) | {"is_there": True, "is_driven": False}
    assert state_of(**(usual | facts)) == state


# --- a real run --------------------------------------------------------------------------


def scoring(law):
    def run(params, data, rng):
        yield 0, {"accuracy": float(law(rng))}

    return run


def experiment(trials=200):
    good = Algorithm("good", {}, scoring(lambda rng: rng.beta(30, 4)))
    bad = Algorithm("bad", {}, scoring(lambda rng: rng.beta(8, 2)))
    return Experiment(TASK, [good, bad], trials, seed=3)


def run(where, plan=None, **options):
    usual = {"executor": "serial", "progress": False, "store": where}
    return cw.run(plan or experiment(), **(usual | options))


def test_a_run_is_seen_to_begin_and_to_end(where):
    watcher = Watcher(where)
    states = [watcher.look().state]

    def peek(trials):
        states.append(watcher.look().state)
        return False

    run(where, until=peek)
    last = watcher.look()
    assert states == ["waiting", *["running"] * 5]
    assert watcher.look().seconds_left is None
    assert (last.state, last.done, last.planned) == ("ended", 400, 400)
    assert last.left_words() == "nothing"


def test_a_run_that_has_reached_what_was_asked_is_told(path):
    run(path, until="mean +- 0.1")
    last = watched(path).moment()
    assert last.state == "ended"
    assert last.done < last.planned
    assert last.state_words() == "ended: what was asked is known"
    store.write(some([150], algorithm="good"), path)  # somebody has run more since
    assert watched(path).moment().reached == ""


def test_a_run_that_was_stopped_is_told(path):
    planned(path, 100)
    store.write(some(range(40)), path)
    moment = watched(path).moment()
    assert (moment.state, moment.headline()) == ("stopped", "40 of 100 trials")


# --- which score -------------------------------------------------------------------------


def test_failed_trials_score_the_worst_and_that_is_said(path):
    store.write(some(range(9)), path)
    store.write(some([9], status="failed"), path)
    view = watched(path).view("t")
    assert view.curves[0].y[0] == 0.0
    assert (view.curves[0].trials, view.curves[0].failed) == (10, 1)
    assert "counted as 0." in view.notes[0]
    scored = watched(path, failed=0.25).view("t")
    assert scored.curves[0].y[0] == 0.25
    assert "counted as 0.25" in scored.notes[0]


def losses(n, **fields):
    return Trials(Trial("t", "a", i, {"loss": i / 10}, **fields) for i in range(n))


def test_where_there_is_no_worst_score_failures_are_left_out_and_that_is_said(path):
    store.write(losses(10), path)
    store.write(some([10, 11], status="failed"), path)
    store.write(some([0], algorithm="b", status="crashed"), path)
    view = watched(path).view("t")
    assert [c.algorithm for c in view.curves] == ["a"]
    assert (view.curves[0].trials, view.curves[0].left_out) == (10, 2)
    assert "3 failed trials left out" in view.notes[0]
    told = watched(path, failed=5.0).view("t")
    assert [c.failed for c in told.curves] == [2, 1]
    assert "left out" not in " ".join(told.notes)


def test_the_metric_is_what_was_asked_or_the_first(path):
    trials = [Trial("t", "a", i, {"loss": 2.0, "accuracy": 0.5}) for i in range(3)]
    store.write(Trials(trials), path)
    assert watched(path).view("t").metric.name == "loss"
    assert watched(path, metric="accuracy").view("t").metric.name == "accuracy"
    asked = Watcher(path, asked="mean +- 0.1 of accuracy at best")
    asked.look()
    assert (asked.view("t").metric.name, asked.view("t").at) == ("accuracy", "best")


def test_a_metric_that_is_not_there_is_refused(path):
    store.write(some(range(3)), path)
    watcher = watched(path, metric="acuracy")
    assert watcher.view("t").metric is None
    assert "'acuracy'" in watcher.view("t").notes[0]
    assert refused(watcher.refuse_unknown_metric) == ("metric", "acuracy")


def test_confusion_counts_tell_a_score(where):
    """Where nothing else was recorded, as with other answers."""
    counts = [Trial("t", "a", i, counts=[[5 + i, 1], [2, 3]]) for i in range(4)]
    store.write(Trials(counts), where)
    watcher = watched(where, metric="f1")
    store.write(Trials([Trial("t", "a", 9, counts=[[1, 1], [2, 3]])]), where)
    watcher.look()
    expected = np.sort(store.read(where).scores("f1")["a"])
    (curve,) = watcher.view("t").curves
    assert curve.trials == 5
    assert set(curve.y.tolist()) == set(expected.tolist())
    assert watched(where).view("t").metric.name == "accuracy"


def sized(n=6):
    return Trials(
        Trial("t", "a", i, {"error": 1 / (1 + i)}, steps=[100 if i % 2 else 200])
        for i in range(n)
    )


def test_trials_at_different_sizes_are_not_one_distribution(path):
    store.write(sized(), path)
    view = watched(path).view("t")
    assert view.curves == ()
    assert "Choose a size with --at SIZE" in view.notes[0]
    (curve,) = watched(path, at=100.0).view("t").curves
    assert curve.trials == 3
    assert curve.failed == 0


def test_scores_outside_of_their_range_are_told(path):
    store.write(some(range(3), score=50.0), path)
    view = watched(path).view("t")
    assert view.curves == ()
    assert "outside its range" in view.notes[0]


def test_an_unknown_task_is_refused(path):
    store.write(some(range(3), task="Hopper"), path)
    assert refused(watched(path).view, "Hoper") == ("task", "Hoper")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at": "first"}, "at is 'first'. Pass 'last', 'mean', 'best' or a step."),
        ({"failed": "raise"}, "failed is 'raise'. Pass 'worst' or a number."),
        ({"asked": "median"}, "it begins with 'median'"),
    ],
)
def test_what_cannot_be_asked_is_refused(path, options, words):
    with pytest.raises(CurvewiseError) as problem:
        Watcher(path, **options)
    assert words in str(problem.value)


def test_a_thousand_messages_are_told_apart_and_no_more(path):
    """What fails with a number of its own each time does not fill the memory."""
    bad = [
        Trial("t", "a", i, status="failed", error=f"Error {i}")
        for i in range(MOST_MESSAGES + 50)
    ]
    often = [Trial("t", "b", i, status="failed", error="Often\nhere") for i in range(9)]
    store.write(Trials([*often, *bad]), path)
    moment = watched(path).moment()
    assert (moment.mishaps[0].message, moment.mishaps[0].count) == ("Often", 9)
    assert len(moment.mishaps) == 8
    told = sum(mishap.count for mishap in moment.mishaps)
    assert told + moment.other_mishaps == moment.failed == MOST_MESSAGES + 59


# --- when it will be known ---------------------------------------------------------------


def test_what_a_run_is_to_find_out_is_noted_when_it_begins(path):
    seen = []

    def peek(trials):
        with store.open(path, create=False) as s:
            seen.append(question_of(s.notes(), None))
        return False

    run(path, until=peek)
    assert seen[0].text == "peek"
    assert (seen[0].until, seen[0].planned) == (None, 200)
    run(path, until="mean +- 0.1")
    with store.open(path, create=False) as s:
        found = question_of(s.notes(), None)
    assert found.until == until("mean +- 0.1")
    assert found.cells == (("t", "good"), ("t", "bad"))
    assert found.is_of_run
    run(path)
    with store.open(path, create=False) as s:
        assert question_of(s.notes(), None).text == ""


def foreseen(where, **options):
    watcher = watched(where, **options)
    watcher.foresee()
    return watcher.moment().forecast


def test_a_forecast_is_what_the_run_itself_would_say(path):
    """The same looks, the same budget, and so the same number of trials."""
    plan = experiment(400)
    run(path, plan, until="mean +- 0.02")
    found = foreseen(path)
    reached = until("mean +- 0.02").reached(plan, path)
    assert found.now == str(reached.look)
    assert not found.is_enough
    # A plan of its own may spend half as much as this one: a little more trials.
    assert 0.8 * reached.needed <= found.needed <= reached.needed
    assert found.needed > found.planned == 400


@pytest.mark.parametrize("law", ["mean", "cvar 0.5", "quantile 0.5"])
def test_what_is_foreseen_comes_true(tmp_path, law):
    """With as many trials as it says, or a few more, the run is at an end."""
    text = f"{law} +- 0.05"
    path = str(tmp_path / "a.db")
    plan = experiment(1600)
    found = {}

    def early(trials):
        if len(trials) == 2 * 100:
            watcher = watched(path, asked=text)
            watcher.foresee()
            found["forecast"] = watcher.moment().forecast
        return len(trials) >= 2 * 100

    run(path, plan, until=early)
    foreseen = found["forecast"]
    run(str(tmp_path / "b.db"), plan, until=text)
    size = until(text).reached(plan, str(tmp_path / "b.db")).size
    # It looks at 100, 200, 400, ...: the one at or before, or one after.
    assert size / 2.1 <= max(foreseen.needed, 100) <= 2 * size


def test_a_forecast_says_when(path, clock):
    planned(path, 1600, (("t", "good"), ("t", "bad")))
    cells = [["t", "good"], ["t", "bad"]]
    with store.open(path) as s:
        s.note({"asked": json.dumps(["mean +- 0.05", False, 1600, cells])})
    rng = np.random.default_rng(1)
    watcher = Watcher(path, clock=clock)
    assert watcher.look().forecast_words() == ""
    for second in range(6):
        clock.now += 1
        for name in ("good", "bad"):
            numbers = range(20 * second, 20 * second + 20)
            trials = [
                Trial("t", name, n, {"accuracy": rng.beta(8, 2)}) for n in numbers
            ]
            store.write(Trials(trials), path)
        moment = watcher.look()
    watcher.foresee()
    moment = watcher.look()
    found = moment.forecast
    assert found.look in (100, 200, 400, 800, 1600)
    assert found.look >= found.needed / 1.1
    assert found.left == 2 * (found.look - 120)
    words = moment.forecast_words()
    assert words.startswith("Asked: mean +- 0.05 of accuracy; now ± 0.")
    assert f"About {found.needed:,} trials of each would probably do" in words
    assert f"the run looks at {found.look:,} of each, in about" in words
    assert words.endswith("if trials keep varying as they do.")


def test_a_forecast_takes_a_twentieth_of_the_time(path, clock):
    store.write(some(range(50), score=0.5), path)
    watcher = Watcher(path, asked="mean +- 0.1", clock=clock)
    watcher.look()
    inquiry = watcher.inquiry()
    assert inquiry is not None
    watcher.answer(forecast(inquiry), took=3.0)
    store.write(some([50]), path)
    clock.now += 59
    watcher.look()
    assert watcher.inquiry() is None
    clock.now += 2
    assert watcher.inquiry() is not None
    assert watcher.inquiry() is None  # nothing has come since


def test_without_a_precision_it_says_how_wide_the_bands_will_be(path):
    planned(path, 1000)
    store.write(some(range(100)), path)
    words = watched(path).moment().forecast_words()
    now, then = (half_width(n, kind="anytime") for n in (100, 1000))
    assert f"± {100 * then:.2g} % of the trials wide (now ± {100 * now:.2g} %)" in words
    store.write(some(range(1000)), path)
    assert watched(path).moment().forecast_words() == (
        f"Each band is at most ± {100 * then:.2g} % of the trials wide."
    )


def test_of_a_handful_of_trials_no_width_is_told(path):
    planned(path, 4)
    store.write(some(range(2)), path)
    assert watched(path).moment().forecast_words() == ""


def test_failures_that_nobody_has_scored_are_in_the_way(path):
    store.write(some(range(50)), path)
    store.write(some([50], status="failed"), path)
    watcher = watched(path, asked="mean +- 0.1")
    watcher.foresee()
    words = watcher.moment().forecast_words()
    assert "1 of 51 trials of a on t failed" in words
    assert "'mean +- 0.1 of accuracy failed worst'" in words
    assert foreseen(path, asked="mean +- 0.3 failed worst").is_enough


@pytest.mark.parametrize(
    ("asked", "options", "words"),
    [
        ("mean +- 0.1 of loss", {"metric": "accuracy"}, "another score"),
        ("mean +- 0.1 at best", {"at": "mean"}, "another score"),
        ("ranking", {}, "two algorithms"),
    ],
)
def test_what_cannot_be_foreseen_is_told(path, asked, options, words):
    trials = [Trial("t", "a", i, {"accuracy": 0.5, "loss": 1.0}) for i in range(20)]
    store.write(Trials(trials), path)
    watcher = watched(path, asked=asked, **({"metric": "accuracy"} | options))
    watcher.foresee()
    assert words in watcher.moment().forecast_words()


def test_cells_without_trials_are_not_in_an_estimate(path):
    planned(path, 1600, (("t", "good"), ("t", "bad")))
    rng = np.random.default_rng(1)
    trials = [Trial("t", "good", n, {"accuracy": rng.beta(8, 2)}) for n in range(1600)]
    store.write(Trials(trials), path)
    found = foreseen(path, asked="mean +- 0.1")
    assert (found.missing, found.is_enough) == (1, False)


def test_a_ranking_is_foreseen(path):
    rng = np.random.default_rng(1)
    trials = [
        Trial("t", name, n, {"accuracy": rng.beta(a, 4)})
        for name, a in (("good", 30), ("bad", 8))
        for n in range(60)
    ]
    store.write(Trials(trials), path)
    close = foreseen(path, asked="ranking within 0.001")
    assert (close.needed, close.is_enough) == (60, True)
    assert "pair" in close.now


def test_words_of_a_moment(path, clock):
    store.write(some(range(5)), path)
    store.write(some([5], status="timeout"), path)
    store.write(some([6, 7], status="failed"), path)
    watcher = Watcher(path, clock=clock)
    moment = watcher.look()
    assert moment.failed_words() == "2 failed, 1 timeout"
    assert moment.rate_words() == ""
    clock.now += 300
    assert watcher.look().idle_words() == "5 min ago"
    clear = moment.to_dict()
    assert json.loads(json.dumps(clear, allow_nan=False)) == clear
    assert list(itertools.islice(clear["words"], 2)) == ["state", "headline"]
