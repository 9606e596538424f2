"""Rows of the store as trials."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from curvewise.metrics import Floats, Metric
from curvewise.store.chunks import chunks, ragged, unpacked
from curvewise.store.codes import Codes
from curvewise.store.database import Database, within
from curvewise.trials.columns import Core, Details, Ints
from curvewise.trials.ragged import empty_rows, joined, starts

_UNKNOWN = -(2**62)  # no time that a run can take
NANOSECONDS = f"coalesce(nanoseconds, {_UNKNOWN})"


def core(
    db: Database, codes: Codes, last: int, *, first: int = 1, since: int | None = None
) -> Core:
    """Return who, how it ended, and the curves of the trials up to id `last`.

    From id `first` on, and with `since` only those written after that revision.
    """
    sets = {
        code: [_name(codes, c) for c in json.loads(text)]
        for text, code in codes.metric_sets.items()
    }
    numbers = ("task", "algorithm", "number", "status", "metric_set")
    columns = [
        *(*map(db.ints, numbers), db.cells("scores")),
        *("count(steps)", "count(recorded)"),
    ]
    tasks, algorithms = _ranks(codes.tasks), _ranks(codes.algorithms)
    parts = []
    for lo, hi, row in chunks(db, ", ".join(columns), first, last, since):
        task, algorithm, number, status, metric_set = map(db.parsed, row[:5])
        # What most rows do not have is asked for only where some row has it.
        count, steps = _steps(db, lo, hi, since) if row[6] else _step_0(len(task))
        recorded = _recorded(db, lo, hi, since) if row[7] else None
        curves = _curves(unpacked(db.joined(row[5])), count, metric_set, sets, recorded)
        who = tasks[task], algorithms[algorithm], number, status.astype(np.int8)
        parts.append((*who, count, steps, *curves))
    return _core_of(parts, codes)


def details(
    db: Database, last: int, *, first: int = 1, since: int | None = None
) -> Details:
    """Return everything else about the trials that `core` returns."""
    blobs = ("params", "labels", "error", "counts", "correct", "asked")
    counted = ", ".join(f"count({b})" for b in blobs)
    condition, values = within(first, last, since)
    found = db.execute(
        f"SELECT {counted} FROM trials WHERE {condition}", values
    ).fetchone()
    used = [b for b, n in zip(blobs, found, strict=True) if n]
    columns = [
        *(db.ints("attempts"), db.ints("classes")),
        db.ints("coalesce(example_set, 0)"),
        db.ints(NANOSECONDS),
        *(part for b in used for part in (db.lengths(b), db.cells(b))),
    ]
    numbers: list[list[Any]] = []
    texts: list[list[Any]] = []
    for _, _, row in chunks(db, ", ".join(columns), first, last, since):
        whole = [db.parsed(cell) for cell in row[:4]]
        numbers.append(whole)
        cell = {b: (row[4 + 2 * i], row[5 + 2 * i]) for i, b in enumerate(used)}
        none = len(whole[0])
        texts.append([
            ragged(db, *cell[b], _type(b)) if b in cell else empty_rows(none, _type(b))
            for b in blobs
        ])  # fmt: skip
    if not numbers:
        numbers = [[np.empty(0, np.int64) for _ in range(4)]]
        texts = [[empty_rows(0, _type(b)) for b in blobs]]
    attempts, classes, example_set, nanoseconds = (
        np.concatenate(column) for column in zip(*numbers, strict=True)
    )
    params, labels, error, counts, correct, asked = (
        joined(column) for column in zip(*texts, strict=True)
    )
    took = seconds(nanoseconds)
    return Details(
        *(params, labels, error, took, attempts, counts, classes, correct, asked),
        *_examples(db, example_set),
    )


def seconds(nanoseconds: Ints) -> Floats:
    """Return how long trials took, NaN where nobody knows."""
    return np.where(nanoseconds == _UNKNOWN, np.nan, nanoseconds / 1e9)


def _examples(db: Database, codes: Ints) -> tuple[Ints, tuple[Ints, ...]]:
    """Return which list of examples each trial has, -1 if none, and those lists."""
    used = np.unique(codes[codes > 0])
    query = f"SELECT code, ids FROM example_sets WHERE {db.among('code')} ORDER BY code"
    rows = db.execute(query, (db.numbers(used),)) if len(used) else ()
    sets = tuple(np.frombuffer(ids, "<i8").astype(np.int64) for _, ids in rows)
    return np.where(codes > 0, np.searchsorted(used, codes), -1), sets


def _type(column: str) -> str:
    return "<i8" if column == "counts" else "u1"


# --- curves ------------------------------------------------------------------------------


def _step_0(n: int) -> tuple[Ints, Any]:
    return np.ones(n, np.int64), np.zeros(n)


def _steps(db: Database, lo: int, hi: int, since: int | None) -> tuple[Ints, Any]:
    """Return how many steps each row has, and the steps; a row without has step 0."""
    query = f"{db.ints('coalesce(length(steps), -1)')}, {db.cells('steps')}"
    answers = [row for _, _, row in chunks(db, query, lo, hi, since)]
    size = np.concatenate([db.parsed(sizes) for sizes, _ in answers])
    count = np.where(size < 0, 1, size // 8)
    steps = np.zeros(int(count.sum()))
    steps[np.repeat(size >= 0, count)] = np.concatenate(
        [unpacked(db.joined(blob)) for _, blob in answers]
    )
    return count, steps


def _curves(
    scores: Any,
    lengths: Ints,
    metric_set: Ints,
    sets: dict[int, list[str]],
    recorded: dict[int, Any] | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return each metric's flat curve, and where it was recorded if not everywhere."""
    total = int(lengths.sum())
    same = metric_set.min() == metric_set.max()
    present = [int(metric_set[0])] if same else np.unique(metric_set).tolist()
    if len(present) == 1 and len(sets[present[0]]) == 1 and recorded is None:
        return {sets[present[0]][0]: scores}, {}
    width = np.zeros(max(sets) + 1, np.int64)
    for code, names in sets.items():
        width[code] = len(names)
    first = starts(lengths * width[metric_set])  # of each row, in the blob
    within = np.arange(total) - np.repeat(starts(lengths)[:-1], lengths)
    owner_set = np.repeat(metric_set, lengths)
    stride, begin = np.repeat(lengths, lengths), np.repeat(first[:-1], lengths)
    bits = np.ones(len(scores), bool)
    for row, mask in (recorded or {}).items():
        bits[first[row] : first[row + 1]] = mask
    values, known = {}, {}
    for name in dict.fromkeys(n for code in present for n in sets[code]):
        flat, seen = np.full(total, np.nan), np.zeros(total, bool)
        for code in present:
            if name in sets[code]:
                mine = owner_set == code
                place = (begin + sets[code].index(name) * stride + within)[mine]
                flat[mine], seen[mine] = scores[place], bits[place]
        values[name] = flat
        if not seen.all():
            known[name] = seen
    return values, known


