"""How goldens are written: texts by ``make approve``, numbers never again."""

from unittest.mock import patch

import pytest
import threadpoolctl
from goldens import Goldens

TERMINAL = {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
ELSEWHERE = {"MPLBACKEND": "agg", "CURVEWISE_DATA": "", "PYTHONWARNINGS": ""}


def pytest_addoption(parser):
    parser.addoption(
        "--approve", action="store_true", help="Write the texts that come out now."
    )


@pytest.fixture(scope="session")
def goldens(pytestconfig):
    return Goldens(is_approving=pytestconfig.getoption("--approve", default=False))


@pytest.fixture(autouse=True)
def same_everywhere(tmp_path, monkeypatch):
    """An empty folder, a terminal of 80 letters without colours, and one thread."""
    monkeypatch.chdir(tmp_path)
    place = patch.dict("os.environ", TERMINAL | ELSEWHERE)
    with place, threadpoolctl.threadpool_limits(1):
        yield
