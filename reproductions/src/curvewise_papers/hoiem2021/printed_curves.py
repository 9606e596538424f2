"""Table 3 as curves: its rows by what they are, and what its identities say of them."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.printed import printed
from curvewise.stats.powerlaw import PowerLaw

N = 400  # images of each class
SIZES = (25, 50, 100, 200, 400)
HALF = 0.005  # of the last printed digit
_SWAPPED = ("Pretr on Places", "Pretr on Imagenet with MOCO")


@dataclass(frozen=True, slots=True)
class Columns:
    """One fit of Table 3: a number for each row.

    Parameters
    ----------
    alpha, eta, gamma, error, reliance : ndarray, shape (row,)
    """

    alpha: Floats
    eta: Floats
    gamma: Floats
    error: Floats
    reliance: Floats

    @property
    def error_off(self) -> Floats:
        """The printed error less that of the printed curve at 400."""
        return self.error - self.alpha - self.eta * N**self.gamma

    @property
    def reliance_off(self) -> Floats:
        """The printed data-reliance less that of the printed curve at 400."""
        return self.reliance + 2 * self.eta * self.gamma * N**self.gamma

    @property
    def error_rounding(self) -> Floats:
        """How far rounding of three numbers can take the first."""
        return np.asarray(HALF * (2 + N**self.gamma))

    @property
    def reliance_rounding(self) -> Floats:
        """How far rounding of two numbers can take the second."""
        return np.asarray(HALF * (1 + 2 * np.abs(self.gamma) * N**self.gamma))


def _column(name: str) -> Floats:
    return np.array(printed("hoiem2021").tables["table3"][name], dtype=np.float64)


def full() -> Columns:
    """Return the power laws of Table 3.

    >>> columns = full()
    >>> len(columns.alpha), bool((abs(columns.error_off) < 0.0105).all())
    (42, True)
    """
    return Columns(*(_column(n) for n in ("alpha", "eta", "gamma", "e400", "beta400")))


def light(*, put_right: bool = False) -> Columns:
    """Return its lines through three sizes, two swapped rows put right if asked for."""
    names = ("light_alpha", "light_eta", "light_e400", "light_beta400")
    alpha, eta, error, reliance = (_column(n) for n in names)
    order = np.arange(len(alpha))
    if put_right:
        labels = printed("hoiem2021").tables["table3"]["label"]
        one, other = (labels.index(name) for name in _SWAPPED)
        order[[one, other]] = other, one
    gamma = np.full(len(alpha), -0.5)
    return Columns(alpha[order], eta[order], gamma, error[order], reliance[order])


def apart(one: Columns, other: Columns) -> tuple[float, float]:
    """Return the root mean square difference of errors and of data-reliances.

    >>> [round(x, 4) for x in apart(light(), full())]
    [0.4187, 0.9459]
    """
    error = np.sqrt(np.mean((one.error - other.error) ** 2))
    reliance = np.sqrt(np.mean((one.reliance - other.reliance) ** 2))
    return float(error), float(reliance)


@cache
def laws() -> dict[tuple[str, str], PowerLaw]:
    """Return the printed curves by block and label, from alpha, eta and gamma.

    >>> round(float(laws()["DEPTH_FT", "Resnet-18"].error(1600)), 2)
    15.38
    """
    told = printed("hoiem2021").tables["table3"]
    keys = zip(told["block"], told["label"], strict=True)
    table = full()
    return {
        key: PowerLaw(alpha, eta, 0.0, gamma, float(N), "percent")
        for key, alpha, eta, gamma in zip(
            keys,
            table.alpha.tolist(),
            table.eta.tolist(),
            table.gamma.tolist(),
            strict=True,
        )
    }
