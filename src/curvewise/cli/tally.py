"""How far a store is: how trials of each task and algorithm ended, and what went wrong."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from curvewise.errors import CurvewiseError, shortened

if TYPE_CHECKING:
    from curvewise._text import Row
    from curvewise.trials import Trials

_AGAIN = 5  # times, while a run replaces trials under our eyes
_MOST = 5  # messages


@dataclass(frozen=True, slots=True)
class Tally:
    """How the trials of one algorithm on one task ended."""

    task: str
    algorithm: str
    planned: int | None
    states: Mapping[str, int]
    mean: float | None
    longest: float | None

    @property
    def done(self) -> int:
        """How many there are."""
        return sum(self.states.values())

    def row(self, *, planned: bool) -> "Row":
        """Return a line of a table; states that never happen here are left out."""
        plan = {"planned": self.planned, "done": self.done}
        return {
            "task": self.task,
            "algorithm": self.algorithm,
            **(plan if planned else {"trials": self.done}),
            **self.states,
            "mean seconds": self.mean,
            **({"longest": self.longest} if planned else {}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the same for machines."""
        return asdict(self) | {"done": self.done, "states": dict(self.states)}


@dataclass(frozen=True, slots=True)
class Mishap:
    """An error's first line, how often it came, and the first trial that had it."""

    message: str
    count: int
    task: str
    algorithm: str
    number: int


def tallies(
    trials: "Trials",
    planned: Mapping[tuple[str, str], int],
    only: Iterable[tuple[str, str]] | None = None,
) -> list[Tally]:
    """Return how trials ended, cell by cell: planned ones first, in their order.

    Parameters
    ----------
    trials : Trials
    planned : mapping of (task, algorithm) to int
        How many there are to be, as far as somebody knows.
    only : iterable of (task, algorithm), optional
        Which to count; all if left out.
    """
    import numpy as np

    core, seconds = trials.core, trials.details().seconds
    code = core.task.astype(np.int64) * max(len(trials.algorithms), 1) + core.algorithm
    have = {}
    for value in np.unique(code).tolist():
        task, algorithm = divmod(value, len(trials.algorithms))
        name = trials.tasks[task], trials.algorithms[algorithm]
        have[name] = np.flatnonzero(code == value)
    none = np.empty(0, np.int64)
    return [
        _tally(cell, planned.get(cell), core.status[rows], seconds[rows])
        for cell in (dict.fromkeys([*planned, *have]) if only is None else only)
        for rows in [have.get(cell, none)]
    ]


def _tally(cell: tuple[str, str], planned: int | None, status: Any, took: Any) -> Tally:
    import numpy as np

    from curvewise.trials import STATUSES

    counts = np.bincount(status, minlength=len(STATUSES)).tolist()
    known = took[np.isfinite(took)]
    mean, longest = (known.mean(), known.max()) if len(known) else (None, None)
    return Tally(
        *cell,
        planned,
        {
            name: n
            for name, n in zip(STATUSES, counts, strict=True)
            if n or name != "cancelled"  # no run of ours ends so; other tools' do
        },
        None if mean is None else float(mean),
        None if longest is None else float(longest),
    )


def mishaps(trials: "Trials") -> list[Mishap]:
    """Return the most frequent errors, most frequent first."""
    import numpy as np

    bad = np.flatnonzero(trials.core.status != 0)
    if len(bad) == 0:
        return []
    errors = trials.details().error
    lines: Counter[str] = Counter()
    first: dict[str, int] = {}
    for row in bad.tolist():
        text = errors[row].tobytes().decode().strip()
        line = text.partition("\n")[0] or "it left no message"
        lines[line] += 1
        first.setdefault(line, row)
    return [
        Mishap(shortened(line, 200), n, *trials.key(first[line]))
        for line, n in lines.most_common(_MOST)
    ]


def snapshot(where: str) -> "Trials":
    """Return the trials of a store, also while a run replaces some of them."""
    from curvewise import store as stores

    for _ in range(_AGAIN):
        trials = stores.read(where)
        try:
            trials.details()
        except CurvewiseError as problem:
            if "were replaced" not in str(problem):
                raise
        else:
            break
    return trials
