"""The pages on which analysis to choose, and on writing a paper, say what comes out."""

import re

import matplotlib.pyplot as plt
import pytest
from click.testing import CliRunner
from commands import commands
from pages import ROOT, assert_says_what_comes_out, followed_anchors, text_of

import curvewise as cw
from curvewise.cli import main
from curvewise.examples import example_text

WHICH = "docs/how-to/which-analysis.md"
PAPER = "docs/how-to/write-a-paper.md"


@pytest.mark.parametrize(
    ("page", "printed", "pictures"),
    [(WHICH, 4, set()), (PAPER, 4, {"paper-quantiles.png"})],
)
def test_the_pages_say_what_comes_out(page, printed, pictures, page_folder):
    assert_says_what_comes_out(page, printed, pictures, page_folder)


def test_their_links_lead_somewhere():
    followed_anchors((WHICH, PAPER))
    assert text_of(WHICH).count("](") > 20


def test_the_commands_of_the_pages_run(page_folder):
    (page_folder / "results.csv").write_text(example_text("search"))
    lines = re.findall(r"^\$ curvewise (.+)$", text_of(WHICH) + text_of(PAPER), re.M)
    assert len(lines) == 3
    for line in lines:
        # An audit takes a while, and has tests of its own; here it is only asked for.
        words = [word for word in line.split() if word != "--audit"]
        done = CliRunner().invoke(main, words)
        assert done.exit_code in (0, 3), done.output
    options = {o for p in commands()["report"].params for o in p.opts}
    assert "--audit" in options


def test_every_question_has_its_row():
    """Whoever adds a question to `explain` adds it to the page."""
    table = text_of(WHICH).split("## From what you have")[0]
    for one in cw.explain(cw.example("search")).questions:
        name = one.analysis.partition(".")[0]
        assert f"[`{name}`]" in table, name
        page = name if name != "variance_shares" else "variance"
        assert f"(../reference/{page}.md)" in table


def test_every_command_that_is_named_is_there():
    named = set(re.findall(r"`curvewise ([\w-]+)", text_of(WHICH)))
    assert named <= set(commands())
    assert len(named) > 8


def test_styles_are_as_large_as_the_page_says():
    rows = re.findall(r"^\| `style\((.+?)\)` \| (.+) \|$", text_of(PAPER), re.M)
    assert len(rows) == 5
    answer = cw.plan.trials(0.05)
    for call, told in rows:
        with eval(f"cw.figures.style({call})", {"cw": cw}):
            size = cw.figures.plot_plan(answer).figure.get_size_inches().tolist()
        plt.close("all")
        stated = [float(x) for x in re.findall(r"\d+(?:\.\d+)?(?= inches| by)", told)]
        assert stated == size[: len(stated)] or told == "as without a style"


def test_what_is_to_be_stated_can_be_found():
    answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    named = set(re.findall(r"`answer\.(\w+)", text_of(PAPER)))
    assert {"notes", "provenance", "headline", "would_change"} <= named
    assert all(hasattr(answer, name) for name in named)
    assert any("failed" in note for note in answer.notes())


def test_the_picture_is_made_by_running_the_page(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import make_curve_figures

    assert PAPER in make_curve_figures.PAGES
