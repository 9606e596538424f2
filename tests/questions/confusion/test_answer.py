"""How rates move with data: what an answer says is what the statistics say."""

import json
from typing import get_args

import numpy as np
import pytest
from facts import holds, refused

import curvewise as cw
from curvewise import CurvewiseError, Trial, Trials
from curvewise.questions.confusion.text import (
    CONCERNS,
    concern_text,
    gain_between,
    gain_of,
)
from curvewise.stats.confusion import METHODS, TARGETS, Concern, fit_confusion_curve
from curvewise.stats.confusion.data import ConcernKind
from curvewise.stats.interval import Interval
from curvewise.text import joined

SIZES = np.array([40.0, 80, 160, 320, 640, 1280])


def grown(logits, runs=4, test=300, seed=0, task="t", shares=None, **more):
    """Return trials of algorithms whose recalls are known functions of the size."""
    rng = np.random.default_rng(seed)
    out = []
    for name, curves in logits.items():
        k = len(curves)
        held = np.full(k, test // k) if shares is None else np.asarray(shares)
        recall = np.array(
            [1 / (1 + np.exp(-f(SIZES))) for f in curves]
        )  # (class, size)
        for i in range(runs):
            counts = np.zeros((len(SIZES), k, k), int)
            for c in range(k):
                right = rng.binomial(held[c], recall[c])
                wrong = rng.multinomial(
                    held[c] - right, [(c != j) / (k - 1) for j in range(k)]
                )
                counts[:, c] = wrong
                counts[:, c, c] = right
            out.append(Trial(task, name, i, {}, steps=SIZES, counts=counts, **more))
    return out


def rising(level, fall):
    return lambda n: level - fall * n**-0.5


TWO = {
    "good": [rising(2.5, 8), rising(2.2, 9)],
    "poor": [rising(1.2, 4), rising(0.8, 5)],
}


@pytest.fixture(scope="module")
def trials():
    return Trials(grown(TWO))


@pytest.fixture(scope="module")
def answer(trials):
    return cw.confusion(trials)


def counts_of(trials, name):
    own = [t for t in trials if t.algorithm == name]
    return [np.array([t.counts[k] for t in own]) for k in range(len(SIZES))]


def test_numbers_are_those_of_the_statistics(trials, answer):
    curve = fit_confusion_curve(SIZES, counts_of(trials, "poor"))
    rows = [row for row in answer.rows() if row["algorithm"] == "poor"]
    assert [row["metric"] for row in rows] == ["error", "precision", "recall", "f1"]
    for row in rows:
        band = curve.band(row["metric"], [1280.0, 2560.0, 12_800.0])
        assert row["size"] == 1280
        assert row["value"] == pytest.approx(band.value[0], rel=1e-12)
        assert row["lower_2_times"] == pytest.approx(band.lower[1], rel=1e-12)
        assert row["upper_10_times"] == pytest.approx(band.upper[2], rel=1e-12)
    assert rows[0]["lack_of_fit"] == pytest.approx(curve.lack_of_fit())


def test_what_was_observed_is_in_the_rows_of_sizes(trials, answer):
    pooled = sum(counts_of(trials, "good")[0])
    row = next(
        r
        for r in answer.size_rows()
        if (r["algorithm"], r["metric"], r["size"]) == ("good", "f1", 40.0)
    )
    assert row["observed"] == pytest.approx(float(cw.metrics.f1(pooled)))
    assert row["runs"] == 4
    assert row["lower"] < row["fitted"] < row["upper"]


def test_asking_for_other_amounts_is_asking_the_curve(answer):
    told = answer.at([640, 5000])
    assert len(told.rows()) == 2 * 4 * 2
    row = next(
        r
        for r in told.rows()
        if (r["algorithm"], r["metric"], r["size"]) == ("good", "recall", 5000.0)
    )
    curve = answer.curve("good").curve
    assert row["value"] == pytest.approx(float(curve.metric("recall", 5000)))
    assert row["times"] == pytest.approx(5000 / 1280)
    assert "recall" in str(told)
    assert "5,000" in str(told)


def test_the_matrix_is_made_of_shares(answer):
    matrix = answer.matrix("good", 1280)
    assert matrix.sum() == pytest.approx(1)
    np.testing.assert_allclose(matrix.sum(1), [0.5, 0.5])


def test_each_target_has_a_note_of_its_own(trials):
    answers = {own: cw.confusion(trials, "f1", target=own) for own in TARGETS}
    assert len({answer.notes()[0] for answer in answers.values()}) == 3
    for own, answer in answers.items():
        assert answer.provenance.settings["target"] == own


def test_one_more_model_and_a_small_test_set_vary_more_than_the_mean(trials):
    def width(**asked):
        row = cw.confusion(trials, "f1", **asked).rows()[0]
        return row["upper"] - row["lower"]

    mean = width()
    assert width(target="model") > mean
    assert width(target="observed", test_size=50, runs=1) > 1.5 * mean
    assert width(confidence=0.5) < 0.6 * mean


def test_classes_have_rows_of_their_own():
    three = {"a": [rising(2.5, 8), rising(1.5, 9), rising(0.5, 3)]}
    answer = cw.confusion(Trials(grown(three)), classes=["cat", "dog", "cow"])
    rows = answer.class_rows()
    assert [row["class"] for row in rows] == ["cat", "dog", "cow"]
    assert rows[0]["recall"] > rows[1]["recall"] > rows[2]["recall"]
    macro = next(r for r in answer.rows() if r["metric"] == "recall")
    assert macro["value"] == pytest.approx(np.mean([row["recall"] for row in rows]))
    assert "cow" in str(answer)
    micro = cw.confusion(Trials(grown(three)), ["accuracy", "f1"], average="micro")
    told = {row["metric"]: row["value"] for row in micro.rows()}
    assert told["accuracy"] == pytest.approx(told["f1"])
    one = cw.confusion(Trials(grown(three)), "recall", positive=2)
    assert one.rows()[0]["value"] == pytest.approx(rows[2]["recall"])
    assert one.asked.metrics["recall"] == {"positive": 2}


def test_a_class_that_is_not_there_is_refused(trials):
    with refused("positive", 7):
        cw.confusion(trials, "f1", positive=7)
    with refused("classes", says=[3, 2]):
        cw.confusion(trials, classes=["a", "b", "c"])


def test_failed_trials_are_counted_and_wrong():
    good = grown(TWO)
    broken = Trial("t", "good", 99, {}, status="crashed", error="out of memory")
    with pytest.raises(CurvewiseError, match="out of memory"):
        cw.confusion(Trials([*good, broken]))
    answer = cw.confusion(Trials([*good, broken]), failed="worst")
    assert answer.failed == 1
    whole = cw.confusion(Trials(good))
    assert answer.rows()[0]["value"] > whole.rows()[0]["value"]  # error
    assert any(holds(note, 1) for note in answer.notes())
    two = [*good, broken, Trial("t", "poor", 99, {}, status="crashed", error="x")]
    both = cw.confusion(Trials(two), failed="worst")
    assert both.failed == 2
    assert any(holds(note, 2) for note in both.notes())


def test_training_sizes_are_those_that_models_saw():
    held_out = [
        Trial(
            t.task,
            t.algorithm,
            t.number,
            {"trained_on": 2 * SIZES / 3},
            steps=SIZES,
            counts=t.counts,
        )
        for t in grown(TWO)
    ]
    answer = cw.confusion(Trials(held_out), "f1")
    row = answer.rows()[0]
    assert row["largest"] == pytest.approx(2 * 1280 / 3)
    assert row["size"] == pytest.approx(2 * 1280 / 3)


def test_who_was_answered_rightly_says_how_alike_sizes_are():
    rng = np.random.default_rng(0)
    truth = np.arange(400) % 2
    hard = rng.normal(size=400)
    trials = []
    for i in range(4):
        z = 2.2 - 8 * SIZES[:, None] ** -0.5 + 2.5 * hard + rng.normal(size=(6, 400))
        correct = z > 0
        counts = np.zeros((6, 2, 2), int)
        for c in range(2):
            own = correct[:, truth == c].sum(1)
            counts[:, c, c], counts[:, c, 1 - c] = own, 200 - own
        trials.append(
            Trial("t", "a", i, {}, steps=SIZES, counts=counts, correct=correct)
        )
    kept = cw.confusion(Trials(trials), "error", method="calibrated").rows()[0]
    bare = [Trial("t", "a", t.number, {}, steps=SIZES, counts=t.counts) for t in trials]
    blind = cw.confusion(Trials(bare), "error", method="calibrated").rows()[0]
    assert kept["upper"] - kept["lower"] != blind["upper"] - blind["lower"]
    assert kept["value"] == pytest.approx(blind["value"], abs=0.01)


def test_tasks_with_one_size_are_left_out():
    other = [
        Trial("u", "good", 0, {}, steps=[40.0], counts=np.array([[[9, 1], [2, 8]]]))
    ]
    answer = cw.confusion(Trials([*grown(TWO), *other]))
    assert answer.tasks == ("t",)
    assert answer.left_out == ("u",)
    with refused(says=["u", 1, 2]):
        cw.confusion(Trials(other))
    late = [Trial("t", "late", 0, {}, steps=[40.0], counts=other[0].counts)]
    answer = cw.confusion(Trials([*grown(TWO), *late]))
    assert answer.of().algorithms == ("good", "poor")
    assert answer.of().left_out == ("late",)


def test_trials_without_counts_are_told_what_to_do():
    scores = Trials([Trial("t", "a", 0, {"f1": [0.5, 0.6]}, steps=[10, 20])])
    with pytest.raises(CurvewiseError, match="recover_counts"):
        cw.confusion(scores, "f1")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("metric", value) for value in ("zorp", [], 5)),
        ("method", "magic"),
        ("target", "future"),
        ("confidence", 95),
        ("size", -3),
        ("failed", 0.5),
        ("average", "median"),
        ("positive", True),
        *(("classes", value) for value in (5, "ab", ["a"])),
    ],
)
def test_bad_questions_are_refused(trials, argument, value):
    with refused(argument):
        cw.confusion(trials, **{argument: value})


