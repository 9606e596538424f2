"""A curve whose distribution is known in closed form."""

import numpy as np
import pytest
from scipy.special import ndtri


class NormalCurve:
    """e(n) = alpha + eta n^gamma, known up to a normal error of sd spread * n^grows."""

    asymptote = None  # it knows one
    levels = (0.0, 1.0)

    def __init__(self, alpha, eta, gamma, spread, grows=0.0, sizes=(25, 50, 100, 200)):
        self.alpha, self.eta, self.gamma = alpha, eta, gamma
        self.spread, self.grows = spread, grows
        self.sizes = np.array(sizes, dtype=float)
        self.means = self.error(self.sizes)

    def error(self, n):
        return self.alpha + self.eta * np.asarray(n, dtype=float) ** self.gamma

    def sd(self, n):
        return self.spread * np.asarray(n, dtype=float) ** self.grows

    def quantile(self, p, n):
        return self.error(n) + ndtri(np.asarray(p))[:, None] * self.sd(n)


class ShortTails(NormalCurve):
    """The same, but with no quantiles beyond .005 and .995, and no asymptote."""

    levels = (0.005, 0.995)

    def __getattribute__(self, name):
        if name == "asymptote":
            raise AttributeError(name)
        return super().__getattribute__(name)

    def quantile(self, p, n):
        p = np.asarray(p)
        assert (p >= 0.005 - 1e-12).all()
        assert (p <= 0.995 + 1e-12).all()
        assert np.isfinite(np.asarray(n)).all()
        return super().quantile(p, n)


@pytest.fixture
def normal_curve():
    return NormalCurve


@pytest.fixture(params=[NormalCurve, ShortTails], ids=["all tails", "short tails"])
def any_curve(request):
    return request.param


@pytest.fixture
def short_tails():
    return ShortTails
