"""From trials to tables: what models of a curve miss, how they move, what bands hold."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from curvewise.metrics import Floats
from curvewise.papers.printed import printed
from curvewise.papers.results import Table
from curvewise.stats.learning import LeftOut, extrapolate, leave_one_size_out, stability
from curvewise.stats.powerlaw import PowerLaw, fit_power_law, light_fit
from curvewise.trials import Trials

Rows: TypeAlias = list[dict[str, Any]]
Key: TypeAlias = tuple[str, str, int]

SHARES = (25.0, 50.0, 100.0, 200.0, 400.0)  # of the pool, in 400ths: the paper's axis
LEVELS = 7  # sizes: the pool over 64, 32, ..., 1
_LINES = 2 ** (LEVELS - 1)
_POOLS = 4  # quarters of the pool, each a design of its own
_SEED = 2021
_DIVERGED = 2.0  # times the error of half the data
TERMS: dict[str, Literal["power", "linear", "quadratic", "full"]] = {
    "alpha, eta, gamma": "power",
    "alpha, eta": "linear",
    "alpha, eta, delta": "quadratic",
    "alpha, eta, delta, gamma": "full",
}


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The errors of one learner on one table and split, in percent.

    Parameters
    ----------
    sizes : ndarray, shape (size,)
    errors : tuple of ndarray
        For each size, one error for each disjoint block, in the order of the pool.
    """

    sizes: Floats
    errors: tuple[Floats, ...]

    @property
    def largest(self) -> list[Floats]:
        """The errors at the five largest sizes: 16, 8, 4, 2 and 1 of them."""
        return list(self.errors[-len(SHARES) :])

    @property
    def is_diverged(self) -> bool:
        """Whether more data made a model far worse: its training went wrong."""
        means = np.array([e.mean() for e in self.errors])
        return bool((means[1:] > _DIVERGED * means[:-1]).any())

    def quarter(self, i: int) -> list[Floats]:
        """Return those of one quarter of the pool: 16, 8, 4, 2 and 1 of them."""
        parts = self.errors[: LEVELS - 2]
        return [e[i * len(e) // _POOLS : (i + 1) * len(e) // _POOLS] for e in parts]

    def others(self, i: int) -> list[Floats]:
        """Return those of the other quarters."""
        parts = self.errors[: LEVELS - 2]
        return [
            np.delete(e, np.arange(i * len(e) // _POOLS, (i + 1) * len(e) // _POOLS))
            for e in parts
        ]


def blocks_of(trials: Trials) -> dict[Key, Blocks]:
    """Return the errors by table, learner and split."""
    found: dict[Key, Blocks] = {}
    for task in trials.tasks:
        for learner, points in trials.where(task=task).points("error").items():
            split, line = np.divmod(points.trial, _LINES)
            for draw in np.unique(split):
                own = split == draw
                size, place = points.size[own], line[own]
                value = 100 * points.value[own]
                sizes = np.unique(size)
                errors = tuple(
                    value[size == n][np.argsort(place[size == n])] for n in sizes
                )
                found[task, learner, int(draw)] = Blocks(sizes, errors)
    return found


def measured(trials: Trials) -> dict[str, Table]:
    """Return all tables of the study, without curves of which a model diverged."""
    blocks = {k: own for k, own in blocks_of(trials).items() if not own.is_diverged}
    return {
        "left_out": columns(_left_out(blocks)),
        "stability": columns(_stability(blocks)),
        "light": columns(_light(blocks)),
        "coverage": columns(list(_coverage(blocks))),
    }


def columns(rows: Rows) -> Table:
    """Return rows as columns, numbers to seven digits."""
    table: dict[str, Any] = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        is_real = isinstance(values[0], float)
        table[name] = np.array(values, dtype=np.float32) if is_real else values
    return table


def _about(key: Key) -> dict[str, Any]:
    return dict(zip(("table", "learner", "split"), key, strict=True))


def _left_out(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return what each model of Figure 2 predicts at a size that was left out."""
    models = printed("hoiem2021").tables["figure2"]["model"]
    found = leave_one_size_out(
        SHARES, [own.largest for own in blocks.values()], models, unit="percent"
    )
    return [
        {
            **_about(key),
            "model": model,
            "share": share,
            "observed": float(found.observed[c, i]),
            "predicted": float(found.predicted[m, c, i]),
        }
        for c, key in enumerate(blocks)
        for m, model in enumerate(models)
        for i, share in enumerate(SHARES)
    ]


def left_out_of(table: Table, tables: Sequence[str] | None = None) -> LeftOut:
    """Return what was left out again as one object, of all tables or of some."""
    here = np.ones(len(table["table"]), bool)
    if tables is not None:
        here = np.isin(np.asarray(table["table"], dtype=str), tables)
    models = tuple(dict.fromkeys(table["model"]))
    shape = (-1, len(models), len(SHARES))
    observed = np.asarray(table["observed"], np.float64)[here].reshape(shape)[:, 0]
    predicted = np.asarray(table["predicted"], np.float64)[here].reshape(shape)
    curves = tuple(f"curve {i + 1}" for i in range(len(observed)))
    return LeftOut(
        np.array(SHARES), models, curves, observed, predicted.transpose(1, 0, 2)
    )


def _stability(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return how refits of four resampled points move, and what they miss beyond.

    One point at each of the pool over 32, 16, 8 and 4; what is looked at beyond are half
    of the smallest and four times the largest, as 25 and 1600 are in the paper.
    """
    rows: Rows = []
    for key, own in blocks.items():
        means = np.array([e.mean() for e in own.errors])
        inner = slice(1, LEVELS - 2)
        sds = np.array([e.std(ddof=1) for e in own.errors[inner]])
        for name, terms in TERMS.items():
            found = stability(
                own.sizes[inner],
                means[inner],
                sds,
                to=own.sizes[[0, -1]],
                unit="percent",
                method="paper",
                terms=terms,
                rng=np.random.default_rng(_SEED),
            )
            sd = [float(x[0]) for x in found.sd.values()]
            missed = found.predictions[0] - means[[0, -1]]
            off = np.sqrt((missed**2).mean(axis=0))
            rows.append(
                {
                    **_about(key),
                    "model": name,
                    **dict(zip(("e_N", "beta_N", "gamma", "alpha"), sd, strict=False)),
                    "below": float(off[0]),
                    "beyond": float(off[1]),
                }
            )
    return rows


def _light(blocks: Mapping[Key, Blocks]) -> Rows:
    """Return error and data-reliance of the full and of the light fit."""
    rows: Rows = []
    for key, own in blocks.items():
        full = _paper(own.sizes[-5:], own.largest)
        line = light_fit(own.sizes[-5:], own.largest, unit="percent", method="paper")
        rows.append(
            {
                **_about(key),
                "e_N": full.e_N,
                "beta_N": full.beta_N,
                "gamma": full.gamma,
                "light_e_N": line.e_N,
                "light_beta_N": line.beta_N,
            }
        )
    return rows


def _paper(sizes: Floats, errors: Sequence[Floats]) -> PowerLaw:
    return fit_power_law(sizes, errors, unit="percent", method="paper")


def _coverage(blocks: Mapping[Key, Blocks]) -> Iterator[dict[str, Any]]:
    """Yield intervals from one quarter of the pool, and what the rest of it says."""
    for key, own in blocks.items():
        noise = fit_power_law(own.sizes, own.errors, unit="percent").noise(own.sizes)
        for i in range(_POOLS):
            rest = [*own.others(i), *own.errors[LEVELS - 2 :]]
            seen, sizes = own.quarter(i), own.sizes[: LEVELS - 2]
            bounds = {
                "printed": _paper(sizes, seen).interval(own.sizes),
                "calibrated": fit_power_law(sizes, seen, unit="percent").interval(
                    own.sizes
                ),
                "forecast": extrapolate(
                    sizes, seen, to=own.sizes[-1], unit="percent"
                ).interval(own.sizes),
            }
            for method, told in bounds.items():
                for k in range(LEVELS):
                    yield {
                        **_about(key),
                        "quarter": i,
                        "method": method,
                        "level": k,
                        "observed": float(rest[k].mean()),
                        "noise": float(np.sqrt(noise[k] / len(rest[k]))),
                        "value": float(told.value[k]),
                        "lower": float(told.lower[k]),
                        "upper": float(told.upper[k]),
                    }


def holds(table: Table, level: float = 1.96) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return whether each interval holds what was observed, whose noise makes it wider.

    >>> bounds = {"value": [1.0, 1.0], "lower": [0.9, 0.9], "upper": [1.1, 1.1]}
    >>> holds({**bounds, "observed": [1.15, 1.15], "noise": [0.0, 0.1]}).tolist()
    [False, True]
    """
    names = ("observed", "value", "lower", "upper", "noise")
    observed, value, lower, upper, noise = (np.asarray(table[n]) for n in names)
    apart = observed - value
    room = np.where(apart < 0, value - lower, upper - value)
    return np.asarray(np.abs(apart) <= np.hypot(room, level * noise))
