"""The waist: an immutable set of trials, columns inside, three doors into arrays."""

import functools
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from curvewise.errors import (
    CurvewiseError,
    CurvewiseWarning,
    listed,
    shortened,
    unknown,
)
from curvewise.metrics import Floats, Metric, find
from curvewise.trials import doors, view
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    from_records,
    join_cores,
    join_details,
    was_recorded,
)
from curvewise.trials.doors import At, Failed, Fill, Lines, Points
from curvewise.trials.ragged import to_texts
from curvewise.trials.trial import (
    STATUSES,
    Key,
    Scalar,
    Status,
    Trial,
    canonical,
    shown_key,
)

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

    from curvewise.trials.view import Backend


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class Trials:
    """An immutable set of trials; the row is the unit of randomisation.

    Rows are kept by task and algorithm, in the order in which those were first met, and
    by number. Two sets are equal if they hold the same results, whatever the order, the
    seconds, the attempts and the wording of errors.

    Parameters
    ----------
    trials : iterable of Trial
    metrics : iterable of Metric, optional
        What the scores mean; registered metrics need not be named. A metric that nobody
        declared is taken as higher-is-better and unbounded, with a warning.

    Examples
    --------
    >>> trials = Trials(Trial("moons", "svm", i, {"accuracy": i / 10}) for i in range(4))
    >>> trials.scores("accuracy")["svm"].tolist()
    [0.0, 0.1, 0.2, 0.3]
    >>> len(trials.where(number=[0, 1]))
    2
    """

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
    metrics: Mapping[str, Metric]
    origin: str
    core: Core
    details: Callable[[], Details]

    def __init__(
        self, trials: Iterable[Trial] = (), metrics: Iterable[Metric] = ()
    ) -> None:
        records = list(trials)
        for record in records:
            if not isinstance(record, Trial):
                raise CurvewiseError(
                    f"Trials holds Trial records, not {type(record).__name__}. "
                    f"To read a table, use curvewise.read."
                )
        tasks: dict[str, int] = {}
        algorithms: dict[str, int] = {}
        core, details = from_records(records, tasks, algorithms)
        meant = declared(core.values, metrics, example="[Metric({!r}, 'lower')]")
        self._fill(tasks, algorithms, meant, core, details, "")

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
    ) -> "Trials":
        """Return the set that these columns describe; readers and stores call this."""
        new = object.__new__(cls)
        new._fill(tasks, algorithms, metrics, core, details, origin)
        return new

    def _fill(
        self,
        tasks: Iterable[str],
        algorithms: Iterable[str],
        metrics: Mapping[str, Metric],
        core: Core,
        details: Details | Callable[[], Details],
        origin: str,
    ) -> None:
        lazy = details if callable(details) else lambda: details
        core, *names = _used(core, tuple(tasks), tuple(algorithms))
        order = _order(core, len(names[1]))
        if order is not None:
            core, unsorted = core.take(order), lazy
            lazy = lambda: unsorted().take(order)  # noqa: E731  a closure, not a name
        _refuse_duplicates(core, *names)
        fill = object.__setattr__
        fill(self, "tasks", names[0])
        fill(self, "algorithms", names[1])
        fill(self, "metrics", MappingProxyType(dict(metrics)))
        fill(self, "origin", origin)
        fill(self, "core", core)
        fill(self, "details", functools.cache(lazy))

    # --- the three doors ---------------------------------------------------------------

    def scores(
        self, metric: str, *, at: At = "last", failed: Failed = "raise"
    ) -> dict[str, Floats]:
        """Return one value per trial: an array for each algorithm, ordered by number.

        Parameters
        ----------
        metric : str
            One of `metrics`, or what confusion counts can tell (accuracy, error,
            precision, recall, specificity, f1, jaccard).
        at : {"last", "mean", "best"} or float
            Which value of the curve: the last, the mean over all steps, the best one, or
            the value at that step.
        failed : {"raise", "worst"} or float
            What a failed trial scores. A failed trial is part of the distribution:
            dropping it would flatter the algorithms that crash. ``"worst"`` is the bad
            end of the metric's range or, without one, the worst score of this task.
            A trial without a finite score counts as failed.
        """
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
        """Return the curves of each algorithm on common steps, as (line, step) arrays.

        Parameters
        ----------
        metric : str
        grid : int or array_like of float, optional
            The steps, or how many equally spaced ones over the range that all lines
            share. Without it all lines must have the same steps, unless `fill` says how
            to make them so.
        fill : {"error", "last", "linear"}
            Where a line has no value at a step of the grid: refuse, repeat its last value
            before it, or interpolate between its neighbours.
        failed : {"raise", "worst"} or float
            What a failed trial scores from where its curve breaks off.
        """
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
        core = self.core
        keep = np.ones(len(self), bool)
        if task is not None:
            keep &= np.isin(core.task, _codes("task", task, self.tasks))
        if algorithm is not None:
            codes = _codes("algorithm", algorithm, self.algorithms)
            keep &= np.isin(core.algorithm, codes)
        if status is not None:
            keep &= np.isin(core.status, _codes("status", status, STATUSES))
        if number is not None:
            keep &= np.isin(core.number, _numbers(number))
        for kind, asked in (("label", labels), ("param", params)):
            if asked:
                texts = to_texts(getattr(self.details(), f"{kind}s"))
                keep &= _matches(kind, texts, asked)
        return self._only(np.flatnonzero(keep))

    def _only(self, rows: Ints) -> "Trials":
        details = self.details
        return Trials.from_columns(
            self.tasks,
            self.algorithms,
            self.metrics,
            self.core.take(rows),
            lambda: details().take(rows),
            origin=self.origin,
        )

    @classmethod
    def concat(cls, parts: Iterable["Trials"]) -> "Trials":
        """Return all trials of all parts; a key that comes twice is an error."""
        parts = list(parts)
        if not parts:
            return cls()
        tasks = {n: i for i, n in enumerate(_merged(p.tasks for p in parts))}
        algorithms = {n: i for i, n in enumerate(_merged(p.algorithms for p in parts))}
        metrics: dict[str, Metric] = {}
        for part in parts:
            for name, metric in part.metrics.items():
                if metrics.setdefault(name, metric) != metric:
                    raise CurvewiseError(
                        f"Metric '{name}' means {metrics[name]} in one set of trials and "
                        f"{metric} in another. Read both with the same metrics=."
                    )
        core = join_cores(
            [p.core for p in parts],
            [_lookup(p.tasks, tasks) for p in parts],
            [_lookup(p.algorithms, algorithms) for p in parts],
        )
        origin = "; ".join(dict.fromkeys(p.origin for p in parts if p.origin))
        return cls.from_columns(
            tasks,
            algorithms,
            metrics,
            core,
            lambda: join_details([p.details() for p in parts]),
            origin=origin,
        )

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
            return self._only(np.arange(len(self))[row])
        if not -len(self) <= row < len(self):
            raise IndexError(f"There is no row {row} among {len(self)} trials.")
        return view.record(self, row % len(self))

    def __iter__(self) -> Iterator[Trial]:
        return (view.record(self, row) for row in range(len(self)))

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

    def to_frame(self, backend: "Backend | None" = None) -> "IntoDataFrame":
        """Return the long table: one row per trial and step.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library's frame; the first of these that is installed if left out.

        Notes
        -----
        The table is a view. Shuffling or resampling its rows runs, and is wrong: points
        on one curve are not independent, the trial is. A trial without steps keeps one
        row without a step. Per-example correctness is not in it.
        """
        return view.to_frame(self, backend)

    # --- identity ----------------------------------------------------------------------

    def digest(self) -> str:
        """Return a hash of the results that does not depend on the order of rows."""
        # Codes follow the order of appearance; a hash must not.
        task_rank, algorithm_rank = _rank(self.tasks), _rank(self.algorithms)
        core, details = self.core, self.details()
        group = (
            task_rank[core.task] * len(self.algorithms) + algorithm_rank[core.algorithm]
        )
        if (np.diff(group) < 0).any():
            order = np.argsort(group, kind="stable")
            core, details = core.take(order), details.take(order)
        hashed = hashlib.sha256()
        names = [sorted(set(self.tasks)), sorted(set(self.algorithms))]
        # A metric that none of these trials recorded is nothing that they hold.
        scored = sorted(n for n in core.values if was_recorded(core, n).any())
        meaning = [asdict(self.metrics[n]) for n in scored]
        hashed.update(json.dumps([names, meaning]).encode())
        texts = [details.params, details.labels, details.correct, details.asked]
        sets = [hashlib.sha256(ids.tobytes()).digest() for ids in details.example_sets]
        for array in (
            *(task_rank[core.task], algorithm_rank[core.algorithm], core.number),
            *(core.status, core.offsets, core.steps + 0.0),
            *(_canonical(core, name) for name in scored),
            *(array for ragged in texts for array in (ragged.offsets, ragged.flat)),
            *(details.counts.offsets, details.counts.flat, details.classes),
        ):
            hashed.update(np.ascontiguousarray(array).tobytes())
        # Asked of the rows: after where(...) a set may be there that none has.
        if (details.example_set >= 0).any():
            own = (sets[i] if i >= 0 else b"-" for i in details.example_set.tolist())
            hashed.update(b"".join(own))
        return hashed.hexdigest()

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
            *(*columns, self.origin),
        )

    def __str__(self) -> str:
        return view.summary(self)

    def __repr__(self) -> str:
        return view.summary(self)

    def _repr_html_(self) -> str:
        return view.summary_html(self)


