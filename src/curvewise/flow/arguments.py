"""What `run` was asked for, checked before anything is made."""

import math
import re
import sys
from numbers import Real
from typing import Any

from curvewise._checks import whole
from curvewise.engine.workers.queue import Limits
from curvewise.errors import CurvewiseError, Keyword

_UNITS = {"": 1, "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


def limits_of(timeout: Any, retries: Any, memory: Any) -> Limits:
    """Return what a trial may cost."""
    return Limits(_seconds(timeout), whole(retries, "retries", 0), _bytes(memory))


def check_workers(workers: Any) -> None:
    """Raise if a number of workers is none."""
    if workers is not None:
        whole(workers, "workers")


def _is_real(value: Any) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0


def _seconds(timeout: Any) -> float | None:
    if timeout is not None and not _is_real(timeout):
        raise CurvewiseError(
            f"timeout is {timeout!r}. Pass seconds above 0.",
            argument="timeout",
            value=timeout,
        )
    return None if timeout is None else float(timeout)


def _bytes(memory: Any) -> int | None:
    if memory is None:
        return None
    number: Any = memory
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?B?)\s*", memory, re.IGNORECASE)
        try:
            unit = found[2].upper() if found else ""
            factor = _UNITS[unit if unit.endswith("B") or not unit else f"{unit}B"]
            number = float(found[1]) * factor if found else None
        except ValueError:
            number = None
    if not _is_real(number) or number < 1:
        raise CurvewiseError(
            f"memory is {memory!r}. Pass bytes, or a text such as '2 GB'.",
            argument="memory",
            value=memory,
        )
    if not sys.platform.startswith("linux"):
        raise CurvewiseError(
            "Only Linux limits the memory of a process. Leave ",
            Keyword("memory"),
            " out.",
        )
    return int(number)
