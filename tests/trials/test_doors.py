"""The three doors: every option, every policy, every refusal."""

import math

import numpy as np
import pytest
from facts import facts, refused
from hypothesis import given, settings
from hypothesis import strategies as st

from curvewise.errors import CurvewiseError
from curvewise.metrics import FROM_COUNTS, Metric
from curvewise.trials import Trial, Trials

NAN = math.nan


def curves(metric, *rows, algorithm="a", steps=None, **fields):
    """Return one trial per row of values."""
    return [
        Trial("t", algorithm, i, {metric: row}, steps=steps, **fields)
        for i, row in enumerate(rows)
    ]


def failure(number, metric="accuracy", values=(), algorithm="a", **fields):
    fields = {"status": "crashed", "error": "out of memory"} | fields
    return Trial("t", algorithm, number, {metric: list(values)}, **fields)


@pytest.fixture
def two():
    """Two algorithms, three steps, all well."""
    return Trials(
        curves("accuracy", [0.1, 0.6, 0.5], [0.2, 0.3, 0.4])
        + curves("accuracy", [0.9, 0.8, 0.7], algorithm="b")
    )


@pytest.fixture
def broken():
    """One run that is whole, one that crashed half way, one that never began."""
    return Trials(
        [
            *curves("accuracy", [0.1, 0.2, 0.3]),
            failure(1, values=[0.4, 0.5]),
            failure(2, status="timeout", error=""),
        ]
    )


# --- scores --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "a", "b"),
    [
        ("last", [0.5, 0.4], [0.7]),
        ("mean", [0.4, 0.3], [0.8]),
        ("best", [0.6, 0.4], [0.9]),
        (1, [0.6, 0.3], [0.8]),
        (1.0, [0.6, 0.3], [0.8]),
        (np.int64(0), [0.1, 0.2], [0.9]),
    ],
)
def test_a_score_is_one_value_of_the_curve(two, at, a, b):
    scores = two.scores("accuracy", at=at)
    assert list(scores) == ["a", "b"]
    assert scores["a"] == pytest.approx(a)
    assert scores["b"] == pytest.approx(b)


def test_the_last_value_is_the_default(two):
    assert two.scores("accuracy")["a"].tolist() == [0.5, 0.4]


def test_the_best_of_a_lower_is_better_metric_is_the_lowest():
    trials = Trials(curves("loss", [3, 1, 2], [5, NAN, 7], [math.inf, 8, -math.inf]))
    assert trials.scores("loss", at="best")["a"].tolist() == [1, 5, 8]


def test_the_best_value_never_is_one_that_is_not_finite():
    trials = Trials(curves("return", [math.inf, 1], [NAN, -2], [-math.inf, NAN]))
    scores = trials.scores("return", at="best", failed="worst")
    assert scores["a"].tolist() == [1, -2, -2]


def test_scores_come_by_number_whatever_the_order_of_records():
    some = [Trial("t", "a", i, {"loss": i}) for i in (3, 1, 2)]
    assert Trials(some).scores("loss")["a"].tolist() == [1, 2, 3]


def test_an_algorithm_may_have_more_trials_than_another(two):
    assert {k: len(v) for k, v in two.scores("accuracy").items()} == {"a": 2, "b": 1}


def test_a_sparse_metric_counts_only_where_it_was_recorded():
    trials = Trials(
        [
            Trial("t", "a", 0, {"loss": [4, 3, 2], "accuracy": [0.2, None, None]}),
            Trial("t", "a", 1, {"loss": [4, 3], "accuracy": [0.4, 0.6]}),
            Trial("t", "a", 2, {"loss": [1, 2, 3], "accuracy": [None, 0.5, None]}),
        ]
    )
    assert trials.scores("accuracy")["a"].tolist() == [0.2, 0.6, 0.5]
    assert trials.scores("accuracy", at="mean")["a"] == pytest.approx([0.2, 0.5, 0.5])
    assert trials.scores("accuracy", at="best")["a"].tolist() == [0.2, 0.6, 0.5]
    with refused("failed", "raise", says=[1, 3, "accuracy"]):
        trials.scores("accuracy", at=0)


