"""What every answer has: rows, tables in several languages, and where it came from."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from curvewise.latex import Columns, in_latex, latex
from curvewise.text import Cell, Piece, Row, columns, in_markdown, markdown, notebook
from curvewise.trials import Trials
from curvewise.trials.view import Backend, frame
from curvewise.version import __version__

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer came from: enough to obtain it again.

    Parameters
    ----------
    method : str
        The analysis and the kind of band or test that it used.
    settings : mapping
        What the caller asked for.
    seed : int or None
        The seed; None where nothing was left to chance.
    data : str
        Hash of the trials, the same for the same results in any order.
    source : str
        Where the trials were read from.
    version : str
        Version of curvewise.
    cautions : tuple of str
        What tempers the answer, a sentence each: it stands above every verdict.
    """

    method: str
    settings: Mapping[str, Cell]
    seed: int | None
    data: str
    source: str = ""
    version: str = __version__
    cautions: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        trials: Trials,
        method: str,
        settings: Mapping[str, Cell],
        seed: int | None = None,
        *,
        cautions: Iterable[str] = (),
    ) -> "Provenance":
        """Return the provenance of an answer about these trials."""
        told = dict(settings), seed, trials.digest(), trials.origin
        metric = trials.metrics.get(str(settings.get("metric")))
        assumed = (
            [metric.assumption] if metric is not None and metric.assumption else []
        )
        lines = dict.fromkeys((*cautions, *assumed))  # an answer may hand them on
        return cls(method, *told, cautions=tuple(lines))

    def asked(self, question: str, settings: Mapping[str, Cell]) -> "Provenance":
        """Return the provenance of a question that is put to the answer."""
        return replace(
            self,
            method=f"{self.method}.{question}",
            settings={**self.settings, **settings},
        )

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items())
        seed = "" if self.seed is None else f", seed {self.seed}"
        return (
            f"{self.method} ({settings}){seed}; curvewise {self.version}, "
            f"data {self.data[:12]}"
        )


class Answer(ABC):
    """A frozen, complete answer: figures and reports read it and compute nothing."""

    __slots__ = ()

    provenance: Provenance

    @abstractmethod
    def rows(self) -> list[dict[str, Cell]]:
        """Return the numbers, one dict per row, keys that a program can rely on."""

    def __repr__(self) -> str:
        return str(self)

    @property
    def cautions(self) -> tuple[str, ...]:
        """What tempers the answer: printed above its verdicts, wherever it is shown."""
        return self.provenance.cautions

    def notes(self) -> list[str]:
        """Return what a reader must know to read the answer; nothing, for some."""
        return []

    def _below(self) -> tuple[str, ...]:
        """Return what stands below the answer's tables, wherever they are pasted."""
        return self.cautions

    def to_frame(self, backend: Backend | None = None) -> "IntoDataFrame":
        """Return `rows` as a pandas, polars or pyarrow frame."""
        rows = self.rows()
        return frame({n: [row.get(n) for row in rows] for n in columns(rows)}, backend)

    def to_markdown(self) -> str:
        """Return `rows` as a Markdown table, and below it what tempers them."""
        notes = map(in_markdown, self._below())
        return "\n\n".join(filter(None, [markdown(self.rows()), *notes]))

    def to_latex(
        self,
        rows: Sequence[Row] | None = None,
        *,
        columns: Columns | None = None,
        caption: str = "",
        label: str = "",
    ) -> str:
        r"""Return `rows`, or another table of the answer, as LaTeX (booktabs).

        Names of any kind compile: what means something to LaTeX is escaped, and what
        pdfLaTeX cannot set, such as an emoji, is written as its number, ``[U+1F600]``.
        What tempers the answer stands below the tabular, a note each.

        Parameters
        ----------
        rows : sequence of mapping, optional
            A table for people, such as ``answer.table("rings")``; `rows` if left out.
        columns : sequence of str, or mapping of str to str, optional
            Which ones, in which order; a mapping says what to call them.
        caption, label : str, optional
            With either of them, the tabular is put into a table.

        Examples
        --------
        >>> import curvewise as cw
        >>> print(cw.plan.top(0.05).to_latex(columns={"trials": "trials needed"}))
        \begin{tabular}{r}
        \toprule
        trials needed \\
        \midrule
        59 \\
        \bottomrule
        \end{tabular}
        """
        table = self.rows() if rows is None else rows
        made = latex(table, columns=columns, caption=caption, label=label)
        return _with_notes(made, self._below())

    def _tables(self) -> dict[str, list[dict[str, Cell]]]:
        """Return what else is in the JSON, beside `rows`; nothing, for some."""
        return {}

    def to_json(self) -> str:
        """Return all tables and provenance as JSON; what is not finite becomes null."""
        told = asdict(self.provenance)
        told["settings"] = {n: _finite(v) for n, v in self.provenance.settings.items()}
        content: dict[str, Any] = {
            name: [{n: _finite(v) for n, v in row.items()} for row in rows]
            for name, rows in {"rows": self.rows(), **self._tables()}.items()
        }
        content["provenance"] = told
        return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)

    @abstractmethod
    def _parts(self) -> Iterable[Piece]:
        """Return what a notebook shows: sentences and tables, in order."""

    def _repr_html_(self) -> str:
        source = str(self.provenance)
        parts = [*self.cautions, *self._parts()]
        return notebook(parts, notes=self.notes(), source=source)


def _with_notes(table: str, notes: Sequence[str]) -> str:
    """Return LaTeX with small notes below its tabular, within the table if it is in one."""
    if not table or not notes:
        return table
    lines = [rf"\par\smallskip{{\footnotesize {in_latex(n)}\par}}" for n in notes]
    tabular, end, rest = table.partition("\n\\end{table}")
    return "\n".join([tabular, *lines]) + end + rest


def _finite(value: Cell) -> Cell:
    return None if isinstance(value, float) and not math.isfinite(value) else value
