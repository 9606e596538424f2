"""The page on Weights & Biases says what comes out."""

import shutil

from pages import ROOT, followed_anchors, run_blocks, text_of

PAGE = "docs/how-to/import-from-wandb.md"
ASSETS = ROOT / "tests/assets/foreign/wandb"


def test_the_page_says_what_comes_out(page_folder):
    shutil.copytree(ASSETS / "offline", page_folder / "wandb")
    shutil.rmtree(next(page_folder.glob("wandb/*-k6ffffff")))  # it holds nothing
    shutil.copytree(ASSETS / "exports", page_folder, dirs_exist_ok=True)
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 6
    for said, written in pairs:
        assert written.split() == said.split()


def test_its_links_lead_somewhere():
    followed_anchors((PAGE,))
