"""Which way is better: taken from a name, from a tool or from the caller; or unknown."""

import html
import json
import math
import pickle
import re
import sqlite3

import numpy as np
import pytest
from click.testing import CliRunner

import curvewise as cw
from curvewise.cli import main
from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric, UnknownDirection
from curvewise.trials import Trial, Trials
from curvewise.trials.doors import scored


def ran(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def losses(name, n=10):
    """Return runs of a good algorithm, with a loss near .11, and of a bad one."""
    rng = np.random.default_rng(0)
    return {
        "algorithm": ["good"] * n + ["bad"] * n,
        "seed": [*range(n)] * 2,
        name: [
            *(0.11 + 0.01 * rng.normal(size=n)),
            *(1.01 + 0.01 * rng.normal(size=n)),
        ],
    }


def by_task(**more):
    """Return runs on a task where high is good and on one where low is."""
    rng = np.random.default_rng(1)
    rows = [
        (task, name, seed, (1.0 if (name == "good") == (way == "higher") else 0.0), way)
        for task, way in (("mnist", "higher"), ("boston", "lower"))
        for name in ("good", "bad")
        for seed in range(10)
    ]
    task, algorithm, seed, score, way = map(list, zip(*rows, strict=True))
    score = [s + 0.1 * rng.normal() for s in score]
    table = {"task": task, "algorithm": algorithm, "seed": seed, "score": score}
    return table | {"direction": way, **more}


def unknown(n=6, **rest):
    return Trials(
        Trial("t", a, i, {"value": [i + 1.0, i + 2.0]}, **rest)
        for a in "ab"
        for i in range(n)
    )


# --- inverted verdicts -----------------------------------------------------------------


def leaders(trials, metric=None):
    return [row["in front"] for row in cw.performance(trials, metric).lead_table()]


@pytest.mark.parametrize(
    "name",
    [
        *("test/loss", "Loss/test", "epoch_loss", "train_loss_epoch", "binary_logloss"),
        *("validation_0-logloss", "losses/value_loss"),
    ],
)
def test_a_loss_has_the_same_winner_whatever_it_is_called(name):
    trials = cw.read(losses(name), metrics=[name])
    assert leaders(trials) == ["good"]
    ahead = {
        one.ahead or one.probably_ahead for one in cw.performance(trials).contrasts
    }
    assert ahead == {"good"}


def test_the_command_line_has_the_same_winner(tmp_path):
    rows = {}
    for name in ("Loss/test", "test/loss"):
        table = losses(name)
        lines = [
            ",".join(table),
            *(",".join(map(str, r)) for r in zip(*table.values(), strict=True)),
        ]
        (tmp_path / "r.csv").write_text("\n".join(lines))
        done = ran("performance", tmp_path / "r.csv", "--json")
        rows[name] = json.loads(done.stdout)["rows"]
    assert rows["Loss/test"] == rows["test/loss"]


# --- the assumption is said ------------------------------------------------------------


def test_what_only_a_name_says_is_said_in_answers_page_and_check(tmp_path):
    trials = cw.read(losses("loss"))
    assert trials.metrics["loss"].source == "name"
    answer = cw.performance(trials)
    assert answer.cautions == (trials.metrics["loss"].assumption,)
    assert answer.cautions[0] in str(answer).splitlines()
    assert answer.cautions[0] in json.loads(answer.to_json())["provenance"]["cautions"]
    assert [(f.rule, f.severity) for f in cw.check(trials)] == [
        ("assumed-direction", "notes")
    ]
    page = cw.report.write(trials, tmp_path / "page.html").read_text("utf-8")
    assert "from its name" in page


def test_what_the_caller_says_needs_no_caution(tmp_path):
    trials = cw.read(losses("loss"), metrics={"loss": "lower"})
    assert trials.metrics["loss"].source == "stated"
    assert cw.performance(trials).cautions == ()
    assert not len(cw.check(trials))
    assert trials == cw.read(losses("loss"))
    page = cw.report.write(trials, tmp_path / "page.html").read_text("utf-8")
    assert "from its name" not in page


# --- unknown ---------------------------------------------------------------------------


def test_an_unknown_direction_is_asked_for():
    metric = Metric("value", range=(0, 1))
    fixes = ({"metrics": {"value": "lower"}}, {"metrics": {"value": "higher"}})
    for field in ("sign", "worst", "upward", "known_direction"):
        with pytest.raises(UnknownDirection) as caught:
            getattr(metric, field)
        assert caught.value.fixes == fixes
    assert not metric.is_directed
    assert pickle.loads(pickle.dumps(caught.value)).fixes == fixes


@pytest.mark.parametrize("ask", [cw.performance, cw.learning, cw.robustness])
def test_what_needs_a_direction_is_withheld_until_somebody_says_it(ask):
    trials = unknown()
    with pytest.raises(UnknownDirection) as caught:
        ask(trials, "value")
    for fix in caught.value.fixes:
        said = trials.with_metrics(fix["metrics"])
        assert said.metric("value").direction == fix["metrics"]["value"]


def lines(ways):
    """Return curves of two algorithms, the good one the better one on each task."""
    rng = np.random.default_rng(2)
    up = {"higher": 1.0, "lower": -1.0}
    return [
        Trial(t, a, i, {"value": rng.normal(size=8) + 9 * up[way] * (a == "good")})
        for t, way in ways.items()
        for a in ("good", "bad")
        for i in range(8)
    ]


def test_curves_differ_whichever_way_is_better(tmp_path):
    trials = Trials(lines({"t": "lower"}))
    answer = cw.difference(trials)
    known = cw.difference(trials.with_metrics({"value": "lower"}))
    assert answer.rows() == known.rows()
    assert answer.pair("good", "bad").decisions["algorithm"] == "rejected"
    assert answer.headline() != known.headline()
    texts = [answer.headline(), str(answer), answer.to_json(), answer._repr_html_()]
    assert not any("ahead" in text.replace("ahead at", "") for text in texts)
    assert answer.cautions == (trials.metric("value").assumption,)
    assert cw.explain(trials).of("difference").can == "in part"
    assert cw.questions.difference.charts.lines_chart(answer).leaders
    cw.write(trials, tmp_path / "r.csv")
    done = ran("difference", tmp_path / "r.csv")
    assert done.exit_code == 0  # an answer was given
    assert "--metrics value=lower" in done.stdout
    assert "metrics={" not in done.stdout
    done = ran("difference", tmp_path / "r.csv", "--metrics", "value=lower")
    assert done.exit_code == 0


def test_curves_are_judged_by_the_direction_of_their_task():
    ways = {"up": "higher", "down": "lower"}
    trials = Trials(lines(ways), [Metric.of_tasks("value", ways)])
    answer = cw.difference(trials)
    assert answer.overall == ()
    for task in ways:
        verdicts = answer.verdicts(task)
        assert any(t.index("good") < t.index("bad") for t in verdicts if "ahead" in t)
    assert "ahead" not in answer.headline()


def test_each_fix_passed_literally_answers():
    table = losses("value")
    with pytest.raises(UnknownDirection) as caught:
        cw.performance(cw.read(table))
    found = [leaders(cw.read(table, **fix)) for fix in caught.value.fixes]
    assert found == [["good"], ["bad"]]


def test_what_needs_no_direction_works_without():
    trials = unknown(seconds=1.0)
    assert "value" in str(trials)
    assert cw.explain(trials).of("performance").can == "no"
    assert [f.rule for f in cw.check(trials)] == ["unknown-direction"]
    assert trials.scores("value", failed=3.0)["a"].tolist() == [2, 3, 4, 5, 6, 7]
    assert trials.scores("value", failed="worst")["a"][0] == 2
    assert trials.scores("value", at="mean")["b"][0] == 1.5
    assert trials.lines("value", failed="worst")["a"].shape == (6, 2)
    with pytest.raises(UnknownDirection):
        trials.scores("value", at="best")


def test_a_failure_scores_the_worst_only_where_it_is_known_what_that_is():
    trials = unknown() + Trials([Trial("t", "a", 99, {"value": []}, status="failed")])
    with pytest.raises(UnknownDirection):
        trials.scores("value", failed="worst")
    assert trials.scores("value", failed=0.5)["a"][-1] == 0.5
    worst = trials.with_metrics({"value": "lower"}).scores("value", failed="worst")
    assert worst["a"][-1] == 7


def test_a_page_asks_and_gives_no_verdict(tmp_path):
    page = cw.report.write(unknown(), tmp_path / "page.html").read_text("utf-8")
    assert "--metrics value=lower" in page
    assert 'id="performance-0"' not in page
    both = Trials(
        Trial("t", a, i, {"value": i + 1.0, "accuracy": 0.5 + i / 20})
        for a in "ab"
        for i in range(6)
    )
    page = cw.report.write(both, tmp_path / "page.html").read_text("utf-8")
    assert 'id="performance-0"' in page
    assert 'id="performance-1"' not in page
    assert "--metrics value=lower" in page


def test_the_command_line_ends_with_4(tmp_path):
    trials = unknown()
    cw.store.write(trials, tmp_path / "r.db")
    cw.write(trials, tmp_path / "r.csv")
    for file in ("r.db", "r.csv"):
        done = ran("performance", tmp_path / file)
        assert done.exit_code == 4
        assert "--metrics value=lower" in done.stderr
        done = ran("performance", tmp_path / file, "--metrics", "value=lower")
        assert done.exit_code == 0
        for command in ("check", "explain"):
            assert ran(command, tmp_path / file).exit_code == 0
        done = ran("report", tmp_path / file, "--output", tmp_path / f"{file}.html")
        assert done.exit_code == 0


# --- never a time, a count or a rank ---------------------------------------------------


def test_times_and_ranks_are_no_scores_by_default():
    names = ["accuracy", "mean_fit_time", "rank_test_score", "total_flos", "lr"]
    trials = Trials(
        Trial("t", a, i, dict.fromkeys(names, i / 10 + 0.1))
        for a in "ab"
        for i in range(5)
    )
    assert scored(trials) == ["accuracy"]
    assert cw.performance(trials).metric.name == "accuracy"
    assert (
        cw.performance(trials.with_metrics({"lr": "lower"}), "lr").metric.name == "lr"
    )
    none = Trials(Trial("t", "a", i, {"fit_time": 1.0 + i}) for i in range(5))
    with pytest.raises(CurvewiseError) as caught:
        cw.performance(none)
    (fix,) = caught.value.fixes
    assert cw.performance(none.with_metrics(fix["metrics"]), fix["metric"])


# --- by task ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "meant",
    [
        {"mnist": "higher", "boston": "lower"},
        {"column": "direction"},
        {"mnist": Metric("score", "higher"), "boston": "lower"},
    ],
)
def test_each_task_is_judged_by_its_own_direction(meant):
    trials = cw.read(by_task(), metrics={"score": meant})
    assert leaders(trials) == ["good", "good"]
    answer = cw.performance(trials)
    assert answer.overall == ()
    assert {c.ahead or c.probably_ahead for c in answer.contrasts} == {"good"}
    one = {t: trials.where(task=t).metric("score").direction for t in trials.tasks}
    assert one == {"mnist": "higher", "boston": "lower"}
    assert trials.metric("score").direction is None
    assert cw.explain(trials).of("performance").can == "yes"
    assert not [f for f in cw.check(trials) if "direction" in f.rule]
    with pytest.raises(UnknownDirection):
        cw.performance(trials, over_tasks=True)
    with pytest.raises(UnknownDirection):
        answer.profiles()
    for task in trials.tasks:
        alone = cw.performance(trials.where(task=task))
        mine = [row for row in answer.rows() if row["task"] == task]
        assert [row["cvar_best"] for row in mine] == [
            row["cvar_best"] for row in alone.rows()
        ]


