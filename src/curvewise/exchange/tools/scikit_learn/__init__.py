"""Results of scikit-learn: searches, cross-validation, learning curves, confusion matrices.

Every form may stand alone, for one estimator, or in a dict from names of algorithms.
"""

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from curvewise.errors import CurvewiseError, Verbatim, listed, shortened
from curvewise.exchange.runs import Asked, Runs, Sheet, joined_scalars
from curvewise.exchange.tools.scikit_learn.counts import counted
from curvewise.exchange.tools.scikit_learn.forms import (
    column,
    form_of,
    is_frame,
    names_of,
)
from curvewise.metrics import Floats, find
from curvewise.trials.trial import ONLY

# A run: its row of the table, and its curves by metric.
Run: TypeAlias = tuple[dict[str, Any], dict[str, tuple[Floats, Floats]]]

_RESOURCES = "n_resources"  # what halving gives a candidate


def fits_table(table: pa.Table) -> bool:
    """Return whether a table is one of `cv_results_`."""
    return form_of(table) == "cv_results"


def read_table(table: pa.Table, name: str, asked: Asked) -> Runs:
    """Return one run per candidate of a search whose results were kept as a table."""
    source = {c: table.column(c).to_pylist() for c in table.column_names}
    return _runs(name, {ONLY: ("cv_results", source)}, asked)


def fits_object(source: object) -> bool:
    """Return whether these are results of scikit-learn, or a dict of such by name."""
    forms = [form for form, _ in _forms(source).values()]
    if None in forms:
        return any(form not in (None, "confusion") for form in forms)
    return bool(forms)


def read_object(source: object, asked: Asked) -> Runs | Sheet:
    """Return runs: of candidates, of folds, or of values of a hyperparameter."""
    found = _forms(source)
    kinds = {form or "of another kind" for form, _ in found.values()}
    if len(kinds) > 1:
        shown = "; ".join(f"'{shortened(n)}' {form}" for n, (form, _) in found.items())
        raise CurvewiseError(
            f"The dict holds results of several kinds: {shown}. Pass one kind at a time, "
            f"and nothing else."
        )
    if kinds == {"confusion"}:
        return counted({name: own for name, (_, own) in found.items()})
    return _runs(f"scikit-learn's {kinds.pop()}", found, asked)


def _forms(source: object) -> dict[str, tuple[str | None, Any]]:
    """Return results by algorithm, each with its form; None for one that has none."""
    if form := form_of(source):
        return {_own_name(source): (form, source)}
    if not isinstance(source, Mapping):
        return {}
    return {str(name): (form_of(own), own) for name, own in source.items()}


def _own_name(source: object) -> str:
    """Return what a search calls its estimator; the last of a pipeline."""
    estimator: Any = getattr(source, "estimator", None)
    if is_frame(source) or estimator is None or not hasattr(source, "cv_results_"):
        return ONLY
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else estimator
    return type(last).__name__


# --- runs --------------------------------------------------------------------------------


def _runs(source: str, found: Mapping[str, tuple[Any, Any]], asked: Asked) -> Runs:
    rows: list[dict[str, Any]] = []
    parts: list[tuple[int, str, Floats, Floats]] = []
    steps = ""
    for name, (form, own) in found.items():
        runs, steps = _read(form, own, asked)
        for row, curves in runs:
            kept = {n: c for n, c in curves.items() if asked.wants(n)}
            # A run of which nothing is a number has failed; else NaN is one of its scores.
            if all(np.isnan(values).all() for _, values in kept.values()):
                kept = {}
            parts += [(len(rows), metric, at, v) for metric, (at, v) in kept.items()]
            prefix = "" if len(found) == 1 else f"{name} "
            rows.append({"algorithm": name} | row | {"run": f"{prefix}{row['run']}"})
    if asked.step not in (None, steps):
        have = f"counts steps by '{steps}'" if steps else "has no steps"
        raise CurvewiseError(
            f"step is '{shortened(asked.step)}', and {source} {have}. Leave it out."
        )
    scalars = joined_scalars(parts)
    return Runs(
        source,
        _table(rows),
        scalars,
        usual={"algorithm": "algorithm"},
        # Scorers of scikit-learn are made so, losses too: neg_log_loss.
        meant=dict.fromkeys(scalars.names, "higher"),
        steps=steps,
    )


