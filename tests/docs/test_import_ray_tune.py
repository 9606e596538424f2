"""The page on Ray Tune says what comes out."""

import shutil

import pytest
from pages import ROOT, commands_run, followed_anchors, run_blocks, text_of

PAGE = "docs/how-to/import-from-ray-tune.md"
RESULTS = ROOT / "tests/assets/foreign/ray_tune/2.60.0"


@pytest.fixture
def results(page_folder):
    for source, name in (("good", "net"), ("bad", "net_fast")):
        shutil.copytree(RESULTS / source, page_folder / "ray_results" / name)
    return page_folder


def test_the_page_says_what_comes_out(results):
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 4
    for said, written in pairs:
        assert written.split() == said.split()


def test_its_command_runs_and_its_links_lead_somewhere(results):
    ((_, printed),) = commands_run(PAGE)
    assert "0.1 - 0.5" in printed
    followed_anchors((PAGE,))
