"""What replicates what: independent runs, repeated settings, shared blocks, a search.

A design names labels and params, and codes are made of their values when somebody asks:
it survives every choice among the trials, and is a short record wherever it is kept.
"""

import json
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from curvewise.errors import CurvewiseError, Keyword, listed, shortened, unknown
from curvewise.text import count
from curvewise.trials.columns import Bools, Columns, Ints, Ragged, to_dicts, to_texts
from curvewise.trials.names import is_param
from curvewise.trials.settings import (
    GRID_LEVEL,
    RUN_WORDS,
    Searched,
    Settings,
    cell_codes,
    cells,
    coded,
    hashes,
    keyed,
    numbers_a_run,
    parsed,
    searched,
)
from curvewise.trials.settings import pieces as pieces_of
from curvewise.trials.settings import words as words_in

Known: TypeAlias = Literal["stated", "engine", "inferred"]
Search: TypeAlias = Literal["random", "grid", "sequence"]
Unit: TypeAlias = Literal["run", "cluster", "crossed", "single"]
Span: TypeAlias = tuple[int, int]

PARAMS, NUMBER = "params", "number"  # all params together, and the trial's number
_PARTS = ("block", "cluster", "search")
_CROSSED = ("params", "train", "test", "data", "seed")  # labels of an engine's crossing
_LOOKED_AT = 2000  # trials; a crossing shows in fewer
_FOLDS = frozenset({"fold", "split", "outer", "inner", "partition"})
SETTINGS = frozenset({"config", "configuration", "setting", "hparam", "hyperparameter"})