def declared(
    names: Iterable[str],
    metrics: Iterable[Metric],
    *,
    hint: str = "metrics=",
    example: str = "{{{!r}: 'lower'}}",
    stacklevel: int = 3,
) -> dict[str, Metric]:
    """Return what each name means: as declared, registered, or assumed with a warning.

    Parameters
    ----------
    names : iterable of str
    metrics : iterable of Metric
        Those that the caller declared.
    hint, example : str
        What the warning tells the caller to use, and how with a name filled in.
    stacklevel : int
        How far up the caller is whom the warning is for.
    """
    stated = {_a_metric(metric).name: metric for metric in metrics}
    found = {name: stated.get(name) or find(name) for name in names}
    assumed = [name for name, metric in found.items() if metric is None]
    if assumed:
        warnings.warn(
            f"Nobody said what {listed(assumed)} mean: taken as higher is better, "
            f"without bounds. State it with {hint}, such as "
            f"{example.format(shortened(assumed[0]))}.",
            CurvewiseWarning,
            stacklevel=stacklevel,
        )
    return {name: metric or Metric(name) for name, metric in found.items()}


def _a_metric(metric: object) -> Metric:
    if not isinstance(metric, Metric):
        raise CurvewiseError(
            f"metrics holds {metric!r}. Pass Metric objects, such as "
            f"Metric('loss', 'lower')."
        )
    return metric


