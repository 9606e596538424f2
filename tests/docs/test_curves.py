import json
import re
from pathlib import Path

import numpy as np
import pytest
from pages import run_blocks

import curvewise as cw

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("page", "printed", "pictures"),
    [
        pytest.param(
            "docs/explanation/curves.md",
            3,
            {"effect-types.png"},
            marks=pytest.mark.slow,
        ),
        (
            "docs/tutorial/compare-curves.md",
            7,
            {"curves-where.png", "curves-lines.png"},
        ),
    ],
)
def test_the_pages_on_curves_say_what_comes_out(
    page, printed, pictures, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    text = (ROOT / page).read_text()
    pairs = run_blocks(text, page)
    assert len(pairs) == printed
    for said, written in pairs:
        assert written.split() == said.split()
    assert {path.name for path in tmp_path.glob("*.png")} == pictures
    for name in pictures:
        assert f"../images/{name}" in text
        assert (ROOT / "docs/images" / name).exists()


def test_a_page_that_says_something_else_is_noticed():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    ((said, written),) = run_blocks(page, "page")
    assert written.split() != said.split()


def test_the_pictures_are_made_by_running_the_pages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import make_curve_figures

    page = tmp_path / "page.md"
    page.write_text("```python\nopen('drawn.png', 'w').close()\n```\n")
    (tmp_path / "out").mkdir()
    (made,) = make_curve_figures.drawn_by(str(page), tmp_path / "out")
    assert made.name == "drawn.png"


# --- what the pages quote is what is printed ---------------------------------------------


def as_pattern(quote):
    """Return a pattern for a quoted sentence: A is a name, other letters are numbers."""
    kinds = {"A": r"\S+", "...": ".+"} | dict.fromkeys("bnDM", r"[\d,.]+")
    kinds["a"] = r"(?:a|[\d,.]+)"
    parts = re.split(r"(\.\.\.|\b[AabnDM]\b)", quote)
    return "".join(kinds.get(part, re.escape(part)) for part in parts)


def quotes(page, heading):
    """Return what stands in quotation marks in the first column of a table."""
    table = (ROOT / page).read_text().split(f"| {heading} |")[1].split("\n\n")[0]
    firsts = [row.split("|")[1] for row in table.splitlines()[2:]]
    return [quote for first in firsts for quote in re.findall('"(.+?)"', first)]


def noisy(algorithms, lines, steps=8):
    """Return trials of algorithms that are all alike."""
    rng = np.random.default_rng(1)
    trials = [
        cw.Trial("task", name, number, {"score": rng.normal(size=steps).cumsum()})
        for name in algorithms
        for number in range(lines)
    ]
    return cw.Trials(trials, metrics=[cw.Metric("score", "higher")])


def test_the_sentences_that_are_explained_are_those_that_are_printed():
    hill = cw.example("curves").where(task="hill")
    answers = [
        cw.difference(hill, margin=100),
        cw.difference(hill, grid=61),
        cw.difference(noisy("xy", 8)),
        cw.difference(noisy("xy", 8), margin=1000),
        cw.difference(noisy("xyz", 4)),
    ]
    said = [text for one in answers for text in one.verdicts(one.tasks[0])]
    found = quotes("docs/explanation/curves.md", "the answer says")
    assert len(found) == 8
    for quote in found:
        assert any(re.search(as_pattern(quote), text) for text in said), quote
    wrong = as_pattern("They no longer differ at step b")
    assert not any(re.search(wrong, text) for text in said)


def test_the_rules_that_are_explained_are_those_that_are_printed():
    def line(algorithm, number, steps):
        curve = {"score": np.arange(len(steps), dtype=float)}
        return cw.Trial("task", algorithm, number, curve, steps=steps)

    ranges = [range(20, 80), range(10, 80), range(20, 100)]
    uneven = cw.Trials(
        [line(name, i, list(r)) for name in "xy" for i, r in enumerate(ranges)],
        metrics=[cw.Metric("score", "higher")],
    )
    ways = [(8, "linear"), (200, "linear"), (61, "last")]
    rules = [uneven.lines("score", grid=n, fill=fill).rule for n, fill in ways]
    rules.append(cw.example("curves").where(task="hill").lines("return").rule)
    found = quotes("docs/reference/difference.md", "the rule says")
    assert len(found) == 8
    for quote in found:
        pattern = re.sub(r"\d+", r"\\d+", re.escape(quote))
        assert any(re.search(pattern, rule) for rule in rules), quote


def test_the_tables_that_are_listed_are_those_of_the_json():
    page = (ROOT / "docs/reference/difference.md").read_text().split("## Tables")[1]
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)\(", page, re.M)
    answer = cw.difference(noisy("xy", 5))
    keys = set(json.loads(answer.to_json())) - {"provenance"}
    assert {name for name, _ in listed} == keys
    assert all(callable(getattr(answer, method)) for _, method in listed)
