import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```(python|text)\n(.*?)```", re.S)


def run_blocks(text, page):
    """Run a page's Python in order; return what was printed beside what it says was."""
    names, said, pairs = {"__name__": "__main__"}, None, []
    for kind, block in BLOCK.findall(text):
        if kind == "text":
            assert said is not None, f"{page}: nothing was run before {block[:60]!r}"
            pairs.append((said.getvalue(), block))
            said = None
            continue
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, page, "exec"), names)
    return pairs


@pytest.mark.parametrize(
    ("page", "printed", "pictures"),
    [
        ("docs/explanation/curves.md", 6, {"effect-types.png"}),
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