def _recorded(db: Database, lo: int, hi: int, since: int | None) -> dict[int, Any]:
    """Return, for rows with gaps, their place in the stretch and their bits."""
    condition, values = within(lo, hi, since)
    rows = db.execute(
        "SELECT place, recorded, size FROM (SELECT row_number() OVER (ORDER BY id) - 1 "
        "AS place, recorded, length(scores) / 8 AS size FROM trials "
        f"WHERE {condition}) AS stretch WHERE recorded IS NOT NULL",
        values,
    )
    return {
        place: np.unpackbits(np.frombuffer(bits, np.uint8), count=size).astype(bool)
        for place, bits, size in rows
    }


def _core_of(parts: list[Any], codes: Codes) -> Core:
    none = np.empty(0, np.int64)
    who = np.empty(0, np.int32), np.empty(0, np.int32), none, np.empty(0, np.int8)
    empty: Any = (*who, none, np.empty(0), {}, {})
    columns = list(zip(*(parts or [empty]), strict=True))
    task, algorithm, number, status, lengths, steps = map(np.concatenate, columns[:6])
    values, recorded = {}, {}
    present = {n for part in columns[6] for n in part}
    for name in (n for n in codes.metrics if n in present):  # in the store's order
        flats, masks = [], []
        for own, vals, gaps in zip(columns[5], columns[6], columns[7], strict=True):
            flats.append(vals.get(name, np.full(len(own), np.nan)))
            masks.append(gaps.get(name, np.full(len(own), name in vals)))
        values[name] = np.concatenate(flats)
        if not all(mask.all() for mask in masks):
            recorded[name] = np.concatenate(masks)
    offsets = starts(lengths)
    return Core(task, algorithm, number, status, offsets, steps, values, recorded)


def _ranks(codes: dict[str, int]) -> Any:
    """Return, for each code of the store, its position in the list of names."""
    place = np.zeros(_room(codes.values()), np.int32)
    place[list(codes.values())] = np.arange(len(codes))
    return place


def _room(codes: Any) -> int:
    return max(codes, default=0) + 1


def _name(codes: Codes, code: int) -> str:
    return next(name for name, c in codes.metric_codes.items() if c == code)


def meanings(codes: Codes, names: Sequence[str]) -> dict[str, Metric]:
    """Return what the metrics of these trials mean, in the order of the store."""
    return {name: m for name, m in codes.metrics.items() if name in names}
