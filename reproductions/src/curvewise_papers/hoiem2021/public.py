"""The four curves whose errors the authors publish, fitted as the paper says."""

import csv
import os
from pathlib import Path

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.hoiem2021.figure2 import jackknife
from curvewise.papers.printed import printed
from curvewise.papers.results import Table
from curvewise.stats.learning import leave_one_size_out
from curvewise.stats.powerlaw import fit_power_law, light_fit

LEARNERS = {
    "no_pretr_linear": "No Pretr; Linear",
    "no_pretr_ft": "No Pretr; Finetune",
    "pretr_linear": "Pretr; Linear",
    "pretr_ft": "Pretr; Finetune",
}
_FILE = Path("learning_curves", "hoiem_cifar100.csv")

Runs = tuple[list[int], list[Floats]]


def public_file() -> Path | None:
    """Return the file with the errors, None where there is none."""
    folder = os.environ.get("CURVEWISE_DATA")
    file = Path(folder or os.devnull) / _FILE
    return file if file.is_file() else None


def public_curves(file: Path) -> dict[str, Runs]:
    """Return sizes and errors in percent of each learner, by its label in Table 3."""
    errors: dict[str, dict[int, list[float]]] = {}
    with file.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            own = errors.setdefault(LEARNERS[row["learner"]], {})
            own.setdefault(int(row["n_per_class"]), []).append(
                float(row["error_percent"])
            )
    return {
        label: (
            sorted(errors[label]),
            [np.array(errors[label][n]) for n in sorted(errors[label])],
        )
        for label in LEARNERS.values()
        if label in errors
    }


def fitted(curves: dict[str, Runs]) -> Table:
    """Return a row for each curve: what Table 3 has columns for, both fits."""
    rows = []
    for label, (sizes, errors) in curves.items():
        law = fit_power_law(sizes, errors, unit="percent", method="paper")
        line = light_fit(sizes, errors, unit="percent", method="paper")
        rows.append(
            (
                *(label, law.alpha, law.eta, law.gamma, law.e_N, law.beta_N),
                *(line.alpha, line.eta, line.e_N, line.beta_N),
            )
        )
    names = (
        *("label", "alpha", "eta", "gamma", "e400", "beta400"),
        *("light_alpha", "light_eta", "light_e400", "light_beta400"),
    )
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def left_out(curves: dict[str, Runs]) -> Table:
    """Return a row for each model of Figure 2: what it misses on the public curves."""
    models = printed("hoiem2021").tables["figure2"]["model"]
    sizes = next(iter(curves.values()))[0]
    found = leave_one_size_out(
        sizes, {k: e for k, (_, e) in curves.items()}, models, unit="percent"
    )
    ratio, error = jackknife(found.predicted - found.observed)
    return {
        "model": models,
        "average": found.average.tolist(),
        "ratio": ratio[:, -1].tolist(),
        "error": error[:, -1].tolist(),
    }
