"""The command `confusion`: what it prints is what the answer says."""

import json

import pytest

import curvewise as cw


@pytest.fixture
def counts(tmp_path):
    from curvewise.examples import example_text

    path = tmp_path / "counts.csv"
    path.write_text(example_text("counts"))
    return path


def test_it_prints_the_answer(ran, counts):
    done = ran("confusion", counts)
    assert done.exit_code == 0
    assert done.stdout.strip() == str(cw.confusion(cw.read(counts)))


def test_it_forecasts(ran, counts):
    done = ran("confusion", counts, "--metric", "f1", "--at", "12800", "--json")
    told = json.loads(done.stdout)
    assert told["rows"] == cw.confusion(cw.read(counts), "f1").at(12800).rows()


def test_options_are_those_of_the_answer(ran, counts):
    asked = ("--target", "observed", "--test-size", "100", "--mean-of", "3")
    done = ran("confusion", counts, *asked, "--metric", "f1", "--json")
    answer = cw.confusion(
        cw.read(counts), "f1", target="observed", test_size=100, runs=3
    )
    assert json.loads(done.stdout)["rows"] == answer.rows()


def test_errors_speak_of_options(ran, counts):
    done = ran("confusion", counts, "--metric", "zorp")
    assert done.exit_code == 1
    assert "zorp" in done.stderr
    done = ran("confusion", counts, "--positive", "1", "--average", "micro")
    assert "--average" in done.stderr
    assert "--positive" in done.stderr


def test_a_column_is_not_taken_for_a_rate(ran, counts):
    done = ran("confusion", counts, "--metrics", "gone=lower")
    assert "no column 'gone'" in done.stderr


def test_far_questions_are_warned_of(ran, counts):
    done = ran("confusion", counts, "--metric", "f1", "--at", "1e6")
    assert done.stdout.strip() == str(cw.confusion(cw.read(counts), "f1").at(1e6))


def test_a_class_may_be_named(ran, counts):
    asked = ("--classes", "no,yes", "--positive", "no", "--metric", "recall")
    done = ran("confusion", counts, *asked)
    named = {"classes": ["no", "yes"], "positive": "no"}
    answer = cw.confusion(cw.read(counts), "recall", **named)
    assert done.stdout.strip() == str(answer)
