"""What a set of trials holds, arranged: names, meanings, and the two bundles of columns."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from curvewise.errors import CurvewiseError
from curvewise.metrics import Metric
from curvewise.trials import arranging
from curvewise.trials import design as designing
from curvewise.trials.columns import Core, Details, join_cores, join_details
from curvewise.trials.design import Design


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


def content(
    tasks: Iterable[str],
    algorithms: Iterable[str],
    metrics: Mapping[str, Metric],
    core: Core,
    details: Details | Callable[[], Details],
    origin: str,
    spaces: Mapping[str, str],
    about: Mapping[str, str],
    design: Design | None = None,
    inherited: Callable[[], Design] | None = None,
) -> Content:
    """Return the columns in order, each key once, without names that no trial has."""
    lazy = details if callable(details) else lambda: details
    core, tasks, algorithms = arranging.used(core, tuple(tasks), tuple(algorithms))
    order = arranging.order(core, len(algorithms))
    if order is not None:
        core, unsorted = core.take(order), lazy
        lazy = lambda: unsorted().take(order)  # noqa: E731  a closure, not a name
    arranging.refuse_duplicates(core, tasks, algorithms)
    return Content(
        tasks,
        algorithms,
        MappingProxyType({n: m.on(*tasks) for n, m in metrics.items()}),
        core,
        functools.cache(lazy),
        origin,
        MappingProxyType({a: spaces[a] for a in algorithms if a in spaces}),
        MappingProxyType(dict(about)),
        design or Design(),
        inherited,
    )


def joined(
    parts: Sequence[Content], designs: Sequence[Callable[[], Design]]
) -> Content:
    """Return all trials of all parts; a key that comes twice is an error.

    `designs` tell what each part looks like, where not all is known without a look.
    """
    tasks = {n: i for i, n in enumerate(_merged(p.tasks for p in parts))}
    algorithms = {n: i for i, n in enumerate(_merged(p.algorithms for p in parts))}
    metrics = _all_metrics(parts)
    core = join_cores(
        [p.core for p in parts],
        [_lookup(p.tasks, tasks) for p in parts],
        [_lookup(p.algorithms, algorithms) for p in parts],
    )
    return content(
        tasks,
        algorithms,
        metrics,
        core,
        lambda: join_details([p.details() for p in parts]),
        "; ".join(dict.fromkeys(p.origin for p in parts if p.origin)),
        {name: text for p in parts for name, text in p.spaces.items()},
        _all_about([p.about for p in parts]),
        known := designing.joined([p.design for p in parts]),
        None
        if known.is_known
        else lambda: designing.joined([told() for told in designs]),
    )


def _all_metrics(parts: Sequence[Content]) -> dict[str, Metric]:
    """Return what all metrics mean; it may differ by task, and not within one."""
    by_task: dict[str, dict[str, Metric]] = {}
    means: dict[str, Metric] = {}
    for part in parts:
        for name, metric in part.metrics.items():
            means.setdefault(name, metric)
            told = by_task.setdefault(name, {})
            for task in part.tasks:
                own = metric.on(task)
                if told.setdefault(task, own) != own:
                    raise CurvewiseError(
                        f"Metric '{name}' means {told[task]} in one set of trials "
                        f"and {own} in another. Read both with the same ",
                        {"metrics": ...},
                        ".",
                    )
    return {
        name: one
        if all(own == one for own in by_task[name].values())
        else Metric.of_tasks(name, by_task[name], unit=one.unit, label=one.label)
        for name, one in means.items()
    }


def _all_about(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return what is known of all experiments; what differs stands line by line."""
    told: dict[str, list[str]] = {}
    for part in parts:
        for key, text in part.items():
            told.setdefault(key, []).append(text)
    return {key: "\n".join(dict.fromkeys(texts)) for key, texts in told.items()}


def _merged(names: Iterable[Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(name for some in names for name in some))


def _lookup(names: Sequence[str], codes: Mapping[str, int]) -> Any:
    return np.array([codes[name] for name in names], np.int32)