@pytest.mark.parametrize("at", ["last", "mean", "best", 0])
def test_a_trial_without_the_metric_is_a_failed_one(at):
    some = [*curves("accuracy", 0.5, 0.25), Trial("t", "b", 0, {"loss": 2.0})]
    scores = Trials(some).scores("accuracy", at=at, failed=0.125)
    assert scores["a"].tolist() == [0.5, 0.25]
    assert scores["b"].tolist() == [0.125]


@pytest.mark.parametrize("at", ["last", "mean", "best"])
def test_empty_curves_between_others_shift_nothing(at):
    some = [
        failure(0),
        Trial("t", "a", 1, {"accuracy": [0.5, 0.5]}),
        failure(2),
        failure(3),
        Trial("t", "a", 4, {"accuracy": [0.25, 0.25]}),
        failure(5),
    ]
    scores = Trials(some).scores("accuracy", at=at, failed=0)["a"]
    assert scores.tolist() == [0, 0.5, 0, 0, 0.25, 0]


values = st.none() | st.floats(0, 1) | st.just(NAN)
many_curves = st.lists(st.lists(values, max_size=4), min_size=1, max_size=6)


def by_hand(curve, at, better):
    """Return the score of one curve, written as a loop; None for a failure."""
    known = [v for v in curve if v is not None]
    finite = [v for v in known if not math.isnan(v)]
    if at == "best":
        return better(finite) if finite else None
    if not known or (
        math.isnan(known[-1]) if at == "last" else len(finite) < len(known)
    ):
        return None
    return known[-1] if at == "last" else sum(known) / len(known)


@given(
    many_curves,
    st.sampled_from(["last", "mean", "best"]),
    st.sampled_from([("accuracy", max, 0), ("error", min, 1)]),
)
def test_scores_are_what_a_loop_would_give(rows, at, kind):
    metric, better, worst = kind
    trials = Trials(curves(metric, *rows))
    scores = trials.scores(metric, at=at, failed="worst")["a"]
    expected = [by_hand(row, at, better) for row in rows]
    assert scores == pytest.approx([worst if v is None else v for v in expected])


@given(many_curves.flatmap(lambda rows: st.permutations(list(enumerate(rows)))))
def test_the_order_of_trials_changes_no_score(rows):
    some = [Trial("t", "a", i, {"accuracy": row}) for i, row in rows]
    one = Trials(some).scores("accuracy", failed=0)["a"]
    other = Trials(sorted(some, key=lambda t: t.number)).scores("accuracy", failed=0)[
        "a"
    ]
    assert np.array_equal(one, other)


# --- scores from counts --------------------------------------------------------------


def test_counts_tell_metrics_that_nobody_recorded():
    trials = Trials([Trial("t", "a", 0, counts=[[60, 12], [9, 40]])])
    assert trials.scores("f1")["a"] == pytest.approx([0.7921], abs=5e-5)
    assert trials.scores("error")["a"] == pytest.approx([0.1736], abs=5e-5)


def test_what_was_recorded_wins_over_what_counts_tell():
    """Macro or micro, with or without a class: who recorded it knew."""
    trial = Trial("t", "a", 0, {"f1": 0.5}, counts=[[60, 12], [9, 40]])
    assert Trials([trial]).scores("f1")["a"].tolist() == [0.5]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(2, 4)), min_size=1, max_size=5),
    st.sampled_from(sorted(FROM_COUNTS)),
    st.integers(0, 99),
)
def test_a_score_from_counts_is_the_metric_of_the_last_counts(shapes, metric, seed):
    """Trials of different numbers of steps and classes, and one without counts."""
    rng = np.random.default_rng(seed)
    tables = [rng.integers(0, 9, (n, k, k)) for n, k in shapes]
    some = [Trial("t", "a", i, counts=c) for i, c in enumerate(tables)]
    some += [Trial("t", "b", 0, {"loss": [1, 2]})]
    scores = Trials(some).scores(metric, failed=0.5)
    last = [float(FROM_COUNTS[metric](c[-1])) if len(c) else 0.5 for c in tables]
    assert scores["a"] == pytest.approx(last)
    assert scores["b"].tolist() == [0.5]


