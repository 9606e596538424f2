"""Write the example data sets that travel in the package, all of our own making.

The files are committed; run this only to change them on purpose.
"""

import csv
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parents[1] / "src" / "curvewise" / "data"
TEST_SET = 800


def search(rng: np.random.Generator) -> list[dict[str, object]]:
    """Return a random search: easy, touchy and diverging learners, scored once."""
    rows = []
    for task, ceiling in (("rings", 0.93), ("waves", 0.86)):
        for seed in range(60):
            lr = 10 ** rng.uniform(-4, 0)
            width = int(rng.choice([16, 32, 64, 128]))
            off = abs(np.log10(lr) + 2)
            net = ceiling + 0.02 - 0.11 * max(off - 0.7, 0) ** 1.5 - 0.15 / width
            diverged = lr > 0.3 and rng.random() < 0.7
            rows.append(
                _row(task, "net", seed, net, rng, lr=lr, width=width, gone=diverged)
            )
            trees, leaf = int(10 ** rng.uniform(1, 2)), int(rng.choice([1, 3, 5]))
            forest = ceiling - 0.01 - 0.15 / trees - 0.002 * leaf
            rows.append(_row(task, "forest", seed, forest, rng, trees=trees, leaf=leaf))
            c = 10 ** rng.uniform(-2, 2)
            kernel = str(rng.choice(["rbf", "poly", "linear"]))
            svm = ceiling + 0.015 - 0.03 * max(-np.log10(c), 0)
            svm -= {"rbf": 0.0, "poly": 0.05, "linear": 0.22}[kernel]
            rows.append(_row(task, "svm", seed, svm, rng, C=c, kernel=kernel))
    return rows


def _row(
    task: str,
    model: str,
    seed: int,
    p: float,
    rng: np.random.Generator,
    *,
    gone: bool = False,
    **params: object,
) -> dict[str, object]:
    hits = rng.binomial(TEST_SET, float(np.clip(p + rng.normal(0, 0.008), 0.5, 1)))
    score = "" if gone else f"{hits / TEST_SET:.5f}"
    names = ("lr", "width", "trees", "leaf", "C", "kernel")
    cells = {f"param.{name}": _short(params.get(name, "")) for name in names}
    status = "failed" if gone else "ok"
    return {
        "task": task,
        "model": model,
        "seed": seed,
        **cells,
        "accuracy": score,
        "status": status,
    }


def _short(value: object) -> object:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def curves(rng: np.random.Generator) -> list[dict[str, object]]:
    """Return learning curves: returns of three agents, whole runs that drift."""
    rows = []
    steps = np.arange(0, 100_001, 5_000)
    for env, scale in (("hill", 300.0), ("swamp", 900.0)):
        for agent, speed, top in (
            ("slow", 2.0, 1.0),
            ("fast", 6.0, 0.9),
            ("early", 14.0, 0.7),
        ):
            for seed in range(8):
                level = rng.normal(1, 0.08)
                drift = np.cumsum(rng.normal(0, 0.012, len(steps)))
                mean = top * level * (1 - np.exp(-speed * steps / 100_000))
                values = scale * (mean + drift + rng.normal(0, 0.02, len(steps)))
                rows += [
                    {
                        "env": env,
                        "agent": agent,
                        "seed": seed,
                        "step": int(s),
                        "return": f"{v:.2f}",
                    }
                    for s, v in zip(steps, values, strict=True)
                ]
    return rows


def counts(rng: np.random.Generator) -> list[dict[str, object]]:
    """Return confusion counts along growing training sets, 40 to 1280 examples."""
    rows = []
    for learner, a, b in (("trees", 2.2, 7.0), ("bayes", 1.6, 3.5)):
        for fold in range(6):
            for size in (40, 80, 160, 320, 640, 1280):
                shift = rng.normal(0, 0.6 / np.sqrt(size / 40))
                tpr, tnr = (
                    1 / (1 + np.exp(-(a - b * size**-0.5 + d))) for d in (shift, 0.4)
                )
                tp, tn = rng.binomial(160, tpr), rng.binomial(160, tnr)
                rows.append(
                    {"learner": learner, "fold": fold, "size": size,
                     "tp": tp, "fp": 160 - tn, "fn": 160 - tp, "tn": tn}
                )  # fmt: skip
    return rows


def main() -> None:
    """Write all of them."""
    for seed, make in enumerate((search, curves, counts)):
        rows = make(np.random.default_rng(seed))
        with (FOLDER / f"{make.__name__}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