@dataclass(frozen=True, slots=True)
class Design:
    """What replicates what in a set of trials; `str` says it in one line.

    Parameters
    ----------
    block : tuple of str
        Labels or params that are shared across algorithms by design: folds, splits,
        draws of data, items. ``"number"`` is the trial's number.
    cluster : tuple of str
        Labels or params whose values make a cluster of runs that are not independent of
        each other: the seeds of one setting. ``"params"`` is all params together.
    search : {"random", "grid", "sequence"} or None
        How hyperparameters were chosen: drawn, on a grid, or by an optimiser.
    known : mapping of str to {"stated", "engine", "inferred"}
        For ``"block"``, ``"cluster"`` and ``"search"``, how that is known.
    crossed : tuple of str
        Draws that the trials of an experiment share, where it crossed them.
    runs, units, repeats : (int, int)
        Runs of an algorithm on a task, independent units among them (of runs in
        clusters: the clusters), and runs of a unit: the fewest and the most.
    blocks_met : (int, int)
        Blocks of a task that all its algorithms share: the fewest and the most.
    grid : tuple of int
        How many values each param of a grid has.
    repeated_by : str
        What the runs of a cluster are called: seeds, folds or runs.
    suggested : tuple of (str, str)
        Keywords of `curvewise.read` and names that may apply, and that nobody stated.
    clustered : tuple of str
        The algorithms of which an inferred cluster is certain, and of which alone it
        holds; empty: all of them.
    averaged : tuple of str
        The algorithms whose runs come in clusters, where those of others do not.
    unnamed : int
        Runs of theirs without the names that make clusters: each counts as one.
    seed : str
        Of the experiment within which trials of one number met the same data.
    """

    block: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    search: Search | None = None
    known: Mapping[str, Known] = field(default_factory=dict, hash=False)
    crossed: tuple[str, ...] = ()
    runs: Span = (0, 0)
    units: Span = (0, 0)
    repeats: Span = (1, 1)
    blocks_met: Span = (0, 0)
    grid: tuple[int, ...] = ()
    repeated_by: str = "runs"
    suggested: tuple[tuple[str, str], ...] = ()
    clustered: tuple[str, ...] = ()
    averaged: tuple[str, ...] = ()
    unnamed: int = 0
    seed: str = ""

    @property
    def unit(self) -> Unit:
        """What is independent: a run, a cluster of runs, or nothing as it stands."""
        if self.crossed and not self.cluster:
            return "crossed"
        if self.cluster and self.repeats[1] > 1:
            return "cluster"
        return "single" if self.runs[1] == 1 else "run"

    @property
    def is_known(self) -> bool:
        """Whether nothing is left to be inferred."""
        return all(part in self.known for part in _PARTS)

    @property
    def noun(self) -> str:
        """What a cluster is called."""
        by_params = PARAMS in self.cluster or any(
            words_in(name) & SETTINGS or is_param(name) for name in self.cluster
        )
        return "setting" if by_params else "cluster"

    def blocks(self, trials: Columns) -> Ints:
        """Return a code per trial: the same within a task is the same block; -1: none."""
        if not self.block:
            return np.full(len(trials), -1, np.int64)
        codes, there = _codes(trials, self.block)
        return np.where(there, codes, -1)

    def clusters(self, trials: Columns) -> Ints:
        """Return a code per trial: the same within a task is the same cluster.

        Algorithms that ran the same setting have the same code. A run without the names
        that make clusters is one of its own, and so is each run of an algorithm that has
        one setting only: that setting was not drawn, and its runs are independent. One
        cluster of another kind, such as a site, is one unit.
        """
        alone = np.arange(len(trials))
        if not self.cluster or not len(trials):
            return alone
        codes, there = _codes(trials, self.cluster)
        there &= self._holds_for(trials)
        most = int(codes.max()) + 1
        if self.noun == "setting" or self.known.get("cluster") != "stated":
            cell = cell_codes(trials)
            # The cells of each of their clusters.
            met = np.unique(cell[there] * most + codes[there]) // most
            there &= np.bincount(met, minlength=int(cell.max()) + 1)[cell] != 1
        return np.where(there, codes, most + alone)

    def _holds_for(self, trials: Columns) -> Bools:
        """Return which trials are of algorithms that the cluster holds for."""
        if not self.clustered:
            return np.ones(len(trials), bool)
        codes = [i for i, a in enumerate(trials.algorithms) if a in self.clustered]
        return np.isin(trials.core.algorithm, codes)

    @property
    def caution(self) -> str:
        """What an answer says whose values are the means of clusters; else nothing."""
        if self.unit != "cluster":
            return ""
        noun, (least, most) = self.noun, self.units
        each = f"each of {_span(self.units)} {noun}s" if most > 1 else f"one {noun}"
        of = f" of {listed(self.averaged, most=3)}" if self.averaged else ""
        sentences = [
            f"{_span(self.repeats)} runs of {each}{of} were averaged: intervals and "
            f"quantiles are for {noun}s."
        ]
        if self.unnamed:
            verb = "counts as one" if self.unnamed == 1 else "count as one each"
            sentences.append(f"{self._unnamed()} {verb}.")
        if least == 1:
            sentences.append(f"One {noun} shows nothing of how {noun}s differ.")
        return " ".join(sentences)

    def _unnamed(self) -> str:
        names = " or ".join(shortened(name, 40) for name in self.cluster)
        return f"{count(self.unnamed, 'run')} without {names}"

    def record(self) -> dict[str, Any]:
        """Return what is kept of a design: names and how they are known, for JSON."""
        known = {
            part: how
            for part, how in self.known.items()
            if how != "inferred" or getattr(self, part)
        }
        fields: dict[str, Any] = {
            part: list(value) if isinstance(value, tuple) else value
            for part in known
            for value in (getattr(self, part),)
        }
        if not fields:
            return {}
        fields["known"] = known
        if self.clustered and "cluster" in known:
            fields["clustered"] = list(self.clustered)
        if self.grid and "search" in known:
            fields["grid"] = list(self.grid)
        if self.crossed:
            fields["crossed"] = list(self.crossed)
        return fields | ({"seed": self.seed} if self.seed else {})

    @property
    def stated(self) -> dict[str, list[str]]:
        """The block and the cluster that somebody stated."""
        return {
            part: list(getattr(self, part))
            for part in ("block", "cluster")
            if self.known.get(part) == "stated"
        }

    def __str__(self) -> str:
        if not self.runs[1]:
            return "no runs"
        parts = [self._units(), self._blocks(), self._search(), *self._suggestions()]
        return "; ".join(filter(None, parts))

    def _units(self) -> str:
        if self.unit == "single":
            return "one run per algorithm"
        if self.unit == "crossed":
            return f"runs share draws: {' x '.join(self.crossed)} crossed"
        if self.unit == "run":
            return f"independent runs, {_span(self.runs)} each"
        names = " and ".join(shortened(name, 40) for name in self.cluster)
        of = f" of {listed(self.averaged, most=3)}" if self.averaged else ""
        more = f", and {self._unnamed()}" if self.unnamed else ""
        one = self.units == (1, 1)
        return (
            f"{_span(self.units)} {self.noun}{'' if one else 's'} x "
            f"{_span(self.repeats)} {self.repeated_by}{of}: clusters by {names}; "
            f"{_span(self.units)} independent {'unit' if one else 'units'} per "
            f"algorithm{more}"
        )

    def _blocks(self) -> str:
        if not self.block:
            return ""
        if self.block == (NUMBER,):
            return "trials of one number met the same data (blocks)"
        names = " x ".join(f"{shortened(name, 40)}s" for name in self.block)
        return f"{_span(self.blocks_met)} {names} shared by all algorithms (blocks)"

    def _search(self) -> str:
        if self.search == "random":
            return "params drawn at random"
        if self.search == "grid":
            sizes = " x ".join(map(str, self.grid))
            return f"a grid of {sizes} params" if sizes else "a grid of params"
        if self.search == "sequence":
            return f"an optimiser's sequence of {_span(self.runs)} trials"
        return ""

    def _suggestions(self) -> list[str]:
        phrases = {
            "block": "'{}' may be a block",
            "cluster": "'{}' may make clusters",
        }
        return [
            "settings may coincide"
            if (part, name) == ("cluster", PARAMS)
            else phrases[part].format(shortened(name, 40))
            for part, name in self.suggested
        ]