def test_lines_and_points_take_counts_too():
    counts = np.array([[[3, 1], [1, 3]], [[4, 0], [0, 4]]])
    trials = Trials([Trial("t", "a", 7, steps=[10, 20], counts=counts)])
    assert trials.lines("accuracy")["a"].tolist() == [[0.75, 1.0]]
    assert trials.points("accuracy")["a"].trial.tolist() == [7, 7]
    assert trials.points("accuracy")["a"].value.tolist() == [0.75, 1.0]


# --- a failed trial is part of the distribution --------------------------------------


def test_a_failure_is_refused_until_somebody_says_what_it_scores(broken):
    with refused(
        "failed",
        "raise",
        says=[2, 3, "accuracy", "t", "a", 1],
        fixes=[{"failed": "worst"}, {"failed": "<score of a failed run>"}],
    ) as problem:
        broken.scores("accuracy")
    assert "out of memory" in str(problem.value)


def test_a_failure_without_a_reason_says_so():
    with refused("failed", says=["t", "a", 0]) as problem:
        Trials([failure(0, error="")]).scores("accuracy")
    assert "no reason" in str(problem.value)


@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf, None])
def test_a_missing_score_is_a_failed_trial(value):
    trials = Trials(curves("loss", 1.0, [value]))
    with refused("failed", says=[1, 2, "loss", "t", "a", 1]):
        trials.scores("loss")
    assert trials.scores("loss", failed=9)["a"].tolist() == [1, 9]


def test_the_refusal_names_the_choice_of_step(broken):
    with refused("failed", says=["accuracy", "mean", "t"]):
        broken.scores("accuracy", at="mean")
    with refused("failed", says=["accuracy", 1, "t"]):
        broken.scores("accuracy", at=1)


def test_the_refusal_of_lines_and_points_is_about_the_whole_curve(broken):
    for door in (broken.lines, broken.points):
        with refused("failed", says=[2, 3, "accuracy", "t"]):
            door("accuracy")


def test_a_failed_trial_scores_the_failure_even_if_its_curve_has_values(broken):
    assert broken.scores("accuracy", failed=0.05)["a"].tolist() == [0.3, 0.05, 0.05]


@pytest.mark.parametrize(
    ("metric", "worst"),
    [
        (Metric("m", "higher", (0, 1)), 0),
        (Metric("m", "lower", (0, 1)), 1),
        (Metric("m", "higher", (-5, math.inf)), -5),
        (Metric("m", "lower", (-math.inf, 9)), 9),
        (Metric("m", "higher"), 0.25),
        (Metric("m", "lower"), 0.75),
        (Metric("m", "higher", (-math.inf, 1)), 0.25),
        (Metric("m", "lower", (0, math.inf)), 0.75),
    ],
    ids=str,
)
def test_worst_is_the_bad_end_of_the_range_or_the_worst_score_of_the_task(
    metric, worst
):
    some = [
        *curves("m", 0.75, 0.5),
        Trial("t", "b", 0, {"m": 0.25}),
        failure(0, "m", algorithm="c"),
    ]
    assert Trials(some, [metric]).scores("m", failed="worst")["c"].tolist() == [worst]


def test_where_all_failed_the_worst_that_any_reached_stands_for_the_worst():
    some = [failure(0, "loss", [3, 2]), failure(1, "loss", [5, 4]), failure(2, "loss")]
    assert Trials(some).scores("loss", failed="worst")["a"].tolist() == [4, 4, 4]


def test_where_nothing_was_reached_an_unbounded_metric_has_no_worst():
    with refused(
        "failed",
        "worst",
        says=[2, "loss"],
        fixes=[{"failed": "<score of a failed run>"}],
    ):
        Trials([failure(0, "loss"), failure(1, "loss")]).scores("loss", failed="worst")


