"""From trials to arrays: what was validated, block by block, and what was true."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from curvewise import metrics
from curvewise.papers.xue2025.blocks import CELLS, MEANS, PART, SIZES, WHOLE
from curvewise.stats.confusion import Examples
from curvewise.trials import Trial

Floats: TypeAlias = NDArray[np.float64]

METRICS = ("error", "precision", "recall", "f1")
SAMPLE = 1280


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a learner did on a task, replication by replication.

    Parameters
    ----------
    trained_on : ndarray, shape (size,)
        On how many examples the models that were validated.
    validated : tuple of ndarray, shape (replication, block, 2, 2)
        Confusion counts of each block, for each size.
    examples : tuple of Examples
        Who was answered rightly in validation, for each replication.
    tested : ndarray, shape (replication, size, 2, 2)
        Of models of whole blocks on the test set, averaged over models.
    truth, truth_part : ndarray, shape (metric, replication, size)
        What is to be foreseen: metrics on the test set, averaged over the models of whole
        blocks, and over those of two thirds of them.
    """

    trained_on: Floats
    validated: tuple[Floats, ...]
    examples: tuple[Examples, ...]
    tested: Floats
    truth: Floats
    truth_part: Floats

    def __len__(self) -> int:
        return len(self.tested)

    def first(self, count: int) -> "Answers":
        """Return the first replications."""
        return Answers(
            self.trained_on,
            tuple(own[:count] for own in self.validated),
            self.examples[:count],
            self.tested[:count],
            self.truth[:, :count],
            self.truth_part[:, :count],
        )

    @property
    def summed(self) -> Floats:
        """Validation counts over all blocks, shape (replication, size, 2, 2)."""
        return np.stack([own.sum(1) for own in self.validated], axis=1)

    @property
    def mean(self) -> Floats:
        """Metrics of the matrix averaged over replications, shape (metric, size)."""
        every = self.tested.mean(0)
        return np.array([getattr(metrics, name)(every) for name in METRICS])


def answers(trials: Iterable[Trial]) -> Answers:
    """Return what trials of `Blocks` tell, one replication each."""
    own = list(trials)
    right, asked, classes = (
        np.array(part) for part in zip(*map(_marks, own), strict=True)
    )
    named = {
        name: np.array([np.asarray(trial.metrics[name]) for trial in own])
        for name in own[0].metrics
    }
    cells = np.stack([named[f"{WHOLE} {cell}"] for cell in CELLS], axis=-1)
    tested = (
        cells.reshape(*cells.shape[:2], 2, 2)
        / (SAMPLE / np.array(SIZES))[:, None, None]
    )
    return Answers(
        trained_on=named["trained_on"][0],
        validated=tuple(
            _by_block(right[:, k], asked[:, k], classes, size)
            for k, size in enumerate(SIZES)
        ),
        examples=tuple(map(Examples, classes, right, asked)),
        tested=tested,
        truth=_truth(named, WHOLE),
        truth_part=_truth(named, PART),
    )


def _marks(trial: Trial) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return who was right, who was asked (size, place), and the class of each place."""
    if trial.correct is None or trial.examples is None:
        raise TypeError("a trial without answers")
    place = trial.examples // 2
    is_asked = ~np.ma.getmaskarray(trial.correct)
    is_right = np.ma.getdata(trial.correct) & is_asked
    right, asked = np.zeros((2, len(is_asked), SAMPLE))
    right[:, place], asked[:, place] = is_right, is_asked
    # Who was never asked has no class here, and needs none.
    classes = np.zeros(SAMPLE, np.int64)
    classes[place] = trial.examples % 2
    return right, asked, classes


def _by_block(
    right: Floats, asked: Floats, classes: NDArray[np.int64], size: int
) -> Floats:
    shape = len(right), -1, size
    out = np.empty((len(right), right.shape[1] // size, 2, 2))
    for c in (0, 1):
        is_own = classes == c
        good = (right * is_own).reshape(shape).sum(-1)
        out[..., c, c] = good
        out[..., c, 1 - c] = (asked * is_own).reshape(shape).sum(-1) - good
    return out


def _truth(named: dict[str, Floats], of: str) -> Floats:
    """Return metrics averaged over models, shape (metric, replication, size)."""
    tn, fp, fn, tp = (named[f"{of} {cell}"] for cell in CELLS)
    wrong, recall = (fp + fn) / (tn + fp + fn + tp), tp / (tp + fn)
    precision, f1 = (named[f"{of} {mean}"] for mean in MEANS)
    return np.stack([wrong, precision, recall, f1])
