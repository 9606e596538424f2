"""An experiment from a TOML file: tasks and algorithms by name, and how to run them."""

import functools
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from curvewise.engine.experiment import Algorithm, Experiment, Task
from curvewise.engine.supervised.tuning import tuned
from curvewise.errors import CurvewiseError, shortened, unknown
from curvewise.flow.arguments import check_workers, limits_of
from curvewise.flow.executors import EXECUTORS
from curvewise.flow.importing import imported, is_reference
from curvewise.flow.toml_keys import (
    ALGORITHM,
    METRIC,
    PLAN,
    RUN,
    SEARCH,
    TASK,
    Kinds,
    check,
    naming,
    refuse_misplaced,
    refuse_unknown,
)
from curvewise.flow.toml_spaces import space_of
from curvewise.flow.until import until
from curvewise.metrics import Metric

_TUNED = " tuned"


class Zoo(Protocol):
    """What knows tasks and algorithms by name, such as `curvewise.zoo`."""

    @property
    def TASKS(self) -> Mapping[str, Callable[..., Task]]:  # noqa: N802
        """What makes each task."""

    @property
    def ALGORITHMS(self) -> Mapping[str, Callable[..., Algorithm]]:  # noqa: N802
        """What makes each algorithm."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """An experiment, and how its file wants it run.

    Parameters
    ----------
    experiment : Experiment
    options : dict
        Keywords of `curvewise.run` that the file has; ``"store"`` is always there.
    text : str
        The file's text; empty for an experiment that is a Python object.
    path : Path
        Where the file is.
    """

    experiment: Experiment
    options: dict[str, Any]
    text: str
    path: Path


def from_toml(path: str | Path, zoo: Zoo) -> Recipe:
    """Return the experiment that a TOML file describes.

    Parameters
    ----------
    path : str or Path
    zoo : Zoo
        Where tasks and algorithms without a colon in their name are looked up.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CurvewiseError(
            f"{path} is no text in UTF-8 ({problem.reason}, byte {problem.start}). Pass a "
            f"TOML file."
        ) from None
    recipe = from_text(text, path, zoo)
    with naming(str(path)):
        check_options(recipe.options)
    return recipe


def check_options(options: Mapping[str, Any]) -> None:
    """Raise if a keyword of `curvewise.run` has a value that no run here can have."""
    if options.get("executor", "local") not in EXECUTORS:
        raise unknown("executor", options["executor"], EXECUTORS)
    check_workers(options.get("workers"))
    limits_of(options.get("timeout"), options.get("retries", 1), options.get("memory"))
    if "until" in options:
        until(options["until"])