def _span(span: Span) -> str:
    least, most = span
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


# --- making one --------------------------------------------------------------------------


def of_engine(
    experiment: object, vary: Iterable[str], cross: Iterable[str], *, has_params: bool
) -> Design:
    """Return the design of an experiment: trials of one number meet the same data."""
    cross = tuple(cross)
    changes = {*vary, *cross}
    return Design(
        block=(NUMBER,) if changes & {"train", "test", "data"} else (),
        search="random" if has_params and PARAMS in changes else None,
        known=dict.fromkeys(_PARTS, "engine"),
        crossed=cross,
        seed=str(experiment),
    )


def from_record(record: object) -> Design:
    """Return the design that was kept as a record; an empty one where it is none."""
    if not isinstance(record, Mapping) or not isinstance(record.get("known"), Mapping):
        return Design()
    known: dict[str, Known] = {}
    fields: dict[str, Any] = {"seed": str(record.get("seed", ""))}
    for part, how in record["known"].items():
        value = record.get(part)
        names = isinstance(value, list) and all(isinstance(name, str) for name in value)
        usual = value is None or value in get_args(Search)
        if how in get_args(Known) and (usual if part == "search" else names):
            known[part] = how
            fields[part] = value if part == "search" else tuple(value or ())
    for part, kind in (("grid", int), ("crossed", str), ("clustered", str)):
        values = record.get(part, [])
        if isinstance(values, list) and all(isinstance(one, kind) for one in values):
            fields[part] = tuple(values)
    return Design(known=known, **fields)


def joined(parts: Sequence[Design]) -> Design:
    """Return the design of several sets of trials together; refuse a contradiction."""
    first = parts[0]
    fields: dict[str, Any] = {}
    known: dict[str, Known] = {}
    for part in _PARTS:
        # Trials of one number met the same data within one experiment only.
        where = [p.seed if part == "block" else "" for p in parts]
        each = {
            (getattr(p, part), p.known.get(part), seed)
            for p, seed in zip(parts, where, strict=True)
        }
        if len(each) == 1:
            fields[part] = getattr(first, part)
            if part in first.known and (
                fields[part] or first.known[part] != "inferred"
            ):
                known[part] = first.known[part]
            continue
        stated = {value for value, how, _ in each if how == "stated"}
        if len(stated) > 1:
            one, *others = sorted(map(list, stated), key=repr)
            more = (
                piece for other in others for piece in (" and ", Keyword(part, other))
            )
            raise CurvewiseError(
                "These sets of trials were read with ",
                Keyword(part, one),
                *more,
                ". Read them alike.",
            )
        inferred = {value for value, how, _ in each if how == "inferred" and value}
        if part == "cluster" and stated and inferred - stated:
            # Raise where some trials were read with clusters, and others show other
            # ones.
            raise CurvewiseError(
                "These sets of trials have ",
                Keyword("cluster", list(stated.pop())),
                ", as was stated, and ",
                Keyword("cluster", list(inferred.pop())),
                ", as others show. Read them alike.",
            )
        if stated:
            fields[part], known[part] = stated.pop(), "stated"
        elif part == "cluster" and len(inferred) == 1:
            fields[part], known[part] = inferred.pop(), "inferred"
    fields["clustered"] = _holding(parts) if known.get("cluster") == "inferred" else ()
    same_seed = len({p.seed for p in parts}) == 1
    grid = first.grid if len({p.grid for p in parts}) == 1 else ()
    return Design(
        known=known,
        crossed=tuple(dict.fromkeys(role for p in parts for role in p.crossed)),
        grid=grid,
        seed=first.seed if same_seed else "",
        **fields,
    )


