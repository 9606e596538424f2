"""How large figures are, and how they look: on a screen, on paper, on a wall."""

import functools
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, get_args

from curvewise.errors import CurvewiseError, Keyword, unknown
from curvewise.stats.validation import is_number

Name: TypeAlias = Literal["screen", "paper", "slides"]

_COLUMNS = {1: 3.4, 2: 7.0}  # inches: one column of a paper with two, and both of them
LEAST = 6.0  # points of a letter that is still read on paper
_PAPER = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "axes.titlepad": 4.0,
    "axes.labelpad": 2.5,
    "legend.handlelength": 1.6,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.3,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.h_pad": 0.02,
    "savefig.dpi": 300.0,
    # Type 3 fonts, which is what comes otherwise, many publishers send back.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",
}
_SLIDES = {
    "font.size": 15.0,
    "axes.titlesize": 17.0,
    "axes.labelsize": 15.0,
    "xtick.labelsize": 13.0,
    "ytick.labelsize": 13.0,
    "legend.fontsize": 13.0,
    "axes.linewidth": 1.2,
    "lines.linewidth": 2.6,
    "lines.markersize": 9.0,
    "savefig.dpi": 150.0,
}


@dataclass(frozen=True, slots=True)
class Look:
    """The size of figures, and what fits into them.

    Parameters
    ----------
    width : float or None
        Of every figure, in inches; None where it grows with its panels.
    one, several : float
        Heights in inches: of a figure with one row of panels, and of each of many rows.
    panel : float
        Width of a panel where there are several: at most so many fit that each has it.
    has_title : bool
        Whether single axes have a title; panels always do, to tell them apart.
    is_measured : bool
        Whether texts are broken where the axes end.
    grows : bool
        Whether figures may be higher than stated, where many curves have to be named.
    settings : mapping
        Of matplotlib.
    """

    width: float | None = None
    one: float = 4.0
    several: float = 3.2
    panel: float = 4.0
    has_title: bool = True
    is_measured: bool = False
    grows: bool = True
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def most(self) -> int:
        """How many panels fit beside each other."""
        return 10**6 if self.width is None else max(1, int(self.width / self.panel))

    def size(self, columns: int, rows: int) -> tuple[float, float]:
        """Return width and height of a figure with so many panels, in inches."""
        width = self.width or (6.4 if columns == 1 else self.panel * columns)
        return width, self.one if rows == 1 else self.several * rows


SCREEN = Look()
_current: ContextVar[Look] = ContextVar("curvewise figures", default=SCREEN)


def current() -> Look:
    """Return the look in which figures are drawn now."""
    return _current.get()


@contextmanager
def style(
    name: Name = "paper", *, columns: int = 1, height: float | None = None
) -> Iterator[None]:
    """Draw figures for paper, slides or the screen, while it lasts.

    Notes
    -----
    Save within the block: matplotlib decides only then how fonts are embedded. Leave
    ``bbox_inches="tight"`` out, which changes the size; nothing is cut without it. Put the
    figure into the paper at its own size, so that its letters keep theirs.

    Examples
    --------
    >>> import curvewise as cw
    >>> answer = cw.performance(cw.example("search"), "accuracy", failed="worst")
    >>> folder = getfixture("tmp_path")
    >>> with cw.figures.style("paper"):
    ...     ax = cw.figures.plot_quantiles(answer, task="rings")
    ...     ax.figure.savefig(folder / "quantiles.pdf")
    >>> ax.figure.get_size_inches().tolist()
    [3.4, 2.4]
    """
    from matplotlib import rc_context

    look = _look(name, columns)
    if height is not None:
        if not (is_number(height) and 0 < height < math.inf):
            raise CurvewiseError(
                f"height is {height!r}. Pass inches, such as 2.2.",
                argument="height",
                value=height,
            )
        look = replace(look, one=float(height), grows=False)
    token = _current.set(look)
    try:
        with rc_context(cast("Any", dict(look.settings))):
            yield
    finally:
        _current.reset(token)


def _look(name: Name, columns: int) -> Look:
    if name not in get_args(Name):
        raise unknown("style", name, get_args(Name))
    if columns not in _COLUMNS or isinstance(columns, bool):
        raise CurvewiseError(
            f"columns is {columns!r}. Pass 1 or 2: a paper has two of them.",
            argument="columns",
            value=columns,
        )
    if name != "paper":
        if columns != 1:
            raise CurvewiseError(
                "Columns are those of a paper. Leave ",
                Keyword("columns"),
                " out.",
                argument="columns",
                value=columns,
            )
        return SCREEN if name == "screen" else _slides()
    return _paper(columns)


@functools.cache
def _paper(columns: int) -> Look:
    return Look(
        width=_COLUMNS[columns],
        one=2.4 if columns == 1 else 2.8,
        several=2.1,
        panel=1.65,
        has_title=False,
        is_measured=True,
        settings=MappingProxyType(_PAPER),
    )


@functools.cache
def _slides() -> Look:
    return Look(
        width=10.0,
        one=5.6,
        several=3.5,
        panel=3.2,
        is_measured=True,
        settings=MappingProxyType(_SLIDES),
    )
