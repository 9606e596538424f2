"""Names as the page shows them: as they are, told apart, and never a page long."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup, escape

from curvewise.text import short_names
from curvewise.trials import Trials

LETTERS = 60  # of a name in a sentence, a table or a legend
_WORD = 120  # letters without a space that are no word of a language
_TOOLTIP = 500  # letters of a name in a tooltip; the page has it whole once
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})

# What a browser swallows, or lets loose on the text around it.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_BREAKS = {ord("\n"): "␊", ord("\t"): "␉"}  # within a name they are no layout
_PERCENT = re.compile(r"(?<=\d) %")
_ANYTHING = "\ufffd"  # stands for a character that cannot be shown


def visible(text: str) -> str:
    r"""Return text with a sign for each character that has none, or that turns text round.

    >>> visible("a\x00b"), visible("a\u202eb")
    ('a␀b', 'a[U+202E]b')
    """
    return _UNSEEN.sub(_sign, text) if _UNSEEN.search(text) else text


def kept_together(text: str) -> str:
    r"""Return text in which no line ends between a number and its percent sign.

    >>> kept_together("with 95 % confidence")
    'with 95\xa0% confidence'
    """
    return _PERCENT.sub("\xa0%", text)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20 or code == 0x7F:
        return chr(0x2421 if code == 0x7F else 0x2400 + code)
    if 0x202A <= code <= 0x2069:
        return f"[U+{code:04X}]"
    return _ANYTHING


def visible_within(value: Any) -> Any:
    """Return lists and dicts with every text in them as `visible` shows it."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: visible_within(one) for key, one in value.items()}
    return [visible_within(one) for one in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Names:
    """The names in some trials, and how each is shown where it is too long or turns round.

    Parameters
    ----------
    short : mapping of str to str
        What each name that needs care is shown as; no two alike.

    Examples
    --------
    >>> names = Names.among(["a", "b" * 99])
    >>> names.said("a is ahead of c")
    Markup('a is ahead of c')
    >>> str(names.said("a & " + "b" * 99))[:40]
    'a &amp; <bdi data-name="0" title="bbbbbb'
    """

    short: Mapping[str, str]
    _places: Mapping[str, int] = field(init=False)
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        longest_first = sorted(self.short, key=lambda name: (-len(name), name))
        known = [re.escape(name) for name in longest_first]
        pattern = re.compile("|".join([*known, rf"\S{{{_WORD + 1},}}"]))
        object.__setattr__(self, "_pattern", pattern)
        places = {name: place for place, name in enumerate(self.short)}
        object.__setattr__(self, "_places", places)

    @classmethod
    def among(cls, names: Iterable[str]) -> "Names":
        """Return those names that need care."""
        known = list(dict.fromkeys(names))
        shorter = short_names(known, LETTERS)
        taken = {name for name in known if not _needs_care(name)}
        out: dict[str, str] = {}
        for name in known:
            if name in taken:
                continue
            fits = len(name) <= LETTERS
            short = name.translate(_BREAKS) if fits else shorter[name]
            while short in taken:  # such as two that differ in spaces alone
                short += "*"
            taken.add(short)
            out[name] = short
        return cls(out)

    @classmethod
    def of(cls, trials: Trials) -> "Names":
        """Return those names of trials that need care."""
        metrics = trials.metrics.values()
        names = [*(m.name for m in metrics), *(m.label for m in metrics)]
        return cls.among([*trials.tasks, *trials.algorithms, *names])

    @property
    def cut(self) -> dict[str, str]:
        """The names that are shown shorter than they are."""
        return {name: s for name, s in self.short.items() if len(name) > LETTERS}

    def said(self, text: str) -> Markup:
        """Return a text for the page: escaped, each name in it apart from its sentence."""
        if not self.short and len(text) <= _WORD:
            return escape(visible(text))
        out, end = [], 0
        for match in self._pattern.finditer(text):
            out += [escape(visible(text[end : match.start()])), self._shown(match[0])]
            end = match.end()
        return Markup().join([*out, escape(visible(text[end:]))])

    def told(self, text: str) -> Markup:
        """Return a sentence for the page, as `said`, whose percentages are on one line."""
        return Markup(kept_together(self.said(text)))  # noqa: S704  escaped by `said`

    def _shown(self, name: str) -> Markup:
        short = self.short.get(name)
        if short is None:  # of a long word, its ends
            short = f"{name[: LETTERS - 20]}…{name[-19:]}"
        if short == name:
            return Markup("<bdi>{}</bdi>").format(visible(name))
        place = self._places.get(name)
        is_whole = place is None or len(name) <= _TOOLTIP
        tooltip = name if is_whole else name[:_TOOLTIP] + "…"
        where = "" if place is None else Markup(' data-name="{}"').format(place)
        return Markup('<bdi{} title="{}">{}</bdi>').format(
            where, visible(tooltip), visible(short)
        )


def _needs_care(name: str) -> bool:
    if not name.strip():
        return False  # every space of a sentence would be such a name
    if len(name) > LETTERS or " ".join(name.split()) != name:
        return True
    return not name.isascii() and any(
        unicodedata.bidirectional(letter) in _RIGHT_TO_LEFT for letter in name
    )
