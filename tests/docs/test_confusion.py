"""The pages on rates and data say what comes out."""

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from pages import ROOT, assert_says_what_comes_out, commands_run, followed_anchors

import curvewise as cw
from curvewise.stats.confusion import METRICS, TARGETS, calibrated, drift, paper

TUTORIAL = "docs/tutorial/precision-and-recall.md"
EXPLAINED = "docs/explanation/rates-and-data.md"
REFERENCE = "docs/reference/confusion.md"
pytest.importorskip("sklearn")


@pytest.mark.parametrize(
    ("page", "printed", "pictures"),
    [
        pytest.param(
            TUTORIAL,
            13,
            {"confusion-metrics.png", "confusion-classes.png"},
            marks=pytest.mark.slow,
        ),
        pytest.param(EXPLAINED, 8, {"confusion-bands.png"}, marks=pytest.mark.slow),
    ],
)
def test_the_pages_on_rates_and_data_say_what_comes_out(
    page, printed, pictures, page_folder
):
    assert_says_what_comes_out(page, printed, pictures, page_folder)


def test_links_of_the_pages_on_rates_lead_somewhere():
    assert followed_anchors((TUTORIAL, EXPLAINED, REFERENCE)) >= 2


def test_commands_of_the_tutorial_run(page_folder):
    cw.example("counts").to_frame("pandas").to_csv("tumours.csv", index=False)
    done = commands_run(TUTORIAL)
    assert len(done) == 5
    for asked, told in done:
        if "--json" in asked:
            assert set(json.loads(told)) >= {"rows", "sizes", "classes"}
    report = (page_folder / "report.html").read_text()
    assert "How do precision, recall and F1 move with data?" in report


# --- what the prose says of the numbers ---------------------------------------------------


def test_forecasts_of_the_tutorial_held():
    text = (ROOT / TUTORIAL).read_text()
    told = re.findall(r"([\d.]+) \[([\d.]+), ([\d.]+)\]  it was ([\d.]+)", text)
    assert len(told) == 6
    held = [float(low) <= float(truth) <= float(high) for _, low, high, truth in told]
    assert sum(held) >= 5


def test_targets_of_the_tutorial_are_told_from_narrow_to_wide():
    text = (ROOT / TUTORIAL).read_text()
    ends = r"^{}\s+logistic\s+[\d.]+ \[([\d.]+), ([\d.]+)\]$"
    rows = [re.findall(ends.format(target), text, re.M)[0] for target in TARGETS]
    mean, observed, model = (float(high) - float(low) for low, high in rows)
    assert TARGETS == ("mean", "observed", "model")
    assert mean < model < observed


def rows_of(label, text):
    """Return the numbers of the printed lines that begin with a label."""
    lines = re.findall(rf"^ *{re.escape(label)}((?: +[+-]?\d*\.\d+)+)$", text, re.M)
    return [np.array([float(x) for x in line.split()]) for line in lines]


def is_as_said(paper, paper_long, ours, ours_long):
    """Return whether published bands are too long, then too short, and ours are not."""
    return bool(
        paper[:3].min() > 0.97
        and paper_long[0] > 3 * ours_long[0]
        and paper[-1] < 0.9
        and paper_long[-1] < 0.8 * ours_long[-1]
        and ours.min() > 0.88
    )


def test_published_bands_are_too_wide_and_then_too_narrow():
    text = (ROOT / EXPLAINED).read_text()
    held = [
        rows_of(f"{name:11}error held", text)[0] for name in ("paper", "calibrated")
    ]
    long = rows_of("length", text)[0::2]  # those of error
    assert [len(own) for own in (*held, *long)] == [6] * 4
    assert is_as_said(held[0], long[0], held[1], long[1])
    assert not is_as_said(held[1], long[1], held[0], long[0])


def test_entering_models_at_their_block_makes_forecasts_too_bad():
    text = (ROOT / EXPLAINED).read_text()
    at_n = rows_of("error, entered at N   ", text)[0]
    at_seen = rows_of("error, entered at 2N/3", text)[0]
    assert (at_n[:4] > at_seen[:4] + 0.003).all()
    assert at_n[1] > 0.01 > abs(at_seen[1])


def test_drift_follows_what_power_laws_do_not():
    text = (ROOT / EXPLAINED).read_text()
    held = re.findall(r"(calibrated|drift) +forecasts .*bands hold ([\d.]+) and", text)
    assert [method for method, _ in held] == ["calibrated", "drift"] * 2
    first, second, third, fourth = (float(share) for _, share in held)
    assert first < 0.2
    assert min(second, third, fourth) >= 0.9


# --- numbers that no block prints ---------------------------------------------------------


def table_of(name):
    """Return the rows of a table between its marks on the page that explains."""
    text = (ROOT / EXPLAINED).read_text()
    part = text.split(f"% {name}\n")[1].split(f"% end of {name}")[0]
    return [line for line in part.splitlines() if line.startswith("|")]


def test_every_measured_table_of_rates_is_filled():
    text = (ROOT / EXPLAINED).read_text()
    names = re.findall(r"^% end of (.+)$", text, re.M)
    assert len(names) == 3
    for name in names:
        assert len(table_of(name)) > 3, name
    assert "TABLE-" not in text


def test_constants_on_the_page_are_those_in_use():
    text = " ".join((ROOT / EXPLAINED).read_text().split())
    least, most = calibrated.GAMMAS[[0, -1]]
    assert f"**All exponents** from {least:g} to {most:g} are kept" in text
    assert rf"- {calibrated.TAU:g}\, |\gamma + 1/2|" in text
    assert f"τ = {paper.TAU:g}" in text
    assert f"correlation of {calibrated.ASSUMED_CORRELATION:g} is assumed" in text
    assert abs(2**drift.FURTHEST / 30 - 1) < 0.1
    assert "to some 30 times the largest size" in text


def test_metrics_that_the_tutorial_names_are_those_there_are():
    text = " ".join((ROOT / TUTORIAL).read_text().split())
    named = text.split("Other metrics are asked for by name: ")[1].split(", all from")[
        0
    ]
    named = set(re.split(r", | and ", named))
    assert named | {"error", "precision", "recall", "f1", "cost"} == set(METRICS)


def test_tables_of_confusion_that_are_listed_are_those_of_the_json():
    page = (ROOT / REFERENCE).read_text().split("## Tables")[1]
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)\(", page, re.M)
    answer = cw.confusion(cw.example("counts"), "f1")
    keys = set(json.loads(answer.to_json())) - {"provenance"}
    assert {name for name, _ in listed} == keys
    assert all(callable(getattr(answer, method)) for _, method in listed)


@pytest.mark.parametrize("package", ["confusion", "counts"])
def test_public_modules_about_counts_are_in_the_reference(package):
    page = (ROOT / f"docs/reference/{package}.md").read_text()
    listed = re.findall(rf"automodule:: curvewise\.stats\.{package}\.(\w+)", page)
    folder = Path(cw.__file__).parent / "stats" / package
    there = [path.stem for path in folder.glob("[!_]*.py")]
    home = f"curvewise.stats.{package}"
    offering = [n for n in there if hasattr(import_module(f"{home}.{n}"), "__all__")]
    assert sorted(listed) == sorted(offering)


def test_the_pictures_of_rates_are_made_by_running_the_pages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import make_curve_figures

    assert {TUTORIAL, EXPLAINED} <= set(make_curve_figures.PAGES)
