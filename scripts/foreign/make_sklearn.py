"""Make results of a search by scikit-learn for the tests, kept as a file.

In virtual environments of their own, an old version and a current one::

    python3 -m venv /tmp/venv_sklearn
    /tmp/venv_sklearn/bin/pip install scikit-learn==1.2.2 'numpy<2' 'pandas<2.2'
    /tmp/venv_sklearn/bin/python scripts/foreign/make_sklearn.py \\
        tests/assets/foreign/sklearn

`cv_results_` is written with pandas, as people do; ``best.json`` has what the search says
of itself. Candidates have different hyperparameters, and one of them cannot be fitted.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

GRID = [
    {"kernel": ["rbf"], "C": [0.1, 1.0, 10.0], "gamma": ["scale", 0.1]},
    {"kernel": ["linear"], "C": [1.0]},
    {"kernel": ["rbf"], "C": [-1.0]},  # refused by the estimator
]


def main() -> None:
    """Write a file of each kind for the version that runs this."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out / sklearn.__version__
    out.mkdir(parents=True, exist_ok=True)
    x, y = load_iris(return_X_y=True)
    noisy = x + np.random.default_rng(1).normal(0, 1, x.shape)
    search = GridSearchCV(
        SVC(random_state=0),
        GRID,
        scoring=["accuracy", "f1_macro"],
        refit="accuracy",
        return_train_score=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(noisy, y)
    pd.DataFrame(search.cv_results_).to_csv(out / "cv_results.csv", index=False)
    best = {
        "best_index": int(search.best_index_),
        "best_score": float(search.best_score_),
        "best_params": search.best_params_,
    }
    (out / "best.json").write_text(json.dumps(best))


if __name__ == "__main__":
    main()
