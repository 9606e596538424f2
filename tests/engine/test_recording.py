"""Records: what may be yielded, what is kept of it, and how it becomes columns."""

import decimal
import fractions
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import refused

from curvewise import CurvewiseError, Metric, Trial, Trials
from curvewise.engine.recording import Record, columns
from curvewise.trials import STATUSES


def recorded(*items, number=0):
    """Return a record of these yields."""
    record = Record(number)
    for item in items:
        record.add(item)
    return record


def as_trials(*records):
    """Return what a run makes of records."""
    core, details = columns(records)
    meant = {name: Metric(name) for name in core.values}
    return Trials.from_columns(["t"], ["a"], meant, core, details)


class Tensor:
    """What torch and jax have: a shape, and one number to be had by item()."""

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def item(self):
        return self.value


# --- numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (1, 1.0),
        (0.5, 0.5),
        (True, 1.0),
        (-(2**70), -(2.0**70)),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.int8(-3), -3.0),
        (np.uint64(2**64 - 1), 2.0**64),
        (np.bool_(True), 1.0),
        (np.array(0.5), 0.5),
        (np.array([0.5]), 0.5),
        (np.array([[0.5]]), 0.5),
        (Tensor(0.5), 0.5),
        (Tensor(3, (1,)), 3.0),
        (fractions.Fraction(1, 4), 0.25),
        (decimal.Decimal("0.25"), 0.25),
        (math.inf, math.inf),
        (np.float32(-math.inf), -math.inf),
    ],
)
def test_everything_that_is_one_number_is_kept_as_one(value, kept):
    (found,) = recorded((0, {"loss": value})).values["loss"]
    assert found == kept
    assert type(found) is float


def test_nan_is_kept_as_what_it_is():
    assert math.isnan(recorded((0, {"loss": math.nan})).values["loss"][0])


@pytest.mark.parametrize(
    "value",
    [
        *("0.5", b"1", np.str_("0.5"), np.array("0.5"), None, [1], [], {"a": 1}, 1j),
        *(np.complex128(1 + 1j), lambda: 1, object(), Tensor("high"), Tensor(None)),
        *(10**400, np.ma.masked),  # has no float; is a number that is not there
    ],
)
def test_what_is_no_number_is_refused(value):
    argument, culprit = refused(recorded, (0, {"loss": value}))
    assert argument == "loss"
    assert culprit is value


@pytest.mark.parametrize("shape", [(0,), (2,), (2, 2), (1, 0)])
def test_arrays_are_refused(shape):
    for array in (np.zeros(shape), Tensor(0.5, shape)):
        argument, culprit = refused(recorded, (0, {"loss": array}))
        assert argument == "loss"
        assert culprit is array


@pytest.mark.parametrize("name", [3, None, "", ("a", "b"), "\ud800"])
@pytest.mark.parametrize("value", [0.5, np.float64(0.5)])
def test_a_metric_is_called_by_a_text(name, value):
    """A trial that fails is one trial; a name that nobody can keep ends the run."""
    assert refused(recorded, (0, {name: value})) == ("metric", name)


# --- the form of a yield -------------------------------------------------------------


@pytest.mark.parametrize(
    "item",
    [
        *(0.5, None, {"loss": 1}, "ab", [], object()),
        *((1, 2), (1, [("loss", 2)]), (1, {"loss": 2}, 3)),
        (3, {}),  # a step without a value
    ],
)
def test_a_yield_is_a_step_and_a_dict(item):
    assert refused(recorded, item) == (None, item)


def test_a_pair_may_be_a_list_and_a_dict_any_mapping():
    from types import MappingProxyType

    record = recorded([0, MappingProxyType({"loss": 1})])
    assert (record.steps, record.values) == ([0.0], {"loss": [1.0]})


@pytest.mark.parametrize(
    "step",
    [3, 3.0, np.int64(3), np.float32(3), np.array(3), fractions.Fraction(3)],
    ids=repr,
)
def test_a_step_is_a_number_of_any_kind(step):
    assert recorded((step, {"loss": 1})).steps == [3.0]


