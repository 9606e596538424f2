"""Numbers as sentences say them: an estimate, from where to where, and how surely."""

import math

from curvewise._text import percent, shown
from curvewise.stats.interval import Interval

_MOST_DIGITS = 6
_NOTHING = 1e-12  # what is below is a rounding error


def digits_for(*numbers: float) -> int:
    """Return how many digits it takes to tell these numbers apart, three at least.

    >>> digits_for(0.933, 0.97), digits_for(0.87031, 0.87034)
    (3, 5)
    """
    known = {x for x in numbers if math.isfinite(x)}
    for digits in range(3, _MOST_DIGITS):
        if len({shown(x, digits) for x in known}) == len(known):
            return digits
    return _MOST_DIGITS


def digits_of(interval: Interval) -> int:
    """Return how many digits it takes to tell an estimate from its ends."""
    return digits_for(interval.lower, interval.value, interval.upper)


def said(value: float, digits: int = 3) -> str:
    """Return a number of a sentence; next to nothing is 0.

    >>> said(0.94881), said(1234.8), said(-1e-17)
    ('0.949', '1,235', '0')
    """
    if abs(value) < _NOTHING:
        return "0"
    text = shown(float(value), digits)
    whole = abs(value) >= 1000 and text.lstrip("-").isdigit()
    return f"{round(float(value)):,}" if whole else text


def is_known(interval: Interval) -> bool:
    """Return whether an interval has an end at all."""
    return math.isfinite(interval.lower) or math.isfinite(interval.upper)


def span(interval: Interval, *, sure: bool = True) -> str:
    """Return from where to where an interval goes, in words.

    Parameters
    ----------
    interval : Interval
    sure : bool
        Whether its confidence is guaranteed, and not merely for many trials.

    Examples
    --------
    >>> span(Interval(0.933, 0.97, "", ""))
    'between 0.933 and 0.970'
    >>> span(Interval(-math.inf, 2.0, "", ""), sure=False)
    'probably at most 2.00'
    """
    low, high = interval.lower, interval.upper
    digits = digits_of(interval)
    word = "" if sure else "probably "
    if not is_known(interval):
        return "how far off that is, these results cannot tell"
    if math.isinf(low):
        return f"{word}at most {said(high, digits)}"
    if math.isinf(high):
        return f"{word}at least {said(low, digits)}"
    if low == high:
        return f"{word}exactly that"
    return f"{word}between {said(low, digits)} and {said(high, digits)}"


def estimate(interval: Interval) -> str:
    """Return the estimate of an interval with as many digits as its ends are told with.

    >>> estimate(Interval(0.933, 0.97, "", "", value=0.94881))
    '0.949'
    """
    return said(interval.value, digits_of(interval))


def confidently(confidence: float, *, sure: bool = True) -> str:
    """Return how surely something is said; what is for many trials is so about.

    >>> confidently(0.95), confidently(0.95, sure=False)
    ('with 95 % confidence', 'with about 95 % confidence')
    """
    return f"with {'' if sure else 'about '}{percent(confidence)} confidence"


def share_of_trials(alpha: float) -> str:
    """Return which trials are the best ``1 - alpha``, in words.

    >>> share_of_trials(0.5), share_of_trials(0.9)
    ('the best half of its trials', 'the best 10 % of its trials')
    """
    share = "half" if alpha == 0.5 else percent(1 - alpha)
    return f"the best {share} of its trials"


def capital(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


def sentence(text: str) -> str:
    """Return a sentence with a capital letter, unless a name begins it.

    >>> sentence("on moons, svm is ahead."), sentence("svm is ahead.")
    ('On moons, svm is ahead.', 'svm is ahead.')
    """
    return capital(text) if text.startswith(_OURS) else text


_OURS = ("on ", "there ", "over ", "of ", "the ", "at ", "by ", "how ")  # never a name
