"""Rules for the whole suite."""

import os

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Turn a skipped service test into a failure where services are promised."""
    report = yield
    promised = os.environ.get("CURVEWISE_REQUIRE_SERVICES")
    if promised and report.skipped and item.get_closest_marker("service"):
        report.outcome = "failed"
        report.longrepr = f"a service test was skipped: {report.longrepr}"
    return report
