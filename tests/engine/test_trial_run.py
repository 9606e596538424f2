"""One trial: whatever an algorithm does, its record says how it ended, and why."""

import itertools
import math
import pickle
import sys
import time

import numpy as np
import pytest
from support import refused

from curvewise import Algorithm, Experiment, Task
from curvewise.engine import trial_run as running
from curvewise.engine.recording import Record
from curvewise.engine.trial_run import Runner, TimeLimitError, last_lines

HERE = __file__


def ran(run, *, space=None, sample=lambda rng: None, kept=None, number=0, **options):
    """Return the record of one trial."""
    options = {"trials": 9, "seed": 1} | options
    algorithm = Algorithm("a", {} if space is None else space, run)
    experiment = Experiment(Task("t", sample), algorithm, **options)
    record = Record(number)
    Runner(experiment, *next(experiment.cells())).run(record, kept)
    return record


def raising(problem):
    """Return an algorithm that yields once and then raises."""

    def run(params, data, rng):
        yield 0, {"loss": 1.0}
        raise problem

    return run


# --- what may be returned ------------------------------------------------------------


def test_a_generator_is_written_down_as_it_yields():
    seen = []

    def run(params, data, rng):
        for i in range(3):
            yield i, {"loss": -i}
            seen.append(i)

    record = ran(run, kept=lambda r: seen.append((len(r.steps), r.number)), number=4)
    assert seen == [(1, 4), 0, (2, 4), 1, (3, 4), 2]
    assert record.values == {"loss": [0.0, -1.0, -2.0]}
    assert (record.status, record.error) == ("ok", "")


@pytest.mark.parametrize(
    "returned",
    [
        {"loss": 1.0},
        [(0, {"loss": 1.0})],
        iter([(0, {"loss": 1.0})]),
        (pair for pair in [(0, {"loss": 1.0})]),
        zip([0], [{"loss": 1.0}], strict=True),
    ],
    ids=["dict", "list", "iterator", "generator", "zip"],
)
def test_a_dict_or_anything_to_go_through_may_be_returned(returned):
    record = ran(lambda params, data, rng: returned)
    assert (record.status, record.steps, record.values) == (
        "ok",
        [0.0],
        {"loss": [1.0]},
    )


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "NoneType None"),
        (0.5, "float 0.5"),
        (3, "int 3"),
        (np.float64(0.5), "float64 0.5"),
        ("done", "str done"),
        ((0, {"loss": 1}), "tuple (0, {'loss': 1})"),
        (np.zeros(2), "ndarray [0. 0.]"),
        (True, "bool True"),
    ],
    ids=repr,
)
def test_what_else_is_returned_fails_with_what_to_do(returned, said):
    record = ran(lambda params, data, rng: returned)
    assert record.status == "failed"
    assert (
        f"run returned {said}. Let it yield (step, {{metric: value}}), or return a dict "
        f"such as {{'accuracy': 0.9}}." in record.error
    )


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ([0.5, 0.6], "float 0.5 was yielded. Yield (step, {metric: value})"),
        ([], "Nothing was yielded."),
        ({}, "Step 0 was yielded without a value."),
        (object(), "'object' object is not iterable"),
        (np.int64(3), "'numpy.int64' object is not iterable"),
        ({"loss": [1, 2]}, "Metric 'loss' is list [1, 2]. Yield a number."),
    ],
)
def test_what_cannot_be_kept_fails_with_the_reason(returned, said):
    record = ran(lambda params, data, rng: returned)
    assert record.status == "failed"
    assert said in record.error


def test_a_generator_that_yields_nothing_has_failed():
    def run(params, data, rng):
        return
        yield

    record = ran(run)
    assert record.status == "failed"
    assert record.error.startswith("Nothing was yielded. Yield (step")


def test_a_generator_that_returns_early_has_not():
    def run(params, data, rng):
        yield 0, {"loss": 1.0}
        return {"loss": 2.0}

    assert ran(run).values == {"loss": [1.0]}


# --- exceptions ----------------------------------------------------------------------


class OwnError(BaseException):
    """Not an Exception: a trial that raises it must not take the run along."""


class UnshowableError(Exception):
    def __str__(self):
        raise RuntimeError("no")


class WorseToShowError(Exception):
    def __str__(self):
        raise SystemExit

    __repr__ = __str__


@pytest.mark.parametrize(
    ("problem", "first"),
    [
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (ValueError("two\nlines"), "ValueError: two"),
        (KeyError("lr"), "KeyError: 'lr'"),
        (SystemExit(3), "SystemExit: 3"),
        (SystemExit(), "SystemExit"),
        (GeneratorExit(), "GeneratorExit"),
        (OwnError("own"), f"{__name__}.OwnError: own"),
        (MemoryError(), "MemoryError"),
        (ExceptionGroup("many", [ValueError("a")]), "ExceptionGroup: many"),
        (OSError(2, "no such file", "\udcff"), "FileNotFoundError: [Errno 2]"),
    ],
    ids=repr,
)
def test_any_exception_is_a_failed_trial_with_its_message_first(problem, first):
    record = ran(raising(problem))
    assert record.status == "failed"
    assert record.error.splitlines()[0].startswith(first)
    assert record.values == {"loss": [1.0]}  # what was yielded before
    assert record.seconds > 0


