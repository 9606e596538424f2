"""Whether an argument is what it should be, asked in one place and refused in one style."""

from numbers import Integral
from typing import TypeGuard

from curvewise.errors import CurvewiseError, shortened


def is_whole(value: object, least: int = 1, most: int | None = None) -> TypeGuard[int]:
    """Return whether a value is a whole number in a range; True and 2.0 are not.

    >>> is_whole(3), is_whole(0), is_whole(True), is_whole(2.0), is_whole(9, most=8)
    (True, False, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return least <= int(value) and (most is None or int(value) <= most)


def is_name(value: object) -> TypeGuard[str]:
    """Return whether a value is a text in valid Unicode that is not blank.

    >>> is_name("svm"), is_name("  "), is_name(3)
    (True, False, False)
    """
    if not isinstance(value, str) or not value.strip():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def whole(
    value: object, what: str, least: int = 1, most: int | None = None, *, fact: str = ""
) -> int:
    """Return a whole number, whatever library it is of, as an int, or raise.

    Parameters
    ----------
    value : object
    what : str
        What it is called where it was passed.
    least, most : int
        The ends of the range, which belong to it.
    fact : str
        Where the range comes from, if that is not plain: "there are 9 examples".

    Examples
    --------
    >>> whole(3, "trials")
    3
    >>> whole(2.5, "trials")
    Traceback (most recent call last):
    curvewise.errors.CurvewiseError: trials is 2.5. Pass a whole number from 1 on.
    >>> whole(10, "folds", 2, 9, fact="there are 9 examples")
    Traceback (most recent call last):
    curvewise.errors.CurvewiseError: folds is 10, and there are 9 examples. Pass a whole \
number from 2 to 9.
    """
    if not is_whole(value, least, most):
        came = f"{what} is {shortened(repr(value))}{fact and f', and {fact}'}"
        end = "on" if most is None else f"to {most}"
        text = f"{came}. Pass a whole number from {least} {end}."
        raise CurvewiseError(text, argument=what, value=value)
    return int(value)
