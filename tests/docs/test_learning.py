"""The pages on error and data say what comes out."""

import json
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from pages import ROOT, assert_says_what_comes_out, commands_run, followed_anchors

import curvewise as cw
from curvewise.stats.learning import outlook

TUTORIAL = "docs/tutorial/more-data.md"
GUIDE = "docs/how-to/use-learning-curves.md"
EXPLAINED = "docs/explanation/error-and-data.md"
pytest.importorskip("sklearn")


@pytest.mark.parametrize(
    ("page", "printed", "pictures"),
    [
        (TUTORIAL, 7, {"learning-curves.png", "learning-forecast.png"}),
        pytest.param(GUIDE, 13, set(), marks=pytest.mark.slow),
        pytest.param(EXPLAINED, 5, {"learning-bands.png"}, marks=pytest.mark.slow),
    ],
)
def test_the_pages_on_error_and_data_say_what_comes_out(
    page, printed, pictures, page_folder
):
    assert_says_what_comes_out(page, printed, pictures, page_folder)


def test_links_between_the_pages_lead_somewhere():
    assert followed_anchors((TUTORIAL, GUIDE, EXPLAINED)) >= 5


def test_forecasts_of_the_tutorial_held():
    text = (ROOT / TUTORIAL).read_text()
    told = re.findall(r"([\d.]+) \[([\d.]+), ([\d.]+)\]  it (?:was|is) ([\d.]+)", text)
    assert len(told) == 4
    for _, low, high, truth in told:
        assert float(low) <= float(truth) <= float(high)


def test_commands_of_the_tutorial_run(page_folder):
    cw.example("counts").to_frame("pandas").to_csv("mine.csv", index=False)
    done = commands_run(TUTORIAL)
    assert len(done) == 5
    for words, told in done:
        if "--json" in words:
            assert set(json.loads(told)) >= {"rows", "pairs", "sizes"}
    assert "rror and data" in (page_folder / "report.html").read_text()


# --- numbers that no block prints ---------------------------------------------------------


def table_of(name):
    """Return the cells of a table between its marks on the page that explains."""
    text = (ROOT / EXPLAINED).read_text()
    part = text.split(f"% {name}\n")[1].split(f"% end of {name}")[0]
    rows = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_factors_on_the_page_are_those_in_use():
    at = list(outlook.LEVELS).index(0.975)
    rows = table_of("factors")[2:]
    for column, factors in ((2, outlook.UP[at]), (3, outlook.DOWN[at])):
        written = [float(row[column]) for row in rows if row[column]]
        assert written == pytest.approx(factors, rel=1e-3)


def test_the_weights_on_the_page_are_those_in_use():
    text = (ROOT / EXPLAINED).read_text()
    ((misfit, power),) = re.findall(
        r"se}\^2 \+ ([\d.]+)\^2 \(n_k/n\)\^([\d.]+)\)", text
    )
    assert (float(misfit), float(power)) == (outlook.MISFIT, outlook.RECENCY)


def test_every_measured_table_is_filled():
    text = (ROOT / EXPLAINED).read_text()
    names = re.findall(r"^% end of (.+)$", text, re.M)
    assert len(names) == 7
    for name in names:
        assert len(table_of(name)) > 3, name


def test_the_published_band_is_as_bad_as_the_page_says(monkeypatch):
    """A few hundred experiments agree with the table, within what chance allows."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import coverage_powerlaw as measured

    rows = [
        row for row in table_of("coverage of power laws") if row[0].startswith("Res")
    ]
    assert len(rows) == 2 * len(measured.CURVES)
    noise = measured.NOISES["floor .02, slope 25"]
    name = "ResNet-18, from scratch"
    tables = [row for row in rows if row[0] == name]

    def agrees(hits, row):
        written = np.array([float(x) for x in row[1:-1]])
        allowed = 5 * np.sqrt(written * (1 - written) / 300) + 0.01
        return bool((np.abs(hits / 300 - written) < allowed).all())

    for i, method in enumerate(("paper", "calibrated")):
        rng = np.random.default_rng(5)
        hits = measured.pointwise(measured.CURVES[name], noise, 300, rng, method=method)
        assert agrees(hits["both"], tables[i])
        assert not agrees(hits["both"], tables[1 - i])


def test_the_numbers_on_claims_are_those_that_are_computed(page_folder):
    text = (ROOT / GUIDE).read_text()
    claims = text.split("| claim |")[1].split("\n\n")[0]
    printed = text.split("error in percent at")[2].split("```")[0]
    rows = re.findall(r"^(\S.+?)\s{2,}([\d. ]+)$", printed, re.M)
    errors = {name: [float(x) for x in numbers.split()] for name, numbers in rows}
    said = {float(x) for x in re.findall(r"\d+\.\d", claims)}

    def rounded(*values):
        return {round(float(x) + 1e-9, 1) for x in values}

    scratch, fine = errors["CIFAR, ResNet-18, scratch"], errors["CIFAR, ResNet-18"]
    linear = errors["CIFAR, ResNet-18, linear"]
    deep = errors["CIFAR, ResNet-101"]
    assert rounded(scratch[0], fine[0], scratch[2], fine[2]) <= said
    assert rounded(linear[0] - fine[0], linear[2] - fine[2]) <= said
    assert rounded(fine[2] - deep[2], deep[0]) <= said
    assert rounded(errors["CIFAR, six ResNet-18"][2]) <= said
    assert not rounded(scratch[1]) <= said


def test_public_modules_about_curves_are_in_the_reference():
    listed = re.findall(
        r"automodule:: (curvewise\.stats\.(?:powerlaw|forms|learning)\.\S+)",
        (ROOT / "docs/reference/stats.md").read_text(),
    )
    source = Path(cw.__file__).parents[1]  # a wheel has no folder `src`
    there = [
        ".".join(path.relative_to(source).with_suffix("").parts)
        for package in ("powerlaw", "forms", "learning")
        for path in (source / "curvewise/stats" / package).rglob("[!_]*.py")
    ]
    offering = [name for name in there if hasattr(import_module(name), "__all__")]
    assert sorted(listed) == sorted(offering)


def test_tables_of_learning_that_are_listed_are_those_of_the_json():
    page = (ROOT / "docs/reference/learning.md").read_text().split("## Tables")[1]
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)\(", page, re.M)
    answer = cw.learning(cw.example("counts"), "error")
    keys = set(json.loads(answer.to_json())) - {"provenance"}
    assert {name for name, _ in listed} == keys
    assert all(callable(getattr(answer, method)) for _, method in listed)


def test_the_pictures_are_made_by_running_the_pages(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import make_curve_figures

    for page in make_curve_figures.PAGES:
        names = re.findall(r'savefig\("([\w-]+\.png)"', (ROOT / page).read_text())
        assert names
        assert all((ROOT / "docs/images" / name).exists() for name in names)
