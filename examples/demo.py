"""The main job, from a plan to a page: five classifiers, three tasks, random settings.

About a minute of trials on two cores. Stop it whenever you like: the same command goes
on where it was.
"""

import sys
from pathlib import Path

import curvewise as cw

FOLDER = Path("runs/demo")


def main(trials: int = 80) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    experiment = cw.Experiment(
        tasks=[cw.zoo.task(name) for name in ("moons", "circles", "linear")],
        algorithms=[
            cw.zoo.algorithm(name)
            for name in ("knn", "forest", "svm", "logistic", "network")
        ],
        trials=trials,
        seed=1,
    )
    print(experiment, end="\n\n")
    results = cw.run(experiment, store=FOLDER / "results.db")
    print(results, end="\n\n")
    print(cw.check(results), end="\n\n")

    answer = cw.performance(results, "accuracy", failed="worst")
    print(answer, end="\n\n")

    figure = cw.figures.plot_quantiles_by_task(answer)
    figure.savefig(FOLDER / "quantiles.png", dpi=150)
    page = cw.report.write(
        results, FOLDER / "report.html", metric="accuracy", failed="worst"
    )
    print(f"Look at {page} and {FOLDER / 'quantiles.png'}.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
