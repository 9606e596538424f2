"""What is written is read again: the same trials, in every form."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from facts import refused, warned
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import curvewise as cw
from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.trials import STATUSES

FORMS = ["x.parquet", "x.csv", "x.jsonl"]


def rich(*, big=False):
    """Return trials with everything that a trial may have, and names that mislead."""
    rng = np.random.default_rng(0)
    trials = [
        Trial(
            *("moons ", name, number),
            {
                "accuracy": np.ma.masked_array([0.5, 0.6, np.nan], [0, 1, 0]),
                "cost": np.array([1.0, np.inf, 1 / 3]),
            },
            steps=[1, 2, 10.5],
            params={
                "lr": 1.0 * number,
                "kind": "1" if name == "svm" else "rbf",
                "flag": True,
                "layers": [1, {"a": 2}],
                "none": None,
                **({"only": "here"} if number else {}),
                **({"big": 2**70} if big else {}),
            },
            labels={"host": 'a,b\n"c"', "seed": number, "mixed": number or "zero"},
            counts=rng.integers(0, 5, (3, 2, 2)),
            correct=np.ma.masked_array(
                rng.random((3, 5)) < 0.5, rng.random((3, 5)) < 0.2
            ),
            examples=[3, 1, 4, 15, 9],
            seconds=1 / 7,
            attempts=2,
        )
        for name in ("svm", "NA", "007")
        for number in (0, 3, 9)
    ]
    trials += [
        Trial("moons ", "svm", 10, {}, status="timeout", error=" too long\nline "),
        Trial("rings", "svm", 0, {"accuracy": 0.3}, status="failed"),
        Trial("rings", "svm", 1, steps=[5], counts=rng.integers(0, 5, (1, 3, 3))),
    ]
    return Trials(trials, [Metric("cost", "lower", (0, float("inf")), "s", "Cost (s)")])


@pytest.mark.parametrize("form", FORMS)
def test_everything_comes_back(tmp_path, form):
    trials = rich(big=True)
    rows = cw.write(trials, tmp_path / form)
    again = cw.read(tmp_path / form)
    assert rows == 9 * 3 + 3
    assert again == trials
    assert dict(again.metrics) == dict(trials.metrics)
    assert [(t.error, t.attempts) for t in again] == [
        (t.error, t.attempts) for t in trials
    ]
    np.testing.assert_array_equal(
        [t.seconds for t in again], [t.seconds for t in trials]
    )
    first = next(iter(again))
    assert first.params["layers"] == [1, {"a": 2}]
    assert first.correct.shape == (3, 5)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_known_of_the_experiment_comes_back(tmp_path, form):
    algorithm = cw.Algorithm(
        "a", {"x": cw.uniform(0, 1)}, lambda params, data, rng: 0.5
    )
    experiment = cw.Experiment([cw.Task("t", lambda rng: None)], [algorithm], 3, 1)
    trials = cw.run(experiment, executor="serial", progress=False)
    cw.write(trials, tmp_path / form)
    again = cw.read(tmp_path / form)
    assert again == trials
    assert dict(again.spaces) == dict(trials.spaces) != {}
    assert dict(again.about) == dict(trials.about) != {}


@pytest.mark.parametrize("form", FORMS)
def test_one_changed_number_is_noticed(tmp_path, form):
    trials = rich()
    cw.write(trials, tmp_path / form)
    other = Trials(
        [*list(trials)[1:], Trial("moons ", "svm", 0, {"accuracy": [0.5, 0.6, 0.7]})],
        trials.metrics.values(),
    )
    assert cw.read(tmp_path / form) != other


def test_others_read_the_plain_columns(tmp_path):
    trials = rich()
    for form in FORMS:
        cw.write(trials, tmp_path / form)
    frames = [
        pd.read_csv(tmp_path / "x.csv"),
        pd.read_parquet(tmp_path / "x.parquet"),
        pl.read_csv(tmp_path / "x.csv").to_pandas(),
    ]
    for frame in frames:
        assert len(frame) == 30
        assert frame["cost"][2] == 1 / 3
        assert frame["curvewise"].notna().sum() == 1


def test_a_file_of_ours_that_went_through_pandas_keeps_its_meaning(tmp_path):
    trials = rich().where(task="moons ", algorithm="svm", number=[0, 3, 9])
    cw.write(trials, tmp_path / "x.csv")
    again = cw.read(pd.read_csv(tmp_path / "x.csv"))
    assert again.metrics["cost"] == trials.metrics["cost"]
    np.testing.assert_array_equal(
        again.scores("cost")["svm"], trials.scores("cost")["svm"]
    )


def test_stated_roles_go_before_what_the_file_says(tmp_path):
    trials = rich().where(task="moons ", number=[0, 3, 9])
    cw.write(trials, tmp_path / "x.csv")
    names = {"algorithm": "param.kind", "trial": ["algorithm", "number"]}
    again = cw.read(tmp_path / "x.csv", metrics=["cost"], **names)
    assert set(again.algorithms) == {"rbf", "1"}
    assert list(again.metrics) == ["cost"]
    assert again.metrics["cost"] == trials.metrics["cost"]


@pytest.mark.parametrize("backend", ["pandas", "pyarrow"])
def test_a_frame_remembers_what_its_metrics_mean(backend):
    trials = Trials(
        [Trial("t", a, i, {"odd": [1, 2, i]}) for a in "ab" for i in range(3)],
        [Metric("odd", "lower", (0, 10), "s")],
    )
    frame = trials.to_frame(backend)
    assert cw.read(frame) == trials
    if backend == "pandas":
        frame = frame.assign(new=1.0 * frame["step"])
        more = cw.read(frame)
        assert more.metrics["new"].direction is None
        assert more.metrics["odd"] == trials.metrics["odd"]
        frame.attrs["curvewise"] = "mine"
        assert cw.read(frame).metrics["odd"].direction is None


def test_polars_has_no_place_for_that():
    trials = Trials(
        [Trial("t", "a", i, {"odd": [1, 2, i]}) for i in range(3)],
        [Metric("odd", "lower")],
    )
    assert cw.read(trials.to_frame("polars")).metrics["odd"].direction is None
    assert cw.read(trials.to_frame("polars"), metrics=trials.metrics) == trials


def test_a_table_of_ours_whose_cells_somebody_changed(tmp_path):
    cw.write(rich(), tmp_path / "x.parquet")
    table = pa.parquet.read_table(tmp_path / "x.parquet")
    place = table.column_names.index("status")
    bad = table.set_column(place, "status", pa.array(["fine"] * len(table)))
    pa.parquet.write_table(bad, tmp_path / "x.parquet")
    with refused(says=["fine", "curvewise"]):
        cw.read(tmp_path / "x.parquet")


def test_a_table_of_a_newer_version(tmp_path):
    (tmp_path / "x.csv").write_text(
        '"task","acc","curvewise"\n"t",0.5,"'
        + json.dumps({"form": 2}).replace('"', '""')
        + '"\n'
    )
    with pytest.raises(CurvewiseError, match=r"newer curvewise.*Upgrade"):
        cw.read(tmp_path / "x.csv")


def test_somebody_elses_column_of_that_name(tmp_path):
    (tmp_path / "x.csv").write_text("task,acc,curvewise\nt,0.5,yes\nt,0.6,no\n")
    assert cw.read(tmp_path / "x.csv").scores("acc")


def test_only_trials_are_written(tmp_path):
    with pytest.raises(CurvewiseError, match="Trials"):
        cw.write([1], tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.slow
def test_a_million_rows(tmp_path):
    rng = np.random.default_rng(0)
    trials = Trials(
        Trial("t", "ab"[i % 2], i, {"accuracy": rng.random(1000)}, params={"lr": i / 7})
        for i in range(1000)
    )
    for form in FORMS:
        assert cw.write(trials, tmp_path / form) == 1_000_000
        assert cw.read(tmp_path / form) == trials


# --- anything comes back -----------------------------------------------------------------

ODD = st.sampled_from(
    [
        *("", "007", "1e5", "nan", "NA", "null", "true", " x ", "a,b", 'q"q', "l\nm"),
        *("curvewise", "task", "step", "status", "metric.x", "param.x", "count.0.0"),
    ]
)
TEXTS = ODD | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NAMES = TEXTS.filter(str.strip)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
ANY = PLAIN | st.lists(PLAIN, max_size=2) | st.dictionaries(TEXTS, PLAIN, max_size=2)


@st.composite
def some_trials(draw):
    """Return trials with odd names and values, gaps, and nothing where there may be."""
    metrics = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    keys = st.tuples(NAMES, NAMES, st.integers(0, 2**40))
    return [
        _trial(draw, key, metrics)
        for key in draw(st.lists(keys, min_size=1, max_size=4, unique=True))
    ]


def _trial(draw, key, metrics):
    n = draw(st.integers(0, 3))
    told = {}
    if n:
        score = st.none() | st.floats()
        curve = st.lists(score, min_size=n, max_size=n)
        steps = st.lists(st.integers(-5, 5), min_size=n, max_size=n, unique=True)
        told["metrics"] = draw(
            st.dictionaries(st.sampled_from(metrics), curve, min_size=1)
        )
        told["steps"] = sorted(draw(steps))
        if k := draw(st.sampled_from([0, 2, 3])):
            told["counts"] = draw(
                arrays(np.int64, (n, k, k), elements=st.integers(0, 9))
            )
    return Trial(
        *key,
        params=draw(st.dictionaries(NAMES, ANY, max_size=3)),
        labels=draw(st.dictionaries(NAMES, PLAIN, max_size=3)),
        status=draw(st.sampled_from(STATUSES)),
        error=draw(TEXTS),
        seconds=draw(st.just(np.nan) | st.floats(0, 1e6)),
        attempts=draw(st.integers(0, 3)),
        **told,
    )


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(data=some_trials())
def test_whatever_is_written_comes_back(tmp_path_factory, form, data):
    trials = Trials(data)
    path = tmp_path_factory.mktemp("written") / form
    cw.write(trials, path)
    again = cw.read(path)
    assert again == trials
    assert again.metrics == trials.metrics
    aside = [(one.error, one.attempts, str(one.seconds)) for one in trials]
    assert [(one.error, one.attempts, str(one.seconds)) for one in again] == aside


def test_a_header_longer_than_what_is_looked_at(tmp_path):
    params = {f"{i:05}{'x' * 100}": i for i in range(1_000)}
    trials = Trials([Trial("t", "a", 0, {"acc": 0.5}, params=params)])
    for form in FORMS:
        cw.write(trials, tmp_path / form)
        assert cw.read(tmp_path / form) == trials


# --- what others make of it --------------------------------------------------------------

SAVED = {
    "x.csv": (pd.read_csv, lambda f, p: f.to_csv(p, index=False)),
    "x.parquet": (pd.read_parquet, lambda f, p: f.to_parquet(p, index=False)),
    "x.jsonl": (
        lambda p: pd.read_json(p, lines=True),
        lambda f, p: f.to_json(p, orient="records", lines=True),
    ),
}


def plain():
    """Return trials that pandas can keep: no score that is not a number."""
    return Trials(
        [
            Trial(
                *("t", name, i),
                {"cost": [0.25, i, 0.1]},
                params={"net": [1, 2], "rare": 3} if i else {"net": []},
            )
            for name in "ab"
            for i in range(4)
        ],
        [Metric("cost", "lower")],
    )


@pytest.mark.parametrize("form", FORMS)
def test_rows_that_pandas_shuffled_and_filtered(tmp_path, form):
    read, save = SAVED[form]
    trials = plain()
    cw.write(trials, tmp_path / form)
    frame = read(tmp_path / form)
    save(frame.sample(frac=1, random_state=1), tmp_path / form)
    assert cw.read(tmp_path / form) == trials
    save(frame[frame["algorithm"] == "a"], tmp_path / form)
    assert cw.read(tmp_path / form) == trials.where(algorithm="a")


@pytest.mark.parametrize("form", FORMS)
def test_a_failure_that_another_program_wrote_as_an_empty_cell(tmp_path, form):
    """An empty cell is "not recorded" for us: the failure must not be lost."""
    read, save = SAVED[form]
    curves = [[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]]
    trials = Trials(
        [Trial("t", "a", i, {"cost": curve}) for i, curve in enumerate(curves)],
        [Metric("cost", "lower")],
    )
    cw.write(trials, tmp_path / form)
    assert cw.read(tmp_path / form).count_failed() == 1
    save(read(tmp_path / form), tmp_path / form)
    with warned(1):
        again = cw.read(tmp_path / form)
    assert again.count_failed() == 1
    assert again.metrics == trials.metrics


def test_a_new_column_and_a_lost_one(tmp_path):
    cw.write(plain(), tmp_path / "x.parquet")
    frame = pd.read_parquet(tmp_path / "x.parquet")
    frame.assign(group="g").drop(columns="status").to_parquet(tmp_path / "x.parquet")
    with warned("group", "status"):
        again = cw.read(tmp_path / "x.parquet")
    assert again[0].labels["group"] == "g"
    assert again.metrics["cost"].direction == "lower"


@pytest.mark.parametrize(
    "cell",
    [
        {"form": "x"},
        {"form": 1},
        {"form": 1, "metrics": [], "kinds": 3},
        {"form": 1, "metrics": {"acc": {"range": 1}}, "kinds": {}},
        {"form": 1, "metrics": {}, "kinds": {"a": "zz"}},
    ],
    ids=["text", "bare", "lists", "metric", "kind"],
)
def test_a_cell_that_says_less_than_ours_is_somebody_elses(tmp_path, cell):
    rows = {"model": ["a", "a"], "acc": [0.5, 0.6], "curvewise": [json.dumps(cell), ""]}
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_json(tmp_path / "x.jsonl", orient="records", lines=True)
    for form in ("x.csv", "x.jsonl"):
        assert cw.read(tmp_path / form).scores("acc")["a"].tolist() == [0.5, 0.6]


@pytest.mark.parametrize("form", ["x.csv", "x.jsonl"])
@pytest.mark.parametrize("place", [b"accuracy", b"moons"], ids=["name", "cell"])
def test_bytes_that_are_no_text_are_damage(tmp_path, form, place):
    cw.write(rich(), tmp_path / form)
    whole = (tmp_path / form).read_bytes()
    (tmp_path / form).write_bytes(whole.replace(place, b"\xff" + place))
    with pytest.raises(CurvewiseError, match=r"(?i)utf-?8"):
        cw.read(tmp_path / form)
