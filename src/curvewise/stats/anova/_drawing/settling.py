"""How many draws are enough to decide, and what is known of p after them."""

import math

# The chance to stop on the wrong side of the level, whenever one looks.
RISK = 0.001


def log_weight(n: int, b: int, level: float) -> float:
    """Return the logarithm of (n + 1) Binom(n, level).pmf(b)."""
    choose = math.lgamma(n + 1) - math.lgamma(b + 1) - math.lgamma(n - b + 1)
    hits = b * math.log(level) if b else 0.0
    misses = (n - b) * math.log1p(-level) if n - b else 0.0
    return math.log(n + 1) + choose + hits + misses


def side(n: int, b: int, level: float, risk: float = RISK) -> int:
    r"""Return on which side of the level p is: -1 below, 1 above, 0 open.

    It is settled once :math:`(n+1) \binom{n}{b} \alpha^b (1-\alpha)^{n-b} \le` `risk`.
    Whatever p is, that happens on the wrong side with probability `risk` at most over
    all n at once, so that one may look after every draw.
    """
    if log_weight(n, b, level) > math.log(risk):
        return 0
    return -1 if b < n * level else 1


def clopper_pearson(n: int, b: int, miss: float) -> tuple[float, float]:
    """Return an interval for a chance that came b times in a fixed number n."""
    from scipy.special import betaincinv

    low = betaincinv(b, n - b + 1, miss / 2) if b else 0.0
    high = betaincinv(b + 1, n - b, 1 - miss / 2) if b < n else 1.0
    return float(low), float(high)


def at_any_time(n: int, b: int, miss: float) -> tuple[float, float]:
    """Return an interval for a chance that holds at all n at once, as `side` does."""
    from scipy.optimize import brentq

    def excess(q: float) -> float:
        return log_weight(n, b, q) - math.log(miss)

    best, tiny = b / n, 1e-300
    low = brentq(excess, tiny, best, xtol=1e-15) if b else 0.0
    high = brentq(excess, best or tiny, 1 - 1e-16, xtol=1e-15) if b < n else 1.0
    return float(low), float(high)
