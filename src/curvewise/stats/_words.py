"""What an interval is for and what it promises, in words."""

from curvewise.stats.interval import Statistic, Tail

# What nothing but the design of the experiment can promise.
APART = ", A independent of B"


def estimand(of: Statistic, alpha: float, tail: Tail) -> str:
    """Return which number of the distribution of all trials is meant."""
    if of == "mean":
        return "the mean of all trials"
    if of == "quantile":
        return f"the score that a share {alpha:g} of all trials do not exceed"
    part, share = ("best", 1 - alpha) if tail == "upper" else ("worst", alpha)
    return f"the mean of the {part} {share:g} of all trials"


def asymptotic(confidence: float, name: str, given: str = "") -> str:
    """Return the guarantee of an interval that holds for many trials."""
    level = percent(confidence)
    return f"about {level}, asymptotic, for independent trials{given} ({name})"


def finite_sample(confidence: float, how: str) -> str:
    """Return the guarantee of an interval that holds at any number of trials."""
    return f"at least {percent(confidence)} (finite-sample), for independent {how}"


def looks(kind: str) -> str:
    """Return words for bands that hold however often one looks; none for the others."""
    return ", at every number of trials" if kind == "anytime" else ""


def cannot_tell(why: str) -> str:
    """Return the guarantee of an interval that holds everything possible."""
    return f"cannot tell: {why}"


def percent(confidence: float) -> str:
    """Return a confidence as people write it."""
    return f"{100 * confidence:.6g}%"
