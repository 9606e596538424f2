"""Until when to run, as one writes it on the command line and in a file."""

import re
import shlex
from typing import TYPE_CHECKING, Any

from curvewise.errors import CurvewiseError, shortened

if TYPE_CHECKING:
    from curvewise.flow.until.criterion import Until

_PLUS_MINUS = re.compile(r"\+/-|\+-|±")
_WORDS = ("of", "failed", "at", "tail", "confidence", "band", "method")
GRAMMAR = (
    "Write what to know and how well, such as 'cvar 0.5 +- 0.01', 'mean +- 0.01', "
    "'quantile 0.9 +- 0.02', or 'ranking', 'ranking cvar 0.5 within 0.01'. If need be, add "
    f"'of METRIC', 'failed worst', or {', '.join(_WORDS[2:])} with its value."
)


def parsed(text: str) -> "Until":
    """Return what a text asks for.

    >>> parsed("quantile 0.9 ± 0.02 of loss failed worst").half_width
    0.02
    """
    from curvewise.flow.until.criterion import until

    try:
        words = shlex.split(_PLUS_MINUS.sub(" +- ", text))
    except ValueError as problem:
        raise _mistake(text, f"{problem}".lower()) from None
    reader = _Words(text, words)
    what = reader.what()
    given: dict[str, Any] = {}
    if what == "ranking":
        if reader.next_is("cvar", "mean", "quantile"):
            given["of"] = reader.take()
            given |= reader.share()
        if reader.next_is("within"):
            reader.take()
            given["margin"] = reader.number("within")
    else:
        given |= reader.share()
        if not reader.next_is("+-"):
            raise _mistake(text, "it does not say '+-' and how well")
        reader.take()
        given["half_width"] = reader.number("+-")
    given |= reader.options()
    return until(what, **given)


class _Words:
    """Reads one word after the other."""

    def __init__(self, text: str, words: list[str]) -> None:
        self._text, self._words = text, words

    def next_is(self, *known: str) -> bool:
        return bool(self._words) and self._words[0].lower() in known

    def take(self) -> str:
        return self._words.pop(0).lower()

    def what(self) -> str:
        if not self.next_is("cvar", "mean", "quantile", "ranking"):
            first = (
                f"it begins with {self._words[0]!r}" if self._words else "it is empty"
            )
            raise _mistake(self._text, first)
        return self.take()

    def share(self) -> dict[str, float]:
        """Return where CVaR cuts, or which quantile, if a number follows."""
        if not self._words or _number(self._words[0]) is None:
            return {}
        return {"share": self.number("")}

    def number(self, after: str) -> float:
        if not self._words:
            raise _mistake(self._text, f"nothing follows {after!r}")
        word = self._words.pop(0)
        value = _number(word)
        if value is None:
            raise _mistake(self._text, f"{word!r} is no number")
        return value

    def options(self) -> dict[str, Any]:
        """Return the pairs of words that are left."""
        found: dict[str, Any] = {}
        while self._words:
            key = self.take()
            if key not in _WORDS:
                raise _mistake(self._text, f"nobody knows what {key!r} is")
            if not self._words:
                raise _mistake(self._text, f"nothing follows {key!r}")
            name = "metric" if key == "of" else key
            if name in found:
                raise _mistake(self._text, f"it says {key!r} twice")
            word = self._words.pop(0)
            number = _number(word) if key in ("at", "failed", "confidence") else None
            found[name] = word if number is None else number
        return found


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _mistake(text: str, what: str) -> CurvewiseError:
    return CurvewiseError(
        f"until is {shortened(repr(text))}, and {what}. {GRAMMAR}",
        argument="until",
        value=text,
    )


def written(asked: "Until") -> str:
    """Return the text that asks for the same."""
    f = asked.functional
    number = f.of if f.of == "mean" else f"{f.of} {f.alpha:g}"
    if asked.half_width is not None:
        words = [number, f"+- {asked.half_width:g}"]
    else:
        words = [f"ranking {number}"]
        if asked.margin is not None:
            words.append(f"within {asked.margin:g}")
    usual = {
        "of": None,
        "at": "last",
        "failed": "raise",
        "tail": "upper",
        "confidence": 0.95,
        "band": None,
        "method": "guaranteed",
    }
    own = {
        "of": asked.metric,
        "at": asked.at,
        "failed": asked.failed,
        "tail": f.tail,
        "confidence": asked.confidence,
        "band": asked.band,
        "method": asked.method,
    }
    for key, value in own.items():
        if value != usual[key]:
            text = value if isinstance(value, str) else f"{value:g}"
            words += [key, shlex.quote(text)]
    return " ".join(words)
