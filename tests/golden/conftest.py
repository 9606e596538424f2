"""How goldens are written: texts by ``make approve``, numbers never again."""

import pytest
import threadpoolctl
from goldens import Goldens


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
    for name, value in {
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "MPLBACKEND": "agg",
        "CURVEWISE_DATA": str(tmp_path),
        "PYTHONWARNINGS": "",
        "LC_ALL": "C.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    with threadpoolctl.threadpool_limits(1):
        yield