@pytest.mark.parametrize("problem", [UnshowableError(), WorseToShowError()])
def test_an_exception_that_cannot_be_shown_is_a_failed_trial(problem):
    record = ran(raising(problem))
    assert record.status == "failed"
    assert record.error.startswith(
        f"{__name__}.{type(problem).__name__}: <exception str"
    )


def test_a_recursion_without_end_is_a_failed_trial():
    def run(params, data, rng):
        return run(params, data, rng)

    record = ran(run)
    assert record.status == "failed"
    assert record.error.startswith("RecursionError: maximum recursion depth exceeded")
    assert len(record.error.splitlines()) == 4
    assert ran(lambda params, data, rng: {"loss": 1}).status == "ok"


def test_a_stop_iteration_inside_of_a_generator_is_not_its_end():
    """It would pass for a trial that ended well, were it not for PEP 479."""

    def run(params, data, rng):
        yield 0, {"loss": 1.0}
        next(iter(()))

    record = ran(run)
    assert record.status == "failed"
    assert record.error.startswith("RuntimeError: generator raised StopIteration")


def test_a_stop_iteration_of_a_plain_function_is_a_failed_trial():
    record = ran(lambda params, data, rng: next(iter(())))
    assert record.status == "failed"
    assert record.error.startswith("StopIteration")


def test_a_keyboard_interrupt_is_nobodys_result():
    with pytest.raises(KeyboardInterrupt):
        ran(raising(KeyboardInterrupt()))


def test_a_time_limit_is_a_timeout_and_keeps_what_was_yielded():
    record = ran(raising(TimeLimitError("It was stopped.")))
    assert (record.status, record.error) == ("timeout", "It was stopped.")
    assert record.values == {"loss": [1.0]}


def test_no_except_clause_hides_a_time_limit():
    def run(params, data, rng):
        yield 0, {"loss": 1.0}
        try:
            raise TimeLimitError("late")
        except Exception:
            yield 1, {"loss": 2.0}

    assert ran(run).status == "timeout"


def test_a_trial_that_failed_says_how_long_it_took():
    def run(params, data, rng):
        time.sleep(0.02)
        raise ValueError

    assert 0.02 <= ran(run).seconds < 5


# --- the text of an error ------------------------------------------------------------


def one(x):
    return two(x)


def two(x):
    return three(x)


def three(x):
    return four(x)


def four(x):
    raise ValueError("deep")


def places(error):
    """Return the function that each line after the message names."""
    return [line.split(" in ")[1].split(":")[0] for line in error.splitlines()[1:]]


def test_after_the_message_stand_at_most_three_places_the_last_first():
    error = ran(lambda params, data, rng: one(1)).error
    assert error.splitlines()[0] == "ValueError: deep"
    assert places(error) == ["four", "three", "two"]
    assert f"{HERE}:" in error.splitlines()[1]
    assert 'raise ValueError("deep")' in error.splitlines()[1]


def test_a_place_without_source_is_named_all_the_same():
    names = {}
    exec("def run(params, data, rng):\n    return 1 / 0\n", names)
    assert ran(names["run"]).error == (
        "ZeroDivisionError: division by zero\n  <string>:2 in run"
    )


def test_our_own_frames_are_left_out():
    error = ran(raising(ValueError("bad"))).error
    assert places(error) == ["run"]
    assert running.__file__ not in error


def test_our_own_frames_are_left_out_where_we_refuse_a_yield():
    def run(params, data, rng):
        yield 0, {"loss": "high"}

    assert "curvewise/engine" not in ran(run).error


def test_our_own_frames_are_left_out_where_a_draw_is_refused():
    def space(rng):
        return 3

    assert "curvewise/engine" not in ran(lambda *_: None, space=space).error


def test_a_long_message_is_cut():
    error = ran(raising(ValueError("x" * 1_000_000))).error
    assert len(error) < 3_000
    assert "…\n" in error


def test_a_frame_is_no_reason_to_keep_a_trials_data():
    """An error is text: the arrays of a failed trial can be let go."""
    assert type(ran(raising(ValueError("bad"))).error) is str
    pickle.dumps(ran(raising(ValueError("bad"))).error)


def test_notes_of_an_exception_are_kept():
    problem = ValueError("bad")
    problem.add_note("in epoch 3")
    assert ran(raising(problem)).error.splitlines()[:2] == [
        "ValueError: bad",
        "in epoch 3",
    ]