@pytest.mark.parametrize(
    "step", [math.nan, math.inf, -math.inf, "3", "first", None, [1], 10**400, 1j, b"3"]
)
def test_a_step_is_a_finite_number(step):
    assert refused(recorded, (step, {"loss": 1})) == ("step", step)


@pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 1), (0, -1), (0.5, 0.25)])
def test_steps_increase(before, after):
    record = recorded((before, {"loss": 1}))
    assert refused(record.add, (after, {"loss": 2})) == ("step", after)
    assert (record.steps, record.values) == ([before], {"loss": [1.0]})


def test_steps_may_begin_below_0_and_have_gaps():
    assert recorded(*((s, {"loss": 1}) for s in (-2, 0.5, 1e9))).steps == [-2, 0.5, 1e9]


# --- gaps ----------------------------------------------------------------------------


def test_metrics_that_are_yielded_at_different_steps_have_gaps():
    record = recorded(
        (0, {"loss": 3}), (1, {"accuracy": 0.5}), (2, {"loss": 1, "accuracy": 0.7})
    )
    assert record.values == {"loss": [3, None, 1], "accuracy": [None, 0.5, 0.7]}


def test_a_gap_is_not_nan():
    """Not recorded is not NaN: a mask says so, here as in Trial."""
    (trial,) = as_trials(recorded((0, {"a": 1, "b": math.nan}), (1, {"a": 2})))
    assert np.ma.getmaskarray(trial.metrics["b"]).tolist() == [False, True]
    assert trial == Trial(
        "t", "a", 0, {"a": [1, 2], "b": [math.nan, None]}, steps=[0, 1]
    )


def test_a_metric_that_stops_is_filled_up_to_the_end():
    record = recorded((0, {"a": 1, "b": 1}), (1, {"a": 2}), (2, {"a": 3}))
    assert record.values["b"] == [1, None, None]


# --- what was yielded before an error is kept ----------------------------------------

GOOD = {
    "loss": 1.0,
    "counts": [[1, 0], [0, 1]],
    "correct": [True, False],
    "examples": [4, 5],
}


@pytest.mark.parametrize(
    "bad",
    [
        (1, GOOD | {"loss": "high"}),
        (1, GOOD | {"counts": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}),
        (1, GOOD | {"counts": [[-1, 0], [0, 1]]}),
        (1, GOOD | {"correct": [True]}),
        (1, GOOD | {"correct": [0.5, 0.5]}),
        (1, GOOD | {"examples": [4, 4]}),
        (1, {"loss": 1.0}),
        (1, {"counts": GOOD["counts"]}),
        (0, GOOD),
        (math.nan, GOOD),
        (1, {}),
        None,
    ],
    ids=str,
)
def test_a_bad_yield_leaves_the_record_as_it_was(bad):
    record, same = recorded((0, GOOD)), recorded((0, GOOD))
    with pytest.raises(CurvewiseError):
        record.add(bad)
    assert as_trials(record) == as_trials(same)
    assert record.since(0)[3:5] == same.since(0)[3:5]
    record.add((2, GOOD))
    same.add((2, GOOD))
    assert as_trials(record) == as_trials(same)


# --- counts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts",
    [
        [[3, 1], [0, 4]],
        np.array([[3.0, 1.0], [0.0, 4.0]]),
        np.array([[3, 1], [0, 4]], np.uint8),
    ],
    ids=repr,
)
def test_counts_are_a_square_of_whole_numbers(counts):
    (trial,) = as_trials(recorded((0, {"counts": counts})))
    assert trial.counts.tolist() == [[[3, 1], [0, 4]]]
    assert trial.counts.dtype == np.int64


@pytest.mark.parametrize(
    "counts",
    [
        [1, 2],
        [[1, 2, 3], [4, 5, 6]],
        [[1]],
        3,
        [[1.5, 2], [3, 4]],
        [[math.nan, 1], [1, 1]],
        [["1", "2"], ["3", "4"]],
        [[True, False], [False, True]],
        np.ones((2, 2, 2)),
        [[1j, 1], [1, 1]],
    ],
    ids=str,
)
def test_other_counts_are_refused(counts):
    assert refused(recorded, (0, {"counts": counts})) == ("counts", counts)


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
def test_infinite_counts_are_refused():
    """They end the whole run now: the columns refuse what the record let pass."""
    counts = [[math.inf, 1], [1, 1]]
    assert refused(recorded, (0, {"counts": counts})) == ("counts", counts)