def _holding(parts: Sequence[Design]) -> tuple[str, ...]:
    """Return the algorithms that inferred clusters of some parts hold for; (): all."""
    each = [p.clustered for p in parts if p.cluster]
    return tuple(sorted({a for names in each for a in names})) if all(each) else ()


def stating(
    trials: Columns,
    before: Design,
    block: str | Iterable[str] | None,
    cluster: str | Iterable[str] | None,
) -> Design:
    """Return a design with what somebody states; refuse names that are not there."""
    parts = {"block": block, "cluster": cluster}
    if cluster is not None:
        before = replace(before, clustered=())
    names = {part: _named(part, v) for part, v in parts.items() if v is not None}
    known: dict[str, Known] = {**before.known, **dict.fromkeys(names, "stated")}
    fields: dict[str, Any] = dict(names)
    if gone := missing(trials, [name for labels in names.values() for name in labels]):
        raise unknown("label or param", gone[0], _names_in(trials, len(trials)))
    rest = tuple(hint for hint in before.suggested if hint[0] not in names)
    design = replace(before, known=known, suggested=rest, **fields)
    if names.get("block"):
        _refuse_no_blocks(trials, design)
    return design


def _named(part: str, value: str | Iterable[str]) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    names = list(names) if isinstance(names, Iterable) else [names]
    if any(not isinstance(name, str) for name in names):
        raise CurvewiseError(
            f"{part} is {value!r}. Pass the name of a label or param, or a list of them.",
            argument=part,
            value=value,
        )
    return tuple(dict.fromkeys(names))


def _refuse_no_blocks(trials: Columns, design: Design) -> None:
    """Raise where a block is no block: not shared, or met again by the same run."""
    codes, core = design.blocks(trials), trials.core
    what = Keyword("block", list(design.block))
    rows = np.flatnonzero(codes >= 0)
    most = int(codes.max(initial=0)) + 1
    task = core.task[rows].astype(np.int64)
    met = np.unique(np.stack([task * most + codes[rows], core.algorithm[rows]]), axis=1)
    several = len(np.unique(cell_codes(trials))) > len(trials.tasks)
    if several and (np.unique(met[0], return_counts=True)[1] < 2).all():
        others = [("block", name) for name in shared_labels(trials)]
        fixes = [{part: name} for part, name in others if (name,) != design.block]
        raise CurvewiseError(
            what,
            " should be shared by algorithms, and no two of them have the same value "
            "on a task.",
            fixes=[*fixes, {"block": []}],
        )
    if not set(design.block) <= set(design.cluster):
        _refuse_twins(trials, design, codes, what)


def _refuse_twins(trials: Columns, design: Design, codes: Ints, what: Keyword) -> None:
    """Raise where a block holds two runs of an algorithm that nothing tells apart."""
    details, block = trials.details(), set(design.block)
    cell = cell_codes(trials)
    rest_of: dict[str, str] = {}
    row_of: dict[tuple[int, int, str, bytes], int] = {}
    params = pieces_of(details.params, np.arange(len(trials)))
    for row, (text, param) in enumerate(
        zip(to_texts(details.labels), params, strict=True)
    ):
        if codes[row] < 0:
            continue
        if text not in rest_of:
            labels = json.loads(text) if text else {}
            rest = {name: value for name, value in labels.items() if name not in block}
            rest_of[text] = json.dumps(rest)
        key = int(cell[row]), int(codes[row]), rest_of[text], param
        if key in row_of:
            one, other = trials.key(row_of[key]), trials.key(row)
            raise CurvewiseError(
                what,
                f": the trials {one[2]} and {other[2]} of '{shortened(one[1])}' on "
                f"'{shortened(one[0])}' are of one block, and no label or param tells "
                f"them apart.",
                fixes=[{"cluster": list(design.block)}, {"block": []}],
            )
        row_of[key] = row


