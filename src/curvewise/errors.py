"""What curvewise raises: one error, one warning, and how they name the fix."""

from collections.abc import Iterable
from difflib import get_close_matches


class CurvewiseError(ValueError):
    """Raised when curvewise cannot do what was asked; the message says what to do."""


class NoStoreError(CurvewiseError):
    """Raised where a store was to be opened, and there is none."""


class CurvewiseWarning(UserWarning):
    """Issued when curvewise had to assume something that the caller can state."""


def unknown(kind: str, name: object, known: Iterable[object]) -> CurvewiseError:
    """Return the error for a name that is not among `known`, with the nearest one.

    >>> print(unknown("task", "Hoper", ["Hopper", "Walker"]))
    There is no task 'Hoper'. Did you mean 'Hopper'? There are: 'Hopper', 'Walker'.
    """
    names = [str(k) for k in known]
    folded = {n.casefold(): n for n in reversed(names)}
    asked = str(name).casefold()
    close = get_close_matches(asked, folded, n=1, cutoff=0.6)
    close = close or [n for n in folded if asked and (asked in n or (n and n in asked))]
    hint = f" Did you mean '{folded[close[0]]}'?" if close else ""
    have = f" There are: {listed(names)}." if names else " There are none."
    return CurvewiseError(f"There is no {kind} '{shortened(name)}'.{hint}{have}")


def listed(names: Iterable[object], most: int = 12) -> str:
    """Return `names` quoted and joined, cut after `most` of them.

    >>> listed("abc", most=2)
    "'a', 'b' and 1 more"
    """
    quoted = [f"'{shortened(n)}'" for n in names]
    more = f" and {len(quoted) - most} more" if len(quoted) > most else ""
    return ", ".join(quoted[:most]) + more


def shortened(name: object, most: int = 60) -> str:
    """Return `name` as one line of at most `most` characters.

    >>> shortened("a" * 99, most=5)
    'aaaa…'
    """
    text = " ".join(str(name).split())
    return text if len(text) <= most else text[: most - 1] + "…"
