"""What a score means: direction, range, unit, label.

A metric travels with the trials that were scored by it, so nobody ever passes a
``minimize=`` flag: `Metric.direction` says which way is better, and `Metric.range` is
what bounds are allowed to use.
"""

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from curvewise.errors import CurvewiseError, CurvewiseWarning, listed, shortened

Direction: TypeAlias = Literal["higher", "lower"]

_INF = math.inf


@dataclass(frozen=True, slots=True)
class Metric:
    """A score's meaning.

    Parameters
    ----------
    name : str
        What the score is called in tables and files.
    direction : {"higher", "lower"}
        Which way is better.
    range : (float, float)
        The values that are possible at all; ``-inf`` and ``inf`` where there is no
        bound. Guaranteed intervals for means need at least one finite end.
    unit : str
        What one is measured in; ``"fraction"`` for rates, which curvewise always keeps
        in [0, 1], never in percent.
    label : str
        The name for axes and headings; `name` where it is left out.

    Examples
    --------
    >>> Metric("bleu", "higher", range=(0, 1), unit="fraction")
    Metric(name='bleu', direction='higher', range=(0.0, 1.0), unit='fraction', label='bleu')
    """

    name: str
    direction: Direction = "higher"
    range: tuple[float, float] = (-_INF, _INF)
    unit: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise CurvewiseError(f"A metric needs a name, not {self.name!r}.")
        if self.direction not in get_args(Direction):
            raise CurvewiseError(
                f"The direction of metric '{self.name}' is {self.direction!r}. "
                f"Say 'higher' or 'lower': which way is better."
            )
        try:
            low, high = (float(end) for end in self.range)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise CurvewiseError(
                f"The range of metric '{self.name}' is {self.range!r}. "
                f"Pass two numbers, the lower first, such as (0, 1)."
            )
        object.__setattr__(self, "range", (low, high))
        object.__setattr__(self, "label", self.label or self.name)

    @property
    def sign(self) -> int:
        """+1 where higher is better, -1 where lower is: multiply to make it higher."""
        return 1 if self.direction == "higher" else -1

    @property
    def is_bounded(self) -> bool:
        """Whether its range ends on both sides."""
        return all(map(math.isfinite, self.range))

    @property
    def upward(self) -> tuple[float, float]:
        """The range of scores that were multiplied by `sign`."""
        low, high = self.range
        return (low, high) if self.sign > 0 else (-high, -low)

    @property
    def worst(self) -> float:
        """The worst possible score; infinite where the metric has no bound there."""
        return self.range[0] if self.direction == "higher" else self.range[1]

    @property
    def is_rate(self) -> bool:
        """Whether this is a fraction in [0, 1], which people also write in percent."""
        return self.range == (0.0, 1.0)

    def __str__(self) -> str:
        low, high = self.range
        bounds = (
            "" if math.isinf(low) and math.isinf(high) else f", {low:g} to {high:g}"
        )
        return f"{self.name} ({self.direction} is better{bounds})"


_REGISTRY: dict[str, Metric] = {}


def register(metric: Metric, *aliases: str) -> Metric:
    """Make a metric known under its name and `aliases`, and return it.

    Examples
    --------
    >>> register(Metric("win_rate", "higher", range=(0, 1)), "wins").name
    'win_rate'
    >>> find("wins").range
    (0.0, 1.0)
    """
    for name in (metric.name, *aliases):
        _REGISTRY[_folded(name)] = metric
    return metric


def find(name: str) -> Metric | None:
    """Return the registered metric of that name, or None.

    The metric keeps the name that was asked for. Prefixes that say where it was
    measured (``val_``, ``test/``, ``eval-``) do not change what it means, nor does a
    unit at its end (``_percent``, ``_pct``).

    >>> find("val_acc").range
    (0.0, 1.0)
    >>> find("error_percent").direction
    'lower'
    >>> find("zorp") is None
    True
    """
    folded = _folded(name)
    for unit in _UNITS:
        folded = folded.removesuffix(unit)
    bare = [folded.removeprefix(p) for p in _WHERE_MEASURED if folded.startswith(p)]
    known = next((_REGISTRY[n] for n in (folded, *bare) if n in _REGISTRY), None)
    if known is None or known.name == name:
        return known
    return Metric(name, known.direction, known.range, known.unit)


