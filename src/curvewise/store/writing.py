"""Trials as rows of the store."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from curvewise.metrics import Floats
from curvewise.store import codes
from curvewise.store.codes import Codes
from curvewise.store.database import Database, Row
from curvewise.trials import Trials
from curvewise.trials.columns import Core, was_recorded
from curvewise.trials.ragged import Ragged, starts, to_bytes


def encode(db: Database, trials: Trials, known: Codes) -> Iterator[Row]:
    """Yield one row per trial, in the order of the columns but for the revision.

    Names that the store does not have yet are added to it and to `known`.
    """
    core, details = trials.core, trials.details()
    tasks = [codes.of_name(db, "tasks", n, known.tasks) for n in trials.tasks]
    algorithms = [
        codes.of_name(db, "algorithms", n, known.algorithms) for n in trials.algorithms
    ]
    for name in core.values:
        codes.declare(db, trials.metrics[name], known)
    sets = [codes.of_examples(db, ids, known) for ids in details.example_sets]
    metric_set, scores, recorded = _scores(db, core, known)
    example_set = [None if i < 0 else sets[i] for i in details.example_set.tolist()]
    return zip(
        np.array(tasks, np.int64)[core.task].tolist(),
        np.array(algorithms, np.int64)[core.algorithm].tolist(),
        core.number.tolist(),
        core.status.tolist(),
        metric_set,
        _steps(core),
        scores,
        recorded,
        _texts(details.params),
        _texts(details.labels),
        _nanoseconds(details.seconds),
        details.attempts.tolist(),
        _texts(details.error) if db.texts_hold_zero else _blobs(details.error, "u1"),
        _blobs(details.counts, "<i8"),
        details.classes.tolist(),
        _blobs(details.correct, "u1"),
        _blobs(details.asked, "u1"),
        example_set,
        strict=True,
    )


def _scores(
    db: Database, core: Core, known: Codes
) -> tuple[list[int], list[bytes], list[bytes | None]]:
    """Return each trial's metric set, its (metric, step) scores and what was recorded."""
    n = len(core)
    names = list(core.values)
    everywhere = _recorded_at_all(core, names)
    metric_set = np.zeros(n, np.int64)
    scores: list[bytes] = [b""] * n
    recorded: list[bytes | None] = [None] * n
    patterns, which = np.unique(everywhere, axis=0, return_inverse=True)
    for i, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == i)
        chosen = [name for name, used in zip(names, pattern, strict=True) if used]
        metric_set[rows] = codes.of_metric_set(db, chosen, known)
        part = core if len(patterns) == 1 else core.take(rows)
        blobs = to_bytes(_matrix(part, [part.values[name] for name in chosen]))
        masks = _masks(part, chosen)
        if len(patterns) == 1:
            return metric_set.tolist(), blobs, masks or recorded
        for j, row in enumerate(rows.tolist()):
            scores[row] = blobs[j]
            recorded[row] = masks[j] if masks else None
    return metric_set.tolist(), scores, recorded


def _recorded_at_all(core: Core, names: Sequence[str]) -> Any:
    """Return (trial, metric): whether a trial has the metric at any of its steps."""
    out = np.ones((len(core), len(names)), bool)
    owner = np.repeat(np.arange(len(core)), core.lengths if core.recorded else 0)
    for j, name in enumerate(names):
        if name in core.recorded:
            hits = np.bincount(
                owner, weights=was_recorded(core, name), minlength=len(core)
            )
            out[:, j] = (hits > 0) | (core.lengths == 0)
    return out


def _matrix(core: Core, flats: Sequence[Any]) -> Ragged:
    """Return the (metric, step) values of each trial, end to end."""
    if len(flats) == 1:
        return Ragged(core.offsets, np.ascontiguousarray(flats[0], "<f8"))
    lengths = core.lengths * len(flats)
    out = np.empty(int(lengths.sum()), "<f8")
    within = np.arange(len(core.steps)) - np.repeat(core.offsets[:-1], core.lengths)
    start = np.repeat(starts(lengths)[:-1], core.lengths)
    stride = np.repeat(core.lengths, core.lengths)
    for j, flat in enumerate(flats):
        out[start + j * stride + within] = flat
    return Ragged(starts(lengths), out)


def _masks(core: Core, names: Sequence[str]) -> list[bytes | None]:
    """Return the packed bits of what was recorded; None where everything was."""
    if not any(name in core.recorded for name in names):
        return []
    bits = _matrix(core, [was_recorded(core, name) for name in names])
    rows = [bits[i].astype(bool) for i in range(len(core))]
    return [None if row.all() else np.packbits(row).tobytes() for row in rows]


def _steps(core: Core) -> list[bytes | None]:
    if (core.lengths == 1).all() and not core.steps.any():
        return [None] * len(core)
    blobs = to_bytes(Ragged(core.offsets, np.ascontiguousarray(core.steps, "<f8")))
    zero = np.zeros(1, "<f8").tobytes()
    return [None if blob == zero else blob for blob in blobs]


def _nanoseconds(seconds: Floats) -> list[int | None]:
    known = np.abs(seconds) < 9e9  # also false for NaN; 285 years fit into 64 bits
    whole = np.rint(np.where(known, seconds, 0) * 1e9).astype(np.int64).tolist()
    return [n if k else None for n, k in zip(whole, known.tolist(), strict=True)]


def _texts(ragged: Ragged) -> list[str | None]:
    if len(ragged.flat) == 0:
        return [None] * len(ragged)
    return [piece.decode() or None for piece in to_bytes(ragged)]


def _blobs(ragged: Ragged, dtype: str) -> list[bytes | None]:
    if len(ragged.flat) == 0:
        return [None] * len(ragged)
    flat = np.ascontiguousarray(ragged.flat, dtype)
    return [piece or None for piece in to_bytes(Ragged(ragged.offsets, flat))]
