"""Results of lm-evaluation-harness: a file per evaluation, one score per task in it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from curvewise.errors import CurvewiseError
from curvewise.exchange.runs import Asked, Sheet, is_number, left_out, table_of
from curvewise.exchange.tools.files import Listing
from curvewise.metrics import Direction, Metric, find

_WAYS: dict[bool, Direction] = {True: "higher", False: "lower"}


def fits_path(listing: Listing) -> bool:
    """Return whether a file holds results, or a folder has such files."""
    if not listing.is_folder:
        return listing.path.suffix == ".json" and _results_in(listing.path) is not None
    return any(_results_in(listing.place(file)) is not None for file in _named(listing))


def read_path(listing: Listing, asked: Asked) -> Sheet:
    """Return one row per evaluation and task."""
    files = _named(listing) if listing.is_folder else list(listing.files)
    results = {file: _results_in(listing.place(file)) for file in files}
    rows: list[dict[str, Any]] = []
    meanings: dict[str, dict[str, Metric]] = {}
    sums: list[str] = []
    for file, content in results.items():
        if content is None:
            continue
        groups = {
            g for g, tasks in (content.get("group_subtasks") or {}).items() if tasks
        }
        for task, result in content["results"].items():
            if task in groups:
                sums.append(task)
                continue
            ways = (content.get("higher_is_better") or {}).get(task) or {}
            scores = {n: value for n, value in _scores(result) if asked.wants(n)}
            for name in scores:
                meanings.setdefault(name, {})[task] = _meaning(name, ways)
            shots = (content.get("n-shot") or {}).get(task)
            who = _who(content) | {"task": task, "evaluation": file}
            rows.append(who | {"num_fewshot": shots} | scores)
    if not meanings:
        raise CurvewiseError(
            f"{listing.path} holds no scores of lm-evaluation-harness."
        )
    models = {row["model"] for row in rows}
    # One name with other arguments is another model.
    is_named = len({(row["model"], row["model_args"]) for row in rows}) == len(models)
    odd = [file for file, content in results.items() if content is None]
    return Sheet(
        f"lm-evaluation-harness {'folder' if listing.is_folder else 'file'} "
        f"{listing.path.name}",
        table_of(rows),
        {
            "task": "task",
            "algorithm": "model" if is_named else "model_args",
            "trial": "evaluation",
            "metrics": {
                name: _over_tasks(name, by_task) for name, by_task in meanings.items()
            },
        },
        left_out=(
            *left_out(sums, "that are means of other tasks", "task"),
            *left_out(odd, "that hold no results of lm-evaluation-harness", "file"),
        ),
    )


def _named(listing: Listing) -> list[str]:
    return [
        file
        for file in listing.files
        if file.endswith(".json") and file.rpartition("/")[2].startswith("results")
    ]


def _results_in(path: Path) -> Mapping[str, Any] | None:
    """Return the content of a file of results; None for any other file."""
    try:
        with path.open("rb") as file:
            head = file.read(256)
            if b'"results"' not in head:  # it comes first: others are not parsed
                return None
            content = json.loads(head + file.read())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, Mapping) or "versions" not in content:
        return None
    config, results = content.get("config"), content.get("results")
    if not isinstance(config, Mapping) or not isinstance(results, Mapping):
        return None
    return content if all(isinstance(r, Mapping) for r in results.values()) else None


def _who(content: Mapping[str, Any]) -> dict[str, Any]:
    config = content["config"]
    arguments = config.get("model_args")
    if isinstance(arguments, Mapping):
        arguments = ",".join(f"{k}={v}" for k, v in sorted(arguments.items()))
    name = content.get("model_name") or arguments or config.get("model")
    return {"model": str(name), "model_args": str(arguments or name)}


def _scores(result: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Yield scores without the filter's name where none was applied.

    Standard errors are over questions, not over runs, and have no place in a trial.
    """
    for key, value in result.items():
        name, _, by = key.partition(",")
        if by and is_number(value) and not name.endswith("_stderr"):
            yield (name if by == "none" else f"{name} ({by})"), float(value)


def _meaning(name: str, ways: Mapping[str, Any]) -> Metric:
    bare = name.partition(" (")[0]
    usual, way = find(bare), _WAYS.get(ways.get(bare, None))
    if way is None:
        return replace(usual or Metric(bare, source="name"), name=name, label=name)
    if usual is None or usual.direction != way:
        return Metric(name, way, source="source")
    return replace(usual, name=name, label=name, source="source")


def _over_tasks(name: str, by_task: Mapping[str, Metric]) -> Metric:
    first, *others = by_task.values()
    if all(one == first for one in others):
        return first
    return Metric.of_tasks(name, by_task, source="source")