def test_tasks_that_were_taken_apart_go_together_again():
    trials = cw.read(by_task(), metrics={"score": {"column": "direction"}})
    parts = [trials.where(task=task) for task in trials.tasks]
    assert Trials.concat(parts) == trials
    assert Trials.concat(parts).metrics == trials.metrics


def test_a_range_may_differ_by_task():
    meant = {"mnist": "higher:-1:2", "boston": "higher:-5:"}
    trials = cw.read(by_task(), metrics={"score": meant})
    assert trials.metric("score").direction == "higher"
    assert trials.metric("score").range == (-5, math.inf)
    assert trials.where(task="mnist").metric("score").range == (-1, 2)


def test_a_task_of_which_nothing_is_said_is_unknown():
    trials = cw.read(by_task(), metrics={"score": {"mnist": "higher"}})
    assert trials.where(task="boston").metric("score").direction is None
    with pytest.raises(UnknownDirection) as caught:
        cw.performance(trials)
    assert caught.value.fixes


def test_directions_of_tasks_that_are_not_there():
    with pytest.raises(CurvewiseError, match="minst"):
        cw.read(by_task(), metrics={"score": {"minst": "higher"}})
    with pytest.raises(CurvewiseError, match="ways"):
        cw.read(by_task(), metrics={"score": {"column": "ways"}})
    mixed = by_task()
    mixed["direction"][0] = "lower"
    with pytest.raises(CurvewiseError, match="direction"):
        cw.read(mixed, metrics={"score": {"column": "direction"}})