@pytest.mark.parametrize("odd", [-1, 2.0**63, 1e300])
def test_counts_below_0_or_beyond_64_bits_are_refused(odd):
    counts = [[1, odd], [0, 1]]
    assert refused(recorded, (0, {"counts": counts})) == ("counts", counts)


def test_the_number_of_classes_does_not_change():
    record = recorded((0, {"counts": np.eye(2)}))
    shapes = (2, 2), (3, 3)
    assert refused(record.add, (1, {"counts": np.eye(3)})) == ("shape", shapes)


def test_counts_need_no_metric_beside_them():
    (trial,) = as_trials(
        recorded((5, {"counts": np.eye(2)}), (9, {"counts": np.eye(2)}))
    )
    assert trial.metrics == {}
    assert trial.steps.tolist() == [5, 9]


# --- correct and examples ------------------------------------------------------------


def test_answers_without_examples_are_numbered():
    (trial,) = as_trials(
        recorded((0, {"correct": [True, False]}), (1, {"correct": [True, True]}))
    )
    assert trial.correct.tolist() == [[True, False], [True, True]]
    assert trial.examples.tolist() == [0, 1]


def test_examples_that_were_not_asked_at_a_step_are_masked():
    (trial,) = as_trials(
        recorded(
            (0, {"correct": [True, False], "examples": [7, 3]}),
            (1, {"correct": [True, False, True], "examples": [9, 3, 7]}),
        )
    )
    assert trial.examples.tolist() == [3, 7, 9]
    assert trial.correct.tolist() == [[False, True, None], [False, True, True]]


@pytest.mark.parametrize(
    "correct", [[1, 0], [0.0, 1.0], [[True], [False]], True, ["yes"], []], ids=str
)
def test_other_answers_are_refused(correct):
    assert refused(recorded, (0, {"correct": correct})) == ("correct", correct)


@pytest.mark.parametrize(
    "examples", [[1, 1], [0.5, 1], ["a", "b"], [[1, 2]], 3], ids=str
)
def test_other_examples_are_refused(examples):
    told = {"correct": [True, False], "examples": examples}
    assert refused(recorded, (0, told)) == ("examples", examples)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"correct": [True]}, {"correct": [True, True]}),
        (
            {"correct": [True], "examples": [1]},
            {"correct": [True], "examples": [1, 2]},
        ),
        (
            {"correct": [True, False], "examples": [1, 2]},
            {"correct": [True], "examples": [1, 2]},
        ),
    ],
)
def test_there_is_an_answer_for_each_example(before, now):
    record = recorded((0, before))
    assert refused(record.add, (1, now))[0] == "shape"


def test_examples_without_answers_say_nothing():
    told = {"loss": 1, "examples": [1, 2]}
    assert refused(recorded, (0, told)) == ("shape", ((2,), None))


@pytest.mark.parametrize("name", ["counts", "correct", "examples"])
def test_what_is_told_of_examples_is_told_at_each_step(name):
    whole = GOOD
    less = {k: v for k, v in GOOD.items() if k != name}
    if name == "correct":  # examples go with their answers
        whole = {k: v for k, v in GOOD.items() if k != "examples"}
        less = {k: v for k, v in whole.items() if k != name}
    for before, now in ((whole, less), (less, whole)):
        assert refused(recorded((0, before)).add, (1, now)) == (name, None)


@pytest.mark.parametrize(
    ("name", "array", "change"),
    [
        ("counts", np.ones((2, 2), np.int64), 9),
        pytest.param(
            "correct",
            np.ones(3, bool),
            False,
        ),
    ],
)
def test_an_algorithm_may_use_its_arrays_again(name, array, change):
    """It yields a buffer and writes on: what was yielded stays what it was."""
    buffer = array.copy()
    record = recorded((0, {name: buffer}))
    buffer[...] = change
    assert getattr(as_trials(record)[0], name)[0].tolist() == array.tolist()


# --- chosen --------------------------------------------------------------------------


