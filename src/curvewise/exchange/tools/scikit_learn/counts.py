"""Confusion matrices by algorithm, one per fold, also by size of the training set."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from curvewise.errors import CurvewiseError, Phrase, shortened
from curvewise.exchange.runs import Sheet

_SOURCE = "confusion matrices"


def counted(found: Mapping[str, Any]) -> Sheet:
    """Return a table of counts, one row per algorithm, matrix and size.

    Parameters
    ----------
    found : mapping of str
        For each algorithm a matrix, several, or a dict from sizes to either.
    """
    rows: list[tuple[str, int, float | None, NDArray[np.int64]]] = []
    for name, own in found.items():
        by_size = own if isinstance(own, Mapping) else {None: own}
        for size, matrices in by_size.items():
            for fold, matrix in enumerate(_several(matrices)):
                rows.append((name, fold, size, matrix))
    shapes = {matrix.shape for *_, matrix in rows}
    if len(shapes) > 1:
        raise CurvewiseError(
            f"The confusion matrices have shapes {shortened(sorted(shapes))}. Pass "
            "those of the same classes: ",
            Phrase("confusion_matrix(..., labels=classes)"),
            " keeps the ones that a fold lacks.",
        )
    classes = len(rows[0][3])
    counts = np.array([matrix for *_, matrix in rows], np.int64)
    columns: dict[str, Any] = {
        "algorithm": [name for name, *_ in rows],
        "fold": [fold for _, fold, *_ in rows],
    }
    stated = {"algorithm": "algorithm", "trial": "fold"}
    sizes = [size for *_, size, _ in rows]
    if None not in sizes:
        columns["size"] = np.array(sizes, np.float64)
        stated["step"] = "size"
    elif any(size is not None for size in sizes):
        raise CurvewiseError(
            "Some algorithms have confusion matrices by size and some have none. Pass a "
            "dict from sizes to matrices for each of them, or for none."
        )
    columns |= {
        f"count.{i}.{j}": counts[:, i, j]
        for i in range(classes)
        for j in range(classes)
    }
    return Sheet(_SOURCE, pa.table(columns), stated)


def _several(matrices: Any) -> list[NDArray[np.int64]]:
    if isinstance(matrices, np.ndarray) and matrices.ndim == 2:
        return [matrices]
    return list(matrices)
