"""The first tutorial says what comes out."""

import re

from click.testing import CliRunner
from pages import ROOT, followed_anchors, run_blocks, text_of

from curvewise.cli import main
from curvewise.examples import example_text

PAGE = "docs/tutorial/first-report.md"


def test_the_commands_of_the_page_print_what_it_says(page_folder):
    (page_folder / "results.csv").write_text(example_text("search"))
    found = re.findall(
        r"^\$ curvewise (\w+ results\.csv.*)\n((?:(?!\$|```).*\n)*)",
        text_of(PAGE),
        re.M,
    )
    assert len(found) == 4
    for line, said in found:
        done = CliRunner().invoke(main, line.split())
        written = " ".join((done.stderr + done.stdout).split())
        for part in said.split("..."):
            assert " ".join(part.split()) in written, line
    assert (page_folder / "report.html").exists()
    begin = re.search(r"^\$ head -3 results\.csv\n((?:.+\n){3})", text_of(PAGE), re.M)[
        1
    ]
    assert example_text("search").startswith(begin)


def test_its_python_runs_and_its_links_lead_somewhere(page_folder):
    run_blocks(text_of(PAGE), PAGE)
    assert (page_folder / "rings.png").exists()
    assert (page_folder / "report.html").exists()
    followed_anchors((PAGE,))
    assert (ROOT / "docs/images/report.png").exists()