def _read(form: str, own: Any, asked: Asked) -> tuple[list[Run], str]:
    """Return the runs of one estimator, and what their steps count."""
    if form in ("search", "cv_results"):
        results = own.cv_results_ if form == "search" else own
        halving = _RESOURCES in names_of(results)
        return _candidates(results), _RESOURCES if halving else ""
    if form == "cross_validate":
        return _folds(own), ""
    if form == "learning_curve":
        return _learning(own), "size"
    return _validation(own, asked), ""


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({n: _cells([row.get(n) for row in rows]) for n in names})


def _cells(values: list[Any]) -> pa.Array:
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    if all(v is None or isinstance(v, bool | int | float | str) for v in plain):
        try:
            return pa.array(plain)
        except (pa.ArrowException, OverflowError):
            pass
    return pa.array([None if v is None else _text(v) for v in plain])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else shortened(value, 200)


# --- searches ----------------------------------------------------------------------------


def _candidates(source: Any) -> list[Run]:
    """Return one run per candidate: its score is the mean over the folds.

    Folds of a candidate share its hyperparameters, and are no runs of their own. With
    halving, a candidate has a curve over its resources, and ends where it was dropped.
    """
    names = names_of(source)
    columns = {n: column(source, n) for n in names}
    lengths = {len(own) for own in columns.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise CurvewiseError(
            f"The columns of cv_results_ have {listed(sorted(lengths))} rows. Pass it as "
            f"it came, with one row for each of at least one candidate."
        )
    params = _params(columns)
    scores = {
        n: _floats(columns[n], n)
        for n in names
        if n.startswith(("mean_test_", "mean_train_"))
    }
    at = np.zeros(len(params))
    if halving := _RESOURCES in columns:
        at = _floats(columns[_RESOURCES], _RESOURCES)
    places: dict[str, list[int]] = {}
    for i, one in enumerate(params):
        key = json.dumps(one, sort_keys=True, default=str) if halving else str(i)
        places.setdefault(key, []).append(i)
    last = max((own[-1] for own in places.values()), key=lambda i: at[i])
    runs: list[Run] = []
    for number, own in enumerate(places.values()):
        final = own[-1]
        row: dict[str, Any] = {"run": f"candidate {number}"}
        row |= {f"params.{n}": v for n, v in params[final].items()}
        row |= {n: columns[n][final] for n in names if n.startswith("split")}
        if "mean_fit_time" in columns:
            seconds = _floats(columns["mean_fit_time"], "mean_fit_time")
            row["seconds"] = float(seconds[own].sum())
        if halving:
            row["status"] = "finished" if at[final] == at[last] else "pruned"
        curves = {_score_name(n): (at[own], v[own]) for n, v in scores.items()}
        runs.append((row, curves))
    return runs


def _params(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the hyperparameters of each candidate, those that it does not have left out.

    Columns beside the dicts hold the same; in a file they are all there is.
    """
    own = columns.get("params")
    if own is not None and all(isinstance(one, Mapping) for one in own):
        return [{str(n): v for n, v in one.items()} for one in own]
    # Of a table, "params.C" is what became of the dicts.
    names = [n for n in columns if n.startswith("param_")]
    n_rows = len(next(iter(columns.values())))
    return [
        {
            n.removeprefix("param_"): columns[n][i]
            for n in names
            if columns[n][i] is not None and columns[n][i] == columns[n][i]
        }
        for i in range(n_rows)
    ]


def _score_name(name: str) -> str:
    """Return what a score is called: "mean_test_recall" is "recall".

    >>> _score_name("mean_train_score"), _score_name("test_f1")
    ('train_score', 'f1')
    """
    return name.removeprefix("mean_").removeprefix("test_")


# --- cross-validation and curves ---------------------------------------------------------


def _folds(source: Any) -> list[Run]:
    """Return one run per fold of `cross_validate`."""
    names = [n for n in names_of(source) if n.startswith(("test_", "train_"))]
    scores = {n: _floats(column(source, n), n) for n in names}
    seconds = _floats(column(source, "fit_time"), "fit_time")
    lengths = {n: len(own) for n, own in scores.items()}
    if any(own != len(seconds) for own in lengths.values()):
        raise CurvewiseError(
            f"cross_validate's arrays have lengths {lengths}, and 'fit_time' has "
            f"{len(seconds)}. Pass them as they came."
        )
    once = np.zeros(1)
    return [
        (
            {"run": f"fold {i}", "fold": i, "seconds": float(seconds[i])},
            {_score_name(n): (once, own[i : i + 1]) for n, own in scores.items()},
        )
        for i in range(len(seconds))
    ]


def _learning(source: Any) -> list[Run]:
    """Return one run per split of `learning_curve`, with its curve over sizes."""
    own = source[:3] if isinstance(source, tuple) else _shown(source, "train_sizes")
    sizes = _floats(own[0], "train_sizes")
    train, test = (_matrix(scores, len(sizes), "sizes") for scores in own[1:])
    name = _display_name(source)
    return [
        (
            {"run": f"fold {i}", "fold": i},
            {name: (sizes, test[:, i]), f"train_{name}": (sizes, train[:, i])},
        )
        for i in range(test.shape[1])
    ]


def _validation(source: Any, asked: Asked) -> list[Run]:
    """Return one run per value of `validation_curve`: the mean over the folds."""
    if isinstance(source, tuple):
        param, values = _asked_values(asked, len(source[0]))
        scores = list(source)
    else:
        first, *scores = _shown(source, "param_range")
        param, values = str(source.param_name), list(first)
    train, test = (_matrix(own, len(values), "values") for own in scores)
    name, once = _display_name(source), np.zeros(1)
    return [
        (
            {"run": f"{param}={shortened(value)}", f"params.{param}": value}
            | {f"split{k}_test_score": float(v) for k, v in enumerate(test[i])},
            {
                name: (once, test[i].mean(keepdims=True)),
                f"train_{name}": (once, train[i].mean(keepdims=True)),
            },
        )
        for i, value in enumerate(values)
    ]


def _shown(source: Any, first: str) -> list[Any]:
    return [getattr(source, n) for n in (first, "train_scores", "test_scores")]


def _display_name(source: Any) -> str:
    """Return what a display calls its score.

    Scores are kept as scorers gave them: under the name of a loss they would mislead.
    """
    name = str(getattr(source, "score_name", None) or "score").casefold()
    known = find(name.replace(" ", "_"))
    return known.name if known is not None and known.direction == "higher" else "score"


def _asked_values(asked: Asked, n: int) -> tuple[str, list[Any]]:
    if asked.params is None or len(asked.params) != 1:
        came = listed(asked.params or ()) or "none"
        raise CurvewiseError(
            "validation_curve returns scores and not what was varied, and params "
            f"names {came}. Pass ",
            {"params": {"gamma": Verbatim("values")}},
            f" with the {n} values that it had.",
        )
    ((name, values),) = asked.params.items()
    if np.ndim(values) != 1 or len(values) != n:
        raise CurvewiseError(
            f"params gives {shortened(values)} for '{shortened(name)}', and there are "
            f"scores of {n} values. Pass those that validation_curve was given."
        )
    return str(name), list(values)


def _floats(values: Any, name: str) -> Floats:
    try:
        numbers = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(())
    if numbers.ndim != 1:
        raise CurvewiseError(
            f"'{shortened(name)}' holds {shortened(values)}. Pass one number for each."
        )
    return numbers


def _matrix(values: Any, n: int, what: str) -> Floats:
    scores = np.asarray(values, np.float64)
    if scores.ndim != 2 or len(scores) != n or scores.shape[1] == 0:
        raise CurvewiseError(
            f"Scores have shape {scores.shape}, and there are {n} {what}. Pass arrays of "
            f"shape ({what}, folds), as scikit-learn returns them."
        )
    return scores