def test_what_an_algorithm_chose_becomes_its_params():
    record = Record(0)
    record.params = {"C": 1.0}
    record.add((None, {"chosen": {"C": np.float64(2.0), "layers": (3, 4)}}))
    assert record.params == {"C": 2.0, "layers": [3, 4]}
    assert record.steps == []
    record.add((0, {"loss": 1, "chosen": {"C": 3.0}}))
    assert record.params == {"C": 3.0}
    assert record.values == {"loss": [1.0]}


@pytest.mark.parametrize("chosen", [3, [("C", 1)], None, {"f": object()}])
def test_what_was_chosen_is_a_dict_of_plain_values(chosen):
    assert refused(recorded, (None, {"chosen": chosen})) == ("'chosen'", chosen)


def test_a_choice_is_not_a_step():
    choice = (3, {"chosen": {"C": 1}})
    assert refused(recorded, choice) == (None, choice)


# --- how it ended --------------------------------------------------------------------


def finished(*items):
    record = recorded(*items)
    record.finish()
    return record.status, record.error


def test_a_trial_that_yielded_nothing_has_failed():
    status, error = finished()
    assert status == "failed"
    assert error == (
        "Nothing was yielded. Yield (step, {metric: value}), such as "
        "(epoch, {'accuracy': 0.9})."
    )


def test_a_choice_alone_is_nothing():
    assert finished((None, {"chosen": {"C": 1}}))[0] == "failed"


@pytest.mark.parametrize("last", [math.nan, math.inf, -math.inf])
def test_a_trial_whose_last_values_are_no_numbers_has_failed(last):
    status, error = finished(
        (0, {"loss": 1, "b": 1}), (7, {"loss": last, "b": math.nan})
    )
    assert status == "failed"
    assert error == f"At the last step, 7, loss is {last}, b is nan."


@pytest.mark.parametrize(
    "items",
    [
        [(0, {"loss": math.nan}), (1, {"loss": 2})],
        [(0, {"loss": 1, "b": 1}), (1, {"loss": math.nan, "b": 2})],
        [(0, {"loss": math.nan, "counts": np.eye(2)})],
        [(0, {"loss": math.nan}), (1, {"b": 2})],
        [(0, {"correct": [True]})],
    ],
    ids=["earlier", "another metric", "counts", "a gap", "answers"],
)
def test_a_trial_with_one_good_number_at_its_end_has_not(items):
    assert finished(*items) == ("ok", "")


# --- since and extend ----------------------------------------------------------------


@given(st.data())
def test_what_was_sent_in_pieces_is_the_record_itself(data):
    """A worker that dies has sent its record so: see board.py."""
    names = st.sampled_from(["a", "b", "c"])
    numbers = st.floats(allow_nan=False)
    given_ = data.draw(
        st.lists(st.dictionaries(names, numbers, min_size=1), min_size=1, max_size=8)
    )
    with_counts = data.draw(st.booleans())
    record, copy, sent = Record(5), Record(5), 0
    record.params, record.labels = {"x": 1}, {"draw": 3}
    for step, values in enumerate(given_):
        record.add((step, values | ({"counts": np.eye(2)} if with_counts else {})))
        if data.draw(st.booleans()):
            copy.extend(5, pickle.loads(pickle.dumps(record.since(sent))))
            sent = len(record.steps)
    copy.extend(5, record.since(sent))
    assert as_trials(copy) == as_trials(record)
    assert (copy.params, copy.labels) == ({"x": 1}, {"draw": 3})


def test_pieces_of_another_trial_are_left_out():
    record = Record(5)
    record.extend(5, recorded((0, {"a": 1}), number=4).since(0))
    assert record.steps == []


# --- columns -------------------------------------------------------------------------

floats = st.floats(width=64)
texts = st.text(st.characters(codec="utf-8"), max_size=5)
plain = st.dictionaries(texts, st.integers(-5, 5) | texts | st.none(), max_size=2)


@st.composite
def yields(draw, names=("a", "b", "c"), gaps=True):
    """Return a list of (step, values): all metrics at each step, or some."""
    some = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    steps = sorted(draw(st.lists(st.integers(-9, 9), unique=True, max_size=4)))
    least = 1 if gaps else len(some)
    subsets = st.lists(st.sampled_from(some), min_size=least, unique=True)
    return [(s, {name: draw(floats) for name in draw(subsets)}) for s in steps]