@pytest.mark.parametrize("at", ["last", "mean", "best", 3])
def test_where_nothing_was_reached_a_bounded_metric_still_has_a_worst(at):
    trials = Trials([failure(0), failure(1)])
    assert trials.scores("accuracy", at=at, failed="worst")["a"].tolist() == [0, 0]


@pytest.mark.parametrize("failed", ["raise", "worst", 0, 0.5, np.float32(0.5)])
def test_without_failures_every_policy_gives_the_same(two, failed):
    assert two.scores("accuracy", failed=failed)["b"].tolist() == [0.7]
    assert two.lines("accuracy", failed=failed)["b"].tolist() == [[0.9, 0.8, 0.7]]
    assert two.points("accuracy", failed=failed)["b"].value.tolist() == [0.9, 0.8, 0.7]


@pytest.mark.parametrize("door", ["scores", "points", "lines"])
@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (
            "drop",
            r"failed is 'drop'\. Pass 'raise', 'worst' or the score of a failed run",
        ),
        (NAN, r"failed is nan\. Pass 'raise', 'worst' or a finite number\."),
        (None, r"failed is None\. Pass 'raise', 'worst' or a finite number\."),
        (
            -1,
            r"failed is -1, outside the range 0 to 1 of 'accuracy'\. "
            r"Pass a score that a run can have\.",
        ),
    ],
)
def test_what_no_run_can_score_is_refused_even_without_failures(
    two, door, failed, words
):
    with pytest.raises(CurvewiseError, match=words):
        getattr(two, door)("accuracy", failed=failed)


def test_a_mean_beyond_all_floats_is_a_failure_and_no_warning():
    trials = Trials(curves("loss", [1e308, 1e308], [math.inf, -math.inf], [1, 3]))
    assert trials.scores("loss", at="mean", failed=9)["a"].tolist() == [9, 9, 2]


# --- bad input -----------------------------------------------------------------------


@pytest.mark.parametrize("door", ["scores", "points", "lines"])
class TestEveryDoor:
    def test_refuses_no_trials(self, door):
        with refused("trials"):
            getattr(Trials(), door)("accuracy")

    def test_refuses_two_tasks(self, door):
        some = [Trial(task, "a", 0, {"loss": 1}) for task in ("moons", "circles")]
        with refused("trials", says=[2, "moons", "circles", "moons"]):
            getattr(Trials(some), door)("loss")
        getattr(Trials(some).where(task="circles"), door)("loss")

    def test_refuses_an_unknown_metric_with_the_nearest(self, door, two):
        with refused("metric", "acuracy", says=["acuracy", "accuracy"]):
            getattr(two, door)("acuracy")

    def test_refuses_percent_where_the_metric_is_a_fraction(self, door):
        with refused(
            "metric",
            "accuracy",
            says=[2, 3, "accuracy", 0, 1, 81.5],
            fixes=[{"unit": "percent"}],
        ):
            getattr(Trials(curves("accuracy", 0.9, 81.5, 77.0)), door)("accuracy")

    def test_refuses_what_the_range_excludes(self, door):
        with refused(
            "metric",
            "mse",
            says=[1, 2, "mse", 0, -2],
            fixes=[{"metrics": {"mse": "lower::"}}],
        ):
            getattr(Trials(curves("mse", 1.0, -2.0)), door)("mse")

    def test_forgives_rounding_at_the_ends_of_the_range(self, door):
        getattr(Trials(curves("accuracy", 1 + 1e-12, -1e-12)), door)("accuracy")

    def test_takes_a_single_trial(self, door):
        assert len(getattr(Trials(curves("loss", [1.0, 2.0])), door)("loss")) == 1

    def test_keeps_its_message_short_where_names_are_long(self, door):
        trial = Trial("t" * 10_000, "ж" * 10_000, 0, {"loss": NAN}, error="x" * 10_000)
        with refused("failed", says=[1, 1, "loss"]) as caught:
            getattr(Trials([trial]), door)("loss")
        assert len(str(caught.value)) < 500

    def test_shows_a_long_error_text_only_in_part(self, door):
        trials = Trials([failure(0, error="Traceback\n" + "x" * 10_000)])
        with pytest.raises(CurvewiseError, match="Traceback") as caught:
            getattr(trials, door)("accuracy")
        assert len(str(caught.value)) < 500


