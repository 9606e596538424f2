"""The page on Optuna says what comes out."""

import re
import shutil
import warnings

import pytest
from pages import ROOT, followed_anchors, text_of
from walked_pages import agrees, walked

from curvewise import CurvewiseWarning
from curvewise.exchange import tools

PAGE = "docs/how-to/import-from-optuna.md"
FILES = ROOT / "tests/assets/foreign/optuna/optuna-5.0.0"
NAMES = {"search.db": "study.db", "kinds.db": "many.db", "random.csv": "trials.csv"}


@pytest.fixture
def results(page_folder):
    for source, name in NAMES.items():
        shutil.copy(FILES / source, page_folder / name)
    return page_folder


def test_the_page_says_what_comes_out(results):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CurvewiseWarning)
        walk = walked(text_of(PAGE), PAGE)
    assert len(walk.outputs) == 7
    for said, written in walk.outputs:
        assert agrees(said, written), f"{PAGE} says\n{written}\nand it is\n{said}"
    assert walk.commands == [
        "curvewise performance study.db --metric value --failed worst"
    ]
    told = [str(one.message) for one in caught]
    assert any("4 runs of 22 had not ended" in text for text in told)
    assert "warns that 4 runs of 22 had not ended" in text_of(PAGE)


def test_its_links_lead_somewhere_and_the_longest_attribute_is_what_it_says():
    followed_anchors((PAGE,))
    from curvewise.exchange.tools.optuna import studies

    (longest,) = re.findall(r"more than (\d+) characters", text_of(PAGE))
    assert int(longest) == studies._LONGEST
    assert "optuna" in tools.TOOLS