@st.composite
def endings(draw):
    return {
        "status": draw(st.sampled_from(STATUSES)),
        "error": draw(st.text(max_size=5)),
        "seconds": draw(st.floats(0, 1e6)),
        "attempts": draw(st.integers(1, 9)),
        "params": draw(plain),
        "labels": draw(plain),
    }


def compared(all_yields, all_endings):
    """Hold the columns of records to Trials that are made of Trial records."""
    records, trials = [], []
    for i, (items, ending) in enumerate(zip(all_yields, all_endings, strict=True)):
        record = recorded(*items, number=3 * i)
        for name, value in ending.items():
            setattr(record, name, value)
        records.append(record)
        names = dict.fromkeys(name for _, values in items for name in values)
        curves = {name: [values.get(name) for _, values in items] for name in names}
        steps = [step for step, _ in items]
        trials.append(Trial("t", "a", 3 * i, curves, steps=steps, **ending))
    metrics = [Metric(name) for name in "abc"]
    expected, found = Trials(trials, metrics), as_trials(*records)
    assert found == expected
    for one, other in zip(found, expected, strict=True):
        for part in ("seconds", "attempts", "error"):  # no part of equality
            assert getattr(one, part) == getattr(other, part)


@given(st.data())
def test_columns_are_those_of_trial_records(data):
    """The oracle: Trial and Trials, which have tests of their own."""
    all_yields = data.draw(st.lists(yields(), min_size=1, max_size=4))
    compared(all_yields, [data.draw(endings()) for _ in all_yields])


@given(st.data())
def test_columns_of_trials_that_are_alike_are_too(data):
    """The quick way: the same metrics at every step of every trial."""
    name = data.draw(st.sampled_from("abc"))
    some = yields(names=(name,), gaps=False).filter(bool)
    all_yields = data.draw(st.lists(some, min_size=1, max_size=4))
    compared(all_yields, [data.draw(endings()) for _ in all_yields])


def test_the_quick_way_is_taken_where_it_can_be(monkeypatch):
    """Else the test above would compare the slow way with itself."""
    from curvewise.engine import recording

    def slow(*_):
        raise AssertionError("the slow way")

    monkeypatch.setattr(recording, "from_records", slow)
    alike = [recorded((0, {"a": 1.0}), (1, {"a": 2.0}), number=i) for i in range(3)]
    assert len(as_trials(*alike)) == 3
    assert len(as_trials(Record(0))) == 1
    assert len(as_trials(recorded((0, {"a": 1.0, "counts": np.eye(2)})))) == 1
    with pytest.raises(AssertionError, match="the slow way"):
        as_trials(*alike, recorded((0, {"b": 1.0}), number=9))
    with pytest.raises(AssertionError, match="the slow way"):
        as_trials(recorded((0, {"a": 1.0, "correct": np.array([True])})))


def test_trials_that_failed_at_once_stand_beside_others():
    trials = as_trials(Record(0), recorded((0, {"a": 1.0}), number=1))
    assert [len(t.steps) for t in trials] == [0, 1]


def test_an_error_text_that_has_no_bytes_is_kept_readable():
    quick, slow = Record(0), recorded((0, {"counts": np.eye(2)}))
    for record in (quick, slow):
        record.end("failed", "no file \udcff")
        assert as_trials(record)[0].error == "no file ?"


def test_metrics_keep_the_order_in_which_they_were_first_yielded():
    names = [f"m{i}" for i in range(20)]
    record = recorded(
        (0, dict.fromkeys(names[:10], 1.0)), (1, dict.fromkeys(names, 2.0))
    )
    assert list(record.values) == names


def test_writing_down_costs_the_same_at_every_step():
    """A list made anew at each yield would cost a hundred times more at the end."""
    import tracemalloc

    record = Record(0)
    for step in range(50_000):
        record.add((step, {"a": 1.0}))
    tracemalloc.start()
    record.add((50_000, {"a": 1.0}))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000 / 2
