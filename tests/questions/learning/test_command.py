"""The command `learning`: what it prints is what the answer says."""

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
    done = ran("learning", counts, "--metric", "error")
    assert done.exit_code == 0
    answer = cw.learning(cw.read(counts), "error")
    assert done.stdout.strip() == str(answer)


def test_it_answers_what_more_data_would_buy(ran, counts):
    done = ran("learning", counts, "--metric", "error", "--at", "12800", "--json")
    told = json.loads(done.stdout)
    assert told["rows"] == cw.learning(cw.read(counts), "error").at(12800).rows()


def test_several_questions_come_together(ran, counts):
    asked = ("--at", "5000", "--at", "9000", "--reach", "0.09", "--next", "9000")
    told = json.loads(
        ran("learning", counts, "--metric", "error", *asked, "--json").stdout
    )
    assert set(told) == {"forecasts", "sizes_needed", "next_runs"}
    text = ran("learning", counts, "--metric", "error", *asked).stdout
    assert "error with other amounts of data" in text
    assert "How much data error 0.0900 takes" in text
    assert "What to train next" in text


def test_errors_name_options(ran, counts):
    done = ran("learning", counts, "--metric", "error", "--confidence", "0.999")
    assert done.exit_code == 1
    assert "0.99" in done.stderr
    done = ran("learning", counts, "--metric", "error", "--at", "3")
    assert done.exit_code == 1
    assert "smallest size" in done.stderr


def test_help_teaches(ran):
    text = ran("learning", "--help").stdout
    assert "what would more data buy" in text
    assert "curvewise learning curves.csv --metric accuracy --at 100000" in text


def test_three_sizes_and_one_run_are_enough_for_json(ran, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("model,n_train,error\na,10,0.5\na,20,0.4\na,40,0.33\n")
    told = json.loads(ran("learning", path, "--json").stdout)
    assert told["sizes"][0]["band_lower"] is None


def test_steps_that_are_no_sizes_name_the_option(ran, tmp_path):
    path = tmp_path / "zero.csv"
    path.write_text("model,n_train,error\na,0,0.9\na,20,0.4\na,40,0.33\n")
    done = ran("learning", path)
    assert done.exit_code == 1
    assert "Step 0 of 'a' is no size" in done.stderr
    assert "--step <column>" in done.stderr
