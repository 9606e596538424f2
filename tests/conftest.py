"""Rules for the whole suite."""

import os
import sys

import pytest
from commands import folder, ran  # noqa: F401
from hypothesis import settings

# The same examples in every run, so that a failure is never luck; fresh ones are sought
# with HYPOTHESIS_PROFILE=default.
settings.register_profile("fixed", derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
os.environ.setdefault("MPLBACKEND", "agg")  # pictures are drawn without a screen


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium for the tests of a file; each opens pages of its own."""
    from browser import chromium

    with chromium() as running:
        yield running


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def page_folder(tmp_path, monkeypatch):
    """Where a page of the documentation is run, without a screen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    return tmp_path


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn a skipped service test into a failure where services are promised."""
    report = yield
    promised = os.environ.get("CURVEWISE_REQUIRE_SERVICES")
    if promised and report.skipped and item.get_closest_marker("service"):
        report.outcome = "failed"
        report.longrepr = f"a service test was skipped: {report.longrepr}"
    return report
