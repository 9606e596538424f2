"""Histories in memory: of Keras, of Hugging Face's trainer, of xgboost and LightGBM."""

from collections.abc import Mapping, Sequence
from typing import Any

from curvewise.errors import CurvewiseError, listed
from curvewise.exchange.runs import Asked
from curvewise.exchange.tools.folders.logs import DATA_SET, Log, refuse_folds
from curvewise.exchange.tools.folders.nested import (
    BOOSTING,
    REPLICATE,
    boosting_log,
    history_log,
    is_boosting,
    is_history,
    logs_of,
    named_runs,
    trainer_log,
)
from curvewise.trials import names


def is_known(source: object, tool: str) -> bool:
    """Return whether an object holds histories of runs, and cannot be a table."""
    if isinstance(source, Mapping) and is_history(source):
        refuse_folds(source, "The dict")
    if isinstance(source, Mapping) and _deep_runs(source, tool):
        return True
    if _is_run(source):
        return not is_history(source) or tool == "keras" or _is_keras(source)
    if not isinstance(source, Mapping | list | tuple) or not source:
        return False
    several = source.values() if isinstance(source, Mapping) else source
    return all(
        _is_run(one)
        or (isinstance(one, list | tuple) and bool(one) and all(map(_is_run, one)))
        for one in several
    )


def logs_by_name(
    source: Any, asked: Asked, tool: str
) -> list[tuple[str | None, int, Log]]:
    """Return the algorithm, the number and the log of every run in an object."""
    if isinstance(source, Mapping) and (deep := _deep_runs(source, tool)):
        return [_deep(path, one, asked, tool) for path, one in deep]
    if _is_run(source) and not _is_mapping_of_histories(source, tool):
        return [(None, 0, _log(source, asked))]
    if not isinstance(source, Mapping):
        return [(None, i, _log(one, asked)) for i, one in enumerate(source)]
    out: list[tuple[str | None, int, Log]] = []
    for name, value in source.items():
        runs = [value] if _is_run(value) else value
        out += [(str(name), i, _log(one, asked)) for i, one in enumerate(runs)]
    return out


def _deep_runs(
    source: Mapping[Any, Any], tool: str
) -> list[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Return runs under names below names, and those with their own configuration."""
    if tool in BOOSTING:
        return []
    runs = named_runs(source)
    return [] if all(len(p) == 1 and is_history(one) for p, one in runs) else runs


def _deep(
    path: tuple[str, ...], value: Mapping[str, Any], asked: Asked, tool: str
) -> tuple[str | None, int, Log]:
    """Return a run with what the names that lead to it say: algorithm, task, seed."""
    name = "/".join(path)
    if is_history(value):
        log = history_log(value, None, asked, name)
    else:
        (log,) = logs_of(value, asked, name, tool)
    words = [w for w in path if not w.isdigit() and not REPLICATE.fullmatch(w)]
    for word, role in zip(words, ("algorithm", "task"), strict=False):
        if not names.every(names.ALGORITHM, log.params):
            log.labels.setdefault(role, word)
    for word in path:
        if word.isdigit():
            log.labels.setdefault("seed", int(word))
        elif found := REPLICATE.fullmatch(word):
            log.labels.setdefault(found[1].casefold(), int(found[2]))
    log.name = name
    return None, 0, log


def _is_run(value: object) -> bool:
    return (
        is_history(value)
        or is_boosting(value)
        or is_history(getattr(value, "history", None))
        or isinstance(getattr(value, "log_history", None), list)
        or _is_log_history(value)
    )


def _is_log_history(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(one, Mapping) and "step" in one for one in value)
        and any("epoch" in one for one in value)
    )


def _is_keras(history: object) -> bool:
    """Return whether a dict of curves is a history: no column says whose a row is."""
    if not isinstance(history, Mapping):
        return True
    keys = [str(key) for key in history]
    words = (*names.ALGORITHM, *names.TASK, *names.TRIAL, *names.STEP)
    if names.every(words, keys):
        return False
    trained = keys[:1] == ["loss"] and all(
        isinstance(v, list) for v in history.values()
    )
    return trained or any(f"val_{key}" in keys for key in keys)


def _is_mapping_of_histories(source: object, tool: str) -> bool:
    """Return whether {name: {metric: curve}} has names of algorithms, not of data."""
    if not is_boosting(source) or tool in BOOSTING:
        return False
    assert isinstance(source, Mapping)  # noqa: S101 a boosting result is one
    if tool == "keras" or all(map(_is_keras, source.values())):
        return True
    if all(DATA_SET.fullmatch(str(key)) for key in source):
        return False
    raise CurvewiseError(
        f"Are {listed(source)} data sets on which one boosted model was scored, or "
        f"algorithms with a history each?",
        fixes=[{"tool": "xgboost"}, {"tool": "keras"}],
    )


def _log(value: Any, asked: Asked) -> Log:
    if is_boosting(value):
        return boosting_log(value, asked, "the result")
    if isinstance(value, Mapping):
        return history_log(value, None, asked, "the history")
    if _is_log_history(value):
        return trainer_log({"log_history": value}, asked)
    if hasattr(value, "log_history"):
        return trainer_log({"log_history": value.log_history}, asked)
    epochs = getattr(value, "epoch", None)
    known = list(epochs) if isinstance(epochs, Sequence) else None
    return history_log(value.history, known, asked, "the history")