def test_an_impossible_value_of_a_failed_trial_is_nobodys_score():
    some = [*curves("accuracy", 0.5), failure(1, values=[77.0])]
    assert Trials(some).scores("accuracy", failed=0)["a"].tolist() == [0.5, 0]


@pytest.mark.parametrize("at", ["first", None, [1, 2]])
def test_a_place_on_the_curve_is_a_word_or_a_step(two, at):
    with refused("at", at, says=["last", "mean", "best"]):
        two.scores("accuracy", at=at)


def test_a_step_that_no_trial_has_is_answered_with_the_nearest():
    trials = Trials(curves("loss", [1, 2, 3, 4, 5], steps=[0, 10, 20, 30, 40]))
    with refused("at", 21, says=["loss", 21, 10, 20, 30]):
        trials.scores("loss", at=21)


# --- points --------------------------------------------------------------------------


def listed(points):
    return list(
        zip(
            points.trial.tolist(),
            points.size.tolist(),
            points.value.tolist(),
            strict=True,
        )
    )


def test_points_are_trial_size_value_by_trial_and_size():
    some = [
        Trial("t", "a", 5, {"error": [0.4, 0.2]}, steps=[10, 100]),
        Trial("t", "a", 2, {"error": [0.5]}, steps=[50]),
        Trial("t", "b", 5, {"error": [0.1]}, steps=[10]),
    ]
    points = Trials(some).points("error")
    assert listed(points["a"]) == [(2, 50, 0.5), (5, 10, 0.4), (5, 100, 0.2)]
    assert listed(points["b"]) == [(5, 10, 0.1)]


def test_points_skip_what_was_not_recorded():
    trials = Trials(curves("loss", [1, None, 3]))
    assert listed(trials.points("loss")["a"]) == [(0, 0, 1), (0, 2, 3)]


def test_a_whole_trial_with_fewer_sizes_gets_no_points_that_it_has_not():
    trials = Trials(curves("loss", [1, 2, 3], [1, 2]))
    assert len(trials.points("loss")["a"].value) == 5


def test_a_failed_trial_scores_a_failure_at_each_size_that_it_did_not_reach(broken):
    assert listed(broken.points("accuracy", failed=0)["a"]) == [
        *[(0, 0, 0.1), (0, 1, 0.2), (0, 2, 0.3)],
        *[(1, 0, 0.4), (1, 1, 0.5), (1, 2, 0)],
        *[(2, 0, 0), (2, 1, 0), (2, 2, 0)],
    ]


def test_a_point_that_is_not_a_number_scores_a_failure():
    some = curves("loss", [4, 3, 2], [5, NAN, math.inf])
    points = Trials(some).points("loss", failed="worst")["a"]
    assert points.value.tolist() == [4, 3, 2, 5, 5, 5]


def test_an_unbounded_worst_of_points_is_the_worst_value_anywhere():
    some = [*curves("return", [4, -7, 2]), failure(1, "return", [-9])]
    points = Trials(some).points("return", failed="worst")["a"]
    assert points.value.tolist() == [4, -7, 2, -9, -9, -9]


def test_an_algorithm_that_reached_no_size_at_all_fails_at_those_of_the_others():
    """Without points it would look absent, not failed."""
    some = [*curves("accuracy", [0.5, 0.6]), failure(0, algorithm="b")]
    points = Trials(some).points("accuracy", failed="worst")
    assert len(points["a"].value) == 2
    assert points["b"].size.tolist() == [0, 1]
    assert points["b"].value.tolist() == [0, 0]


def test_many_failed_trials_are_filled_one_by_one():
    whole = Trial("t", "a", 0, {"accuracy": np.full(3, 0.5)})
    some = [whole, *(failure(i, values=[0.25] * (i % 3)) for i in range(1, 300))]
    points = Trials(some).points("accuracy", failed=0)["a"]
    assert len(points.value) == 900
    assert np.bincount(points.trial).tolist() == [3] * 300
    assert points.value.sum() == pytest.approx(1.5 + 0.25 * (1 + 2) * 100)