_WHERE_MEASURED = (
    *("training_", "train_", "validation_", "valid_", "val_", "testing_", "test_"),
    *("evaluation_", "eval_", "mean_", "average_", "final_", "best_"),
)


_UNITS = ("_percent", "_percentage", "_pct", "_%")


def _folded(name: str) -> str:
    for separator in "-/. ":
        name = name.replace(separator, "_")
    return name.casefold()


def declared(
    names: Iterable[str],
    metrics: Iterable[Metric],
    *,
    hint: str = "metrics=",
    example: str = "{{{!r}: 'lower'}}",
    stacklevel: int = 3,
) -> dict[str, Metric]:
    """Return what each name means: as declared, registered, or assumed with a warning.

    Parameters
    ----------
    names : iterable of str
    metrics : iterable of Metric
        Those that the caller declared.
    hint, example : str
        What the warning tells the caller to use, and how with a name filled in.
    stacklevel : int
        How far up the caller is whom the warning is for.
    """
    stated = {_a_metric(metric).name: metric for metric in metrics}
    found = {name: stated.get(name) or find(name) for name in names}
    assumed = [name for name, metric in found.items() if metric is None]
    if assumed:
        verb = "mean" if len(assumed) > 1 else "means"
        warnings.warn(
            f"Nobody said what {listed(assumed)} {verb}: taken as higher is better, "
            f"without bounds. State it with {hint}, such as "
            f"{example.format(shortened(assumed[0]))}.",
            CurvewiseWarning,
            stacklevel=stacklevel,
        )
    return {name: metric or Metric(name) for name, metric in found.items()}


def _a_metric(metric: object) -> Metric:
    if not isinstance(metric, Metric):
        raise CurvewiseError(
            f"metrics holds {metric!r}. Pass Metric objects, such as "
            f"Metric('loss', 'lower')."
        )
    return metric


# --- the usual ones ----------------------------------------------------------------------


def _rate(name: str, direction: Direction, *aliases: str) -> None:
    register(Metric(name, direction, (0, 1), "fraction"), *aliases)


_rate("accuracy", "higher", "acc", "top1", "top_1", "top1_acc", "top5", "exact_match")
_rate("error", "lower", "err", "error_rate", "zero_one_loss")
_rate("precision", "higher")
_rate("recall", "higher", "sensitivity", "tpr")
_rate("specificity", "higher", "tnr")
_rate("f1", "higher", "f1_score", "f1_macro", "f1_micro", "f1_weighted")
_rate("jaccard", "higher", "iou", "miou")
_rate("balanced_accuracy", "higher", "balanced_acc")
_rate("auc", "higher", "auroc", "roc_auc", "average_precision", "ap", "map", "auprc")
_rate("success_rate", "higher", "success", "solved")
register(Metric("brier", "lower", (0, 1)), "brier_score")
register(Metric("mcc", "higher", (-1, 1)), "matthews_corrcoef")
register(Metric("kappa", "higher", (-1, 1)), "cohen_kappa")
register(Metric("r2", "higher", (-_INF, 1)), "r2_score")
register(
    Metric("loss", "lower", (-_INF, _INF)), "nll", "cost", "objective_loss", "elbo_loss"
)
register(Metric("log_loss", "lower", (0, _INF)), "cross_entropy", "ce", "bpb", "bpc")
register(Metric("mse", "lower", (0, _INF)), "mean_squared_error", "squared_error")
register(Metric("rmse", "lower", (0, _INF)), "root_mean_squared_error")
register(Metric("mae", "lower", (0, _INF)), "mean_absolute_error", "absolute_error")
register(Metric("wer", "lower", (0, _INF)), "cer", "mape", "fid")
register(Metric("perplexity", "lower", (1, _INF)), "ppl")
register(Metric("regret", "lower", (0, _INF)))
register(Metric("trained_on", "higher", (0, _INF), "examples"))
register(
    Metric("return", "higher"),
    *("returns", "reward", "rewards", "episode_return", "episodic_return", "ep_ret"),
    *("ep_return", "episode_reward", "ep_rew_mean", "cumulative_reward", "ep_reward"),
    *("averageepret", "averagetestepret", "total_reward", "rollout_ep_rew_mean"),
)

# Recorded along the curve, but nothing to judge by.
NOT_SCORES = frozenset({"trained_on"})