def from_text(text: str, path: Path, zoo: Zoo) -> Recipe:
    """Return the experiment that the text of a TOML file describes.

    The text may be what a store remembers of another machine: whether its options are
    such as a run can have here is not asked.

    Parameters
    ----------
    text : str
    path : Path
        Where the file is, or was: modules and the store are looked for beside it.
    zoo : Zoo
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise CurvewiseError(
            f"{path} is no TOML: {problem}.{_line(text, problem)}"
        ) from None
    return _Reader(path, zoo).recipe(table, text)


def _line(text: str, problem: tomllib.TOMLDecodeError) -> str:
    found = re.search(r"line (\d+)", str(problem))
    lines = text.splitlines()
    if found is None or not 0 < int(found[1]) <= len(lines):
        return ""
    return f" The line is: {shortened(lines[int(found[1]) - 1], 80)}"


class _Reader:
    """Turns tables of one file into objects; what goes wrong names file and key."""

    def __init__(self, path: Path, zoo: Zoo) -> None:
        self._path, self._zoo = path, zoo
        self._folder = path.resolve().parent

    def recipe(self, table: dict[str, Any], text: str) -> Recipe:
        """Return what the whole file says."""
        with naming(str(self._path)):
            check(table, {**PLAN, **RUN})
            experiment = self._experiment(table)
            options = {key: table[key] for key in RUN if key in table}
            if options.get("store") == "":
                raise CurvewiseError(
                    "'store' is ''. Write the path of a file, or leave it out."
                )
        default = self._path.with_suffix(".db").name
        options["store"] = self._place(options.get("store", default))
        return Recipe(experiment, options, text, self._path)

    def _experiment(self, table: dict[str, Any]) -> Experiment:
        for key, kind in (("tasks", "task"), ("algorithms", "algorithm")):
            if key not in table:
                raise CurvewiseError(
                    f"'{key}' is missing. Name at least one {kind}, such as "
                    f'{key} = ["{next(iter(self._known(kind)))}"].'
                )
        for role in table.get("vary", ()):
            check({"vary": role}, {"vary": (str,)})
        self._meant = {m.name: m for m in self._metrics(table.get("metrics", {}))}
        return Experiment(
            self._entries(table["tasks"], "tasks", self._task),
            self._entries(table["algorithms"], "algorithms", self._algorithm),
            table.get("trials"),
            table.get("seed", 0),
            **{key: table[key] for key in ("vary", "cross") if key in table},
            metrics=self._meant.values(),
        )

    def _known(self, kind: str) -> Mapping[str, Any]:
        return self._zoo.TASKS if kind == "task" else self._zoo.ALGORITHMS

    def _place(self, text: str) -> str:
        """Return a path beside the file; URLs stay as they are."""
        if "://" in text:
            return text
        return str(self._path.parent / Path(text).expanduser())

    def _entries(self, given: Any, key: str, make: Callable[[Any], Any]) -> list[Any]:
        entries = [given] if isinstance(given, str) else given
        made = []
        for number, entry in enumerate(entries, 1):
            where = f"{key}, entry {number}"
            if not isinstance(entry, str | dict):
                raise CurvewiseError(
                    f"{where} is {shortened(repr(entry))}. Write a name in quotes, or a "
                    f"table that begins with [[{key}]]."
                )
            with naming(where):
                made.append(make(entry))
        return made

    # --- tasks and algorithms ----------------------------------------------------------

    def _task(self, entry: str | dict[str, Any]) -> Task:
        if isinstance(entry, str):
            entry = {"sample" if is_reference(entry) else "zoo": entry}
        if "zoo" in entry:
            settings = dict(entry)
            if isinstance(settings.get("path"), str):  # of data, beside the file
                settings["path"] = str(self._folder / settings["path"])
            found: Task = self._from_zoo("task", settings, "sample")
            return found
        self._must_say(entry, "sample", "task", TASK)
        sample, name = self._function(entry, "sample", Task)
        if isinstance(sample, Task):
            return sample
        return Task(name, sample, entry.get("lines", 1))

    def _algorithm(self, entry: str | dict[str, Any]) -> Algorithm:
        if isinstance(entry, str):
            bare = entry.removesuffix(_TUNED)
            key = "run" if is_reference(bare) else "zoo"
            entry = {key: bare, "tuned": bare != entry}
        search = entry.get("tuned", False)
        entry = {key: value for key, value in entry.items() if key != "tuned"}
        made = self._untuned(entry)
        if search is False:
            return made
        check({"tuned": search}, ALGORITHM)
        with naming("key 'tuned'"):
            settings = {} if search is True else dict(search)
            check(settings, SEARCH)
            if (metric := settings.get("metric")) in self._meant:
                settings["metric"] = self._meant[metric]
            return tuned(made, **settings)

    def _untuned(self, entry: dict[str, Any]) -> Algorithm:
        if "zoo" in entry:
            settings = dict(entry)
            if "space" in settings:
                settings["space"] = self._space(settings["space"])
            found: Algorithm = self._from_zoo("algorithm", settings, "run")
            return found
        self._must_say(entry, "run", "algorithm", ALGORITHM)
        run, name = self._function(entry, "run", Algorithm)
        if isinstance(run, Algorithm):
            return run
        return Algorithm(name, self._space(entry.get("space", {})), run)

    def _from_zoo(self, kind: str, settings: dict[str, Any], other: str) -> Any:
        name = settings.pop("zoo")
        known = self._known(kind)
        if not isinstance(name, str) or name not in known:
            problem = unknown(kind, name, known)
            raise CurvewiseError(
                f"{problem} One of your own is {other} = 'module:function'."
            )
        for key in settings:
            refuse_misplaced(key)
        make = known[name]
        refuse_unknown(settings, make, f"setting of {kind} '{name}' called")
        try:
            return make(**settings)
        except (TypeError, ValueError) as problem:
            if isinstance(problem, CurvewiseError):
                raise
            raise CurvewiseError(f"{name}: {problem}.") from problem

    def _must_say(
        self, entry: dict[str, Any], key: str, kind: str, kinds: Kinds
    ) -> None:
        if key not in entry:
            usual = next(iter(self._known(kind)))
            near = [name for name in entry if name not in kinds]
            hint = f" {unknown('key', near[0], ['zoo', *kinds])}" if near else ""
            raise CurvewiseError(
                f"It says neither zoo = '{usual}' nor {key} = 'module:function'. Write "
                f"one of them.{hint}"
            )
        check(entry, kinds)

    def _function(
        self, entry: Mapping[str, Any], key: str, kind: type
    ) -> tuple[Any, str]:
        with naming(f"key '{key}'"):
            value = imported(entry[key], self._folder)
        if isinstance(value, kind):
            others = [name for name in entry if name != key]
            if others:
                raise CurvewiseError(
                    f"{entry[key]} is a whole {kind.__name__}, and '{others[0]}' is given "
                    f"too. Leave it out."
                )
        elif settings := entry.get("settings"):
            refuse_unknown(settings, value, f"setting of {entry[key]} called")
            value = functools.partial(value, **settings)
        usual = entry[key].rpartition(":")[2].rpartition(".")[2]
        return value, entry.get("name", usual)

    def _space(self, given: Any) -> Any:
        check({"space": given}, ALGORITHM)
        if isinstance(given, dict):
            return space_of(given, "space")
        with naming("key 'space'"):
            return imported(given, self._folder)

    def _metrics(self, table: dict[str, Any]) -> Iterator[Metric]:
        for name, given in table.items():
            meaning = {"direction": given} if isinstance(given, str) else given
            if not isinstance(meaning, dict):
                raise CurvewiseError(
                    f"metrics, '{name}' is {shortened(repr(given))}. Write \"higher\" "
                    f'or "lower": which way is better.'
                )
            with naming(f"metrics, '{name}'"):
                check(meaning, METRIC)
                yield Metric(name, **meaning)
