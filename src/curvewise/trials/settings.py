"""What params and labels say, cell by cell, and how hyperparameters were searched.

A cell is one algorithm on one task. A search drew at random, went over a grid, or was
led by an optimiser.
"""

import json
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise.errors import shortened
from curvewise.metrics import Floats
from curvewise.trials import doors
from curvewise.trials.columns import Columns, Ints, Ragged
from curvewise.trials.doors import last_values

# Params and labels are JSON. Parsing is the one slow thing here, so that only this many
# trials are parsed, shared out evenly among the cells; findings say when that was so.
MOST_PARSED = 20_000


@dataclass(frozen=True, slots=True)
class Cell:
    """The rows of one algorithm on one task."""

    task: str
    algorithm: str
    start: int
    stop: int

    @property
    def rows(self) -> slice:
        """Where its trials are, in order of number."""
        return slice(self.start, self.stop)

    def __len__(self) -> int:
        return self.stop - self.start

    def __str__(self) -> str:
        return f"'{shortened(self.algorithm, 40)}' on '{shortened(self.task, 40)}'"


def edges(trials: Columns) -> Ints:
    """Return where each cell starts, and where the last one ends."""
    core = trials.core
    if len(core) == 0:
        return np.zeros(1, np.int64)
    new = (np.diff(core.task) != 0) | (np.diff(core.algorithm) != 0)
    return np.concatenate([[0], np.flatnonzero(new) + 1, [len(core)]]).astype(np.int64)


def cell_codes(trials: Columns) -> Ints:
    """Return the cell of each trial, counted from 0 in the order of rows."""
    bounds = edges(trials)
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def cells(trials: Columns) -> list[Cell]:
    """Return all cells that have trials."""
    core, bounds = trials.core, edges(trials).tolist()
    return [
        Cell(
            trials.tasks[core.task[a]], trials.algorithms[core.algorithm[a]], a, b
        )
        for a, b in pairwise(bounds)
    ]  # fmt: skip


# --- params and labels ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parsed:
    """The params or labels of a cell's first trials, and whether these are all."""

    cell: Cell
    rows: slice
    dicts: list[dict[str, Any]]
    whole: bool

    @property
    def caveat(self) -> str:
        """What a finding has to add where not all trials were looked at."""
        looked = len(self.dicts)
        return (
            ""
            if self.whole
            else f" (looking at the first {looked:,} of {len(self.cell):,})"
        )


