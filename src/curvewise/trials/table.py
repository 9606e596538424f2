"""The waist: an immutable set of trials, columns inside, three doors into arrays."""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from curvewise.errors import CurvewiseError, shortened, unknown
from curvewise.metrics import Floats, Metric, declared, stated
from curvewise.text import count, html_table, some
from curvewise.trials import design as designing
from curvewise.trials import doors, view
from curvewise.trials.columns import Core, Details, Ints, canonical, to_texts
from curvewise.trials.content import Content
from curvewise.trials.design import Design
from curvewise.trials.doors import At, Failed, Fill, Lines, Points
from curvewise.trials.trial import STATUSES, Key, Scalar, Status, Trial, from_records
from curvewise.trials.view import Backend, loaded

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


_T = TypeVar("_T")


class Trials:
    """An immutable set of trials; the row is the unit of randomisation.

    Rows are kept by task and algorithm, in the order in which those were first met, and
    by number. Two sets are equal if they hold the same results, whatever the order, the
    seconds, the attempts and the wording of errors.

    Parameters
    ----------
    trials : iterable of Trial
    metrics : iterable of Metric, optional
        What the scores mean; those whose names say it need not be named. Which way a
        metric is better that is neither declared nor told by its name is unknown: what
        depends on it is not answered.

    Examples
    --------
    >>> trials = Trials(Trial("moons", "svm", i, {"accuracy": i / 10}) for i in range(4))
    >>> trials.scores("accuracy")["svm"].tolist()
    [0.0, 0.1, 0.2, 0.3]
    >>> len(trials.where(number=[0, 1]))
    2
    """

    __slots__ = ("_content", "_design", "_digest", "_known")

    def __init__(
        self, trials: Iterable[Trial] = (), metrics: Iterable[Metric] = ()
    ) -> None:
        records = [trials] if isinstance(trials, Trial) else list(trials)
        for record in records:
            if not isinstance(record, Trial):
                raise CurvewiseError(
                    f"Trials holds Trial records, not {type(record).__name__}. "
                    f"To read a table, use curvewise.read.",
                    argument="trials",
                    value=record,
                )
        tasks: dict[str, int] = {}
        algorithms: dict[str, int] = {}
        core, details = from_records(records, tasks, algorithms)
        meant = declared(core.values, metrics)
        content = Content.of(tasks, algorithms, meant, core, details)
        self._fill(lambda: content)

    @classmethod
    def from_columns(
        cls,
        tasks: Iterable[str],
        algorithms: Iterable[str],
        metrics: Mapping[str, Metric],
        core: Core,
        details: Details | Callable[[], Details],
        *,
        origin: str = "",
        spaces: Mapping[str, str] | None = None,
        about: Mapping[str, str] | None = None,
        design: Design | None = None,
        inherited: Callable[[], Design] | None = None,
    ) -> "Trials":
        """Return the set that these columns describe; readers and stores call this."""
        content = Content.of(
            *(tasks, algorithms, metrics, core, details),
            origin=origin,
            spaces=spaces,
            about=about,
            design=design,
            inherited=inherited,
        )
        return cls._of(lambda: content)

    @classmethod
    def later(cls, read: Callable[[], "Trials"]) -> "Trials":
        """Return the set that `read` returns, called when somebody first looks."""
        return cls._of(functools.cache(lambda: read()._content()))

    @classmethod
    def _of(cls, content: Callable[[], Content]) -> "Trials":
        new = object.__new__(cls)
        new._fill(content)
        return new

    def _fill(self, content: Callable[[], Content]) -> None:
        # Not of self: in a circle, millions of trials would outlive their last name.
        def design() -> Design:
            c = content()
            before = c.design if c.inherited is None else c.inherited()
            return designing.completed(Trials._of(content), before)

        self._content = content
        self._digest = functools.cache(lambda: content().digest())
        self._known: dict[Callable[[Trials], Any], Any] = {}
        self._design = functools.cache(design)

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of the tasks, in the order in which they were first met."""
        return self._content().tasks

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Names of the algorithms, in the order in which they were first met."""
        return self._content().algorithms

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What the scores mean, by name."""
        return self._content().metrics

    @property
    def spaces(self) -> Mapping[str, str]:
        """What each algorithm's hyperparameters were drawn from, where that is known."""
        return self._content().spaces

    @property
    def about(self) -> Mapping[str, str]:
        """What is known of the experiment: its seed, what was planned, where it is from."""
        return self._content().about

    @property
    def design(self) -> Design:
        """What replicates what: blocks, clusters and how hyperparameters were chosen.

        Stated in `curvewise.read` or `with_design`, known from an experiment, or inferred
        where that is certain. ``str(trials.design)`` says it in one line.
        """
        return self._design()

    def design_record(self) -> dict[str, Any]:
        """Return what is kept of the design, for JSON; nothing where all is plain."""
        design = self._content().design
        return (design if design.is_known else self.design).record()

    @property
    def origin(self) -> str:
        """Where the trials were read from."""
        return self._content().origin

    @property
    def core(self) -> Core:
        """Who, how it ended, and the curves, as columns."""
        return self._content().core

    @property
    def details(self) -> Callable[[], Details]:
        """A function that returns the other columns, which a store reads when asked."""
        return self._content().details

    def once(self, ask: "Callable[[Trials], _T]") -> _T:
        """Return what a function says of these trials, which never change: asked once."""
        if ask not in self._known:
            self._known[ask] = ask(self)
        answer: _T = self._known[ask]
        return answer

    # --- the three doors ---------------------------------------------------------------

    def scores(
        self, metric: str, *, at: At = "last", failed: Failed = "raise"
    ) -> dict[str, Floats]:
        """Return one value per trial: an array for each algorithm, ordered by number."""
        return doors.scores(self, metric, at, failed)[0]

    def points(self, metric: str, *, failed: Failed = "raise") -> dict[str, Points]:
        """Return (trial, size, value) for each algorithm, for fits along the curve.

        A failed trial scores `failed` at each step that it did not reach and another
        trial of its algorithm did.
        """
        return doors.points(self, metric, failed)

    def lines(
        self,
        metric: str,
        *,
        grid: int | ArrayLike | None = None,
        fill: Fill = "error",
        failed: Failed = "raise",
    ) -> Lines:
        """Return the curves of each algorithm on common steps, as (line, step) arrays."""
        return doors.lines(self, metric, grid, fill, failed)

    # --- choosing and combining --------------------------------------------------------

    def where(
        self,
        *,
        task: str | Iterable[str] | None = None,
        algorithm: str | Iterable[str] | None = None,
        number: int | Iterable[int] | None = None,
        status: Status | Iterable[Status] | None = None,
        labels: Mapping[str, Scalar] | None = None,
        params: Mapping[str, Scalar] | None = None,
    ) -> "Trials":
        """Return the trials for which everything holds.

        Examples
        --------
        >>> trials = Trials(Trial("t", a, 0, {"loss": 1.0}) for a in "abc")
        >>> trials.where(algorithm=["a", "c"]).algorithms
        ('a', 'c')
        """
        core, inside = self.core, slice(0, len(self))
        if task is not None:
            codes = _codes_of("task", task, self.tasks)
            inside = _stretch(core.task, codes)
        keep = np.ones(inside.stop - inside.start, bool)
        if task is not None:
            keep &= np.isin(core.task[inside], codes)
        if algorithm is not None:
            codes = _codes_of("algorithm", algorithm, self.algorithms)
            keep &= np.isin(core.algorithm[inside], codes)
        if status is not None:
            codes = _codes_of("status", status, STATUSES)
            keep &= np.isin(core.status[inside], codes)
        if number is not None:
            keep &= np.isin(core.number[inside], _numbers_asked(number))
        for kind, values in (("label", labels), ("param", params)):
            if values:
                texts = to_texts(getattr(self.details(), f"{kind}s"))
                keep &= _matches(kind, texts, values)[inside]
        return self.take(np.flatnonzero(keep) + inside.start)

    def take(self, rows: Ints) -> "Trials":
        """Return the trials in these rows."""
        details, design = self.details, self._content().design
        return Trials.from_columns(
            self.tasks,
            self.algorithms,
            self.metrics,
            self.core.take(rows),
            lambda: details().take(rows),
            origin=self.origin,
            spaces=self.spaces,
            about=self.about,
            design=design,
            inherited=None if design.is_known else self._design,
        )

    def with_design(
        self,
        *,
        block: str | Iterable[str] | None = None,
        cluster: str | Iterable[str] | None = None,
    ) -> "Trials":
        """Return the same trials with what replicates what as stated.

        Examples
        --------
        >>> trials = Trials(
        ...     Trial("t", name, i, {"error": i / 10}, labels={"fold": i % 3, "seed": i})
        ...     for name in "ab" for i in range(6)
        ... )
        >>> print(trials.with_design(block="fold").design)
        independent runs, 6 each; 3 folds shared by all algorithms (blocks)
        >>> print(trials.with_design(cluster="fold").design)
        3 clusters x 2 seeds: clusters by fold; 3 independent units per algorithm
        """
        before = self._content().design
        if self._content().inherited is not None:
            before = self.design
        return self._designed(designing.stating(self, before, block, cluster))

    def with_kept(self, design: Design) -> "Trials":
        """Return the same trials with a design as it was kept, if its names are there."""
        names = *design.block, *design.cluster
        is_whole = design.known and not designing.missing(self, names)
        return self._designed(design) if is_whole else self

    def _designed(self, design: Design) -> "Trials":
        new = replace(self._content(), design=design, inherited=None)
        return Trials._of(lambda: new)

    def with_metrics(self, metrics: Mapping[str, Any]) -> "Trials":
        """Return the same trials, of whose metrics something else is said.

        Examples
        --------
        >>> trials = Trials([Trial("t", "a", 0, {"value": 1.0})])
        >>> trials.with_metrics({"value": "lower"}).metric("value").direction
        'lower'
        """
        meanings = dict(self.metrics)
        for name, meant in metrics.items():
            if name not in meanings:
                raise unknown("metric", name, meanings)
            meanings[name] = replace(stated(name, meant), name=name)
            for task, _ in meanings[name].by_task:
                if task not in self.tasks:
                    raise unknown("task", task, self.tasks)
        new = replace(self._content(), metrics=MappingProxyType(meanings))
        return Trials._of(lambda: new)

    @classmethod
    def concat(cls, parts: Iterable["Trials"]) -> "Trials":
        """Return all trials of all parts; a key that comes twice is an error."""
        parts = list(parts)
        for part in parts:
            must_be_trials(part)
        if not parts:
            return cls()
        content = Content.joined(
            [part._content() for part in parts], [part._design for part in parts]
        )
        whole = cls._of(lambda: content)
        if any("cluster" in part._content().design.stated for part in parts):
            _ = whole.design  # others may show other clusters: that is refused here
        return whole

    def __add__(self, other: "Trials") -> "Trials":
        if not isinstance(other, Trials):
            return NotImplemented
        return Trials.concat([self, other])

    # --- rows --------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.core)

    @overload
    def __getitem__(self, row: int) -> Trial: ...
    @overload
    def __getitem__(self, row: slice) -> "Trials": ...
    def __getitem__(self, row: int | slice) -> "Trial | Trials":
        if isinstance(row, slice):
            return self.take(np.arange(len(self))[row])
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no row {row} among {len(self)} trials.")
        return view.record(self, row % len(self))

    def __iter__(self) -> Iterator[Trial]:
        return (view.record(self, row) for row in range(len(self)))

    def count_failed(self, metric: str | None = None) -> int:
        """Return how many trials did not end well or lack a finite last score."""
        return doors.count_failed(self, metric)

    def key(self, row: int) -> Key:
        """Return (task, algorithm, number) of the trial in that row."""
        core = self.core
        return (
            self.tasks[core.task[row]],
            self.algorithms[core.algorithm[row]],
            int(core.number[row]),
        )

    def metric(self, name: str) -> Metric:
        """Return what `name` means here; raise if these trials cannot tell it."""
        return doors.meaning(self, name)

    def to_frame(self, backend: Backend | None = None) -> "IntoDataFrame":
        """Return the long table: one row per trial and step.

        Notes
        -----
        The table is a view. Shuffling or resampling its rows runs, and is wrong: points
        on one curve are not independent, the trial is. A trial without steps keeps one
        row without a step. Per-example correctness is not in it.
        """
        return view.to_frame(self, self.design_record(), backend)

    # --- identity ----------------------------------------------------------------------

    def digest(self) -> str:
        """Return a hash of the results that does not depend on the order of rows.

        A block or cluster that somebody stated is part of it: answers hang on it.
        """
        return self._digest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trials):
            return NotImplemented
        return len(self) == len(other) and self.digest() == other.digest()

    def __hash__(self) -> int:
        return hash((len(self), frozenset(self.algorithms)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Details may be a store's to fetch; what travels must be here.
        columns = self.core, self.details()
        return _unpickled, (
            *(self.tasks, self.algorithms, dict(self.metrics)),
            *(*columns, self.origin, dict(self.spaces), dict(self.about)),
            self.design_record(),
        )

    def __str__(self) -> str:
        return _summary(self)

    def __repr__(self) -> str:
        return _summary(self)

    def _repr_html_(self) -> str:
        return _summary_html(self)


def _unpickled(
    tasks: tuple[str, ...],
    algorithms: tuple[str, ...],
    metrics: Mapping[str, Metric],
    core: Core,
    *rest: Any,
) -> Trials:
    details, origin, spaces, *more = rest  # older pickles end here
    # A copy through __init__: arrays come back writable from a pickle.
    core, details = replace(core), replace(details)
    about, record = [*more, {}, {}][:2] if more else ({}, {})
    fields = {"origin": origin, "spaces": spaces, "about": about}
    fields["design"] = designing.from_record(record)
    return Trials.from_columns(tasks, algorithms, metrics, core, details, **fields)


def must_be_trials(value: object) -> None:
    """Raise if somebody passed a path or a frame where trials belong."""
    if not isinstance(value, Trials):
        raise CurvewiseError(
            f"Trials were asked for, and {type(value).__name__} came. "
            f"Read a file or a frame with curvewise.read first.",
            argument="trials",
            value=value,
        )


# --- What `Trials.where` was asked for, as rows ----------------------------------------


def _several(value: Any) -> list[Any]:
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return list(value) if several else [value]


def _codes_of(kind: str, value: Any, names: Sequence[str]) -> list[int]:
    """Return the codes of one name or several; raise for a name that is not there."""
    wanted = _several(value)
    for name in wanted:
        if name not in names:
            raise unknown(kind, name, names)
    return [names.index(name) for name in wanted]


def _stretch(column: NDArray[np.int32], wanted: Sequence[int]) -> slice:
    """Return the rows from the first to the last of these codes, which rows are kept by.

    >>> _stretch(np.array([0, 0, 1, 1, 2], np.int32), [1])
    slice(2, 4, None)
    """
    if not wanted:
        return slice(0, 0)
    ends = np.array([min(wanted), max(wanted) + 1], column.dtype)
    first, last = np.searchsorted(column, ends).tolist()
    return slice(first, last)


def _numbers_asked(value: Any) -> Ints:
    """Return one number or several as an array."""
    wanted = _several(value)
    for number in wanted:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise CurvewiseError(
                f"number is {number!r}. Pass a whole number or several of them.",
                argument="number",
                value=number,
            )
    return np.array(wanted, np.int64)


def _matches(kind: str, texts: Sequence[str], values: Mapping[str, Scalar]) -> Any:
    """Return which of the JSON texts hold all the values asked for."""
    # Through JSON, as the texts are: a tuple was kept as a list.
    wanted = json.loads(canonical(values, f"{kind}s"))
    have = {text: json.loads(text) if text else {} for text in set(texts)}
    names = sorted({name for one in have.values() for name in one})
    for name in wanted:
        if texts and name not in names:
            raise unknown(kind, name, names)
    fits = {
        text: all(n in one and one[n] == value for n, value in wanted.items())
        for text, one in have.items()
    }
    return np.array([fits[text] for text in texts], bool)


# --- print(trials) -----------------------------------------------------------------------


def understood(trials: Trials) -> list[tuple[str, str]]:
    """Return what was understood: the name of each fact, and the fact."""
    core = trials.core
    cell = core.task.astype(np.int64) * len(trials.algorithms) + core.algorithm
    per_cell = np.unique(cell, return_counts=True)[1]
    each = (
        f"{per_cell.min():,} each"
        if per_cell.min() == per_cell.max()
        else f"{per_cell.min():,} to {per_cell.max():,} each"
    )
    broken = int((core.status != 0).sum())
    facts = [
        (
            "trials",
            f"{len(trials):,} ({each} of {count(len(per_cell), 'pair')} of task, "
            f"algorithm)",
        ),
        ("tasks", _short(trials.tasks)),
        ("algorithms", _short(trials.algorithms)),
        ("metrics", _short(trials.metrics.values())),
        ("steps", _steps_in_words(trials)),
        ("design", str(trials.design)),
    ]
    details = trials.details()
    facts += [(kind, _names(getattr(details, kind))) for kind in ("params", "labels")]
    if details.classes.any():
        facts.append(("counts", f"of {int(details.classes.max())} classes"))
    if (details.example_set >= 0).any():
        facts.append(("correct", "example by example"))
    if broken:
        facts.append(("failed", f"{broken:,}"))
    if trials.origin:
        facts.append(("read from", trials.origin))
    return [(name, text) for name, text in facts if text]


def _steps_in_words(trials: Trials) -> str:
    core = trials.core
    if len(core.steps) == 0 or core.lengths.max() <= 1:
        return "one per trial"
    low, high = core.lengths.min(), core.lengths.max()
    many = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"{many} per trial, from {core.steps.min():g} to {core.steps.max():g}"


def _short(names: Iterable[object], most: int = 8) -> str:
    return some((shortened(name, 50) for name in names), most)


def _names(texts: Any, most: int = 1000) -> str:
    # A look at a thousand trials tells the names; parsing millions is no summary.
    rows = np.unique(np.linspace(0, len(texts) - 1, most).astype(int))
    dicts = [loaded(texts[row]) for row in rows]
    return _short(dict.fromkeys(name for d in dicts for name in d), 12)


def _summary(trials: Trials) -> str:
    """Return what was understood, a line for each fact."""
    if len(trials) == 0:
        return "Trials: none"
    facts = understood(trials)
    width = max(len(name) for name, _ in facts)
    return "\n".join(f"{name.ljust(width)}  {text}" for name, text in facts)


def _summary_html(trials: Trials) -> str:
    """Return what was understood, as a table for notebooks."""
    facts = understood(trials) if len(trials) else [("trials", "none")]
    return html_table([{"": name, "what was understood": text} for name, text in facts])
