"""A page stays small, and is made in time and memory, however many trials it is about."""

import json
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from typed_numbers import numbers

import curvewise as cw
from curvewise import Metric, Trials
from curvewise.questions.difference.charts import lines_chart
from curvewise.questions.difference.fit import too_many_pairs, with_lines
from curvewise.report.page import render
from curvewise.trials.columns import Core, no_details

# plotly.js, which every page carries.
LIBRARY = files("plotly") / "package_data" / "plotly.min.js"


def grid_of_trials(algorithms, tasks, trials, steps=1, seed=0):
    """Return trials in columns, as a store hands them over."""
    cells = algorithms * tasks
    n = cells * trials
    algorithm = np.tile(np.repeat(np.arange(algorithms, dtype=np.int32), trials), tasks)
    along = np.tile(np.arange(1.0, steps + 1), n)
    rng = np.random.default_rng(seed)
    scores = np.repeat(rng.beta(5, 2 + algorithm / 20), steps)
    core = Core(
        np.repeat(np.arange(tasks, dtype=np.int32), algorithms * trials),
        algorithm,
        np.tile(np.arange(trials), cells),
        np.zeros(n, np.int8),
        np.arange(n + 1) * steps,
        along,
        {"accuracy": scores * (1 - 0.5 / along)},
        {},
    )
    return Trials.from_columns(
        [f"task {i}" for i in range(tasks)],
        [f"algorithm {i}" for i in range(algorithms)],
        {"accuracy": Metric("accuracy", "higher", range=(0, 1))},
        core,
        no_details(n),
    )


def figures_of(page):
    found = re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)
    return [figure for figure in map(json.loads, found) if "data" in figure]


def size_of(page):
    return len(page.encode()) - len(LIBRARY.read_bytes())


@pytest.fixture(scope="module")
def page():
    return render(grid_of_trials(10, 6, 20))


def test_a_curve_costs_little_more_than_a_kilobyte(page):
    figures = figures_of(page)
    curves = sum(t["showlegend"] for f in figures for t in f["data"])
    assert curves >= 3 * 60
    text = sum(len(json.dumps(figure)) for figure in figures)
    assert text / curves < 3000
    assert size_of(page) / curves < 4500  # its rows in tables, its button


def test_no_curve_has_more_points_than_can_be_seen(page):
    for figure in figures_of(page):
        for trace in figure["data"]:
            assert len(numbers(trace["y"])) <= 2 * 513


def test_a_page_grows_with_its_tasks_and_not_faster(page):
    half = render(grid_of_trials(10, 3, 20))
    assert size_of(page) <= 2.2 * size_of(half)
    assert (
        size_of(page) - size_of(half) > 100_000
    )  # the control: there is what could grow


def test_more_trials_make_no_larger_page():
    few, many = (render(grid_of_trials(2, 1, n)) for n in (1000, 20_000))
    assert size_of(many) <= 1.1 * size_of(few)


def test_of_many_algorithms_the_leaders_are_shown_first():
    trials = grid_of_trials(14, 1, 12)
    text = render(trials)
    assert "8 of 14" in text
    quantiles = figures_of(text)[0]
    shown = {
        t["legendgroup"] for t in quantiles["data"] if t.get("visible") is not False
    }
    assert len(shown) == 8


# --- curves -----------------------------------------------------------------------------


def test_of_very_many_lines_the_first_are_compared_and_it_is_said():
    trials = grid_of_trials(2, 1, 1500, steps=2)
    kept, told = with_lines(trials)
    assert [len(kept.where(algorithm=a)) for a in kept.algorithms] == [1000, 1000]
    assert kept.core.number.max() == 999
    (line,) = told
    assert "1,500" in line
    assert "1,000" in line
    kept, told = with_lines(grid_of_trials(2, 1, 900, steps=2))
    assert (len(kept), told) == (1800, [])


def test_more_pairs_leave_less_time_for_each():
    kept, _ = with_lines(grid_of_trials(12, 4, 60, steps=2))  # 264 pairs
    assert len(kept) == 12 * 4 * 50


def test_a_page_does_not_compare_curves_for_days():
    trials = grid_of_trials(26, 1, 3, steps=3)
    told = too_many_pairs(trials)
    assert "325 pairs" in told
    assert told in render(trials)
    assert too_many_pairs(trials.where(algorithm=list(trials.algorithms[:24]))) == ""


@pytest.mark.slow
def test_of_many_pairs_ten_get_a_sentence_and_all_a_row():
    trials = grid_of_trials(7, 2, 6, steps=2)  # 21 pairs
    text = render(trials)
    assert "11 more." in text
    answer = cw.difference(trials, shuffles=99)
    assert len(answer.overall_table()) == 21


def test_lines_that_can_be_dealt_in_more_ways_than_a_float_holds_are_explained():
    assert "curves" in str(cw.explain(grid_of_trials(2, 1, 800, steps=2)))


def test_faint_lines_are_few_on_every_chart_and_on_the_page():
    one = cw.difference(grid_of_trials(2, 1, 150, steps=3), shuffles=99)
    chart = lines_chart(one)
    assert len(chart.faint) == 200
    assert "100 lines" in chart.caption
    several = cw.difference(grid_of_trials(2, 25, 45, steps=2), shuffles=99)
    charts = [lines_chart(several, task) for task in several.tasks]
    assert sum(len(chart.faint) for chart in charts) == 2000
    assert "40 lines" in charts[0].caption


# --- the real ones -----------------------------------------------------------------------

MAKE = """
import resource, sys
sys.path[:0] = {folders!r}
from test_scale import grid_of_trials
import curvewise as cw
trials = grid_of_trials(*{sizes!r})
print(cw.report.write(trials, {target!r}).stat().st_size)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def made(tmp_path, *sizes):
    """Return how many bytes a page has, and the process that made it had in memory."""
    here = Path(__file__).parent
    code = MAKE.format(
        folders=[str(here), str(here.parent / "helpers")],
        sizes=sizes,
        target=str(tmp_path / "page.html"),
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    size, kilobytes = map(int, done.stdout.split())
    return size, 1024 * kilobytes


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(3, 2, 500_000), (3, 10, 100_000), (6, 5, 100_000)])
def test_three_million_trials_are_a_page_of_eight_megabytes(tmp_path, sizes):
    size, memory = made(tmp_path, *sizes)
    assert size < 8_000_000
    assert memory < 2_000_000_000


@pytest.mark.slow
@pytest.mark.parametrize("trials", [20, 100, 2000])
def test_fifty_algorithms_on_thirty_tasks_are_a_page_of_twenty(tmp_path, trials):
    size, memory = made(tmp_path, 50, 30, trials)
    assert size < 20_000_000
    assert memory < 2_000_000_000


@pytest.mark.slow
def test_hundreds_of_thousands_of_curves_are_a_page_too(tmp_path):
    size, memory = made(tmp_path, 3, 2, 50_000, 20)
    assert size < 8_000_000
    assert memory < 2_000_000_000
