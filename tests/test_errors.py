"""One error, one warning, and messages that name the fix."""

import math
import pickle
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    as_keywords,
    as_words,
    listed,
    shortened,
    unknown,
)
from curvewise.metrics import Metric


def test_our_error_is_a_value_error_and_our_warning_a_user_warning():
    assert issubclass(CurvewiseError, ValueError)
    assert issubclass(CurvewiseWarning, UserWarning)


def test_fixes_are_data_and_end_the_message():
    fixes = [{"metrics": {"my loss": "lower"}}, {"trial": ["seed", "fold"]}]
    error = CurvewiseError("Which one?", fixes=fixes)
    assert error.fixes == tuple(fixes)
    assert str(error).startswith("Which one?")
    assert eval(f"dict({as_keywords(fixes[1])})") == fixes[1]
    assert as_words(fixes[0]) == ["--metrics", "'my loss=lower'"]
    assert as_words({"trial": []}) == ["--trial", "row"]
    assert " ".join(as_words(fixes[1])) in error.as_options()


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (Metric("return", "higher"), "higher"),
        (Metric("acc", "higher"), "higher::"),
        (Metric("acc", "higher", (0, 1)), "higher"),
        (Metric("loss", "lower", (0, math.inf)), "lower:0:"),
        (Metric("my score", "higher", (-math.inf, 2.5)), "higher::2.5"),
        (Metric("score", "lower", (-1, 1e-9)), "lower:-1:1e-09"),
    ],
)
def test_a_metric_in_a_fix_is_said_as_it_can_be_typed(metric, text):
    fix = {"metrics": {metric.name: metric}}
    words = as_words(fix)
    assert shlex.split(" ".join(words)) == ["--metrics", f"{metric.name}={text}"]
    passed = eval(f"dict({as_keywords(fix)})")
    assert passed == {"metrics": {metric.name: text}}
    again = Metric.of_text(metric.name, text)
    assert (again.direction, again.range) == (metric.direction, metric.range)


def test_a_metric_without_a_direction_is_named():
    fix = {"metrics": {"value": Metric("value")}}
    assert as_words(fix) == ["--metrics", "value"]


def test_an_error_survives_a_pickle_with_its_fixes():
    error = CurvewiseError("Which one?", fixes=[{"unit": "percent"}])
    again = pickle.loads(pickle.dumps(error))
    assert (again.text, again.fixes, str(again)) == (
        *(error.text, error.fixes, str(error)),
    )


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all():
    error = unknown("task", "Hoper", ["Hopper", "Walker"])
    assert isinstance(error, CurvewiseError)
    assert str(error) == (
        "There is no task 'Hoper'. Did you mean 'Hopper'? "
        "There are: 'Hopper', 'Walker'."
    )


def test_the_nearest_name_is_found_whatever_its_case():
    assert "Did you mean 'ACC'?" in str(unknown("metric", "acc", ["loss", "ACC"]))


def test_a_name_like_none_of_the_others_gets_no_guess():
    message = str(unknown("metric", "zzz", ["loss", "accuracy"]))
    assert message == "There is no metric 'zzz'. There are: 'loss', 'accuracy'."


def test_where_nothing_is_known_the_message_says_so():
    assert (
        str(unknown("label", "seed", [])) == "There is no label 'seed'. There are none."
    )


def test_of_two_names_that_differ_in_case_the_first_is_offered():
    assert "Did you mean 'Acc'?" in str(unknown("metric", "acc1", ["Acc", "ACC"]))


def test_names_need_not_be_texts():
    assert "There is no step '12'." in str(unknown("step", 12, [1, 2, 120]))


def test_a_long_list_of_names_is_cut_and_the_rest_counted():
    message = str(unknown("task", "x", [f"task {i}" for i in range(100)]))
    assert "'task 11' and 88 more." in message
    assert "'task 12'" not in message


def test_a_very_long_name_does_not_fill_the_screen():
    assert len(str(unknown("task", "é" * 10_000, ["ü" * 10_000] * 50))) < 1200


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "'a'"),
        (["a", "b"], "'a', 'b'"),
        (["a", "b", "c"], "'a', 'b' and 1 more"),
        ([1, None], "'1', 'None'"),
    ],
)
def test_names_are_listed_in_quotes(names, text):
    assert listed(names, most=2) == text


@given(st.text(), st.integers(2, 80))
def test_a_shortened_name_is_one_line_of_bounded_length(name, most):
    short = shortened(name, most)
    assert len(short) <= most
    assert len(short.splitlines()) <= 1
    assert shortened(short, most) == short


def test_a_name_that_fits_keeps_all_its_words():
    assert shortened(" two\n words\t") == "two words"
    assert shortened("a" * 60) == "a" * 60
    assert shortened("a" * 61) == "a" * 59 + "…"