def test_last_lines_of_an_exception_that_was_never_raised():
    assert last_lines(ValueError("bad")) == "ValueError: bad"


# --- params --------------------------------------------------------------------------


def test_what_an_algorithm_does_to_its_params_is_not_what_was_drawn():
    def run(params, data, rng):
        params["C"] = 99
        params["more"] = params.pop("kernel")
        yield 0, {"loss": 1.0}

    record = ran(run, space={"C": [1], "kernel": ["rbf"]})
    assert record.params == {"C": 1, "kernel": "rbf"}


@pytest.mark.parametrize(
    "space", [{"layers": [[64, 32]]}, {"layers": {"widths": [[1, 2]]}}], ids=str
)
def test_nor_is_what_it_does_inside_of_them(space):
    def run(params, data, rng):
        inside = params["layers"]
        inside = inside["widths"] if isinstance(inside, dict) else inside
        inside.append(10)
        yield 0, {"loss": 1.0}

    record = ran(run, space=space)
    assert record.params in ({"layers": [64, 32]}, {"layers": {"widths": [1, 2]}})


def test_a_space_does_not_follow_what_algorithms_do_to_its_values():
    seen = []

    def run(params, data, rng):
        seen.append(list(params["layers"]))
        params["layers"].append(10)
        yield 0, {"loss": 1.0}

    options = [[64, 32]]
    algorithm = Algorithm("a", {"layers": options}, run)
    experiment = Experiment(Task("t", lambda rng: None), algorithm, 3)
    cell = Runner(experiment, *next(experiment.cells()))
    for number in range(3):
        cell.run(Record(number))
    assert seen == [[64, 32]] * 3
    assert options == [[64, 32]]


def test_an_algorithm_without_a_space_gets_an_empty_dict():
    record = ran(lambda params, data, rng: {"loss": float(params == {})})
    assert record.values == {"loss": [1.0]}
    assert record.params == {}


def test_the_choice_of_a_tuner_replaces_what_was_drawn():
    def run(params, data, rng):
        yield None, {"chosen": {"C": params["C"] * 2}}
        yield 0, {"loss": 1.0}

    assert ran(run, space={"C": [4]}).params == {"C": 8}


# --- data and spaces that fail -------------------------------------------------------


def test_data_that_cannot_be_drawn_is_a_failed_trial_with_its_params():
    def sample(rng):
        raise OSError("no file")

    record = ran(lambda *_: {"loss": 1}, sample=sample, space={"C": [4]})
    assert record.status == "failed"
    assert record.error.startswith("OSError: no file\n")
    assert places(record.error) == ["sample"]
    assert record.params == {"C": 4}


def test_a_space_that_raises_is_a_failed_trial():
    def space(rng):
        raise ValueError("no draw")

    record = ran(lambda *_: {"loss": 1}, space=space)
    assert record.status == "failed"
    assert record.error.splitlines()[0] == "ValueError: no draw"


@pytest.mark.parametrize("drawn", [3, {"x": object()}, {"x": math.nan}, None])
def test_a_space_that_draws_no_plain_values_is_a_failed_trial(drawn):
    record = ran(lambda *_: {"loss": 1}, space=lambda rng: drawn)
    assert record.status == "failed"
    assert "CurvewiseError" in record.error.splitlines()[0]


def test_labels_are_there_even_if_a_trial_fails_at_once():
    def sample(rng):
        raise OSError("no file")

    record = ran(
        lambda *_: {"loss": 1}, sample=sample, trials=None, number=4,
        cross={"params": 3, "data": 2},
    )  # fmt: skip
    assert record.labels == {"params": 2, "data": 0}


def test_a_sample_of_three_streams_is_refused_before_a_trial_runs():
    def sample(a, b, c):
        return 0

    assert refused(ran, lambda *_: {"loss": 1}, sample=sample) == ("sample", sample)


# --- a trial hangs on nothing but its number -----------------------------------------


def test_trials_come_out_the_same_in_any_order_and_any_process():
    def run(params, data, rng):
        yield 0, {"loss": data + rng.random() + params["x"]}

    algorithm = Algorithm("a", {"x": lambda rng: {"x": rng.random()}}["x"], run)
    experiment = Experiment(Task("t", lambda rng: rng.random()), algorithm, 4)
    cell = Runner(experiment, *next(experiment.cells()))
    found = set()
    for order in itertools.permutations(range(4)):
        values = {}
        for number in order:
            record = Record(number)
            cell.run(record)
            values[number] = record.values["loss"][0]
        found.add(tuple(values[n] for n in range(4)))
    assert len(found) == 1
    assert len(set(found.pop())) == 4


def test_a_trial_leaves_pythons_limit_of_recursion_alone():
    before = sys.getrecursionlimit()
    ran(raising(RecursionError()))
    assert sys.getrecursionlimit() == before
