"""What curvewise raises: one error, one warning, and how they name the fix."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from shlex import quote
from typing import Any, Protocol, runtime_checkable


class CurvewiseError(ValueError):
    """Raised when curvewise cannot do what was asked; the message says what to do.

    Parameters
    ----------
    text : str
        What was asked and what came.
    fixes : iterable of mapping
        Each is a set of keyword arguments that answers the question when it is passed
        in addition to what was passed before. The message ends with them.

    Examples
    --------
    >>> error = CurvewiseError("Which way is 'loss' better?",
    ...                        fixes=[{"metrics": {"loss": "lower"}}])
    >>> print(error)
    Which way is 'loss' better? Pass metrics={'loss': 'lower'}.
    >>> print(error.as_options())
    Which way is 'loss' better? Pass --metrics loss=lower.
    """

    def __init__(self, text: str, *, fixes: Iterable[Mapping[str, Any]] = ()) -> None:
        self.text = text
        self.fixes = tuple(dict(fix) for fix in fixes)
        super().__init__(_with_fixes(text, map(as_keywords, self.fixes)))

    def as_options(self) -> str:
        """Return the message with its fixes as options of the command line."""
        return _with_fixes(self.text, (" ".join(as_words(f)) for f in self.fixes))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.text, self.fixes)


def _again(kind: type[CurvewiseError], text: str, fixes: Any) -> CurvewiseError:
    return kind(text, fixes=fixes)


def _with_fixes(text: str, fixes: Iterable[str]) -> str:
    remedy = ", or ".join(fixes)
    return f"{text} Pass {remedy}." if remedy else text


def as_keywords(fix: Mapping[str, Any]) -> str:
    """Return a fix as keyword arguments of Python.

    >>> as_keywords({"trial": ["seed", "fold"], "unit": "percent"})
    "trial=['seed', 'fold'], unit='percent'"
    """
    return ", ".join(f"{name}={_literal(value)}" for name, value in fix.items())


@runtime_checkable
class _Meaning(Protocol):
    """What can be said of a metric in a word, as `curvewise.read` takes it."""

    @property
    def as_text(self) -> str: ...


def _literal(value: Any) -> str:
    """Return a value as Python reads it; a metric as the text that means it."""
    if isinstance(value, Mapping):
        told = (f"{name!r}: {_literal(one)}" for name, one in value.items())
        return f"{{{', '.join(told)}}}"
    return repr(value.as_text if isinstance(value, _Meaning) else value)


def as_words(fix: Mapping[str, Any]) -> list[str]:
    """Return a fix as words of a command line, quoted for a shell.

    >>> as_words({"trial": ["seed", "my fold"], "where": {"experiment": "cifar"}})
    ['--trial', 'seed', '--trial', "'my fold'", '--where', 'experiment=cifar']
    >>> as_words({"where": {"seed": ["0", "1"]}})
    ['--where', 'seed=0', '--where', 'seed=1']
    >>> as_words({"trial": [], "anyway": True})
    ['--trial', 'row', '--anyway']
    """
    words = []
    for name, value in fix.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            words.append(option)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                for each in one if isinstance(one, list | tuple) else [one]:
                    meant = each.as_text if isinstance(each, _Meaning) else each
                    words += [option, quote(f"{key}={meant}" if meant != "" else key)]
        elif isinstance(value, list | tuple):
            # A shell has no empty list: "row" says that every row is a run of its own.
            for one in value or ["row"]:
                words += [option, quote(str(one))]
        else:
            words += [option, quote(str(value))]
    return words


class UnknownDirection(CurvewiseError):  # noqa: N818  a question, not a mistake
    """Raised where an answer depends on which way a metric is better, and none said."""


class NoStoreError(CurvewiseError):
    """Raised where a store was to be opened, and there is none."""


class Blocked(CurvewiseError):  # noqa: N818  an answer that is withheld is no mistake
    """Raised where an answer is withheld, for what `curvewise.check` objects to.

    Its fixes are keywords of `curvewise.read` that remove the cause, and ``anyway=True``
    of the analysis, which answers all the same.
    """


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