def shown(path):
    """Return what a page says, without its tags."""
    text = html.unescape(re.sub("<[^>]+>", "", path.read_text("utf-8")))
    return " ".join(text.split())


def test_the_page_judges_each_task_by_its_own_direction(tmp_path):
    """What performance answers is on the page; what takes tasks together says why not."""
    trials = cw.read(by_task(), metrics={"score": {"column": "direction"}})
    page = shown(cw.report.write(trials, tmp_path / "page.html"))
    for task in trials.tasks:
        assert cw.performance(trials).verdict(task) in page
    assert "trials.where(task='mnist')" in page
    assert "is not known" not in page
    assert "None is better" not in page
    alone = cw.report.write(trials.where(task="mnist"), tmp_path / "one.html")
    assert 'id="directions"' not in alone.read_text("utf-8")


def test_curves_without_a_direction_are_on_the_page(tmp_path):
    trials = Trials(lines({"t": "lower"}))
    path = cw.report.write(trials, tmp_path / "page.html")
    assert cw.difference(trials).headline() in shown(path)
    assert trials.metric("value").assumption in shown(path)
    page = path.read_text("utf-8")
    assert 'id="difference-0"' in page
    assert 'id="performance-0"' not in page


def test_explain_says_what_it_takes_from_a_name(tmp_path):
    trials = cw.read(losses("loss"))
    answer = cw.explain(trials)
    line = trials.metric("loss").assumption
    assert line in str(answer).splitlines()
    assert line in answer._repr_html_()
    told = json.loads(answer.to_json())
    assert told["provenance"]["cautions"] == [line]
    assert told["design"] == str(trials.design)
    said = cw.explain(trials.with_metrics({"loss": "lower"}))
    assert said.cautions == ()
    cw.write(unknown(), tmp_path / "r.csv")
    done = ran("explain", tmp_path / "r.csv")
    assert "--metrics value=lower" in done.stdout