def parsed(trials: Columns, kind: Literal["params", "labels"]) -> Iterator[Parsed]:
    """Yield the params or labels of each cell that has any."""
    if len(trials) == 0:
        return
    texts: Ragged = getattr(trials.details(), kind)
    if len(texts.flat) == 0:
        return
    every = cells(trials)
    most = max(MOST_PARSED // len(every), 100)
    dict_of: dict[bytes, dict[str, Any]] = {b"": {}}
    for cell in every:
        rows = slice(cell.start, min(cell.stop, cell.start + most))
        dicts = []
        for text in pieces(texts, np.arange(rows.start, rows.stop)):
            if text not in dict_of:
                dict_of[text] = json.loads(text)
            dicts.append(dict_of[text])
        if any(dicts):
            yield Parsed(cell, rows, dicts, rows.stop == cell.stop)


def hashes(rows: Ints, *columns: Ragged) -> Ints:
    """Return one number for each row: the same for the same contents in all columns.

    64 bits: among three million rows two unlike ones meet once in millions of checks.
    """
    parts = zip(*(pieces(column, rows) for column in columns), strict=True)
    return np.fromiter(map(hash, parts), np.int64, len(rows))


def pieces(column: Ragged, rows: Ints) -> Iterator[bytes]:
    """Yield the bytes of the chosen rows."""
    # One row at a time: all texts at once would be a copy of the whole column.
    flat = np.ascontiguousarray(column.flat)
    size, view = flat.itemsize, flat.view(np.uint8).data
    begins, ends = (size * column.offsets[at] for at in (rows, rows + 1))
    for a, b in zip(begins.tolist(), ends.tolist(), strict=True):
        yield bytes(view[a:b])


ABSENT = "(absent)"


def keyed(value: Any) -> Hashable:
    """Return a value of a param or label as something that can be told apart.

    >>> keyed(1) == keyed(1.0), keyed(True) == keyed(1), keyed([1, 2])
    (True, False, '[1, 2]')
    """
    if isinstance(value, bool):
        return ("bool", value)
    return value if isinstance(value, int | float | str) else json.dumps(value)


def coded(values: Iterable[Hashable]) -> Ints:
    """Return a code for each value, counted by first appearance.

    >>> coded("abba").tolist()
    [0, 1, 1, 0]
    """
    codes: dict[Hashable, int] = {}
    return np.array([codes.setdefault(v, len(codes)) for v in values], np.int64)


def words(name: str) -> set[str]:
    """Return the words in a name, in small letters, without a plural s.

    >>> sorted(words("env_stepsTotal/2"))
    ['2', 'env', 'step', 'total']
    """
    spaced = "".join(
        c if c.isalnum() and not (c.isupper() and p.islower())
        else " " + c * c.isalnum()
        for p, c in zip(" " + name, name, strict=False)
    )  # fmt: skip
    return {w[:-1] if w.endswith("s") else w for w in spaced.casefold().split()}


RUN_WORDS = frozenset(
    {"run", "fold", "trial", "replicate", "replication", "replica", "rep", "repeat"}
    | {"repetition", "split", "outer", "inner"}
)
ID_WORDS = frozenset(
    {"id", "idx", "index", "number", "num", "no", "nr", "key", "name", "cv"}
)


def numbers_a_run(name: str) -> bool:
    """Return whether a name says which replicate this is: a seed, a run, a fold.

    >>> [numbers_a_run(n) for n in ("Random_Seed", "run_id", "min_samples_split", "id")]
    [True, True, False, False]
    """
    tokens = words(name)
    rest = tokens - ID_WORDS
    return "seed" in tokens or tokens == {"random", "state"} or (
        bool(rest) and rest <= RUN_WORDS
    )  # fmt: skip


# --- the same setting again -----------------------------------------------------------

# "likely": not certain, and yet hardly by chance.
Repeated: TypeAlias = Literal["never", "perhaps", "likely", "surely"]
BALANCE_LEVEL = 0.01  # at which settings that come again in good order are no chance
_EXACT = 7  # digits of a number, from which on two equal ones are one draw
# Lists to choose from are of round numbers: of those with 3 digits in 0.6 of 8 values
# or more, in no even steps, we know none. Of drawn numbers 0.81 (whole ones to 1,000) to
# 0.9 (three digits) have 3 that are not zeros at the end; 0.6 misses 1 % of 20.
_DIGITS, _LEVELS, _MOST_LEVELS, _SHARE = 3, 8, 500, 0.6


def repetition(
    setting: Ints,
    columns: Mapping[str, Sequence[Any]],
    numbers: Mapping[str, Floats],
    by_run: Sequence[Ints],
) -> tuple[Repeated, bool]:
    """Return how surely settings were run again by design, and if runs stand together.

    Finite choices coincide by chance, too: "surely" takes settings that all have the
    same seeds, that are met equally often or one after another as random draws hardly
    ever are, or numbers of many digits.
    """
    times = np.bincount(setting)
    if len(times) < 2 or len(times) == len(setting):
        return "never", False  # one setting only, or as many as runs
    # Drawn settings may coincide: with two digits, one in twenty of twenty.
    in_a_row = _split(setting, times) <= len(times) // 5
    if (
        any(_same_runs(setting, run) for run in by_run)
        or _balanced(setting, times)
        or any(_is_exact(x, times) for x in numbers.values())
        or (in_a_row and _is_grouped(setting, times, columns))
    ):
        return "surely", in_a_row
    apart = any(_apart(setting, run) for run in by_run)
    return "likely" if apart or _together(setting, times) else "perhaps", in_a_row


def _same_runs(setting: Ints, run: Ints) -> bool:
    """Return whether each setting has the same seeds, each once; a tenth may lack some."""
    pairs, times = np.unique(np.stack([setting, run]), axis=1, return_counts=True)
    if (times > 1).any():
        return False
    each = np.bincount(pairs[0])
    most = int(run.max()) + 1
    return most >= 2 and bool(each.max() == most and np.mean(each == most) >= 0.9)


def _balanced(setting: Ints, times: Ints) -> bool:
    """Return whether settings are met equally often, and in no way that draws are.

    m settings k times each come from n = m k draws of any law in at most
    n! / (k!^m m^n) of all cases; in turns, in m! / m^n.
    """
    m, k, n = len(times), int(times.max()), len(setting)
    if k < 2:
        return False
    if (times != k).any():
        return m >= 10 and bool(np.mean(times == k) >= 0.9)
    in_turns = (setting.reshape(k, m) == np.arange(m)).all()  # counted as first met
    log_p = math.lgamma(m + 1)
    if not in_turns:
        log_p = math.lgamma(n + 1) - m * math.lgamma(k + 1)
    return log_p - n * math.log(m) < math.log(BALANCE_LEVEL)


# --- one after another ----------------------------------------------------------------


def _split(setting: Ints, times: Ints) -> int:
    """Return in how many more places than one settings stand."""
    return int((setting[1:] != setting[:-1]).sum()) - (len(times) - 1)


def _is_grouped(
    setting: Ints, times: Ints, columns: Mapping[str, Sequence[Any]]
) -> bool:
    """Return whether settings stand one after another, neither by chance nor sorted.

    Draws come in any order alike: m settings stand in one place each in m! times the
    product of k_i! of the n! orders. To move e runs of a setting elsewhere there are at
    most n^3 ways each: where they begin, where they end, where they go.
    """
    log_p = math.lgamma(len(times) + 1) - math.lgamma(len(setting) + 1)
    log_p += sum(math.lgamma(k + 1) for k in times.tolist())
    log_p += 3 * _split(setting, times) * math.log(len(setting))
    if log_p >= math.log(BALANCE_LEVEL):
        return False
    first = np.unique(setting, return_index=True)[1]
    return not any(
        _is_sorted([column[i] for i in first]) for column in columns.values()
    )


def _is_sorted(values: Sequence[Any]) -> bool:
    """Return whether values are in order: as numbers, or as texts."""
    as_texts = np.unique([str(value) for value in values], return_inverse=True)[1]
    plain = [v for v in values if isinstance(v, int | float)]
    as_numbers = len(plain) == len(values) and _rises_or_falls(plain)
    return as_numbers or in_order(as_texts)


def _rises_or_falls(values: Sequence[float]) -> bool:
    steps = list(pairwise(values))
    return all(a <= b for a, b in steps) or all(a >= b for a, b in steps)


def in_order(values: NDArray[Any]) -> bool:
    """Return whether values only rise, or only fall, and are not all equal."""
    ups, downs = (values[1:] > values[:-1]).any(), (values[1:] < values[:-1]).any()
    return bool(ups != downs)


def _together(setting: Ints, times: Ints) -> bool:
    """Return whether neighbours are of one setting far more often than in any order.

    Their number is nearly of Poisson's law, or of a narrower one.
    """
    from scipy import special

    n = len(setting)
    alike = int((setting[1:] == setting[:-1]).sum())
    mean = float(np.sum(times * (times - 1)) / n)
    return alike > mean and float(special.pdtrc(alike - 1, mean)) < BALANCE_LEVEL


def _apart(setting: Ints, run: Ints) -> bool:
    """Return whether settings have a seed twice far less often than chance would do.

    Dealt by chance, the pairs of runs that share both are nearly of Poisson's law.
    """
    from scipy import special

    both = np.unique(np.stack([setting, run]), axis=1, return_counts=True)[1]
    codes = (both, np.bincount(setting), np.bincount(run))
    met, *each = (float(np.sum(k * (k - 1.0) / 2)) for k in codes)
    mean = math.prod(each) / (len(setting) * (len(setting) - 1) / 2)
    return met < mean and float(special.pdtr(met, mean)) < BALANCE_LEVEL


# --- digits that nobody puts on a list ------------------------------------------------


def _is_exact(values: Floats, times: Ints) -> bool:
    """Return whether a param has another number of many digits in each setting."""
    levels = np.unique(values)
    m = len(levels)
    if m != len(times) or m < 3 or np.isnan(values).any():
        return False
    digits = np.array([_digits(v) for v in levels.tolist()])
    if np.mean(digits >= _EXACT) >= 0.9:
        return not _is_of_a_list(levels, 1e-5)
    # Of few digits some coincide by chance; half of them where 72 % of all were met. A
    # decade has 900 of three digits, and a narrower range goes in even steps.
    often = _LEVELS <= m <= _MOST_LEVELS and np.mean(times > 1) >= 0.5
    return bool(often and np.mean(digits >= _DIGITS) >= _SHARE) and not _is_of_a_list(
        levels, 0.05
    )


def _digits(value: float) -> int:
    """Return how many digits a number has; none, if it is round for a computer.

    >>> [_digits(v) for v in (0.00123, 120.0, 192.0, float(np.float32(0.1)))]
    [3, 2, 0, 1]
    """
    if math.frexp(value)[0] * 8 % 1 == 0:
        return 0  # at most 3 binary digits: 128, 192, 0.375
    with np.errstate(over="ignore", under="ignore"):
        short = np.float32(value)
    text = str(short) if float(short) == value else f"{value:.15e}"
    digits = text.lstrip("-").split("e")[0].replace(".", "").strip("0")
    return len(digits)


def is_even(levels: Floats) -> bool:
    """Return whether rising numbers go in even steps, or their logs do."""
    for form in _forms(levels):
        with np.errstate(over="ignore"):
            gaps = np.diff(form)
        if np.isfinite(gaps).all() and np.ptp(gaps) <= 0.01 * gaps.mean():
            return True
    return False


def _is_of_a_list(levels: Floats, tolerance: float) -> bool:
    """Return whether rising numbers go in even steps of which most two thirds lack.

    Of m drawn numbers each lies within `tolerance` of a step with probability 2
    tolerance: with 8 numbers and 0.05, one of the 2 m lists fits in 3e-5 of all cases.
    """
    m = len(levels)
    for form in _forms(levels):
        place = (form / 2 - form[0] / 2) / (form[-1] / 2 - form[0] / 2)
        steps = np.arange(m - 1, 3 * m)
        if m > _MANY:
            steps = steps[steps == np.rint(1 / max(np.diff(place).min(), 1e-9))]
        for n in steps:
            if np.abs(n * place - np.rint(n * place)).max() <= tolerance:
                return True
    return False


_MANY = 200  # values on a list, from which on only whole multiples of a step are tried


def _forms(levels: Floats) -> list[Floats]:
    """Return rising numbers, and their logs where they have any, if all are finite."""
    if not np.isfinite(levels).all():
        return []
    return [levels, np.log(levels)] if levels[0] > 0 else [levels]


# --- How hyperparameters were searched: drawn at random, on a grid, by an optimiser ----
#
# Nothing here asks what the values look like alone: a list such as 32, 64, 128 may well
# be drawn from at random. What random draws do not do is to hit every combination equally
# often, or to change with the trial's number.


GRID_LEVEL = 1e-3  # of one cell, an upper bound over all laws of the draws
DRIFT_LEVEL = 1e-4  # of one check: divided by the number of tests
LEAST_DRIFT = 0.1  # rank correlation; less is no optimiser, whatever the p value
FEWEST_IN_ORDER = 30  # trials, from which on the p value of a drift is trusted


@dataclass(frozen=True, slots=True)
class Settings:
    """The params of a cell: a code per value, and numbers where all values are.

    A param that is absent in some trials (the degree of a kernel that has none) has a
    code of its own there, and NaN among the numbers. `rows` are the trials that have
    params at all: others of the cell lost them, as failed runs do. `setting` is a code
    for all params together, `repeated` how surely the same setting was run again by
    design, and `in_a_row` whether the runs of each setting stand next to each other.
    """

    source: Parsed
    rows: Ints
    varying: dict[str, Ints]
    numbers: dict[str, Floats]
    setting: Ints
    repeated: Repeated
    in_a_row: bool

    @property
    def n(self) -> int:
        """How many trials were looked at."""
        return len(self.rows)

    @property
    def once(self) -> bool:
        """Whether a setting counts once, where the order of runs is looked at."""
        return self.repeated == "surely" or (self.repeated != "never" and self.in_a_row)


# --- grids ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Grid:
    """A factorial design: combinations there are and were met, and its probability."""

    combinations: int
    met: int
    times: int
    p: float


# --- drift ----------------------------------------------------------------------------


class Drift(NamedTuple):
    """A param or score of a cell that changes with the trial's number."""

    p: float
    correlation: float
    label: str
    cell: Cell
    caveat: str


class Drifts(NamedTuple):
    """What drifts, surest first; of how many series; and cells that were sorted."""

    found: list[Drift]
    tests: int
    ordered: dict[str, list[Cell]]


class Searched(NamedTuple):
    """Cells with params that vary, those on a grid or in even steps, and what drifts."""

    varied: list[Settings]
    grids: "list[tuple[Settings, Grid]]"
    steps: list[tuple[Settings, tuple[str, Floats, float]]]
    drifts: "Drifts"


def searched(trials: Columns) -> "Searched":
    """Return where params form a grid, go in even steps, or follow an optimiser."""
    labels = {p.cell: p for p in parsed(trials, "labels")}
    every = [settings_of(p, labels.get(p.cell)) for p in parsed(trials, "params")]
    varied = [s for s in every if s.varying]
    grids = [(s, grid) for s in varied if (grid := factorial(s.varying)) is not None]
    steps = [(s, hit) for s in varied if (hit := even_steps(s)) is not None]
    even = {id(s) for s, _ in (*grids, *steps)}
    free = [s for s in varied if id(s) not in even and s.n >= FEWEST_IN_ORDER]
    return Searched(varied, grids, steps, drifts(trials, free))


def settings_of(source: Parsed, labels: Parsed | None = None) -> Settings:
    """Return the params of a cell as codes and numbers."""
    # Which trials have params; all of them, where none has.
    has: dict[int, bool] = {}  # the same text was parsed once, and is one object
    for d in source.dicts:
        if id(d) not in has:
            has[id(d)] = not all(map(numbers_a_run, d))
    places = [i for i, d in enumerate(source.dicts) if has[id(d)]]
    places = places or list(range(len(source.dicts)))
    dicts = [source.dicts[i] for i in places]
    names = sorted({name for d in dicts for name in d})
    runs = {name: dicts for name in names if numbers_a_run(name)}
    columns, varying, numbers = {}, {}, {}
    for name in names:
        if name in runs:
            continue
        column = [d.get(name, ABSENT) for d in dicts]
        codes = coded(map(keyed, column))
        if codes.any():
            columns[name], varying[name] = column, codes
            if (values := _as_numbers(column)) is not None:
                numbers[name] = values
    setting = (
        coded(zip(*varying.values(), strict=True))
        if varying
        else np.zeros(len(places), int)
    )
    if labels is not None:
        tags = [labels.dicts[i] for i in places]
        runs |= {name: tags for d in tags for name in d if numbers_a_run(name)}
    by_run = [coded(keyed(d.get(name)) for d in maps) for name, maps in runs.items()]
    how, in_a_row = repetition(setting, columns, numbers, by_run)
    rows = source.rows.start + np.array(places, np.int64)
    return Settings(
        source=source,
        rows=rows,
        varying=varying,
        numbers=numbers,
        setting=setting,
        repeated=how,
        in_a_row=in_a_row,
    )


def _as_numbers(column: list[Any]) -> Floats | None:
    plain = [v for v in column if v is not ABSENT]
    if any(isinstance(v, bool) or not isinstance(v, int | float) for v in plain):
        return None
    try:
        return np.array([math.nan if v is ABSENT else float(v) for v in column])
    except OverflowError:  # a whole number beyond the floats
        return None


def factorial(varying: dict[str, Ints]) -> Grid | None:
    """Return the grid that params form, or None if they may have been drawn at random.

    Notes
    -----
    D draws from K combinations are all different with probability at most
    K! / ((K - D)! K^D), whatever the law of the draws: equal probabilities make it
    largest. Runs of the same combination with several seeds are taken as one draw,
    which only makes this larger. One param alone is no grid: continuous draws never
    repeat.
    """
    if len(varying) < 2:
        return None
    n = len(next(iter(varying.values())))
    combinations, place = 1, np.zeros(n, np.int64)
    for codes in varying.values():
        k = int(codes.max()) + 1
        combinations *= k
        if combinations > 2 * n:
            return None
        place = place * k + codes
    times = np.unique(place, return_counts=True)[1]
    met, most = len(times), int(times.max())
    if 4 * met < 3 * combinations or np.mean(times == most) < 0.9:
        return None
    log_p = (
        math.lgamma(combinations + 1)
        - math.lgamma(combinations - met + 1)
        - met * math.log(combinations)
    )
    if log_p > math.log(GRID_LEVEL):
        return None
    return Grid(combinations, met, most, math.exp(log_p))


# --- one param in even steps ----------------------------------------------------------


def even_steps(settings: Settings) -> tuple[str, Floats, float] | None:
    """Return the one param that goes in even or round steps, its values, and p.

    k values, each equally often, come from k draws with probability at most k! / k^k.
    """
    if len(settings.varying) != 1:
        return None
    (name, codes), *_ = settings.varying.items()
    values = settings.numbers.get(name)
    if values is None or np.isnan(values).any():
        return None
    levels, times = np.unique(values, return_counts=True)
    k = len(levels)
    p = math.exp(math.lgamma(k + 1) - k * math.log(k))
    if k < 5 or (times != times[0]).any() or k != int(codes.max()) + 1:
        return None
    return (name, levels, p) if is_even(levels) or _round(levels) else None


def _round(levels: Floats) -> bool:
    return all(
        len(f"{v:.15e}".lstrip("-").split("e")[0].rstrip("0.")) <= 1 for v in levels
    )


def drifts(trials: Columns, free: Sequence[Settings]) -> Drifts:
    """Return params and scores that change with the trial's number."""
    metrics = (
        {m: last_values(trials, m) for m in metrics_to_check(trials)} if free else {}
    )
    series: list[tuple[Cell, str, Floats, str]] = []
    ordered: dict[str, list[Cell]] = {}
    for settings in free:
        mine = _series(settings, metrics)
        sorted_by = [
            label for label, x in mine if in_order(x) and len(np.unique(x)) > 2
        ]
        if sorted_by:
            ordered.setdefault(sorted_by[0], []).append(settings.source.cell)
            continue
        for label, x in mine:
            cell, caveat = settings.source.cell, settings.source.caveat
            series.append((cell, label, x, caveat))
            if label in settings.numbers and len(np.unique(x)) > 2:
                # An optimiser narrows its search: how far out values lie falls.
                middle = np.abs(x - np.median(x))
                series.append((cell, f"spread of {label}", middle, caveat))
    hits = []
    for cell, label, x, caveat in series:
        rho, p = trend(x)
        if p * len(series) < DRIFT_LEVEL and abs(rho) >= LEAST_DRIFT:
            hits.append(
                Drift(p=p, correlation=rho, label=label, cell=cell, caveat=caveat)
            )
    return Drifts(sorted(hits, key=lambda hit: hit.p), len(series), ordered)


def _series(settings: Settings, metrics: dict[str, Floats]) -> list[tuple[str, Floats]]:
    """Return what may drift: numbers, the commonest choice, scores; by number.

    A setting that was run again by design counts once, or its runs would make a trend
    of whatever they share.
    """
    out: list[tuple[str, Floats]] = []
    once: Any = slice(None)
    if settings.once:
        once = np.unique(settings.setting, return_index=True)[1]
    for name, every in settings.varying.items():
        codes = every[once]
        if name in settings.numbers:
            x = settings.numbers[name][once]
            out.append((name, x[~np.isnan(x)]))
        else:
            common = codes == np.bincount(codes).argmax()
            out.append((name, common.astype(np.float64)))
    out += [(m, x) for m, full in metrics.items() if len(x := _finite(full, settings))]
    return [(name, x) for name, x in out if len(x) >= FEWEST_IN_ORDER]


def _finite(full: Floats, settings: Settings) -> Floats:
    scores = full[settings.rows]
    finite = np.isfinite(scores)
    if not settings.once:
        return scores[finite]
    of = settings.setting[finite]
    sums, times = np.bincount(of, scores[finite]), np.bincount(of)
    return np.asarray(sums[times > 0] / times[times > 0])


def metrics_to_check(trials: Columns) -> list[str]:
    """Return the metrics to look at; of what confusion counts tell, one is enough."""
    names = doors.scored(trials)
    return names if any(name in trials.metrics for name in names) else names[:1]


def midranks(values: NDArray[Any]) -> Floats:
    """Return ranks around zero; values that are tied share their mean rank.

    >>> midranks(np.array([5, 7, 7])).tolist()
    [-1.0, 0.5, 0.5]
    """
    _, place, n = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(n) - (n - 1) / 2
    return np.asarray(rank[place] - (len(values) + 1) / 2, np.float64)


def trend(values: NDArray[Any]) -> tuple[float, float]:
    """Return Spearman's correlation of values with their order, and its p value.

    The p value is twice that of the usual t approximation, which is up to 1.6 times too
    small below 1e-3 with 20 to 60 values (measured).
    """
    from scipy import special

    x, t = midranks(values), np.arange(len(values)) - (len(values) - 1) / 2
    rho = float(x @ t / np.sqrt((x @ x) * (t @ t))) if np.any(x) else 0.0
    rest = max(1 - rho * rho, 1e-300)
    df = len(values) - 2
    return rho, min(4 * float(special.stdtr(df, -abs(rho) * np.sqrt(df / rest))), 1.0)
