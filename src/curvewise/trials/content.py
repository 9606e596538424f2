"""What a set of trials holds: names, meanings and columns in order, each key once."""

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.trials import design as designing
from curvewise.trials.columns import Core, Details, Ints, was_recorded
from curvewise.trials.design import Design
from curvewise.trials.trial import shown_key


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Everything about a set of trials; `details` may still be a store's to fetch.

    `design` is what is known of it without a look; what the set that these trials were
    chosen from tells is `inherited`.
    """

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
    metrics: Mapping[str, Metric]
    core: Core
    details: Callable[[], Details]
    origin: str
    spaces: Mapping[str, str]
    about: Mapping[str, str]
    design: Design
    inherited: Callable[[], Design] | None

    @classmethod
    def of(
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
    ) -> "Content":
        """Return the columns in order, each key once, without names that no trial has."""
        lazy = details if callable(details) else lambda: details
        core, tasks, algorithms = _used(core, tuple(tasks), tuple(algorithms))
        order = _row_order(core, len(algorithms))
        if order is not None:
            core, unsorted = core.take(order), lazy
            lazy = lambda: unsorted().take(order)  # noqa: E731  a closure, not a name
        _refuse_duplicates(core, tasks, algorithms)
        spaces = spaces or {}
        return cls(
            tasks=tasks,
            algorithms=algorithms,
            metrics=MappingProxyType({n: m.on(*tasks) for n, m in metrics.items()}),
            core=core,
            details=functools.cache(lazy),
            origin=origin,
            spaces=MappingProxyType({a: spaces[a] for a in algorithms if a in spaces}),
            about=MappingProxyType(dict(about or {})),
            design=design or Design(),
            inherited=inherited,
        )

    @classmethod
    def joined(
        cls, parts: Sequence["Content"], designs: Sequence[Callable[[], Design]]
    ) -> "Content":
        """Return all trials of all parts; a key that comes twice is an error.

        `designs` tell what each part looks like, where not all is known without a look.
        """
        tasks = {n: i for i, n in enumerate(_merged(p.tasks for p in parts))}
        algorithms = {n: i for i, n in enumerate(_merged(p.algorithms for p in parts))}
        metrics = _all_metrics(parts)
        core = Core.joined(
            [p.core for p in parts],
            [_lookup(p.tasks, tasks) for p in parts],
            [_lookup(p.algorithms, algorithms) for p in parts],
        )
        # What is known of all experiments; what differs stands line by line.
        about: dict[str, list[str]] = {}
        for part in parts:
            for key, text in part.about.items():
                about.setdefault(key, []).append(text)
        joint = designing.joined([p.design for p in parts])
        return cls.of(
            tasks,
            algorithms,
            metrics,
            core,
            lambda: Details.joined([p.details() for p in parts]),
            origin="; ".join(dict.fromkeys(p.origin for p in parts if p.origin)),
            spaces={name: text for p in parts for name, text in p.spaces.items()},
            about={
                key: "\n".join(dict.fromkeys(texts)) for key, texts in about.items()
            },
            design=joint,
            inherited=None
            if joint.is_known
            else lambda: designing.joined([design() for design in designs]),
        )

    def digest(self) -> str:
        """Return a hash of the results that does not depend on the order of rows.

        A block or a cluster that somebody stated is part of them, as verdicts hang on it;
        what is inferred or known from the engine follows from the rest.
        """
        core, details, stated = self.core, self.details(), self.design.stated
        # Codes follow the order of appearance; a hash must not.
        task_rank, algorithm_rank = _rank(self.tasks), _rank(self.algorithms)
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
        meaning = [_meaning(self.metrics[n]) for n in scored]
        hashed.update(json.dumps([names, meaning]).encode())
        texts = [details.params, details.labels, details.correct, details.asked]
        sets = [hashlib.sha256(ids.tobytes()).digest() for ids in details.example_sets]
        for array in (
            *(task_rank[core.task], algorithm_rank[core.algorithm], core.number),
            *(core.status, core.offsets, core.steps + 0.0),
            *(_flat_values(core, name) for name in scored),
            *(array for ragged in texts for array in (ragged.offsets, ragged.flat)),
            *(details.counts.offsets, details.counts.flat, details.classes),
        ):
            hashed.update(np.ascontiguousarray(array).tobytes())
        # Asked of the rows: after where(...) a set may be there that none has.
        if (details.example_set >= 0).any():
            digests = (
                sets[i] if i >= 0 else b"-" for i in details.example_set.tolist()
            )
            hashed.update(b"".join(digests))
        if stated:
            hashed.update(json.dumps(stated, sort_keys=True).encode())
        return hashed.hexdigest()


# --- order: by task and algorithm as first met, then by number, each once ---------------


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


def _row_order(core: Core, n_algorithms: int) -> Ints | None:
    """Return the rows by task, algorithm and number, or None if they already are."""
    one_task = core.task.max(initial=0) == 0
    group: Any = core.algorithm if one_task else _groups(core, n_algorithms)
    # Comparisons, not differences: bits, where millions of integers would be made.
    later, same = group[1:] > group[:-1], group[1:] == group[:-1]
    if (later | (same & (core.number[1:] >= core.number[:-1]))).all():
        return None
    # Two stable sorts: numbers arrive nearly sorted, and small codes sort in one pass.
    by_number = np.argsort(core.number, kind="stable")
    small = group.astype(np.uint16) if group.max(initial=0) < 2**16 else group
    return by_number[np.argsort(small[by_number], kind="stable")]


def _groups(core: Core, n_algorithms: int) -> Ints:
    return core.task.astype(np.int64) * max(n_algorithms, 1) + core.algorithm


def _refuse_duplicates(
    core: Core, tasks: Sequence[str], algorithms: Sequence[str]
) -> None:
    """Raise if two trials have the same task, algorithm and number."""
    same = np.ones(max(len(core) - 1, 0), bool)
    for column in (core.number, core.algorithm, core.task):
        same &= column[1:] == column[:-1]
    if not same.any():
        return
    row = int(np.argmax(same))
    names = tasks[core.task[row]], algorithms[core.algorithm[row]]
    key = shown_key((*names, int(core.number[row])))
    raise CurvewiseError(
        f"{same.sum()} of {len(core)} trials have a key that another has too, first "
        f"(task, algorithm, number) = {key}. Give every run of an algorithm on a task "
        f"a number of its own.",
        argument="number",
    )


# --- names and meanings of several sets -------------------------------------------------


def _all_metrics(parts: Sequence[Content]) -> dict[str, Metric]:
    """Return what all metrics mean; it may differ by task, and not within one."""
    by_task: dict[str, dict[str, Metric]] = {}
    means: dict[str, Metric] = {}
    for part in parts:
        for name, metric in part.metrics.items():
            means.setdefault(name, metric)
            meanings = by_task.setdefault(name, {})
            for task in part.tasks:
                meaning = metric.on(task)
                if meanings.setdefault(task, meaning) != meaning:
                    raise CurvewiseError(
                        f"Metric '{name}' means {meanings[task]} in one set of trials "
                        f"and {meaning} in another. Read both with the same ",
                        {"metrics": ...},
                        ".",
                        argument="metrics",
                        value=name,
                    )
    return {
        name: one
        if all(meaning == one for meaning in by_task[name].values())
        else Metric.of_tasks(name, by_task[name], unit=one.unit, label=one.label)
        for name, one in means.items()
    }


def _merged(names: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _lookup(names: Sequence[str], codes: Mapping[str, int]) -> Any:
    return np.array([codes[name] for name in names], np.int32)


# --- what is hashed ----------------------------------------------------------------------


def _meaning(metric: Metric) -> dict[str, Any]:
    """Return what a metric means, without who said so."""
    fields = {**metric.plain(), "direction": metric.direction}
    if metric.by_task:
        fields["by_task"] = {
            task: _meaning(one) for task, one in sorted(metric.by_task)
        }
    return fields


def _flat_values(core: Core, name: str) -> Floats:
    values, known = core.values[name] + 0.0, was_recorded(core, name)
    values[np.isnan(values) | ~known] = np.nan
    # Recorded and not a number differs from not recorded.
    return np.concatenate([values, known.astype(np.float64)])


def _rank(names: Sequence[str]) -> Ints:
    return np.argsort(np.argsort(np.array(names, dtype=object))).astype(np.int64)