@pytest.mark.parametrize(("way", "text"), [("higher", ":100"), ("lower", "-100:")])
def test_a_range_is_asked_for_as_it_is_typed(tmp_path, way, text):
    sizes = [50, 100, 200, 400]
    runs = [
        Trial("t", "a", i, {"gain": [i - 9.0, 1, 2, 3 + i]}, steps=sizes)
        for i in range(4)
    ]
    trials = Trials(runs, [Metric("gain", way)])
    with pytest.raises(CurvewiseError) as caught:
        cw.learning(trials)
    typed = f"{way}:{text}"
    assert f"metrics={{'gain': '{typed}'}}" in str(caught.value)
    assert cw.learning(trials.with_metrics({"gain": typed}))
    cw.write(trials, tmp_path / "r.csv")
    done = ran("learning", tmp_path / "r.csv", "--metrics", f"gain={way}")
    assert f"--metrics gain={typed}" in done.stderr


@pytest.mark.parametrize("command", ["check", "explain", "difference"])
def test_a_shell_is_told_what_a_shell_takes(tmp_path, command):
    cw.write(Trials(lines({"t": "lower"})), tmp_path / "r.csv")
    for options in ((), ("--json",)):
        done = ran(command, tmp_path / "r.csv", *options)
        assert done.exit_code == 0
        told = " ".join(done.stdout.split())
        assert "--metrics value=lower" in told
        assert "metrics={" not in told


