"""What is to be run: tasks, algorithms, and how many trials of each from one seed."""

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from curvewise.engine import spaces
from curvewise.engine.definitions import code_in, definition
from curvewise.engine.spaces import Space
from curvewise.errors import (
    CurvewiseError,
    is_name,
    is_whole,
    listed,
    shortened,
    unknown,
    whole,
)
from curvewise.metrics import Metric
from curvewise.trials.columns import canonical
from curvewise.trials.design import Design, of_engine
from curvewise.trials.trial import Value

Sample: TypeAlias = Callable[..., Any]
Run: TypeAlias = Callable[[Any, Any, np.random.Generator], Any]


@dataclass(frozen=True, slots=True)
class Task:
    """A problem that can be drawn again.

    Parameters
    ----------
    name : str
    sample : callable
        ``sample(rng)`` draws the data; ``sample(train_rng, test_rng)`` draws them from
        two streams, so that an experiment can vary one and freeze the other.
    lines : int
        Into how many lines of growing training sets each draw is cut; see
        `Supervised.line`. Trials ``lines * i`` to ``lines * i + lines - 1`` share draw i.

    Examples
    --------
    >>> Task("coin", lambda rng: rng.random(10) < 0.5).name
    'coin'
    """

    name: str
    sample: Sample
    lines: int = 1

    def __post_init__(self) -> None:
        check_name(self.name, "task")
        check_callable(self.sample, f"Task '{self.name}'", "sample", "sample(rng)")
        whole(self.lines, f"Task '{self.name}': lines")
        self.streams  # noqa: B018  refuse a sample of three arguments here and now

    @property
    def streams(self) -> int:
        """How many generators `sample` takes: 1 (data) or 2 (train, test)."""
        try:
            parameters = inspect.signature(self.sample).parameters.values()
        except (TypeError, ValueError):
            return 1
        needed = [
            p
            for p in parameters
            if p.default is p.empty
            and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        if len(needed) not in (1, 2):
            raise CurvewiseError(
                f"Task '{self.name}': sample takes {len(needed)} arguments. Write "
                f"sample(rng), or sample(train_rng, test_rng).",
                argument="sample",
                value=self.sample,
            )
        return len(needed)


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A complete algorithm: a name, a distribution of hyperparameters, what to run.

    Parameters
    ----------
    name : str
    space : mapping, callable or space of another tool
        The distribution of hyperparameters: a dict of lists and distributions, a
        callable of an rng that returns a dict, or a space that `curvewise.from_optuna` or
        `curvewise.from_configspace` adapts. ``{}`` has none.
    run : callable
        ``run(params, data, rng)`` yields ``(step, {metric: value})``: one yield is a
        score, many are a curve. ``"counts"`` may hold a confusion matrix, ``"correct"``
        whether each example was answered correctly, ``"examples"`` who they are.

    Examples
    --------
    >>> def guess(params, data, rng):
    ...     yield 0, {"accuracy": (rng.random(len(data)) < params["p"]).mean()}
    >>> print(Algorithm("guess", {"p": [0.3, 0.5]}, guess))
    guess
      p: one of 0.3, 0.5
    """

    name: str
    space: Space
    run: Run

    def __post_init__(self) -> None:
        check_name(self.name, "algorithm")
        check_callable(
            self.run, f"Algorithm '{self.name}'", "run", "run(params, data, rng)"
        )
        check_arguments(self.run, f"Algorithm '{self.name}'")
        spaces.sampler(self.space, f"Algorithm '{self.name}'")

    def draw(self, rng: np.random.Generator) -> dict[str, Value]:
        """Return hyperparameters drawn from the space, as plain values."""
        return spaces.draw(self.space, rng)

    def fixed(self, params: Mapping[str, Any], name: str | None = None) -> "Algorithm":
        """Return the same algorithm with these hyperparameters, and no others, each time.

        Examples
        --------
        >>> net = Algorithm("net", {"lr": [0.1, 0.2]}, lambda params, data, rng: None)
        >>> net.fixed({"lr": 0.2}).name
        'net {"lr":0.2}'
        """
        text = canonical(params, f"Algorithm '{self.name}'")
        laws = self.space if isinstance(self.space, Mapping) else {}
        for key in params:
            if laws and key not in laws:
                raise unknown("hyperparameter", key, laws)
        space = {key: [value] for key, value in params.items()}
        return Algorithm(name or f"{self.name} {text}", space, self.run)

    def __str__(self) -> str:
        lines = spaces.describe(self.space).splitlines()
        return "\n".join([self.name, *(f"  {line}" for line in lines)])


class Replicates(NamedTuple):
    """Which draw of each role a trial uses, and which line of a draw that is cut."""

    params: int
    train: int
    test: int
    seed: int
    line: int


# --- What an experiment is made of, checked where it is made ---------------------------


VARIED = ("params", "train", "test", "seed")


@dataclass(frozen=True, slots=True)
class Experiment:
    """Tasks x algorithms x trials from one seed.

    Parameters
    ----------
    tasks : iterable of Task
    algorithms : iterable of Algorithm
    trials : int, optional
        How many of each algorithm on each task; the product of `cross` if left out.
    seed : int
        The one number that a person chooses; everything random follows from it.
    vary : iterable of {"params", "train", "test", "seed", "data"}
        What is drawn anew in each trial; the rest is drawn once. ``"data"`` is train and
        test.
    cross : mapping of str to int, optional
        A full crossing for variance shares: ``{"params": 10, "seed": 5}`` runs each of
        10 draws of the hyperparameters with each of 5 seeds. The first one may grow later.
    metrics : iterable of Metric
        What the scores mean; registered metrics need not be named.

    Examples
    --------
    >>> task = Task("coin", lambda rng: rng.random(10) < 0.5)
    >>> guess = Algorithm("guess", {}, lambda params, data, rng: {"accuracy": data.mean()})
    >>> Experiment([task], [guess], trials=3, seed=0).size
    3
    """

    tasks: tuple[Task, ...]
    algorithms: tuple[Algorithm, ...]
    trials: int
    seed: int
    vary: tuple[str, ...] = VARIED
    cross: Mapping[str, int] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()

    def __init__(
        self,
        tasks: Iterable[Task] | Task,
        algorithms: Iterable[Algorithm] | Algorithm,
        trials: int | None = None,
        seed: int = 0,
        *,
        vary: Iterable[str] = VARIED,
        cross: Mapping[str, int] | None = None,
        metrics: Iterable[Metric] = (),
    ) -> None:
        fill = object.__setattr__
        fill(self, "tasks", members(tasks, Task, "tasks"))
        fill(self, "algorithms", members(algorithms, Algorithm, "algorithms"))
        fill(self, "cross", crossed(cross or {}))
        fill(self, "trials", number_of_trials(trials, self.cross))
        if not is_whole(seed, 0, 2**128 - 1):
            raise CurvewiseError(
                f"seed is {seed!r}. Pass a whole number from 0 to 2**128 - 1.",
                argument="seed",
                value=seed,
            )
        fill(self, "seed", int(seed))
        fill(self, "vary", varied(vary))
        fill(self, "metrics", meanings(metrics))
        self._refuse_half_a_stream()

    def _refuse_half_a_stream(self) -> None:
        """Raise if train and test are to differ where a task draws them together."""
        fates = [(r in self.vary, r in self.cross) for r in ("train", "test")]
        if fates[0] == fates[1] and not fates[0][1]:
            return
        for task in self.tasks:
            if task.streams == 1:
                raise CurvewiseError(
                    f"Task '{task.name}' draws train and test from one stream, and only "
                    f"one of them is to vary or be crossed. Say 'data' for both, or let "
                    f"sample take two generators: sample(train_rng, test_rng).",
                    argument="sample",
                    value=task.sample,
                )

    @property
    def size(self) -> int:
        """How many trials there are in all."""
        return len(self.tasks) * len(self.algorithms) * self.trials

    def task(self, name: str) -> Task:
        """Return the task of that name."""
        member: Task = _named(self.tasks, name, "task")
        return member

    def algorithm(self, name: str) -> Algorithm:
        """Return the algorithm of that name."""
        member: Algorithm = _named(self.algorithms, name, "algorithm")
        return member

    def cells(self) -> Iterator[tuple[Task, Algorithm]]:
        """Yield every pair of task and algorithm."""
        return ((task, one) for task in self.tasks for one in self.algorithms)

    def replicates(self, number: int) -> Replicates:
        """Return which draw of each role trial `number` uses."""
        draws = [number if role in self.vary else 0 for role in VARIED]
        if not self.cross:
            return Replicates._make([*draws, number])
        place = self._places(number)
        data = place.get("data")
        train, test = (place.get(role, data) for role in ("train", "test"))
        digits = place.get("params"), train, test, place.get("seed")
        chosen = [
            usual if digit is None else digit
            for usual, digit in zip(draws, digits, strict=True)
        ]
        # Lines differ also where their draw is frozen.
        chosen.append(number if train is None else train)
        return Replicates._make(chosen)

    def labels(self, task: Task, number: int) -> dict[str, int]:
        """Return what tells the draws of a crossed design or of lines apart."""
        labels = self._places(number)
        if task.lines > 1:
            chosen = self.replicates(number)
            draw, line = chosen.train // task.lines, chosen.line % task.lines
            labels |= {"draw": draw, "line": line}
        return labels

    def _places(self, number: int) -> dict[str, int]:
        """Return the digits of a trial's number in the crossed design."""
        roles = list(self.cross)
        place = {}
        for role in roles[:0:-1]:
            number, place[role] = divmod(number, self.cross[role])
        # The first factor has no end, so that a design can grow.
        return {role: place.get(role, number) for role in roles}

    def definition(self) -> dict[str, str]:
        """Return what each result hangs on, as text to compare: name to definition."""
        streams = f"seed: {self.seed}\nvary: {', '.join(self.vary)}"
        if self.cross:  # the first factor may grow
            first, *inner = self.cross
            streams += f"\ncross: {first} x { ({r: self.cross[r] for r in inner}) }"
        texts = {"streams": streams}
        for task in self.tasks:
            lines = f"lines: {task.lines}\n" if task.lines > 1 else ""
            texts[f"task {task.name}"] = lines + definition(task.sample)
        for one in self.algorithms:
            # Of a function, what it does counts, not what its docstring says.
            is_code = inspect.isfunction(one.space)
            printed = "" if is_code else spaces.describe(one.space, whole=True)
            parts = printed, code_in(one.space), definition(one.run)
            texts[f"algorithm {one.name}"] = "\n".join(filter(None, parts))
        return texts

    def spaces(self) -> dict[str, str]:
        """Return what each algorithm's hyperparameters are drawn from, as text."""
        return {one.name: spaces.describe(one.space) for one in self.algorithms}

    def design(self) -> Design:
        """Return what replicates what: trials of one number meet the same data."""
        has_params = any(self.spaces().values())
        return of_engine(self.seed, self.vary, self.cross, has_params=has_params)

    def __str__(self) -> str:
        tasks = ", ".join(task.name for task in self.tasks)
        lines = [
            f"{self.size:,} trials: {self.trials:,} of each algorithm on each task",
            f"tasks: {tasks}",
            f"seed: {self.seed}; drawn anew in each trial: {', '.join(self.vary)}",
        ]
        if self.cross:
            crossed = " x ".join(f"{n} {role}" for role, n in self.cross.items())
            lines.append(f"crossed: {crossed}")
        return "\n".join([*lines, "algorithms:", *(str(a) for a in self.algorithms)])


def _named(members: Iterable[Any], name: str, kind: str) -> Any:
    by_name = {member.name: member for member in members}
    if name not in by_name:
        raise unknown(kind, name, by_name)
    return by_name[name]


def check_name(name: object, kind: str) -> None:
    """Raise if a name is no text."""
    if not is_name(name):
        raise CurvewiseError(
            f"The name of {kind} is {name!r}. Pass a text in valid Unicode, not empty.",
            argument="name",
            value=name,
        )


def check_arguments(run: Any, whose: str) -> None:
    """Raise if an algorithm cannot be called as it will be."""
    try:
        inspect.signature(run).bind(None, None, None)
    except TypeError as problem:
        raise CurvewiseError(
            f"{whose}: run cannot be called with three arguments ({problem}). "
            f"Write run(params, data, rng).",
            argument="run",
            value=run,
        ) from None
    except ValueError:  # nobody knows its signature
        return


def meanings(metrics: Any) -> tuple[Metric, ...]:
    """Return the metrics that were declared."""
    declared = (metrics,) if isinstance(metrics, Metric) else tuple(metrics)
    for metric in declared:
        if not isinstance(metric, Metric):
            raise CurvewiseError(
                f"metrics holds {metric!r}. Pass Metric objects, such as "
                f"Metric('loss', 'lower').",
                argument="metrics",
                value=metric,
            )
    return declared


def check_callable(value: object, whose: str, what: str, form: str) -> None:
    """Raise if something is no function."""
    if not callable(value):
        raise CurvewiseError(
            f"{whose}: {what} is {shortened(value)}, which cannot be called. "
            f"Pass a function {form}.",
            argument=what,
            value=value,
        )


def members(given: Any, kind: type[Any], what: str) -> tuple[Any, ...]:
    """Return tasks or algorithms, each with a name of its own."""
    try:
        members = (given,) if isinstance(given, kind) else tuple(given)
    except TypeError:
        members = (given,)
    if not members:
        raise CurvewiseError(
            f"{what} is empty. Pass at least one {kind.__name__}.",
            argument=what,
            value=given,
        )
    for member in members:
        if not isinstance(member, kind):
            raise CurvewiseError(
                f"{what} holds {shortened(member)}. Pass {kind.__name__} objects.",
                argument=what,
                value=member,
            )
    names = [member.name for member in members]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise CurvewiseError(
            f"{what} has {listed(twice)} twice. Give each its own name.",
            argument=what,
            value=twice,
        )
    return members


def crossed(cross: Mapping[str, int]) -> dict[str, int]:
    """Return a crossed design, its roles known."""
    for role, count in cross.items():
        if role not in (*VARIED, "data"):
            raise unknown("role to cross", role, (*VARIED, "data"))
        whole(count, f"cross['{role}']")
    if "data" in cross and {"train", "test"} & set(cross):
        raise CurvewiseError(
            "cross has 'data' and 'train' or 'test'. Data is both.",
            argument="cross",
            value=cross,
        )
    return dict(cross)


def number_of_trials(trials: object, cross: Mapping[str, int]) -> int:
    """Return how many trials there are of each algorithm on each task."""
    product = math.prod(cross.values())
    if trials is None:
        if not cross:
            raise CurvewiseError(
                "trials is missing. Say how many, such as ",
                {"trials": 100},
                ".",
                argument="trials",
            )
        return product
    number = whole(trials, "trials")
    if cross and number != product:
        raise CurvewiseError(
            f"trials is {trials}, and {dict(cross)} crosses to {product}. Leave it out.",
            argument="trials",
            value=trials,
        )
    return number


def varied(vary: Iterable[str]) -> tuple[str, ...]:
    """Return the roles that are drawn anew in each trial, in their order."""
    try:
        roles = {vary} if isinstance(vary, str) else set(vary)
    except TypeError:
        raise CurvewiseError(
            f"vary is {vary!r}. Pass a list of {VARIED}.", argument="vary", value=vary
        ) from None
    for role in roles:
        if role not in (*VARIED, "data"):
            raise unknown("role to vary", role, (*VARIED, "data"))
    if "data" in roles:
        roles |= {"train", "test"}
    return tuple(role for role in VARIED if role in roles)
