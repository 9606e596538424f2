"""The page on TensorBoard says what comes out."""

import shutil

from pages import ROOT, commands_run, followed_anchors, run_blocks, text_of

import curvewise as cw

PAGE = "docs/how-to/import-from-tensorboard.md"
RUNS = ROOT / "tests/assets/foreign/tensorboard/torch"


def test_the_page_says_what_comes_out(page_folder, recwarn):
    shutil.copytree(RUNS, page_folder / "runs")
    pairs = run_blocks(text_of(PAGE), PAGE)
    assert len(pairs) == 2
    for said, written in pairs:
        assert written.split() == said.split()
    (warning,) = recwarn  # of the six runs that its function leaves out
    assert warning.category is cw.CurvewiseWarning
    assert "Left out: 6 runs for which roles= returned None" in str(warning.message)


def test_its_command_runs_and_its_links_lead_somewhere(page_folder):
    shutil.copytree(RUNS, page_folder / "runs")
    ((_, printed),) = commands_run(PAGE)
    assert "task maze" in printed
    followed_anchors((PAGE,))
