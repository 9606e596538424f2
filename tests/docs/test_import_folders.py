"""The page on folders of runs says what comes out."""

import re
import shutil
import warnings

import pytest
from pages import ROOT, followed_anchors, text_of
from walked_pages import agrees, walked

from curvewise import CurvewiseWarning
from curvewise.exchange.tools import FOLDERS

PAGE = "docs/how-to/import-from-folders.md"
FOREIGN = ROOT / "tests/assets/foreign"


@pytest.fixture
def results(page_folder):
    shutil.copytree(FOREIGN / "hydra/multirun", page_folder / "multirun")
    shutil.copytree(FOREIGN / "keras/logs", page_folder / "logs")
    return page_folder


def test_the_page_says_what_comes_out(results):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CurvewiseWarning)
        walk = walked(text_of(PAGE), PAGE)
    assert len(walk.outputs) == 4
    for said, written in walk.outputs:
        assert agrees(said, written), f"{PAGE} says\n{written}\nand it is\n{said}"
    assert walk.commands == [
        "curvewise performance multirun --metric acc --failed worst"
    ]
    assert not walk.not_run
    followed_anchors((PAGE,))


def test_every_layout_is_named():
    rows = re.findall(r'^\| (`"\w+"`(?:, `"\w+"`)*) \|', text_of(PAGE), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r'"(\w+)"', row)}
    assert named == set(FOLDERS)