# --- what the trials tell ----------------------------------------------------------------


def completed(trials: Columns, before: Design) -> Design:
    """Return a design with all that these trials tell, and nobody stated."""
    if not len(trials):
        return replace(before, **_NOTHING)
    design = before
    if not before.is_known or _is_open(before):
        design = _inferred(trials, before)
    design = replace(design, crossed=_crossed(trials, before))
    if design.crossed and design.known.get("cluster") == "inferred":
        design = replace(design, cluster=(), clustered=(), suggested=())
    return _counted(trials, design)


_NOTHING: dict[str, Any] = {
    **dict.fromkeys(("runs", "units", "blocks_met"), (0, 0)),
    "repeats": (1, 1),
    "repeated_by": "runs",
    "averaged": (),
    "unnamed": 0,
}


def _is_open(before: Design) -> bool:
    """Return whether clusters are certain of some parts, and nobody saw the whole."""
    inferred = before.known.get("cluster") == "inferred"
    return inferred and bool(before.clustered) and not before.runs[1]


def _inferred(trials: Columns, before: Design) -> Design:
    """Return a design with what is certain about clusters and the search."""
    search = searched(trials)
    fields: dict[str, Any] = {}
    known: dict[str, Known] = {**before.known}
    suggested: list[tuple[str, str]] = []
    if "cluster" not in before.known or _is_open(before):
        known["cluster"] = "inferred"
        sure, perhaps = _repeating(trials, search)
        sure |= {*before.clustered}
        if sure:
            fields["cluster"], fields["clustered"] = (PARAMS,), tuple(sorted(sure))
        if perhaps - sure:
            suggested.append(("cluster", PARAMS))
        if not sure | perhaps:
            suggested += [("cluster", name) for name in _repeated_labels(trials)]
    if "search" not in before.known:
        known["search"] = "inferred"
        fields["search"], fields["grid"] = _kind_of(search)
    if "block" not in before.known:
        known["block"] = "inferred"
        stated = {*before.cluster}
        folds = [name for name in shared_labels(trials) if name not in stated]
        suggested += [("block", name) for name in folds]
    return replace(before, known=known, suggested=tuple(suggested), **fields)


def _repeating(trials: Columns, search: Searched) -> tuple[set[str], set[str]]:
    """Return the algorithms that surely repeat settings by design, and that may do so.

    On several tasks most must be sure: one of many may look so by chance.
    """
    how: dict[str, list[str]] = {}
    for settings in search.varied:
        how.setdefault(settings.source.cell.algorithm, []).append(
            _repeated(trials, settings)
        )
    each = {a: [one for one in words if one != "never"] for a, words in how.items()}
    sure = {a for a, words in each.items() if 2 * words.count("surely") > len(words)}
    return sure, {a for a, words in each.items() if words} - sure


def _repeated(trials: Columns, settings: Settings) -> str:
    """Return how surely settings of a cell were run again, beyond what was parsed."""
    cell = settings.source.cell
    if settings.source.whole or settings.repeated != "never":
        return settings.repeated
    params = trials.details().params
    rows = np.arange(cell.start, cell.stop)
    rows = rows[params.lengths[rows] > 0]
    times = np.unique(hashes(rows, params), return_counts=True)[1]
    if len(times) in (1, len(rows)):
        return "never"
    return "surely" if times.min() == times.max() else "perhaps"


def _kind_of(search: Searched) -> tuple[Search | None, tuple[int, ...]]:
    if search.grids:
        settings, _ = search.grids[0]
        return "grid", tuple(
            int(codes.max()) + 1 for codes in settings.varying.values()
        )
    if any(p < GRID_LEVEL for _, (_, _, p) in search.steps):
        return "grid", (len(search.steps[0][1][1]),)
    return ("sequence" if search.drifts.found else None), ()


def _repeated_labels(trials: Columns) -> list[str]:
    """Return labels that are called settings, and come again within an algorithm."""
    out: dict[str, None] = {}
    for labels in parsed(trials, "labels"):
        for name in dict.fromkeys(name for d in labels.dicts for name in d):
            if words_in(name) & SETTINGS and name not in out:
                met = len({keyed(d.get(name)) for d in labels.dicts})
                if 1 < met < len(labels.dicts):
                    out[name] = None
    return list(out)


