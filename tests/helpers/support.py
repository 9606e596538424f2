"""What several tests need: rates that do not flake, real data where there is any."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from curvewise import CurvewiseError


def assert_rate(hits: int, n: int, rate: float, *, false_alarm: float = 1e-6) -> None:
    """Fail only if `hits` of `n` would be a one-in-a-million event under `rate`."""
    p = stats.binomtest(int(hits), int(n), rate).pvalue
    assert p > false_alarm, f"{hits}/{n} against {rate:g}: p = {p:.1e}"


def assert_at_least(
    hits: int, n: int, rate: float, *, false_alarm: float = 1e-6
) -> None:
    """Fail only if so few `hits` of `n` are one in a million under `rate` and above."""
    p = stats.binomtest(int(hits), int(n), rate, alternative="less").pvalue
    assert p > false_alarm, f"{hits}/{n}, at least {rate:g} asked: p = {p:.1e}"


def assert_at_most(
    hits: int, n: int, rate: float, *, false_alarm: float = 1e-6
) -> None:
    """Fail only if so many `hits` of `n` are one in a million under `rate` and below."""
    p = stats.binomtest(int(hits), int(n), rate, alternative="greater").pvalue
    assert p > false_alarm, f"{hits}/{n}, at most {rate:g} asked: p = {p:.1e}"


def data(name: str) -> Path:
    """Return a file of the data folder, or skip the test where there is none."""
    folder = os.environ.get("CURVEWISE_DATA")
    if not folder:
        pytest.skip("CURVEWISE_DATA names no data folder")
    path = Path(folder) / name
    if not path.exists():
        pytest.skip(f"{name} is not in the data folder")
    return path


def refused(ask: Callable[..., Any], *given: Any, **options: Any) -> tuple[Any, Any]:
    """Return the argument that a call is refused for, and what came for it."""
    with pytest.raises(CurvewiseError) as caught:
        ask(*given, **options)
    return caught.value.argument, caught.value.value
