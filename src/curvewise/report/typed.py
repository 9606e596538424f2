"""Numbers as a page keeps them: the bytes of an array, which Plotly reads as they are."""

import base64
from typing import Any

import numpy as np

from curvewise.metrics import Floats

_CLOSE = 1e-6  # how far off a number may be, of itself
_APART = 1e-4  # and of how far apart the numbers are, which a screen does not show


def typed(values: Floats) -> dict[str, Any]:
    """Return numbers as bytes in base64: half as long as digits, and NaN may be among them.

    Four bytes hold seven digits, more than a screen can show. Numbers that differ only
    beyond these, such as steps around a hundred million, get eight.

    Parameters
    ----------
    values : ndarray, shape (point,) or (point, column)

    Examples
    --------
    >>> typed(np.array([0.5, 1.0]))
    {'dtype': 'f4', 'bdata': 'AAAAPwAAgD8='}
    >>> typed(np.array([1e8, 1e8 + 1]))["dtype"]
    'f8'
    """
    # Browsers read the lowest byte first, whatever this machine does.
    kind = "f4" if _is_short(values) else "f8"
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    out = {"dtype": kind, "bdata": base64.b64encode(data).decode("ascii")}
    if values.ndim > 1:
        out["shape"] = ", ".join(map(str, values.shape))
    return out


def _is_short(values: Floats) -> bool:
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return True
    with np.errstate(over="ignore"):
        off = np.abs(known.astype(np.float32).astype(np.float64) - known)
    if not off.any():
        return True
    if (known == np.rint(known)).all():  # steps are whole numbers, and read as such
        return False
    apart = np.ptp(known) or np.inf
    return bool((off <= np.minimum(_CLOSE * np.abs(known), _APART * apart)).all())