def test_what_does_not_go_together_is_refused(trials):
    with refused("test_size", 0):
        cw.confusion(trials, target="observed", test_size=0)
    with refused("positive", "cat", fixes=[{"classes": [...]}]):
        cw.confusion(trials, positive="cat", classes=["dog", "cow"])


def test_it_prints_and_travels(answer):
    text = str(answer)
    assert "good: F1" in text
    told = json.loads(answer.to_json())
    assert {"rows", "sizes", "classes", "verdicts", "notes"} <= set(told)
    assert len(answer.to_frame()) == 8
    assert "<table" in answer._repr_html_()
    assert "tabular" in answer.to_latex()


def test_an_unknown_name_is_told_the_known_ones(answer):
    with pytest.raises(CurvewiseError, match="good"):
        answer.curve("god")
    with pytest.raises(CurvewiseError, match="'t'"):
        answer.of("moon")


def test_only_failed_trials_lack_sizes():
    """Others may have been trained on sizes of their own."""
    good = grown({"good": TWO["good"]})
    counts = good[0].counts
    short = Trial("t", "good", 50, {}, steps=SIZES[:3], counts=counts[:3])
    half = Trial(
        "t", "good", 51, {}, steps=SIZES[:2], counts=counts[:2], status="crashed"
    )
    answer = cw.confusion(Trials([*good, short, half]), "f1", failed="worst")
    assert answer.curve("good").counted.runs == [6, 6, 6, 5, 5, 5]