# --- lines ---------------------------------------------------------------------------


def test_lines_are_a_mapping_from_algorithms_to_tables(two):
    lines = two.lines("accuracy")
    assert list(lines) == ["a", "b"]
    assert len(lines) == 2
    assert lines.steps.tolist() == [0, 1, 2]
    assert lines["a"].tolist() == [[0.1, 0.6, 0.5], [0.2, 0.3, 0.4]]
    assert lines["b"].tolist() == [[0.9, 0.8, 0.7]]


def test_lines_answer_in_and_get_like_any_mapping(two):
    lines = two.lines("accuracy")
    assert "a" in lines
    assert "x" not in lines
    assert lines.get("x") is None
    with refused(says=["x", "a"]):
        lines["x"]


RAGGED = [
    Trial("t", "a", 0, {"loss": [8, 4, 0]}, steps=[0, 4, 8]),
    Trial("t", "a", 1, {"loss": [6, 2]}, steps=[2, 6]),
]


def test_lines_of_unequal_steps_are_refused():
    with refused(
        "fill",
        "error",
        says=[2, 3, 6, 8],
        fixes=[{"fill": "linear"}, {"fill": "last"}, {"grid": "<number of steps>"}],
    ):
        Trials(RAGGED).lines("loss")


@pytest.mark.parametrize(
    ("options", "steps", "table"),
    [
        ({"fill": "linear"}, [2, 4, 6], [[6, 4, 2], [6, 4, 2]]),
        ({"fill": "last"}, [2, 4, 6, 8], [[8, 4, 4, 0], [6, 6, 2, 2]]),
        ({"fill": "linear", "grid": 3}, [2, 4, 6], [[6, 4, 2], [6, 4, 2]]),
        ({"fill": "linear", "grid": 5}, [2, 3, 4, 5, 6], [[6, 5, 4, 3, 2]] * 2),
        ({"fill": "last", "grid": 3}, [2, 5, 8], [[8, 4, 0], [6, 6, 2]]),
        ({"fill": "last", "grid": 1}, [8], [[0], [2]]),
        ({"fill": "linear", "grid": 1}, [6], [[2], [2]]),
        ({"fill": "linear", "grid": [3, 5]}, [3, 5], [[5, 3], [5, 3]]),
        ({"fill": "last", "grid": [3, 99]}, [3, 99], [[8, 0], [6, 2]]),
        ({"fill": "last", "grid": (5,)}, [5], [[4], [6]]),
    ],
    ids=str,
)
def test_a_grid_and_a_fill_make_lines_comparable(options, steps, table):
    lines = Trials(RAGGED).lines("loss", **options)
    assert lines.steps.tolist() == steps
    assert lines["a"].tolist() == table


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"fill": "linear"},
            "3 steps from 2 to 6, values interpolated linearly in 2 of 2 lines, more than "
            "the 2 that were recorded there, what 1 line recorded before is left out, "
            "what 1 line recorded after is left out",
        ),
        (
            {"fill": "last"},
            "4 steps from 2 to 8, values carried forward in 2 of 2 lines, more than the 2 "
            "that were recorded there, what 1 line recorded before is left out, 1 line "
            "had ended before the last step",
        ),
        (
            {"fill": "last", "grid": [4, 8]},
            "2 steps from 4 to 8, values carried forward in 1 of 2 lines, what 2 lines "
            "recorded before is left out, 1 line had ended before the last step",
        ),
    ],
    ids=str,
)
def test_lines_say_how_they_came_on_common_steps(options, words):
    assert Trials(RAGGED).lines("loss", **options).rule == words


def test_lines_that_nothing_was_done_to_say_so():
    two = Trials(curves("loss", [4, 3, 2], [3, 2, 1]))
    assert facts(two.lines("loss").rule) == [3, 0, 2]
    assert facts(two.lines("loss", grid=2).rule) == [2, 0, 2, 3]
    assert facts(two.lines("loss", grid=[1, 2]).rule) == [2, 1, 2, 2]
    assert two.lines("loss").failed == {"a": 0}