def _unpickled(
    tasks: tuple[str, ...],
    algorithms: tuple[str, ...],
    metrics: Mapping[str, Metric],
    core: Core,
    *rest: Any,
) -> Trials:
    details, origin = rest
    # A copy through __init__: arrays come back writable from a pickle.
    core, details = replace(core), replace(details)
    return Trials.from_columns(tasks, algorithms, metrics, core, details, origin=origin)


def _used(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> tuple[Core, tuple[str, ...], tuple[str, ...]]:
    """Return codes and names without the names that no trial has."""
    task, tasks = _compact(core.task, tasks)
    algorithm, algorithms = _compact(core.algorithm, algorithms)
    if task is not core.task or algorithm is not core.algorithm:
        core = replace(core, task=task, algorithm=algorithm)
    return core, tuple(tasks), tuple(algorithms)


def _compact(codes: Any, names: Sequence[str]) -> tuple[Any, Sequence[str]]:
    used = np.bincount(codes, minlength=len(names)) > 0
    if used.all():
        return codes, names
    new = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return new[codes], [
        name for name, is_used in zip(names, used, strict=True) if is_used
    ]


def _order(core: Core, n_algorithms: int) -> Ints | None:
    """Return the rows by task, algorithm and number, or None if they already are."""
    group = core.task.astype(np.int64) * max(n_algorithms, 1) + core.algorithm
    if (np.diff(group) >= 0).all():
        same_group = np.diff(group) == 0
        if (np.diff(core.number)[same_group] >= 0).all():
            return None
    # Two stable sorts: numbers arrive nearly sorted, and small codes sort in one pass.
    by_number = np.argsort(core.number, kind="stable")
    small = group.astype(np.uint16) if group.max(initial=0) < 2**16 else group
    return by_number[np.argsort(small[by_number], kind="stable")]


def _refuse_duplicates(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> None:
    same = (
        (np.diff(core.number) == 0)
        & (np.diff(core.algorithm) == 0)
        & (np.diff(core.task) == 0)
    )
    if not same.any():
        return
    row = int(np.argmax(same))
    names = tasks[core.task[row]], algorithms[core.algorithm[row]]
    key = shown_key((*names, int(core.number[row])))
    raise CurvewiseError(
        f"{same.sum()} of {len(core)} trials have a key that another has too, first "
        f"(task, algorithm, number) = {key}. Give every run of an algorithm on a task "
        f"a number of its own."
    )


def _canonical(core: Core, name: str) -> Floats:
    values, known = core.values[name] + 0.0, was_recorded(core, name)
    values[np.isnan(values) | ~known] = np.nan
    # Recorded and not a number differs from not recorded.
    return np.concatenate([values, known.astype(np.float64)])


def _codes(kind: str, asked: Any, names: Sequence[str]) -> list[int]:
    several = isinstance(asked, Iterable) and not isinstance(asked, str)
    wanted = list(asked) if several else [asked]
    for name in wanted:
        if name not in names:
            raise unknown(kind, name, names)
    return [names.index(name) for name in wanted]


def _numbers(asked: Any) -> Ints:
    several = isinstance(asked, Iterable) and not isinstance(asked, str)
    wanted = list(asked) if several else [asked]
    for number in wanted:
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise CurvewiseError(
                f"number is {number!r}. Pass a whole number or several of them."
            )
    return np.array(wanted, np.int64)


def _matches(kind: str, texts: Sequence[str], asked: Mapping[str, Scalar]) -> Any:
    # Through JSON, as the texts are: a tuple was kept as a list.
    wanted = json.loads(canonical(asked, f"{kind}s"))
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


def _merged(names: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _lookup(names: Sequence[str], codes: Mapping[str, int]) -> Any:
    return np.array([codes[name] for name in names], np.int32)


def _rank(names: Sequence[str]) -> Ints:
    return np.argsort(np.argsort(np.array(names, dtype=object))).astype(np.int64)