def test_an_algorithm_whose_trials_all_failed_is_named():
    lost = [Trial("t", "lost", i, {}, status="crashed", error="boom") for i in range(2)]
    with refused(says=["lost", "t"]) as problem:
        cw.confusion(Trials([*grown(TWO), *lost]), failed="worst")
    assert "boom" in str(problem.value)


def test_numbers_of_classes_may_not_change_within_an_algorithm():
    other = Trial("t", "good", 50, {}, steps=SIZES, counts=np.ones((6, 3, 3), int))
    with refused(says=["good", "t", 2, 3]):
        cw.confusion(Trials([*grown(TWO), other]))


def test_what_the_statistics_refuse_is_told_of_whom():
    swapped = [
        Trial("t", "a", t.number, {}, steps=SIZES, counts=np.swapaxes(t.counts, 1, 2))
        for t in grown({"a": TWO["good"]})
    ]
    with refused("counts", says=["a", "t"]):
        cw.confusion(Trials(swapped))


def seen_by(values, trials):
    return [
        Trial(
            *(t.task, t.algorithm, t.number, {"trained_on": np.array(values(t))}),
            steps=SIZES,
            counts=t.counts,
        )
        for t in trials
    ]


def test_a_run_that_did_not_record_its_training_saw_everything():
    trials = seen_by(lambda t: SIZES / 2 if t.number else SIZES * np.nan, grown(TWO))
    row = cw.confusion(Trials(trials), "f1").rows()[0]
    assert row["largest"] == pytest.approx((3 * 640 + 1280) / 4)


