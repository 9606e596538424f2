"""What a score means: direction, range, unit, label.

A metric travels with the trials that were scored by it, so nobody ever passes a
``minimize=`` flag: `Metric.direction` says which way is better, and `Metric.range` is
what bounds are allowed to use.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from curvewise.errors import (
    CurvewiseError,
    Message,
    UnknownDirection,
    listed,
    shortened,
    trials_where,
)
from curvewise.metrics.names import meaning_of

Direction: TypeAlias = Literal["higher", "lower"]
Source: TypeAlias = Literal["stated", "source", "name"]

_INF = math.inf


@dataclass(frozen=True, slots=True)
class Metric:
    """A score's meaning.

    Parameters
    ----------
    name : str
        What the score is called in tables and files.
    direction : {"higher", "lower"}, optional
        Which way is better; None where it is unknown. What depends on it is then not
        answered.
    range : (float, float)
        The values that are possible at all; ``-inf`` and ``inf`` where there is no
        bound. Guaranteed intervals for means need at least one finite end.
    unit : str
        What one is measured in; ``"fraction"`` for rates, which curvewise always keeps
        in [0, 1], never in percent.
    label : str
        The name for axes and headings; `name` where it is left out.
    source : {"stated", "source", "name"}
        Who says so: the caller, the tool that the results are from, or no more than the
        metric's name. It does not make two metrics differ.
    by_task : tuple of (str, Metric)
        What it means on each task, where that differs; see `on`.

    Examples
    --------
    >>> Metric("bleu", "higher", range=(0, 1), unit="fraction")
    Metric(name='bleu', direction='higher', range=(0.0, 1.0), unit='fraction', label='bleu')
    """

    name: str
    direction: Direction | None = None
    range: tuple[float, float] = (-_INF, _INF)
    unit: str = ""
    label: str = ""
    source: Source = field(default="stated", compare=False, repr=False)
    by_task: "tuple[tuple[str, Metric], ...]" = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise CurvewiseError(
                f"A metric needs a name, not {self.name!r}.",
                argument="name",
                value=self.name,
            )
        if self.direction not in (None, *get_args(Direction)):
            raise CurvewiseError(
                f"The direction of metric '{self.name}' is {self.direction!r}. "
                f"Say 'higher' or 'lower': which way is better.",
                argument="direction",
                value=self.direction,
            )
        if self.source not in get_args(Source):
            raise CurvewiseError(
                f"The source of metric '{self.name}' is {self.source!r}. "
                f"Pass one of {listed(get_args(Source))}.",
                argument="source",
                value=self.source,
            )
        try:
            low, high = (float(end) for end in self.range)
        except (TypeError, ValueError):
            low = high = math.nan
        if not low < high:
            raise CurvewiseError(
                f"The range of metric '{self.name}' is {self.range!r}. "
                f"Pass two numbers, the lower first, such as (0, 1).",
                argument="range",
                value=self.range,
            )
        object.__setattr__(self, "range", (low, high))
        object.__setattr__(self, "label", self.label or self.name)

    def __setstate__(self, state: list[Any]) -> None:
        fields = ("name", "direction", "range", "unit", "label", "source", "by_task")
        # Pickles of older versions end with the label.
        values = [*state, *("stated", ())[len(state) - len(fields) :]]
        for name, value in zip(fields, values, strict=False):
            object.__setattr__(self, name, value)

    @property
    def known_direction(self) -> Direction:
        """The direction; raise `UnknownDirection` where there is none."""
        if self.direction is not None:
            return self.direction
        name = shortened(self.name)
        if self.by_task:
            ways = {one.direction for _, one in self.by_task}
            if None not in ways:
                raise UnknownDirection(
                    f"Which way '{name}' is better differs by task, and tasks are "
                    "taken together here. Choose one with ",
                    trials_where(task=self.by_task[0][0]),
                    ".",
                )
        raise UnknownDirection(
            f"Is a high or a low '{name}' better? No direction is declared, and the answer "
            f"depends on it.",
            fixes=[{"metrics": {self.name: way}} for way in ("lower", "higher")],
        )

    @property
    def is_directed(self) -> bool:
        """Whether it is known which way is better, at least task by task."""
        if self.direction is not None:
            return True
        return bool(self.by_task) and all(one.direction for _, one in self.by_task)

    @property
    def sign(self) -> int:
        """+1 where higher is better, -1 where lower is: multiply to make it higher."""
        return 1 if self.known_direction == "higher" else -1

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
        return self.range[0] if self.known_direction == "higher" else self.range[1]

    @property
    def is_rate(self) -> bool:
        """Whether this is a fraction in [0, 1], which people also write in percent."""
        return self.range == (0.0, 1.0)

    @property
    def assumption(self) -> str:
        """What was taken from the name alone, in a line; "" where somebody said it.

        Where the name does not tell either, that it is not known which way is better.
        """
        if not self.is_directed:
            return Message(
                f"{shortened(self.name)}: which way is better is not known (",
                {"metrics": {self.name: "lower"}},
                "?)",
            )
        if self.direction is None or self.source != "name":
            return ""
        return f"{shortened(self.name)}: {self.direction} is better (from its name)"

    def on(self, *tasks: str) -> "Metric":
        """Return what it means on these tasks together.

        >>> score = Metric.of_tasks("score", {"a": "higher:0:1", "b": "lower"})
        >>> score.on("b").direction, score.on("a", "b").direction
        ('lower', None)
        """
        if not self.by_task:
            return self
        by_task = dict(self.by_task)
        unsaid = Metric(self.name, None, unit=self.unit, label=self.label)
        parts = {task: by_task.get(task, unsaid) for task in tasks}
        means = list(parts.values())
        if means and all(one == means[0] for one in means):
            return means[0]
        return _together(self, parts) if parts else self

    @classmethod
    def of_tasks(
        cls, name: str, meanings: "Mapping[str, Metric | str]", **rest: Any
    ) -> "Metric":
        """Return a metric that means something else on each task.

        Parameters
        ----------
        name : str
        meanings : mapping of str to Metric or str
            For each task a metric, or a direction and a range as `Metric.of_text` takes.
        **rest
            Fields of the metric on all tasks.
        """
        by_task = {
            task: replace(one, name=name)
            if isinstance(one, Metric)
            else cls.of_text(name, one)
            for task, one in meanings.items()
        }
        return _together(cls(name, **rest), by_task)

    @classmethod
    def of_text(cls, name: str, text: str) -> "Metric":
        """Return a metric from a text: a direction, perhaps with a range.

        A direction alone keeps the range that the name implies, if it agrees with it.

        >>> Metric.of_text("loss", "lower:0:").range
        (0.0, inf)
        >>> Metric.of_text("val_acc", "higher").range
        (0.0, 1.0)
        """
        way, *ends = (part.strip() for part in str(text).split(":"))
        if way not in get_args(Direction) or len(ends) not in (0, 2):
            raise _odd_text(name, text)
        usual = find(name)
        if not ends:
            agrees = usual is not None and usual.direction == way
            base = usual if usual is not None and agrees else cls(name, way)  # type: ignore[arg-type]  # checked above
            return replace(base, source="stated")
        try:
            low, high = (
                float(e) if e else s for e, s in zip(ends, (-_INF, _INF), strict=True)
            )
            unit = "fraction" if (low, high) == (0, 1) else ""
            return cls(name, way, (low, high), unit)  # type: ignore[arg-type]  # checked above
        except ValueError:
            raise _odd_text(name, text) from None

    @property
    def as_text(self) -> str:
        """The text that `of_text` makes it of; "" where no direction is known.

        >>> Metric("acc", "higher", (0, 1)).as_text, Metric("acc", "higher").as_text
        ('higher', 'higher::')
        >>> Metric("loss", "lower", (0, math.inf)).as_text
        'lower:0:'
        """
        if self.direction is None:
            return ""
        usual = Metric.of_text(self.name, self.direction)
        if usual.range == self.range:
            return self.direction
        low, high = ("" if math.isinf(end) else f"{end:.15g}" for end in self.range)
        return f"{self.direction}:{low}:{high}"

    def plain(self) -> dict[str, Any]:
        """Return the fields that all versions of curvewise know, to be written."""
        return {
            "name": self.name,
            "direction": self.direction or "higher",
            "range": self.range,
            "unit": self.unit,
            "label": self.label,
        }

    def beside(self) -> dict[str, Any]:
        """Return what `plain` cannot say; nothing where it says everything."""
        fields: dict[str, Any] = {}
        if self.direction is None:
            fields["direction"] = None
        if self.source != "stated":
            fields["source"] = self.source
        if self.by_task:
            fields["by_task"] = {
                task: {"plain": one.plain(), "beside": one.beside()}
                for task, one in self.by_task
            }
        return fields

    @classmethod
    def of_fields(
        cls, plain: Mapping[str, Any], beside: Mapping[str, Any] | None = None
    ) -> "Metric":
        """Return the metric that `plain` and `beside` were written from."""
        fields = {**plain, **(beside or {}), "range": tuple(plain["range"])}
        fields["by_task"] = tuple(
            (task, cls.of_fields(one["plain"], one["beside"]))
            for task, one in fields.get("by_task", {}).items()
        )
        return cls(**fields)

    def __str__(self) -> str:
        low, high = self.range
        bounds = (
            "" if math.isinf(low) and math.isinf(high) else f", {low:g} to {high:g}"
        )
        better = (
            f"{self.direction} is better" if self.direction else "direction unknown"
        )
        if self.direction is None and self.by_task:
            better = "direction by task"
        return f"{self.name} ({better}{bounds})"


def _together(metric: Metric, by_task: Mapping[str, Metric]) -> Metric:
    """Return a metric with what it means on each task, and what all of them share."""
    parts = list(by_task.values())
    ways = {one.direction for one in parts}
    return replace(
        metric,
        direction=ways.pop() if len(ways) == 1 else None,
        # All that is possible on any of them: bounds that hold there hold everywhere.
        range=(min(p.range[0] for p in parts), max(p.range[1] for p in parts)),
        unit=parts[0].unit if len({p.unit for p in parts}) == 1 else "",
        by_task=tuple(by_task.items()),
    )


def stated(name: str, meant: Any) -> Metric:
    """Return what somebody says of a metric, in any of the ways that `read` takes.

    >>> stated("acc", "higher:0:1").range
    (0.0, 1.0)
    >>> stated("score", {"a": "higher", "b": "lower"}).on("b").direction
    'lower'
    """
    if isinstance(meant, Metric):
        return meant
    if isinstance(meant, Mapping) and meant:
        by_task = {str(task): stated(name, one) for task, one in meant.items()}
        return Metric.of_tasks(name, by_task)
    if not isinstance(meant, str):
        raise _odd_text(name, meant)
    return Metric.of_text(name, meant)


def _odd_text(name: str, text: object) -> CurvewiseError:
    return CurvewiseError(
        f"metrics says {text!r} of '{shortened(name)}'. Say 'higher', 'lower', a direction "
        f"with a range such as 'higher:0:1', or pass a Metric.",
        fixes=[{"metrics": {name: way}} for way in ("lower", "higher")],
    )


REGISTRY: dict[str, Metric] = {}


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
        REGISTRY[_folded(name)] = metric
    return metric


def find(name: str) -> Metric | None:
    """Return what a name means: as registered, or by its noun; None where it is unclear.

    The metric keeps the name that was asked for. Words that say where it was measured
    (``val``, ``test``, ``epoch``, ``best``) do not change what it means, in whatever order
    they come, nor does a unit at its end (``_percent``, ``_pct``). Names of what is no
    quality, such as times and counts, are None too; see `is_quality`.

    >>> find("val_acc").range
    (0.0, 1.0)
    >>> find("Loss/test").direction, find("test/loss").direction
    ('lower', 'lower')
    >>> find("neg_mean_squared_error").direction
    'higher'
    >>> find("score") is None, find("mean_fit_time") is None
    (True, True)
    """
    metric = _registered(name)
    if metric is not None:
        return metric if metric.name == name else replace(metric, name=name, label=name)
    meaning = meaning_of(name)
    if meaning.kind not in get_args(Direction):
        return None
    unit = "fraction" if meaning.range == (0, 1) else ""
    return Metric(name, meaning.kind, meaning.range, unit, source="name")  # type: ignore[arg-type]  # checked above


def is_quality(name: str) -> bool:
    """Return whether a metric of that name may be something to judge by.

    Times, counts, sizes, learning rates, norms, ranks and spreads are not, and are never
    a score unless somebody declares a direction.

    >>> is_quality("accuracy"), is_quality("zorp"), is_quality("mean_fit_time")
    (True, True, False)
    """
    if _folded(name) in NOT_SCORES:
        return False
    return _registered(name) is not None or meaning_of(name).kind != "none"


def _registered(name: str) -> Metric | None:
    folded = _folded(name)
    for unit in _UNITS:
        folded = folded.removesuffix(unit)
    bare = [folded.removeprefix(p) for p in _WHERE_MEASURED if folded.startswith(p)]
    return next((REGISTRY[n] for n in (folded, *bare) if n in REGISTRY), None)


_WHERE_MEASURED = tuple(
    "training_ train_ validation_ valid_ val_ testing_ test_ evaluation_ eval_ mean_ "
    "average_ final_ best_".split()
)


_UNITS = ("_percent", "_percentage", "_pct", "_%")


def _folded(name: str) -> str:
    for separator in "-/. ":
        name = name.replace(separator, "_")
    return name.casefold()


def declared(names: Iterable[str], metrics: Iterable[Metric]) -> dict[str, Metric]:
    """Return what each name means: as declared, by its name, or unknown.

    Parameters
    ----------
    names : iterable of str
    metrics : iterable of Metric
        Those that the caller declared.
    """
    by_name = {}
    for metric in metrics:
        if not isinstance(metric, Metric):
            raise CurvewiseError(
                f"metrics holds {metric!r}. Pass Metric objects, such as "
                f"Metric('loss', 'lower').",
                argument="metrics",
                value=metric,
            )
        by_name[metric.name] = metric
    return {name: by_name.get(name) or find(name) or unsaid(name) for name in names}


def unsaid(name: str) -> Metric:
    """Return the metric of a name that says nothing: its direction is unknown."""
    return Metric(name, None, source="name")


# Recorded along the curve, but nothing to judge by.
NOT_SCORES = frozenset({"trained_on"})
register(Metric("trained_on", "higher", (0, _INF), "examples"))
