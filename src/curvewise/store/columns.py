"""Trials as rows of the store, rows as trials, and the codes that stand for names."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError
from curvewise.metrics import Floats, Metric
from curvewise.store.schema import Database, Row, within
from curvewise.trials import Trials
from curvewise.trials.columns import (
    Core,
    Details,
    Ints,
    Ragged,
    empty_rows,
    joined,
    starts,
    to_bytes,
    was_recorded,
)

MOST_EXAMPLE_SETS = 4096  # remembered; others are looked up


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """What the store calls things; filled as new names are met.

    A code is given once and never changes, so what is here stays true whatever others
    add to the store meanwhile. Only what is not here must be looked up.

    Names are few, and all of them are here. Lists of examples may be one for each trial,
    and long: of those that were met last, their digests are here, never the ids.
    """

    tasks: dict[str, int]
    algorithms: dict[str, int]
    metrics: dict[str, Metric]
    metric_codes: dict[str, int]
    metric_sets: dict[str, int]
    example_sets: dict[bytes, int]


def load_codes(db: Database) -> Codes:
    """Return all names and codes of a store, but no list of examples."""
    metrics, metric_codes = {}, {}
    beside = _beside(db)
    for code, *meaning in db.execute(f"SELECT {_METRIC} FROM metrics ORDER BY code"):
        metric = _metric(beside.get(meaning[0]), *meaning)
        metrics[metric.name], metric_codes[metric.name] = metric, code
    return Codes(
        tasks=dict(db.execute("SELECT name, code FROM tasks ORDER BY code")),
        algorithms=dict(db.execute("SELECT name, code FROM algorithms ORDER BY code")),
        metrics=metrics,
        metric_codes=metric_codes,
        metric_sets=dict(
            db.execute("SELECT metrics, code FROM metric_sets ORDER BY code")
        ),
        example_sets={},
    )


def name_code(
    db: Database,
    table: Literal["tasks", "algorithms"],
    name: str,
    known: dict[str, int],
) -> int:
    """Return the code of a task or algorithm, a new one if it is new."""
    return _code_of(db, table, "name", name, known)


def metric_set_code(db: Database, names: Sequence[str], known: Codes) -> int:
    """Return the code of a list of metrics, a new one if it is new."""
    text = json.dumps([known.metric_codes[name] for name in names])
    return _code_of(db, "metric_sets", "metrics", text, known.metric_sets)


def example_set_code(db: Database, ids: NDArray[np.int64], known: Codes) -> int:
    """Return the code of a list of example ids, a new one if it is new."""
    blob = np.ascontiguousarray(ids, "<i8").tobytes()
    recent, digest = known.example_sets, hashlib.sha256(blob).digest()
    code = recent.pop(digest, None)
    if code is None:
        code = _looked_up(db, "example_sets", "ids", blob)
    recent[digest] = code  # the last that was met is the last in the dict
    if len(recent) > MOST_EXAMPLE_SETS:
        del recent[next(iter(recent))]
    return code


def declare_metric(db: Database, metric: Metric, known: Codes) -> None:
    """Add a metric; raise if the store has one of that name that means something else."""
    name = metric.name
    if name not in known.metrics:
        # Readers of version 1 know two directions; what else there is to say is beside.
        direction = metric.direction or "higher"
        meaning = (name, direction, *metric.range, metric.unit, metric.label)
        there = db.execute("SELECT 1 FROM metrics WHERE name = ?", (name,)).fetchone()
        if there is None and (more := metric.beside()):
            note = "INSERT INTO curvewise VALUES (?, ?) ON CONFLICT (key) DO NOTHING"
            db.execute(note, (_BESIDE + name, json.dumps(more)))
        db.execute(
            "INSERT INTO metrics (name, direction, low, high, unit, label) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            meaning,
        )
        row = db.execute(f"SELECT {_METRIC} FROM metrics WHERE name = ?", (name,))
        code, *meant = row.fetchone()
        noted = _beside(db).get(name)
        known.metrics[name], known.metric_codes[name] = _metric(noted, *meant), code
    # Whoever opened the store first said it: a name alone does not contradict that.
    if known.metrics[name] != metric and metric.source != "name":
        raise CurvewiseError(
            f"The store has metric {known.metrics[name]}; these trials say {metric}. "
            "Read them with the same ",
            {"metrics": ...},
            ", or use another store.",
            argument="metrics",
            value=metric,
        )


_METRIC = "code, name, direction, low, high, unit, label"


_BESIDE = "metric:"


def _beside(db: Database) -> dict[str, dict[str, Any]]:
    """Return what the store says of metrics beside their table, by name."""
    rows = db.execute(
        "SELECT key, value FROM curvewise WHERE substr(key, 1, 7) = ?", (_BESIDE,)
    )
    return {key.removeprefix(_BESIDE): json.loads(text) for key, text in rows}


def _metric(beside: dict[str, Any] | None, name: str, *meaning: Any) -> Metric:
    direction, low, high, unit, label = meaning
    plain = {"name": name, "direction": direction, "range": (low, high)}
    return Metric.of_fields({**plain, "unit": unit, "label": label}, beside)


def _code_of(
    db: Database, table: str, column: str, key: str, codes: dict[str, int]
) -> int:
    if key not in codes:
        codes[key] = _looked_up(db, table, column, key)
    return codes[key]


def _looked_up(db: Database, table: str, column: str, key: str | bytes) -> int:
    """Return the code that the store has for something, a new one if it is new."""
    find = f"SELECT code FROM {table} WHERE {column} = ?"
    row = db.execute(find, (key,)).fetchone()
    if row is None:
        # Where several write at once, another may have been quicker.
        add = f"INSERT INTO {table} ({column}) VALUES (?) ON CONFLICT DO NOTHING"
        db.execute(add, (key,))
        row = db.execute(find, (key,)).fetchone()
    return int(row[0])


# --- Whole columns out of a store, a stretch of rows at a time -------------------------


MOST_ROWS = 100_000
_BYTES = 64e6


def chunks(
    db: Database, columns: str, first: int, last: int, since: int | None = None
) -> Iterator[tuple[int, int, Row]]:
    """Yield (first id, last id, cells) for stretches of the trials with these ids.

    `columns` are aggregates as the database makes them; with `since`, of the trials that
    were written after that revision.
    """
    rows = db.execute("SELECT max(id) FROM trials").fetchone()[0] or 0
    # As many rows as make 64 MB of the store, however long the curves are.
    step = int(np.clip(_BYTES * rows / max(db.size(), 1), 1, MOST_ROWS))
    begins = range(first, last + 1, step)
    waiting = [(lo, min(lo + step - 1, last)) for lo in begins][::-1]
    while waiting:
        lo, hi = waiting.pop()
        row = db.stretch(f"count(*), {columns}", lo, hi, since)
        if row is None:  # very long curves: half of them fit, or half of those
            if lo == hi:
                raise CurvewiseError(
                    f"The curve of the trial with id {lo} is too long."
                )
            middle = (lo + hi) // 2
            waiting += [(middle + 1, hi), (lo, middle)]
        elif row[0]:
            yield lo, hi, row[1:]


def unpacked(joined: bytes, dtype: str = "<f8") -> Any:
    """Return the numbers in cells that lie end to end."""
    return np.frombuffer(joined, dtype)


def ragged(db: Database, lengths: Any, cells: Any, dtype: str) -> Ragged:
    """Return cells of unequal length."""
    flat = unpacked(db.joined(cells), dtype)
    return Ragged(starts(db.parsed(lengths) // flat.itemsize), flat)


# --- Trials as rows of the store -------------------------------------------------------


def encode(db: Database, trials: Trials, known: Codes) -> Iterator[Row]:
    """Yield one row per trial, in the order of the columns but for the revision.

    Names that the store does not have yet are added to it and to `known`.
    """
    core, details = trials.core, trials.details()
    tasks = [name_code(db, "tasks", n, known.tasks) for n in trials.tasks]
    algorithms = [
        name_code(db, "algorithms", n, known.algorithms) for n in trials.algorithms
    ]
    for name in core.values:
        declare_metric(db, trials.metrics[name], known)
    sets = [example_set_code(db, ids, known) for ids in details.example_sets]
    metric_set, scores, recorded = _scores(db, core, known)
    example_set = [None if i < 0 else sets[i] for i in details.example_set.tolist()]
    return zip(
        np.array(tasks, np.int64)[core.task].tolist(),
        np.array(algorithms, np.int64)[core.algorithm].tolist(),
        core.number.tolist(),
        core.status.tolist(),
        metric_set,
        _step_blobs(core),
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
    db: Database, core: Core, codes: Codes
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
        metric_set[rows] = metric_set_code(db, chosen, codes)
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


def _step_blobs(core: Core) -> list[bytes | None]:
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


# --- Rows of the store as trials -------------------------------------------------------


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
        *map(db.ints, numbers),
        db.cells("scores"),
        "count(steps)",
        "count(recorded)",
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
    totals = db.execute(
        f"SELECT {counted} FROM trials WHERE {condition}", values
    ).fetchone()
    used = [b for b, n in zip(blobs, totals, strict=True) if n]
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
    values, masks = {}, {}
    for name in dict.fromkeys(n for code in present for n in sets[code]):
        flat, is_there = np.full(total, np.nan), np.zeros(total, bool)
        for code in present:
            if name in sets[code]:
                mine = owner_set == code
                place = (begin + sets[code].index(name) * stride + within)[mine]
                flat[mine], is_there[mine] = scores[place], bits[place]
        values[name] = flat
        if not is_there.all():
            masks[name] = is_there
    return values, masks


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
        for at, vals, gaps in zip(columns[5], columns[6], columns[7], strict=True):
            flats.append(vals.get(name, np.full(len(at), np.nan)))
            masks.append(gaps.get(name, np.full(len(at), name in vals)))
        values[name] = np.concatenate(flats)
        if not all(mask.all() for mask in masks):
            recorded[name] = np.concatenate(masks)
    offsets = starts(lengths)
    return Core(
        task=task,
        algorithm=algorithm,
        number=number,
        status=status,
        offsets=offsets,
        steps=steps,
        values=values,
        recorded=recorded,
    )


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
