"""What the paper says in words, beside ours: bands that hold, other forms."""

from collections.abc import Iterator

import numpy as np

from curvewise.papers.claim import Claim
from curvewise.papers.xue2025.answers import METRICS
from curvewise.papers.xue2025.blocks import SIZES
from curvewise.papers.xue2025.foresee import (
    CALIBRATED,
    CORRECTED,
    DRIFT,
    ENTERED,
    PRINTED,
)
from curvewise.papers.xue2025.kept import Kept


def promised(kept: Kept) -> Iterator[Claim]:
    """Yield whether bands of 95 % hold in 95 % of cases, where they do so least."""
    table = "Section 3.3.2: the least that 95 % bands of the error hold, over sizes"
    for task in kept.tasks():
        for learner in kept.learners(task):
            for method in (PRINTED, CORRECTED, CALIBRATED, DRIFT):
                cell = kept.cell(learner, method, task=task)
                if cell is None:
                    continue
                k = int(cell.covered.argmin())
                share = float(cell.covered[k])
                error = float(np.sqrt(0.95 * 0.05 / cell.replications))
                yield Claim(
                    table,
                    f"{task}, {learner}",
                    method,
                    0.95,
                    share,
                    error,
                    reason="Errors are of shares of .95 in that many replications; the "
                    "least of six is taken, so that chance makes it a little too small.",
                    why=f"At N = {SIZES[k]}. {_why_held(method, share)}",
                    digits=2,
                )


def _why_held(method: str, share: float) -> str:
    if share > 0.95:
        return "Longer than need be."
    if method in (PRINTED, CORRECTED):
        return "As long as one validation set of N/3 makes them, whatever is unknown."
    if method == CALIBRATED:
        return "The curve is no power law, which it takes for granted."
    return "The curve turns as few real ones do."


def forms(kept: Kept) -> Iterator[Claim]:
    """Yield how often the paper's method beats other forms, and which is the best."""
    table = "Section 3.3.1: against other forms"
    names = [name for name in kept.methods() if name.endswith(" alone")]
    for task in kept.tasks():
        wins, total = 0, 0
        best: dict[str, int] = {}
        for learner in kept.learners(task):
            for metric in METRICS:
                own = kept.cell(learner, ENTERED, metric, task=task)
                others = {f: kept.cell(learner, f, metric, task=task) for f in names}
                every = np.array([c.rmse for c in others.values() if c is not None])
                if own is None or not len(every):
                    continue
                wins += int((own.rmse < every).sum())
                total += every.size
                mean = {f: c.rmse.mean() for f, c in others.items() if c is not None}
                name = min(
                    {**mean, "matrices": own.rmse.mean()}.items(), key=lambda i: i[1]
                )[0]
                best[name] = best.get(name, 0) + 1
        if not total:
            continue
        told = ", ".join(
            f"{name.removesuffix(' alone')} {n}"
            for name, n in sorted(best.items(), key=lambda i: -i[1])
        )
        yield Claim(
            table,
            f"{task}: share of forms, learners, metrics and sizes where matrices miss less",
            "",
            None,
            wins / total,
            why="The paper says 'in most settings'; its numbers are in a supplement. Of "
            f"{sum(best.values())} pairs of learner and metric, the least RMSE on average "
            f"over sizes: {told}.",
            digits=2,
        )
