"""An experiment from a TOML file: tasks, algorithms and spaces, and how to run them."""

import contextlib
import functools
import importlib
import inspect
import os
import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeAlias

from curvewise.engine import spaces
from curvewise.engine.drive import EXECUTORS, check_workers, limits_of
from curvewise.engine.experiment import Algorithm, Experiment, Task
from curvewise.engine.former_names import current
from curvewise.engine.supervised.tuning import tuned
from curvewise.errors import CurvewiseError, listed, shortened, unknown
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
    """An experiment, and how its file wants it run."""

    experiment: Experiment
    options: dict[str, Any]
    text: str
    path: Path


def from_toml(path: str | Path, zoo: Zoo) -> Recipe:
    """Return the experiment that a TOML file describes."""
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
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise CurvewiseError(
            f"{path} is no TOML: {problem}.{_line(text, problem)}"
        ) from None
    return _Reader(path, zoo).recipe(table, text)


def _line(text: str, problem: tomllib.TOMLDecodeError) -> str:
    match = re.search(r"line (\d+)", str(problem))
    lines = text.splitlines()
    if match is None or not 0 < int(match[1]) <= len(lines):
        return ""
    return f" The line is: {shortened(lines[int(match[1]) - 1], 80)}"


# --------------------------------------------------------------------------------------
# Which keys a TOML file of an experiment may have, and what is said about others.


Kinds: TypeAlias = Mapping[str, tuple[type, ...]]


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

    def _entries(self, value: Any, key: str, make: Callable[[Any], Any]) -> list[Any]:
        entries = [value] if isinstance(value, str) else value
        parts = []
        for number, entry in enumerate(entries, 1):
            where = f"{key}, entry {number}"
            if not isinstance(entry, str | dict):
                raise CurvewiseError(
                    f"{where} is {shortened(repr(entry))}. Write a name in quotes, or a "
                    f"table that begins with [[{key}]]."
                )
            with naming(where):
                parts.append(make(entry))
        return parts

    # --- tasks and algorithms ----------------------------------------------------------

    def _task(self, entry: str | dict[str, Any]) -> Task:
        if isinstance(entry, str):
            entry = {"sample" if is_reference(entry) else "zoo": entry}
        if "zoo" in entry:
            settings = dict(entry)
            if isinstance(settings.get("path"), str):  # of data, beside the file
                settings["path"] = str(self._folder / settings["path"])
            task: Task = self._from_zoo("task", settings, "sample")
            return task
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
        algorithm = self._untuned(entry)
        if search is False:
            return algorithm
        check({"tuned": search}, ALGORITHM)
        with naming("key 'tuned'"):
            settings = {} if search is True else dict(search)
            check(settings, SEARCH)
            if (metric := settings.get("metric")) in self._meant:
                settings["metric"] = self._meant[metric]
            return tuned(algorithm, **settings)

    def _untuned(self, entry: dict[str, Any]) -> Algorithm:
        if "zoo" in entry:
            settings = dict(entry)
            if "space" in settings:
                settings["space"] = self._space(settings["space"])
            algorithm: Algorithm = self._from_zoo("algorithm", settings, "run")
            return algorithm
        self._must_say(entry, "run", "algorithm", ALGORITHM)
        run, name = self._function(entry, "run", Algorithm)
        if isinstance(run, Algorithm):
            return run
        return Algorithm(name, self._space(entry.get("space", {})), run)

    def _from_zoo(self, kind: str, settings: dict[str, Any], other: str) -> Any:
        name = settings.pop("zoo")
        makers = self._known(kind)
        if not isinstance(name, str) or name not in makers:
            problem = unknown(kind, name, makers)
            raise CurvewiseError(
                f"{problem} One of your own is {other} = 'module:function'."
            )
        for key in settings:
            refuse_misplaced(key)
        make = makers[name]
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

    def _space(self, value: Any) -> Any:
        check({"space": value}, ALGORITHM)
        if isinstance(value, dict):
            return space_of(value, "space")
        with naming("key 'space'"):
            return imported(value, self._folder)

    def _metrics(self, table: dict[str, Any]) -> Iterator[Metric]:
        for name, entry in table.items():
            meaning = {"direction": entry} if isinstance(entry, str) else entry
            if not isinstance(meaning, dict):
                raise CurvewiseError(
                    f"metrics, '{name}' is {shortened(repr(entry))}. Write \"higher\" "
                    f'or "lower": which way is better.'
                )
            with naming(f"metrics, '{name}'"):
                check(meaning, METRIC)
                yield Metric(name, **meaning)


_WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
PLAN: Kinds = {
    "tasks": (list, str),
    "algorithms": (list, str),
    "trials": (int,),
    "seed": (int,),
    "vary": (list, str),
    "cross": (dict,),
    "metrics": (dict,),
}
RUN: Kinds = {
    "store": (str,),
    "workers": (int,),
    "executor": (str,),
    "timeout": (float,),
    "retries": (int,),
    "memory": (int, str),
    "until": (str,),
}
TASK: Kinds = {
    "sample": (str,),
    "name": (str,),
    "lines": (int,),
    "settings": (dict,),
}
ALGORITHM: Kinds = {
    "run": (str,),
    "name": (str,),
    "space": (dict, str),
    "settings": (dict,),
    "tuned": (bool, dict),
}
METRIC: Kinds = {
    "direction": (str,),
    "range": (list,),
    "unit": (str,),
    "label": (str,),
}
SEARCH: Kinds = {
    "configs": (int,),
    "folds": (int,),
    "metric": (str,),
}


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Begin messages with where in the file the mistake is."""
    try:
        yield
    except CurvewiseError as problem:
        raise CurvewiseError(
            f"{where}: ",
            problem.message,
            argument=problem.argument,
            value=problem.value,
        ) from problem


def check(table: Mapping[str, Any], kinds: Kinds) -> None:
    """Raise if a table has a key that nobody knows or a value of another type."""
    for key, value in table.items():
        if key not in kinds:
            refuse_misplaced(key)
            raise unknown("key", key, kinds)
        kind = float if type(value) is int and float in kinds[key] else type(value)
        if kind not in kinds[key]:
            words = " or ".join(_WORDS[kind] for kind in kinds[key])
            tables = isinstance(value, dict) and list in kinds[key]
            hint = f" A table among several begins with [[{key}]]." if tables else ""
            raise CurvewiseError(
                f"'{key}' is {shortened(repr(value))}. Write {words}.{hint}"
            )


def refuse_misplaced(key: str) -> None:
    """Raise if a key of the whole experiment stands in a table."""
    if key in PLAN or key in RUN:
        raise CurvewiseError(
            f"'{key}' belongs to the whole experiment. Write it above the first line in "
            f"brackets: what follows such a line belongs to its table."
        )


def refuse_unknown(settings: Mapping[str, Any], function: Any, what: str) -> None:
    """Raise if a function does not take these settings."""
    try:
        allowed = inspect.signature(function).parameters
    except (TypeError, ValueError):  # some of C have no signature
        return
    if any(p.kind is p.VAR_KEYWORD for p in allowed.values()):
        return
    for key in settings:
        if key not in allowed:
            raise unknown(what, key, allowed)


# --- Spaces of hyperparameters as TOML writes them -------------------------------------
#
# A list is a choice, a plain value a constant, and a table with one of these keys a law::
#
#     lr      = { loguniform = [1e-5, 1e-1] }     # also uniform, integers, log_integers
#     width   = [64, 128, 256]
#     solver  = { choice = ["adam", "sgd"], weights = [3, 1] }
#     degree  = { when = { kernel = "poly" }, then = [2, 3] }
#     dropout = { mixture = [[0.0], { uniform = [0.1, 0.5] }] }
#
# Any other table is a space inside.


_ENDS: dict[str, Callable[[Any, Any], Any]] = {
    "uniform": spaces.uniform,
    "loguniform": spaces.loguniform,
    "integers": spaces.integers,
    "log_integers": spaces.log_integers,
}
# What may stand in a table beside the name of a law.
_LAWS = {law: (law,) for law in _ENDS} | {
    "choice": ("choice", "weights"),
    "mixture": ("mixture", "weights"),
    "when": ("when", "then"),
}


def space_of(table: Mapping[str, Any], where: str) -> Any:
    """Return the space that a table describes; `where` opens messages.

    Examples
    --------
    >>> print(spaces.describe(space_of({"C": {"loguniform": [0.1, 10]}}, "svm")))
    C: log-uniform from 0.1 to 10
    """
    if "mixture" in table and set(table) <= set(_LAWS["mixture"]):
        return _several("mixture", table, where, space_of)
    return {
        name: _parameter(value, f"{where}, parameter '{name}'")
        for name, value in table.items()
    }


def _parameter(value: Any, where: str) -> Any:
    if isinstance(value, list):
        for member in value:
            if isinstance(member, dict) and set(member) & set(_LAWS):
                raise CurvewiseError(
                    f"{where}: a list holds plain values, and this one holds "
                    f"{shortened(member)}. Write {{ choice = [...] }} around it."
                )
        return value
    if not isinstance(value, dict):
        return value
    law = next((name for name in _LAWS if name in value), None)
    if law is None:
        _refuse_near_miss(value, where)
        return space_of(value, where)
    for key in value:
        if key not in _LAWS[law]:
            raise CurvewiseError(
                f"{where}: '{key}' stands beside '{law}'. Leave it out; in such a table "
                f"may be: {listed(_LAWS[law])}."
            )
    if law == "when":
        return _when(value, where)
    if law in _ENDS:
        return _between(law, value[law], where)
    return _several(law, value, where, _parameter)


def _between(law: str, ends: Any, where: str) -> Any:
    if not isinstance(ends, list) or len(ends) != 2:
        raise CurvewiseError(
            f"{where}: {law} is {shortened(ends)}. Write {{ {law} = [low, high] }}."
        )
    with naming(where):
        return _ENDS[law](*ends)


def _several(
    law: str, table: Mapping[str, Any], where: str, each: Callable[[Any, str], Any]
) -> Any:
    members = table[law]
    if not isinstance(members, list) or not members:
        raise CurvewiseError(
            f"{where}: {law} is {shortened(members)}. Write {{ {law} = [...] }}, with at "
            f"least one member."
        )
    if each is space_of:
        for member in members:
            if not isinstance(member, dict):
                raise CurvewiseError(
                    f"{where}: mixture holds {shortened(member)}. Write tables, each a "
                    f"space."
                )
    options = [each(m, where) if isinstance(m, dict) else m for m in members]
    weights = _weights(table, where)
    with naming(where):
        if law == "choice":
            return spaces.choice(options, weights=weights)
        return spaces.mixture(*options, weights=weights)


def _weights(table: Mapping[str, Any], where: str) -> Sequence[float] | None:
    weights = table.get("weights")
    if weights is None or isinstance(weights, list):
        return weights
    raise CurvewiseError(
        f"{where}: weights is {shortened(weights)}. Write a list, a number per member."
    )


def _when(table: Mapping[str, Any], where: str) -> Any:
    if set(table) != {"when", "then"} or not isinstance(table["when"], dict):
        raise CurvewiseError(
            f"{where}: {shortened(table)} is no condition. Write "
            f'{{ when = {{ kernel = "poly" }}, then = [2, 3] }}.'
        )
    then = _parameter(table["then"], where)
    with naming(where):
        return spaces.when(table["when"], then)


def _refuse_near_miss(table: Mapping[str, Any], where: str) -> None:
    """Raise if a table looks like a law whose name is misspelt."""
    for key, value in table.items():
        alone = len(table) == 1 or key == "then"
        if alone and isinstance(value, list) and get_close_matches(key, _LAWS, 1, 0.75):
            raise CurvewiseError(f"{where}: {unknown('distribution', key, _LAWS)}")


# --- From ``"module:name"`` to the object, with messages that name the way out ---------


_REFERENCE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def is_reference(text: str) -> bool:
    """Return whether a text has the form ``module:name``.

    >>> is_reference("train:net"), is_reference("net"), is_reference("C:/net")
    (True, False, False)
    """
    return _REFERENCE.fullmatch(text) is not None


def imported(reference: str, folder: Path) -> Any:
    """Return the object that ``module:name`` names.

    Examples
    --------
    >>> imported("math:sqrt", Path())
    <built-in function sqrt>
    """
    if not is_reference(reference):
        raise CurvewiseError(
            f"'{shortened(reference)}' names no function. Write 'module:function'."
        )
    name, _, path = reference.partition(":")
    value: Any = _module(current(name), folder.resolve())
    for part in path.split("."):
        if not hasattr(value, part):
            options = [n for n in vars(value) if n[0] != "_"] if path == part else []
            raise unknown(f"name in {_shown(name, value)}:", part, options)
        value = getattr(value, part)
    return value


def send_whole(folder: Path) -> None:
    """Let what was imported from a folder travel whole, to machines without the folder.

    Functions are pickled by the name of their module otherwise. A module that a function
    imports only when it runs must be installed on those machines.
    """
    import cloudpickle

    folder = folder.resolve()
    for name, module in list(sys.modules.items()):
        files = _files(name.partition(".")[0], folder)
        top = getattr(sys.modules.get(name.partition(".")[0]), "__file__", None)
        if top and Path(top) in files:
            cloudpickle.register_pickle_by_value(module)


def _files(top: str, folder: Path) -> tuple[Path, Path]:
    """Return where a folder would have a module, or a package."""
    return folder / f"{top}.py", folder / top / "__init__.py"


def _module(name: str, folder: Path) -> ModuleType:
    _refuse_another(name.partition(".")[0], folder)
    with contextlib.suppress(ValueError):
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()  # the file may be younger than Python's list of files
    try:
        return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        missing = problem.name if isinstance(problem, ModuleNotFoundError) else None
        if missing and (name == missing or name.startswith(f"{missing}.")):
            raise _no_module(missing, folder) from None
        raise CurvewiseError(
            f"Module '{name}' cannot be imported. {_said(problem, folder)}"
        ) from problem


def _no_module(name: str, folder: Path) -> CurvewiseError:
    beside = sorted(p.stem for p in folder.glob("*.py") if p.stem.isidentifier())
    problem = unknown("module", name, beside) if beside else None
    first = str(problem).replace(" There are:", f" In {folder} are:") if problem else ""
    return CurvewiseError(
        f"{first or f'There is no module {name!r}.'} It is looked for in {folder}, and "
        f"among what is installed."
    )


def _refuse_another(top: str, folder: Path) -> None:
    """Raise if a module beside the file would be hidden by one that is in use."""
    beside = next((file for file in _files(top, folder) if file.exists()), None)
    used = sys.modules.get(top)
    if beside is None or used is None:
        return
    place = getattr(used, "__file__", None)
    if place is None or not beside.samefile(place):
        raise CurvewiseError(
            f"{beside} has the name of a module that is in use already "
            f"({place or 'a part of Python'}). Give the file another name."
        )


def _said(problem: BaseException, folder: Path) -> str:
    """Return what an import raised, and on which line of whose file."""
    if isinstance(problem, SyntaxError) and problem.filename:
        place = f"{_short(problem.filename, folder)}, line {problem.lineno}"
        return f"{place}: {problem.msg}."
    message = "".join(traceback.format_exception_only(problem)).strip()
    frames = traceback.extract_tb(problem.__traceback__)
    theirs = [f for f in frames if Path(f.filename).is_relative_to(folder)]
    text = shortened(message, 300)
    if not theirs:
        return text
    last = theirs[-1]
    return f"{_short(last.filename, folder)}, line {last.lineno}: {text}"


def _short(file: str, folder: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(Path(file).relative_to(folder))
    return file


def _shown(name: str, value: Any) -> str:
    file = getattr(value, "__file__", None)
    return os.path.relpath(file) if file and Path(file).suffix == ".py" else name
