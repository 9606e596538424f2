"""Pictures are drawn without a screen, and closed after each test."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

mpl.use("agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")