# --- texts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "direction", "range_"),
    [
        ("higher", "higher", (0, 1)),
        ("lower", "lower", (-math.inf, math.inf)),
        ("higher:0:1", "higher", (0, 1)),
        ("higher:0:100", "higher", (0, 100)),
        ("lower:0:", "lower", (0, math.inf)),
        ("higher::0", "higher", (-math.inf, 0)),
        ("higher::", "higher", (-math.inf, math.inf)),
    ],
)
def test_a_direction_with_a_range(tmp_path, text, direction, range_):
    table = losses("acc")
    metric = cw.read(table, metrics={"acc": text}).metrics["acc"]
    assert (metric.direction, metric.range) == (direction, range_)
    lines = [
        ",".join(table),
        *(",".join(map(str, r)) for r in zip(*table.values(), strict=True)),
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    done = ran("check", tmp_path / "r.csv", "--metrics", f"acc={text}")
    assert done.exit_code == (0 if range_[1] > 1 else 4)  # outside of it: blocks


@pytest.mark.parametrize(
    "meant",
    ["up", "higher:0", "higher:1:0", "lower:a:b", "higher:0:1:2", "", 3, {}, ["a"]],
)
def test_nonsense_is_refused_with_what_could_be_said(meant):
    with pytest.raises(CurvewiseError) as caught:
        cw.read(losses("value"), metrics={"value": meant})
    for fix in caught.value.fixes:
        assert cw.read(losses("value"), **fix).metric("value").direction
    assert caught.value.fixes


def test_a_column_of_directions_from_the_shell(tmp_path):
    table = by_task()
    lines = [
        ",".join(table),
        *(",".join(map(str, r)) for r in zip(*table.values(), strict=True)),
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines))
    options = ("--metrics", "score=column:direction", "--json")
    done = ran("performance", tmp_path / "r.csv", *options)
    assert done.exit_code == 0
    best = {
        (row["task"], row["algorithm"]): row["cvar_best"]
        for row in json.loads(done.stdout)["rows"]
    }
    assert best["mnist", "good"] > best["mnist", "bad"]
    assert best["boston", "good"] < best["boston", "bad"]


# --- kept ------------------------------------------------------------------------------


KEPT = {
    "unknown": unknown(),
    "by task": cw.read(
        by_task(), metrics={"score": {"mnist": "higher", "boston": "lower"}}
    ),
    "from a name": Trials([Trial("t", "a", 0, {"loss": 1.0})]),
    "no quality": Trials([Trial("t", "a", 0, {"fit_time": 1.0})]),
    "declared": Trials(
        [Trial("t", "a", 0, {"x": 1.0})], [Metric("x", "lower", (0, 5))]
    ),
}


@pytest.mark.parametrize("which", KEPT)
@pytest.mark.parametrize("form", ["x.db", "x.csv", "x.parquet", "x.jsonl", "pickle"])
def test_meanings_come_back_as_they_were(tmp_path, which, form):
    trials, path = KEPT[which], tmp_path / form
    if form == "pickle":
        again = pickle.loads(pickle.dumps(trials))
    else:
        (cw.store.write if form == "x.db" else cw.write)(trials, path)
        again = cw.read(path)
    assert again.digest() == trials.digest()
    assert again.metrics == trials.metrics
    for name, metric in trials.metrics.items():
        assert again.metrics[name].source == metric.source


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_a_frame_keeps_unknown_directions(backend):
    again = cw.read(unknown().to_frame(backend))
    assert again.metrics["value"].direction is None
    by = cw.read(KEPT["by task"].to_frame(backend))
    assert by.metrics == KEPT["by task"].metrics


def test_readers_of_version_1_find_a_word_that_they_know(tmp_path):
    for which, trials in KEPT.items():
        path = tmp_path / f"{which}.db"
        cw.store.write(trials, path)
        with sqlite3.connect(path) as db:
            words = {row[0] for row in db.execute("SELECT direction FROM metrics")}
            version = db.execute("SELECT value FROM curvewise WHERE key = 'version'")
            assert version.fetchone() == ("1",)
        db.close()
        assert words <= {"higher", "lower"}
        cw.write(trials, tmp_path / f"{which}.parquet")


def test_digests_tell_an_unknown_direction_from_a_known_one():
    trials = unknown()
    digests = {
        trials.digest(),
        *(trials.with_metrics({"value": way}).digest() for way in ("higher", "lower")),
    }
    assert len(digests) == 3
    known = trials.with_metrics({"value": Metric("value", "lower", source="name")})
    assert known.digest() == trials.with_metrics({"value": "lower"}).digest()


def test_pickles_of_metrics_of_older_versions_are_read():
    metric = object.__new__(Metric)
    metric.__setstate__(["loss", "lower", (0.0, math.inf), "", "loss"])
    assert metric == Metric("loss", "lower", (0, math.inf))
    assert (metric.source, metric.by_task) == ("stated", ())


def test_what_a_store_says_goes_before_a_name(tmp_path):
    """Or a run could not be resumed once the vocabulary has changed."""
    path = tmp_path / "r.db"
    old = Trials([Trial("t", "a", 0, {"loss": 1.0})], [Metric("loss", "lower", (0, 9))])
    cw.store.write(old, path)
    with cw.store.open(path) as store:
        store.write(Trials([Trial("t", "a", 1, {"loss": 2.0})]))
    assert cw.read(path).metric("loss").range == (0, 9)
