"""The page on MLflow says what comes out."""

import gzip
import sqlite3
import warnings

import pytest
from pages import ROOT, followed_anchors, text_of
from walked_pages import agrees, walked

from curvewise import CurvewiseWarning

PAGE = "docs/how-to/import-from-mlflow.md"
FILE = ROOT / "tests/assets/foreign/mlflow/3.17.2/mlflow.db.gz"


@pytest.fixture
def results(page_folder):
    raw = gzip.decompress(FILE.read_bytes())
    (page_folder / "mlflow.db").write_bytes(raw)
    (page_folder / "sweep.db").write_bytes(raw)
    db = sqlite3.connect(page_folder / "sweep.db")
    db.execute("UPDATE params SET key = 'kind' WHERE key = 'model'")
    db.commit()
    db.close()
    return page_folder


def test_the_page_says_what_comes_out(results):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CurvewiseWarning)
        walk = walked(text_of(PAGE), PAGE)
    assert len(walk.outputs) == 5
    for said, written in walk.outputs:
        assert agrees(said, written), f"{PAGE} says\n{written}\nand it is\n{said}"
    assert walk.commands == [
        "curvewise performance mlflow.db --metric acc --failed worst"
    ]
    assert not walk.not_run
    assert any("1 run of 16 had not ended" in str(one.message) for one in caught)


def test_its_links_lead_somewhere():
    followed_anchors((PAGE,))
    assert "(import-from-mlflow.md)" in text_of("docs/how-to/import-your-results.md")
