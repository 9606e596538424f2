"""The main job, from a plan to a page: five classifiers, three tasks, random settings.

Two of them also tuned. About a minute and a half of trials on two cores. Stop it whenever
you like: the same command goes on where it was.
"""

import sys
from pathlib import Path

import curvewise as cw

FOLDER = Path("runs/demo")


def main(trials: int = 60) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    names = ("knn", "forest", "svm", "logistic", "network")
    untuned = {name: cw.zoo.algorithm(name) for name in names}
    tuned = [cw.tuned(untuned[name], configs=6) for name in ("knn", "logistic")]
    experiment = cw.Experiment(
        tasks=[cw.zoo.task(name) for name in ("moons", "circles", "linear")],
        algorithms=[*untuned.values(), *tuned],
        trials=trials,
        seed=1,
    )
    print(experiment, end="\n\n")
    results = cw.run(experiment, store=FOLDER / "results.db")
    print(results, end="\n\n")
    print(cw.check(results), end="\n\n")

    answer = cw.performance(results, "accuracy", failed="worst")
    print(answer, end="\n\n")
    print(cw.robustness(results, "accuracy", failed="worst"), end="\n\n")

    figure = cw.figures.plot_quantiles_by_task(answer)
    figure.savefig(FOLDER / "quantiles.png", dpi=150)
    page = cw.report.write(
        results, FOLDER / "report.html", metric="accuracy", failed="worst"
    )
    print(f"Look at {page} and {FOLDER / 'quantiles.png'}.")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