def test_a_grid_of_steps_that_all_lines_have_needs_no_fill():
    some = [
        Trial("t", "a", 0, {"loss": [4, 3, 2]}, steps=[0, 1, 2]),
        Trial("t", "b", 0, {"loss": [8, 6]}, steps=[0, 2]),
    ]
    lines = Trials(some).lines("loss", grid=[0, 2])
    assert (lines["a"].tolist(), lines["b"].tolist()) == ([[4, 2]], [[8, 6]])


def test_a_sparse_metric_has_the_steps_at_which_it_was_recorded():
    some = curves("loss", [4, None, 2], [3, None, 1])
    lines = Trials(some).lines("loss")
    assert lines.steps.tolist() == [0, 2]
    assert lines["a"].tolist() == [[4, 2], [3, 1]]


@pytest.mark.parametrize(
    ("options", "step"),
    [
        ({"grid": [0, 4]}, 0),
        ({"grid": [2, 4]}, 2),
        ({"grid": [2, 7], "fill": "linear"}, 7),
        ({"grid": [1, 4], "fill": "last"}, 1),
    ],
)
def test_a_line_that_does_not_reach_a_step_is_refused(options, step):
    with pytest.raises(
        CurvewiseError,
        match=rf"Trial \('t', 'a', [01]\) has no value at step {step}: its curve goes "
        r"from "
        r"[02] to [68]\. Pass fill='last' or fill='linear', or a grid that all lines "
        r"reach\.",
    ):
        Trials(RAGGED).lines("loss", **options)


@pytest.mark.parametrize(
    "grid", [[], [2, 2], [3, 2], [[1, 2]], "abc", [NAN], [1, math.inf], 2.5]
)
def test_a_grid_is_a_number_of_steps_or_steps_that_increase(two, grid):
    with refused("grid"):
        two.lines("accuracy", grid=grid)


@pytest.mark.parametrize("grid", [0, -3, True])
def test_a_grid_has_at_least_one_step(two, grid):
    with pytest.raises(
        CurvewiseError,
        match=rf"grid is {grid}\. Pass how many steps, at least 1\.",
    ):
        two.lines("accuracy", grid=grid)


def test_one_shared_step_is_no_grid_of_several():
    trials = Trials(curves("loss", [1], [2]))
    assert trials.lines("loss", grid=1)["a"].tolist() == [[1], [2]]
    with refused("grid", 3, says=[3, 0, 2]):
        trials.lines("loss", grid=3)


@pytest.mark.parametrize("grid", [None, 5])
def test_lines_that_do_not_overlap_are_refused(grid):
    some = [
        Trial("t", "a", 0, {"loss": [1, 2]}, steps=[0, 1]),
        Trial("t", "a", 1, {"loss": [1, 2]}, steps=[5, 6]),
    ]
    with refused("grid", says=[5, 1]):
        Trials(some).lines("loss", grid=grid, fill="linear")
    lines = Trials(some).lines("loss", fill="last")
    assert lines["a"].tolist() == [[2, 2], [1, 2]]


def test_a_fill_is_one_of_three_words(two):
    with refused("fill", "zero", says=["error", "last", "linear"]):
        two.lines("accuracy", fill="zero")


@pytest.mark.parametrize("fill", ["error", "last", "linear"])
def test_a_failed_line_scores_a_failure_from_where_it_breaks_off(broken, fill):
    lines = broken.lines("accuracy", fill=fill, failed=0.05)
    assert lines.steps.tolist() == [0, 1, 2]
    assert lines["a"].tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.05], [0.05] * 3]


def test_failed_lines_do_not_make_the_others_ragged(broken):
    """Steps are those of the whole lines: a crash must not cost the rest their end."""
    assert broken.lines("accuracy", failed="worst").steps.tolist() == [0, 1, 2]
    assert broken.lines("accuracy", failed="worst", grid=3)["a"].shape == (3, 3)


