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
from curvewise.trials.columns import Core, Details, join_cores, join_details


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Everything about a set of trials; `details` may still be a store's to fetch."""

    tasks: tuple[str, ...]
    algorithms: tuple[str, ...]
    metrics: Mapping[str, Metric]
    core: Core
    details: Callable[[], Details]
    origin: str
    spaces: Mapping[str, str]
    about: Mapping[str, str]


def content(
    tasks: Iterable[str],
    algorithms: Iterable[str],
    metrics: Mapping[str, Metric],
    core: Core,
    details: Details | Callable[[], Details],
    origin: str,
    spaces: Mapping[str, str],
    about: Mapping[str, str],
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
        MappingProxyType(dict(metrics)),
        core,
        functools.cache(lazy),
        origin,
        MappingProxyType({a: spaces[a] for a in algorithms if a in spaces}),
        MappingProxyType(dict(about)),
    )


def joined(parts: Sequence[Content]) -> Content:
    """Return all trials of all parts; a key that comes twice is an error."""
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
    return content(
        tasks,
        algorithms,
        metrics,
        core,
        lambda: join_details([p.details() for p in parts]),
        "; ".join(dict.fromkeys(p.origin for p in parts if p.origin)),
        {name: text for p in parts for name, text in p.spaces.items()},
        _all_about([p.about for p in parts]),
    )


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
