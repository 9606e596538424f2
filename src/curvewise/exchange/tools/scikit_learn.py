"""Results of scikit-learn: searches, cross-validation, learning curves, confusion matrices.

Every form may stand alone, for one estimator, or in a dict from names of algorithms.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Phrase, Verbatim, listed, shortened
from curvewise.exchange.runs import Asked, Gathered, Runs, Sheet, table_of
from curvewise.metrics import Floats, find
from curvewise.trials.trial import ONLY

# A run: its row of the table, and its curves by metric.
_Run: TypeAlias = tuple[dict[str, Any], dict[str, tuple[Floats, Floats]]]

_RESOURCES = "n_resources"  # what halving gives a candidate


def fits_table(table: pa.Table) -> bool:
    """Return whether a table is one of `cv_results_`."""
    return _form_of(table) == "cv_results"


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
    forms = _forms(source)
    kinds = {form or "of another kind" for form, _ in forms.values()}
    if len(kinds) > 1:
        text = "; ".join(f"'{shortened(n)}' {form}" for n, (form, _) in forms.items())
        raise CurvewiseError(
            f"The dict holds results of several kinds: {text}. Pass one kind at a time, "
            f"and nothing else."
        )
    if kinds == {"confusion"}:
        return _counted({name: results for name, (_, results) in forms.items()})
    return _runs(f"scikit-learn's {kinds.pop()}", forms, asked)


def _forms(source: object) -> dict[str, tuple[str | None, Any]]:
    """Return results by algorithm, each with its form; None for one that has none."""
    if form := _form_of(source):
        return {_own_name(source): (form, source)}
    if not isinstance(source, Mapping):
        return {}
    return {str(name): (_form_of(results), results) for name, results in source.items()}


def _own_name(source: object) -> str:
    """Return what a search calls its estimator; the last of a pipeline."""
    estimator: Any = getattr(source, "estimator", None)
    if _is_frame(source) or estimator is None or not hasattr(source, "cv_results_"):
        return ONLY
    steps = getattr(estimator, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else estimator
    return type(last).__name__


# --- runs --------------------------------------------------------------------------------


def _runs(source: str, forms: Mapping[str, tuple[Any, Any]], asked: Asked) -> Runs:
    gathered = Gathered()
    steps = ""
    for name, (form, results) in forms.items():
        runs, steps = _read(form, results, asked)
        for row, curves in runs:
            wanted = [(n, *curve) for n, curve in curves.items() if asked.wants(n)]
            # A run of which nothing is a number has failed; else NaN is one of its scores.
            if all(np.isnan(values).all() for *_, values in wanted):
                wanted = []
            prefix = "" if len(forms) == 1 else f"{name} "
            cells = {n: _cell(value) for n, value in row.items()}
            who = {"algorithm": name, **cells, "run": f"{prefix}{row['run']}"}
            gathered.add(who, wanted)
    asked.must_count_by([steps] if steps else [], source)
    scalars = gathered.scalars()
    return Runs(
        source,
        gathered.table(),
        scalars,
        usual={"algorithm": "algorithm"},
        # Scorers of scikit-learn are made so, losses too: neg_log_loss.
        meant=dict.fromkeys(scalars.names, "higher"),
        steps=steps,
    )


def _read(form: str, source: Any, asked: Asked) -> tuple[list[_Run], str]:
    """Return the runs of one estimator, and what their steps count."""
    if form in ("search", "cv_results"):
        results = source.cv_results_ if form == "search" else source
        halving = _RESOURCES in _names(results)
        return _candidates(results), _RESOURCES if halving else ""
    if form == "cross_validate":
        return _folds(source), ""
    if form == "learning_curve":
        return _learning(source), "size"
    return _validation(source, asked), ""


def _cell(value: Any) -> Any:
    """Return a plain value; what is none, such as an estimator, as a text."""
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, bool | int | float | str):
        return plain
    return shortened(plain, 200)


# --- searches ----------------------------------------------------------------------------


def _candidates(source: Any) -> list[_Run]:
    """Return one run per candidate: its score is the mean over the folds.

    Folds of a candidate share its hyperparameters, and are no runs of their own. With
    halving, a candidate has a curve over its resources, and ends where it was dropped.
    """
    names = _names(source)
    columns = {n: _column(source, n) for n in names}
    lengths = {len(cells) for cells in columns.values()}
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
    for i, values in enumerate(params):
        key = json.dumps(values, sort_keys=True, default=str) if halving else str(i)
        places.setdefault(key, []).append(i)
    last = max((rows[-1] for rows in places.values()), key=lambda i: at[i])
    runs: list[_Run] = []
    for number, rows in enumerate(places.values()):
        final = rows[-1]
        row: dict[str, Any] = {"run": f"candidate {number}"}
        row |= {f"params.{n}": v for n, v in params[final].items()}
        row |= {n: columns[n][final] for n in names if n.startswith("split")}
        if "mean_fit_time" in columns:
            seconds = _floats(columns["mean_fit_time"], "mean_fit_time")
            row["seconds"] = float(seconds[rows].sum())
        if halving:
            row["status"] = "finished" if at[final] == at[last] else "pruned"
        curves = {_score_name(n): (at[rows], v[rows]) for n, v in scores.items()}
        runs.append((row, curves))
    return runs


def _params(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    """Return the hyperparameters of each candidate, those that it does not have left out.

    Columns beside the dicts hold the same; in a file they are all there is.
    """
    dicts = columns.get("params")
    if dicts is not None and all(isinstance(values, Mapping) for values in dicts):
        return [{str(n): v for n, v in values.items()} for values in dicts]
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
    """Return what a score is called: "mean_test_recall" is "recall"."""
    return name.removeprefix("mean_").removeprefix("test_")


# --- cross-validation and curves ---------------------------------------------------------


def _folds(source: Any) -> list[_Run]:
    """Return one run per fold of `cross_validate`."""
    names = [n for n in _names(source) if n.startswith(("test_", "train_"))]
    scores = {n: _floats(_column(source, n), n) for n in names}
    seconds = _floats(_column(source, "fit_time"), "fit_time")
    lengths = {n: len(values) for n, values in scores.items()}
    if any(n != len(seconds) for n in lengths.values()):
        raise CurvewiseError(
            f"cross_validate's arrays have lengths {lengths}, and 'fit_time' has "
            f"{len(seconds)}. Pass them as they came."
        )
    once = np.zeros(1)
    return [
        (
            {"run": f"fold {i}", "fold": i, "seconds": float(seconds[i])},
            {_score_name(n): (once, values[i : i + 1]) for n, values in scores.items()},
        )
        for i in range(len(seconds))
    ]


def _learning(source: Any) -> list[_Run]:
    """Return one run per split of `learning_curve`, with its curve over sizes."""
    parts = source[:3] if isinstance(source, tuple) else _shown(source, "train_sizes")
    sizes = _floats(parts[0], "train_sizes")
    train, test = (_matrix(scores, len(sizes), "sizes") for scores in parts[1:])
    name = _display_name(source)
    return [
        (
            {"run": f"fold {i}", "fold": i},
            {name: (sizes, test[:, i]), f"train_{name}": (sizes, train[:, i])},
        )
        for i in range(test.shape[1])
    ]


def _validation(source: Any, asked: Asked) -> list[_Run]:
    """Return one run per value of `validation_curve`: the mean over the folds."""
    if isinstance(source, tuple):
        param, values = _asked_values(asked, len(source[0]))
        scores = list(source)
    else:
        first, *scores = _shown(source, "param_range")
        param, values = str(source.param_name), list(first)
    train, test = (_matrix(part, len(values), "values") for part in scores)
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
    """Return what a display shows: what was varied, and the scores."""
    return [getattr(source, n) for n in (first, "train_scores", "test_scores")]


def _display_name(source: Any) -> str:
    """Return what a display calls its score.

    Scores are kept as scorers gave them: under the name of a loss they would mislead.
    """
    name = str(getattr(source, "score_name", None) or "score").casefold()
    metric = find(name.replace(" ", "_"))
    return (
        metric.name if metric is not None and metric.direction == "higher" else "score"
    )


def _asked_values(asked: Asked, n: int) -> tuple[str, list[Any]]:
    if asked.params is None or len(asked.params) != 1:
        came = listed(asked.params or ()) or "none"
        raise CurvewiseError(
            "validation_curve returns scores and not what was varied, and params "
            f"names {came}. Pass ",
            {"params": {"gamma": Verbatim("values")}},
            f" with the {n} values that it had.",
            argument="params",
            value=asked.params,
        )
    ((name, values),) = asked.params.items()
    if np.ndim(values) != 1 or len(values) != n:
        raise CurvewiseError(
            f"params gives {shortened(values)} for '{shortened(name)}', and there are "
            f"scores of {n} values. Pass those that validation_curve was given.",
            argument="params",
            value=asked.params,
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


# --- What scikit-learn returns, told apart by its form: nothing of it is imported ------


def _is_search(source: object) -> bool:
    """Return whether this is a fitted search, such as `GridSearchCV`."""
    results = getattr(source, "cv_results_", None)
    return not _is_frame(source) and _is_cv_results(results)


def _is_cv_results(source: object) -> bool:
    """Return whether this is `cv_results_`, as a dict or as a frame."""
    names = _names(source)
    scored = any(n.startswith("mean_test_") for n in names)
    return scored and ("params" in names or any(n.startswith("param_") for n in names))


def _is_cross_validate(source: object) -> bool:
    """Return whether this is what `cross_validate` returns."""
    names = _names(source)
    return {"fit_time", "score_time"} <= set(names) and any(
        n.startswith("test_") for n in names
    )


def _is_learning_curve(source: object) -> bool:
    """Return whether this is what `learning_curve` returns, or its display."""
    if _is_display(source, "train_sizes"):
        return True
    if not isinstance(source, tuple) or len(source) not in (3, 4, 5):
        return False
    sizes, *scores = source[:3]
    return _dimensions(sizes) == 1 and all(
        _dimensions(curve, "f") == 2 for curve in scores
    )


def _is_validation_curve(source: object) -> bool:
    """Return whether this is what `validation_curve` returns, or its display."""
    if _is_display(source, "param_range"):
        return True
    if not isinstance(source, tuple) or len(source) != 2:
        return False
    return all(_dimensions(curve, "f") == 2 for curve in source)


def _is_display(source: object, first: str) -> bool:
    if _is_frame(source) or isinstance(source, Mapping):
        return False
    return hasattr(source, first) and hasattr(source, "train_scores")


def _is_confusion(source: object) -> bool:
    """Return whether this is a confusion matrix of counts, or several, also by size."""
    if isinstance(source, Mapping):
        return bool(source) and all(
            _is_size(size) and _is_confusion(matrices)
            for size, matrices in source.items()
        )
    if isinstance(source, list | tuple):
        return bool(source) and all(_is_matrix(matrix) for matrix in source)
    if isinstance(source, np.ndarray) and source.ndim == 3:
        return len(source) > 0 and all(_is_matrix(matrix) for matrix in source)
    return _is_matrix(source)


def _is_frame(source: object) -> bool:
    """Return whether this is a table with columns, of whatever library."""
    # Asked of its type: a lazy frame would have to look first.
    return any(hasattr(type(source), name) for name in ("columns", "column_names"))


def _column(source: Any, name: str) -> list[Any]:
    """Return a column of a dict or of a frame as a list; None where it is masked."""
    values = source[name]
    if isinstance(values, np.ma.MaskedArray):
        return [
            None if m else v for v, m in zip(values.data, _mask(values), strict=True)
        ]
    return list(values)


def _mask(values: Any) -> NDArray[np.bool_]:
    return np.broadcast_to(np.ma.getmaskarray(values), values.shape)


def _names(source: object) -> list[str]:
    """Return the names of the columns of a dict or of a frame."""
    if isinstance(source, Mapping):
        names: Sequence[object] = list(source)
    elif _is_frame(source) and not hasattr(type(source), "collect"):
        has: Any = source
        names = list(getattr(has, "column_names", None) or has.columns)
    else:
        return []
    return [name for name in names if isinstance(name, str)]


_FORMS: dict[str, Callable[[object], bool]] = {
    "search": _is_search,
    "cv_results": _is_cv_results,
    "cross_validate": _is_cross_validate,
    "learning_curve": _is_learning_curve,
    "validation_curve": _is_validation_curve,
    "confusion": _is_confusion,
}


def _form_of(source: object) -> str | None:
    """Return which of scikit-learn's results this is, or None."""
    return next((name for name, fits in _FORMS.items() if fits(source)), None)