def test_curves_follow_what_models_saw_not_the_order_of_sizes():
    trials = Trials(seen_by(lambda _: SIZES[::-1] / 2, grown(TWO)))
    own = cw.confusion(trials, "f1").curve("good")
    assert own.counted.largest == 640
    pooled = sum(counts_of(trials, "good")[5])  # the largest size saw least
    assert own.observed["f1"][0] == pytest.approx(float(cw.metrics.f1(pooled)))
    assert own.counted.sizes[0] == 1280


def test_two_sizes_that_saw_the_same_are_refused():
    trials = seen_by(lambda _: [20, 40, 90, 90, 320, 640.0], grown(TWO))
    with refused(says=[160, 320, "good", 90]):
        cw.confusion(Trials(trials))


def test_a_table_says_where_models_saw_less_than_the_size():
    trials = Trials(seen_by(lambda _: SIZES / 2, grown(TWO)))
    notes = cw.confusion(trials, "f1").notes()
    assert any(holds(note, 640, 1280) for note in notes)
    notes = cw.confusion(Trials(grown(TWO)), "f1").notes()
    assert not any(holds(note, 1280) for note in notes)


def test_a_class_that_was_not_tested_was_not_seen():
    """By convention 0/0 is 0, but nobody has seen a recall of 0 there."""
    trials = []
    for t in grown({"good": TWO["good"]}):
        counts = t.counts.copy()
        counts[:2, 1] = 0
        trials.append(Trial("t", "good", t.number, {}, steps=SIZES, counts=counts))
    answer = cw.confusion(Trials(trials), ["f1", "specificity", "error"])
    own = answer.curve("good")
    np.testing.assert_array_equal(np.isnan(own.observed["f1"]), SIZES < 100)
    assert np.isfinite(own.observed["specificity"]).all()
    assert np.isfinite(own.observed["error"]).all()
    assert f"{own.observed['f1'][2]:.4f} at 160." in answer.verdicts("t")[0]
    assert answer.table("t")[0]["seen at 40"] == "?"
    assert json.loads(answer.to_json())["sizes"][0]["observed"] is None
    macro = cw.confusion(Trials(trials), "f1", average="macro").curve("good")
    assert np.isnan(macro.observed["f1"][0])
    micro = cw.confusion(Trials(trials), "f1", average="micro").curve("good")
    assert np.isfinite(micro.observed["f1"]).all()


