"""The main job on an example of ours: read, check, answer, draw, report."""

from pathlib import Path

import curvewise as cw
from curvewise.examples import example_text

FOLDER = Path("runs/demo")


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = FOLDER / "results.csv"
    results.write_text(example_text("search"), encoding="utf-8")

    trials = cw.read(results)
    print(trials, end="\n\n")
    print(cw.check(trials), end="\n\n")

    answer = cw.performance(trials, "accuracy", failed="worst")
    print(answer, end="\n\n")

    figure = cw.figures.plot_quantiles_by_task(answer)
    figure.savefig(FOLDER / "quantiles.png", dpi=150)
    cw.store.write(trials, FOLDER / "results.db")
    page = cw.report.write(trials, FOLDER / "report.html", failed="worst")
    print(f"Look at {page} and {FOLDER / 'quantiles.png'}.")


if __name__ == "__main__":
    main()