@pytest.mark.parametrize("fill", ["error", "last", "linear"])
def test_no_fill_bridges_what_is_not_a_number(fill):
    """A run that diverged and came back did diverge."""
    trials = Trials(curves("accuracy", [0.5, NAN, 0.3], [0.1, 0.2, 0.3]))
    lines = trials.lines("accuracy", fill=fill, failed="worst")
    assert lines["a"].tolist() == [[0.5, 0.0, 0.3], [0.1, 0.2, 0.3]]


def test_an_unbounded_worst_of_lines_is_the_worst_value_anywhere():
    some = [*curves("loss", [9, 3, 2]), failure(1, "loss", [5])]
    lines = Trials(some).lines("loss", failed="worst")
    assert lines["a"].tolist() == [[9, 3, 2], [5, 9, 9]]


def test_where_all_lines_broke_off_they_share_the_longest_steps_that_fill_gives():
    some = [failure(0, values=[0.5, 0.6]), failure(1, values=[0.7])]
    lines = Trials(some).lines("accuracy", fill="last", failed=0)
    assert lines["a"].tolist() == [[0.5, 0.6], [0.7, 0.0]]


def test_where_no_line_was_begun_there_are_none():
    with refused(says=[2]):
        Trials([failure(0), failure(1)]).lines("accuracy", failed="worst")


lines_on_steps = st.lists(
    st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5
)


@given(lines_on_steps, st.sampled_from(["error", "last", "linear"]))
def test_lines_on_their_own_steps_are_what_was_recorded(rows, fill):
    trials = Trials(curves("accuracy", *rows, steps=[1, 10, 100]))
    assert trials.lines("accuracy", fill=fill)["a"].tolist() == rows
    own = trials.lines("accuracy", fill=fill, grid=[1, 10, 100])
    assert own["a"].tolist() == rows
    flat = [value for row in rows for value in row]
    assert trials.points("accuracy")["a"].value.tolist() == flat


@given(lines_on_steps, st.integers(2, 9))
def test_an_interpolated_line_stays_between_its_values_and_keeps_its_ends(rows, grid):
    trials = Trials(curves("accuracy", *rows, steps=[1, 10, 100]))
    lines = trials.lines("accuracy", fill="linear", grid=grid)
    table, given_ = lines["a"], np.array(rows)
    assert table[:, [0, -1]] == pytest.approx(given_[:, [0, -1]])
    assert (table.max(1) <= given_.max(1) + 1e-12).all()
    assert (table.min(1) >= given_.min(1) - 1e-12).all()


# --- what a failure may not be worth ---------------------------------------------


@pytest.mark.parametrize("metric", ["return", "loss"])
def test_no_failure_scores_better_than_the_failed_run_itself_did(metric):
    """An unbounded metric's worst is taken over all values, the failed runs' own too."""
    sign = 1 if metric == "return" else -1
    some = [
        *(Trial("t", "ok", i, {metric: sign * (100 + i)}) for i in range(5)),
        *(
            Trial("t", "bad", i, {metric: sign * -500}, status="crashed")
            for i in range(5)
        ),
    ]
    trials = Trials(some)
    assert (trials.scores(metric, failed="worst")["bad"] == sign * -500).all()
    lines = trials.lines(metric, failed="worst")["bad"]
    assert (sign * lines <= sign * -500).all()


def test_a_value_just_outside_the_range_is_on_its_edge():
    trials = Trials([Trial("t", "a", 0, {"accuracy": 1 + 1e-10})])
    assert trials.scores("accuracy")["a"].tolist() == [1.0]


def test_trials_of_different_sizes_are_not_pooled():
    some = [
        Trial("t", "a", 10 * n + i, {"error": 1 / n}, steps=[n])
        for n in (25, 50)
        for i in range(3)
    ]
    trials = Trials([*some, Trial("t", "a", 999, status="failed")])
    with refused("at", "last", says=[25, 50], fixes=[{"at": "<step>"}]):
        trials.scores("error", failed=1)
    assert trials.scores("error", at=50, failed=1)["a"].tolist() == [0.02] * 3 + [1]
