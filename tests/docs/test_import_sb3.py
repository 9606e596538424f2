"""The page on Stable-Baselines3 says what comes out."""

import shutil

from pages import ROOT, followed_anchors, run_blocks, text_of

PAGE = "docs/how-to/import-from-stable-baselines3.md"


def test_the_page_says_what_comes_out(page_folder):
    shutil.copytree(ROOT / "tests/assets/foreign/sb3/logs", page_folder / "logs")
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 4
    for said, written in pairs:
        assert written.split() == said.split()


def test_its_links_lead_somewhere():
    followed_anchors((PAGE,))