def shared_labels(trials: Columns) -> list[str]:
    """Return labels called folds whose values all algorithms of each task share."""
    met: dict[tuple[str, str], list[set[Hashable]]] = {}
    for labels in parsed(trials, "labels"):
        for name in {name for d in labels.dicts for name in d}:
            if numbers_a_run(name) and words_in(name) & _FOLDS:
                values = {keyed(d[name]) for d in labels.dicts if name in d}
                met.setdefault((name, labels.cell.task), []).append(values)
    many = np.bincount([trials.tasks.index(cell.task) for cell in cells(trials)])
    shared: dict[str, bool] = {}
    for (name, task), sets in met.items():
        same = all(one == sets[0] for one in sets) and len(sets[0]) > 1
        whole = len(sets) == many[trials.tasks.index(task)] > 1
        shared[name] = shared.get(name, True) and same and whole
    return sorted(name for name, is_shared in shared.items() if is_shared)


def _crossed(trials: Columns, before: Design) -> tuple[str, ...]:
    """Return which draws the trials share, by how an experiment labels them."""
    if before.known.get("block") == "engine" and not before.crossed:
        return ()  # the experiment crossed nothing: no need to look
    core = trials.core
    first = (core.task == core.task[0]) & (core.algorithm == core.algorithm[0])
    rows = np.flatnonzero(first)[:_LOOKED_AT]
    texts = set(to_texts(trials.details().labels.take(rows)))
    labels = [json.loads(text) for text in texts if text]
    levels = {
        role: len({keyed(one[role]) for one in labels if role in one})
        for role in _CROSSED
    }
    # Draws are numbered; a model's size under the name "params" is no draw.
    most = len(core)
    numbered = {
        role: all(type(v) is int and 0 <= v < most for v in values)
        for role, values in ((r, [d[r] for d in labels if r in d]) for r in _CROSSED)
    }
    shared = tuple(role for role, n in levels.items() if n and numbered[role])
    is_repeated = any(levels[role] < len(labels) for role in shared)
    return shared if len(shared) > 1 and is_repeated else ()


def _counted(trials: Columns, design: Design) -> Design:
    """Return a design with how many runs, units and blocks these trials have."""
    cell = cell_codes(trials)
    runs = np.bincount(cell)
    fields: dict[str, Any] = _NOTHING | {"runs": _ends(runs), "units": _ends(runs)}
    if design.cluster:
        fields |= _counted_clusters(trials, design, cell)
    if design.block:
        # How many blocks of a task all of its algorithms share.
        codes, core = design.blocks(trials), trials.core
        many = []
        for task in range(len(trials.tasks)):
            here = (core.task == task) & (codes >= 0)
            algorithms = len(np.unique(core.algorithm[core.task == task]))
            met = np.unique(np.stack([codes[here], core.algorithm[here]]), axis=1)[0]
            many.append(
                int((np.unique(met, return_counts=True)[1] == algorithms).sum())
            )
        fields["blocks_met"] = min(many), max(many)
    if len(runs) == len(trials.tasks):  # one algorithm each: nobody shares anything
        hints = [hint for hint in design.suggested if hint[0] != "block"]
        fields["suggested"] = tuple(hints)
    return replace(design, **fields)


def _counted_clusters(trials: Columns, design: Design, cell: Ints) -> dict[str, Any]:
    """Return how many clusters there are, where any algorithm has several runs of one."""
    codes, there = design.clusters(trials), _codes(trials, design.cluster)[1]
    most = int(codes.max()) + 1
    pairs, times = np.unique(cell[there] * most + codes[there], return_counts=True)
    of = pairs // most
    many = int(cell.max()) + 1
    each = np.bincount(of, minlength=many)
    # A cell of one setting is no cluster: what others repeat is told.
    several = np.bincount(cell[there], minlength=many) > each
    if not several.any():
        return {}
    who = dict.fromkeys(trials.core.algorithm[several[cell]].tolist())
    names = tuple(trials.algorithms[code] for code in who)
    return {
        "units": _ends(each[several]),
        "repeats": _ends(times[several[of]]),
        "repeated_by": _called(trials, cell, codes, several[cell] & there),
        "averaged": names if len(names) < len(trials.algorithms) else (),
        "unnamed": int((several[cell] & ~there).sum()),
    }


