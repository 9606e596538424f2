"""What the comparisons share: two samples, and what one trial says of them."""

from numpy.typing import ArrayLike

from curvewise.errors import CurvewiseError
from curvewise.stats._sample import Floats, checked_scores


def two_samples(a: ArrayLike, b: ArrayLike, paired: bool) -> tuple[Floats, Floats]:
    """Return both samples as arrays; refuse pairs that do not match."""
    one, other = checked_scores(a, "Scores a"), checked_scores(b, "Scores b")
    if paired and len(one) != len(other):
        raise CurvewiseError(
            f"There are {len(one)} scores a and {len(other)} scores b. Pass the same "
            "trials in the same order, or ",
            {"paired": False},
            ".",
        )
    return one, other


def few(n: int, m: int) -> str:
    """Return why samples of one say nothing."""
    return f"{n} and {m} trials do not show how much trials differ"