def test_classes_have_names():
    three = grown({"a": [rising(2.5, 8), rising(1.5, 9), rising(0.5, 3)]})
    names = ["cat", "dog", "cow"]
    named = cw.confusion(Trials(three), "recall", positive="dog", classes=names)
    assert named.asked.metrics == {"recall": {"positive": 1}}
    assert any("dog" in note for note in named.notes())
    assert named.provenance.settings["classes"] == joined(names)
    error = cw.confusion(Trials(three), "error", classes=names)
    assert "class" not in "".join(error.notes())


def test_notes_say_which_test_set():
    asked = {"target": "observed", "test_size": 50, "runs": 3}
    answer = cw.confusion(Trials(grown(TWO)), "f1", **asked)
    assert holds(answer.notes()[0], 3, 50)


def test_far_questions_are_warned_of(answer):
    assert len(answer.at(2560).notes()) == 1
    far, near, _ = answer.at([1e6, 2]).notes()
    assert holds(far, 781)
    assert holds(near, 2, 40)
    far = cw.confusion(Trials(grown(TWO)), "f1", size=1e6)
    assert any(holds(text, 781) for text in far.concerns("t"))
    kinds = [own.kind for own in far.curve("good").curve.concerns_at(1e6)]
    assert kinds == ["far"]


def test_gains_are_of_twice_the_data():
    # A perfect one has nothing to gain.
    counts = np.broadcast_to(np.diag([150, 150]), (6, 2, 2))
    perfect = [Trial("t", "a", i, {}, steps=SIZES, counts=counts) for i in range(3)]
    answer = cw.confusion(Trials(perfect), "error")
    assert gain_of(answer.curve("a"), answer.asked) == "none"
    tiny = Interval(0.8, 0.95, "", "", value=0.900_330_2)
    assert gain_between("f1", 0.9, tiny) == (0.0003, "perhaps")
    less = Interval(0.05, 0.08, "", "", value=0.06)
    assert gain_between("error", 0.1, less) == (0.04, "gain")
    none = Interval(0.8, 0.95, "", "", value=0.900_04)
    assert gain_between("f1", 0.9, none)[1] == "none"


def test_many_algorithms_are_named_in_one_sentence():
    many = {f"a{i}": TWO["good"] for i in range(7)}
    first, *_ = cw.confusion(Trials(grown(many, runs=1)), "f1").concerns("t")
    assert "a4" in first
    assert "a5" not in first


def test_a_metric_is_told_once(trials):
    answer = cw.confusion(trials, ["f1", "error", "f1"])
    assert answer.metrics == ("f1", "error")
    assert answer.provenance.settings["metric"] == joined(["f1", "error"])


def test_times_the_data_are_of_each_algorithm():
    short = [
        Trial("t", "short", t.number, {}, steps=SIZES[:3], counts=t.counts[:3])
        for t in grown({"good": TWO["good"]})
    ]
    answer = cw.confusion(Trials([*grown(TWO), *short]), "f1")
    assert answer.of().size == 160
    assert len(answer.notes()) > len(cw.confusion(Trials(grown(TWO)), "f1").notes())


def test_of_many_classes_the_hardest_are_printed():
    curves = [rising(2.5 - 0.1 * i, 8) for i in range(15)]
    answer = cw.confusion(Trials(grown({"a": curves}, runs=2, test=3000)), "f1")
    table = answer.class_table("t")
    assert len(table) == 12
    rows = answer.class_rows()
    assert len(rows) == 15
    hardest = sorted(rows, key=lambda row: row["f1"])[:12]
    assert {row["class"] for row in table} == {row["class"] for row in hardest}
    assert any(holds(line, 12, 15) for line in str(answer).splitlines())


def test_every_concern_is_a_sentence():
    told = {
        own: concern_text(Concern(own, 3.0, 1), method)
        for method in METHODS
        for own in get_args(ConcernKind)
        if own in CONCERNS[method]
    }
    assert set(told) == set(get_args(ConcernKind))
    assert all(text.endswith(".") and "{" not in text for text in told.values())