def _ends(numbers: Ints) -> Span:
    return int(numbers.min()), int(numbers.max())


def _called(trials: Columns, cell: Ints, codes: Ints, among: Bools) -> str:
    """Return what the runs of the first cluster differ in: seeds, folds, or just runs."""
    row = int(np.flatnonzero(among)[0])
    same = np.flatnonzero((cell == cell[row]) & (codes == codes[row]))[:_LOOKED_AT]
    details = trials.details()
    columns = (details.labels, details.params)
    for dicts in [to_dicts(column.take(same)) for column in columns]:
        names = {name for d in dicts for name in d}
        for name in sorted(names, key=lambda n: ("seed" not in words_in(n), n)):
            values = {keyed(d.get(name)) for d in dicts}
            if len(values) == len(same) and numbers_a_run(name):
                return "seeds" if "seed" in words_in(name) else f"{name}s"
    return "runs"


# --- codes -------------------------------------------------------------------------------


def _codes(trials: Columns, names: Sequence[str]) -> tuple[Ints, Bools]:
    """Return a code per trial for the values of these names, and who has all of them."""
    codes, there = np.zeros(len(trials), np.int64), np.ones(len(trials), bool)
    for name in names:
        values, known = _column(trials, name)
        together = codes * (int(values.max(initial=0)) + 1) + values
        codes = np.unique(together, return_inverse=True)[1].astype(np.int64)
        there &= known
    return codes, there


def _column(trials: Columns, name: str) -> tuple[Ints, Bools]:
    """Return a code for each trial's value of a label or param, and who has one."""
    everybody = np.ones(len(trials), bool)
    if name == NUMBER:
        return np.unique(trials.core.number, return_inverse=True)[1], everybody
    details = trials.details()
    if name == PARAMS and len(details.params.flat):
        return _settings(details.params)
    kinds = [_values(texts, name) for texts in (details.labels, details.params)]
    values, there = next((pair for pair in kinds if pair[1].any()), kinds[0])
    return values, there


# What no name that numbers a run is without; texts without it need not be parsed.
_MAY_NUMBER = re.compile(
    rb"seed|state|" + "|".join(sorted(RUN_WORDS)).encode(), re.IGNORECASE
)


def _settings(texts: Ragged) -> tuple[Ints, Bools]:
    """Return a code for each trial's params, but for those that number a run; who has any.

    Where nobody has any, all have the same: none.
    """
    rows = np.arange(len(texts))
    there = texts.lengths > 0
    if not _MAY_NUMBER.search(texts.flat.tobytes()):
        codes = np.unique(hashes(rows, texts), return_inverse=True)[1]
        return codes.astype(np.int64), there
    plain: dict[bytes, str] = {}
    for text in pieces_of(texts, rows):
        if text not in plain:
            plain[text] = _without_runs(text)
    settings = [plain[text] for text in pieces_of(texts, rows)]
    there = np.array([text != "{}" for text in settings], bool)
    return coded(settings), there if there.any() else ~there


def _without_runs(text: bytes) -> str:
    params = json.loads(text or b"{}")
    return json.dumps({n: v for n, v in params.items() if not numbers_a_run(n)})


def _values(texts: Ragged, name: str) -> tuple[Ints, Bools]:
    value_of: dict[bytes, Hashable] = {b"": None}
    out: list[Hashable] = []
    for text in pieces_of(texts, np.arange(len(texts))):
        if text not in value_of:
            fields = json.loads(text)
            value_of[text] = (keyed(fields[name]),) if name in fields else None
        out.append(value_of[text])
    return coded(out), np.array([value is not None for value in out], bool)


def missing(trials: Columns, names: Sequence[str]) -> list[str]:
    """Return the names that no label or param has."""
    gone = [name for name in names if name not in (PARAMS, NUMBER)]
    for most in (_LOOKED_AT, len(trials)):  # most names show in the first trials
        if gone and len(trials):
            there = _names_in(trials, most)
            gone = [name for name in gone if name not in there]
    return gone


def _names_in(trials: Columns, most: int) -> dict[str, None]:
    """Return the names of the labels and params of the first trials."""
    rows = np.arange(min(most, len(trials)))
    details = trials.details()
    names: dict[str, None] = {}
    for column in (details.labels, details.params):
        for text in set(pieces_of(column, rows)):
            names |= dict.fromkeys(json.loads(text)) if text else {}
    return names
