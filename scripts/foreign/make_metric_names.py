"""Print the metric names that registries of other tools hold, as a table.

In a virtual environment of its own::

    python3 -m venv /tmp/venv_names
    /tmp/venv_names/bin/pip install scikit-learn torchmetrics keras torch
    /tmp/venv_names/bin/python scripts/foreign/make_metric_names.py > names.csv

The columns are ``name``, ``tool``, ``direction`` and ``where``, as in
``tests/assets/metric_names.csv``, to which names from here were added by hand.
scikit-learn's scorers are all higher is better. The direction of torchmetrics is what
its classes say of themselves; version 1.9 says the opposite of the truth for three of
them, which are corrected. Keras does not say; its directions are left empty.
"""

import csv
import inspect
import os
import re
import sys

os.environ.setdefault("KERAS_BACKEND", "torch")

import keras
import sklearn.metrics
import torchmetrics.audio
import torchmetrics.classification
import torchmetrics.clustering
import torchmetrics.detection
import torchmetrics.image
import torchmetrics.nominal
import torchmetrics.regression
import torchmetrics.retrieval
import torchmetrics.segmentation
import torchmetrics.text

WRONG = {  # said to be the other way round by torchmetrics
    "DaviesBouldinScore": "lower",
    "SpectralDistortionIndex": "lower",
    "WordInfoPreserved": "higher",
}
MODULES = (
    torchmetrics.audio,
    torchmetrics.classification,
    torchmetrics.clustering,
    torchmetrics.detection,
    torchmetrics.image,
    torchmetrics.nominal,
    torchmetrics.regression,
    torchmetrics.retrieval,
    torchmetrics.segmentation,
    torchmetrics.text,
)


def snake_case(name: str) -> str:
    """Name a class as Keras names its metric in a history."""
    apart = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", apart).lower()


def main() -> None:
    """Write the table to the standard output."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["name", "tool", "direction", "where"])
    for name in sklearn.metrics.get_scorer_names():
        table.writerow([name, "scikit-learn", "higher", "get_scorer_names"])
    for module in MODULES:
        for name, metric in inspect.getmembers(module, inspect.isclass):
            higher = getattr(metric, "higher_is_better", None)
            if isinstance(higher, bool):
                said = WRONG.get(name, "higher" if higher else "lower")
                table.writerow([name, "torchmetrics", said, module.__name__])
    for name, _ in inspect.getmembers(keras.metrics, inspect.isclass):
        table.writerow([snake_case(name), "Keras", "", "keras.metrics"])


if __name__ == "__main__":
    main()
