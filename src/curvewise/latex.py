"""Tables for papers: LaTeX that compiles, whatever the names are."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from curvewise.errors import CurvewiseError, unknown
from curvewise.text import Cell, Row, columns, shown

Columns: TypeAlias = Sequence[str] | Mapping[str, str]

_LETTERS = 300  # of a cell; TeX cannot add up the width of ten thousand
_LABEL = re.compile(r"[A-Za-z0-9:._/+-]+")
_MINUS = re.compile(r"(?<![\w.)\]-])-(?=[\d.])")
_POWER = re.compile(r"(-?[\d.]+)e([+-]\d+)")

_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    # Without packages these come out as other signs.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    # Two of them in a row would be joined to one sign.
    "-": "-{}",
    "'": "'{}",
    ",": ",{}",
    "`": "{}`{}",  # after a question mark it would turn that round
}
_SIGNS = {
    "\u00a0": "~",
    "\u202f": r"\,",
    "±": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "÷": r"$\div$",
    "·": r"$\cdot$",
    "°": r"$^\circ$",
    "µ": r"$\mu$",
    "¹": "$^1$",
    "²": "$^2$",
    "³": "$^3$",
    "\u2010": "-{}",
    "\u2011": "-{}",
    "\u2012": "--{}",
    "\N{EN DASH}": "--{}",
    "—": "---{}",
    "\N{MINUS SIGN}": "$-$",
    "\N{LEFT SINGLE QUOTATION MARK}": "{}`{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'{}",
    "“": "{}``{}",
    "”": "''{}",
    "…": r"\ldots{}",
    "•": r"$\bullet$",
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "§": r"\S{}",
    "¶": r"\P{}",
    "£": r"\pounds{}",
    "©": r"\copyright{}",
    "←": r"$\leftarrow$",
    "→": r"$\to$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "↔": r"$\leftrightarrow$",
    "∞": r"$\infty$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "«": r"$\ll$",
    "»": r"$\gg$",
    "∈": r"$\in$",
    "∑": r"$\sum$",
    "√": r"$\surd$",
    "∂": r"$\partial$",
    "∇": r"$\nabla$",
}
# In the order of their numbers, from 3B1 up; capitals are 20 below. Those that look like
# Latin letters have no command of their own.
_GREEK = {
    "alpha": "A",
    "beta": "B",
    "gamma": "",
    "delta": "",
    "epsilon": "E",
    "zeta": "Z",
    "eta": "H",
    "theta": "",
    "iota": "I",
    "kappa": "K",
    "lambda": "",
    "mu": "M",
    "nu": "N",
    "xi": "",
    "omicron": "O",
    "pi": "",
    "rho": "P",
    "varsigma": "",
    "sigma": "",
    "tau": "T",
    "upsilon": "",
    "phi": "",
    "chi": "X",
    "psi": "",
    "omega": "",
}
_LETTERS_OF_GREEK = {
    letter: command
    for i, (name, capital) in enumerate(_GREEK.items())
    for letter, command in (
        (chr(0x3B1 + i), "o" if name == "omicron" else f"$\\{name}$"),
        (chr(0x391 + i), capital or f"$\\{name.capitalize()}$"),
    )
    if command != "$\\Varsigma$"  # no such capital
}
# What pdfLaTeX sets by itself, also without the T1 encoding: letters with accents.
_ACCENTED = frozenset(
    "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿĀāĂăĆćĈĉĊċČčĎďĒēĔĕĖėĚěĜĝĞğĠġ"
    "ĤĥĨĩĪīĬĭİıĴĵĹĺĻļĽľŁłŃńŅņŇňŌōŎŏŐőŒœŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŨũŪūŬŭŮůŰűŴŵŶŷŸŹźŻżŽž¡¿"
)


def latex(
    rows: Sequence[Row],
    *,
    columns: Columns | None = None,
    caption: str = "",
    label: str = "",
) -> str:
    r"""Return `rows` as a LaTeX tabular for the booktabs package.

    Examples
    --------
    >>> print(latex([{"a_b": "50 %", "n": -1}], label="tab:x"))
    \begin{table}
    \centering
    \label{tab:x}
    \begin{tabular}{lr}
    \toprule
    a\_b & n \\
    \midrule
    50 \% & $-$1 \\
    \bottomrule
    \end{tabular}
    \end{table}
    """
    if not rows:
        return ""
    named = _named(rows, columns)
    align = "".join("l" if _is_text(rows, name) else "r" for name in named)
    body = [_line([_cell(row.get(name)) for name in named]) for row in rows]
    head = _line([in_latex(heading) for heading in named.values()])
    tabular = [
        rf"\begin{{tabular}}{{{align}}}",
        *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
        r"\end{tabular}",
    ]
    if not (caption or label):
        return "\n".join(tabular)
    told = [rf"\caption{{{in_latex(caption)}}}"] if caption else []
    told += [rf"\label{{{_checked_label(label)}}}"] if label else []
    return "\n".join([r"\begin{table}", r"\centering", *told, *tabular, r"\end{table}"])


def _named(rows: Sequence[Row], asked: Columns | None) -> dict[str, str]:
    """Return the columns that were asked for, each with its heading."""
    there = columns(rows)
    if asked is None:
        return {name: name for name in there}
    if isinstance(asked, str):
        raise CurvewiseError(
            f"columns is {asked!r}. Pass a list of names.",
            argument="columns",
            value=asked,
        )
    for name in asked:
        if name not in there:
            raise unknown("column", name, there)
    if not len(asked):
        raise CurvewiseError("columns is empty. Pass the names of some.")
    return dict(asked) if isinstance(asked, Mapping) else {n: n for n in asked}


def _is_text(rows: Sequence[Row], name: str) -> bool:
    return any(isinstance(row.get(name), str) for row in rows)


def _line(cells: Sequence[str]) -> str:
    # A line break reads a star or a bracket after it as its own.
    first, *rest = cells
    guarded = f"{{}}{first}" if first.lstrip().startswith(("[", "*")) else first
    return " & ".join([guarded, *rest]) + r" \\"


def _cell(value: Cell) -> str:
    text = shown(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return in_latex(text)
    if text in ("inf", "-inf"):
        return r"$\infty$" if text == "inf" else r"$-\infty$"
    if found := _POWER.fullmatch(text):
        return rf"${found[1]} \times 10^{{{int(found[2])}}}$"
    return text.replace("-", "$-$")


def in_latex(text: str) -> str:
    r"""Return a text as LaTeX that prints it.

    What pdfLaTeX cannot set, such as Hebrew or an emoji, becomes its number.

    >>> print(in_latex("50 % of a_b"), in_latex("β ≤ -1"), in_latex("א"))
    50 \% of a\_b $\beta$ $\leq$ $-$1 [U+05D0]
    """
    whole = unicodedata.normalize("NFC", text)
    if len(whole) > _LETTERS:
        whole = whole[: _LETTERS - 1] + "…"
    # A hyphen before a number is its sign, unless it is within a name.
    whole = _MINUS.sub("\N{MINUS SIGN}", whole)
    joined = "".join(map(_sign, whole))
    # What keeps signs apart is only needed between them.
    return re.sub(r"(?<=[-`',])\{\}(?![-`',])", "", joined)


def _sign(letter: str) -> str:
    for known in (_SPECIAL, _SIGNS, _LETTERS_OF_GREEK):
        if letter in known:
            return known[letter]
    if letter in "\n\t\r\v\f":
        return " "
    if " " <= letter <= "~" or letter in _ACCENTED:
        return letter
    return f"[U+{ord(letter):04X}]"


def _checked_label(label: str) -> str:
    if not _LABEL.fullmatch(label):
        raise CurvewiseError(
            f"label is {label!r}. Pass letters, digits and : . - only, such as "
            f"'tab:results'.",
            argument="label",
            value=label,
        )
    return label