def _dimensions(part: object, kinds: str = "fiu") -> int:
    """Return how many dimensions numbers have; 0 for what is no array of numbers."""
    try:
        array: NDArray[Any] = np.asarray(part)
    except ValueError:  # ragged
        return 0
    return array.ndim if array.dtype.kind in kinds else 0


def _is_matrix(source: object) -> bool:
    return (
        isinstance(source, np.ndarray)
        and source.ndim == 2
        and source.shape[0] == source.shape[1] >= 2
        and source.dtype.kind in "iu"
        and bool((source >= 0).all())
    )


def _is_size(size: object) -> bool:
    return isinstance(size, int | float | np.number) and not isinstance(size, bool)


# --------------------------------------------------------------------------------------
# Confusion matrices by algorithm, one per fold, also by size of the training set.


def _counted(results: Mapping[str, Any]) -> Sheet:
    """Return a table of counts, one row per algorithm, matrix and size."""
    rows: list[dict[str, Any]] = []
    matrices: list[NDArray[np.int64]] = []
    for name, result in results.items():
        by_size = result if isinstance(result, Mapping) else {None: result}
        for size, folds in by_size.items():
            is_one = isinstance(folds, np.ndarray) and folds.ndim == 2
            for fold, matrix in enumerate([folds] if is_one else folds):
                rows.append({"algorithm": name, "fold": fold, "size": size})
                matrices.append(matrix)
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) > 1:
        raise CurvewiseError(
            f"The confusion matrices have shapes {shortened(sorted(shapes))}. Pass "
            "those of the same classes: ",
            Phrase("confusion_matrix(..., labels=classes)"),
            " keeps the ones that a fold lacks.",
        )
    stated = {"algorithm": "algorithm", "trial": "fold"}
    sizes = [row.pop("size") for row in rows]
    if None not in sizes:
        rows = [row | {"size": float(n)} for row, n in zip(rows, sizes, strict=True)]
        stated["step"] = "size"
    elif any(size is not None for size in sizes):
        raise CurvewiseError(
            "Some algorithms have confusion matrices by size and some have none. Pass a "
            "dict from sizes to matrices for each of them, or for none."
        )
    counts = np.array(matrices, np.int64)
    table = table_of(rows)
    for i, j in np.ndindex(counts.shape[1:]):
        table = table.append_column(f"count.{i}.{j}", pa.array(counts[:, i, j]))
    return Sheet("confusion matrices", table, stated)
