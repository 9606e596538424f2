"""Results of other tools, read from their own files; one file per tool.

A module here says what it recognises and how it is read. Each pair of functions may be
absent:

``fits_path(listing)``, ``read_path(listing, asked)``
    Of a file or a folder.
``fits_table(table)``, ``read_table(table, name, asked)``
    Of a frame, or of a file that holds a table.
``fits_object(source)``, ``read_object(source, asked)``
    Of arrays and objects in memory.

Those that read return `Runs`, or a `Sheet` where one table says it all.
"""

import importlib
import re
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TypeAlias

import pyarrow as pa

from curvewise.errors import CurvewiseError, Keyword, Message, listed
from curvewise.exchange.runs import Asked, Runs, Sheet
from curvewise.exchange.tools.files import Listing, listing_among, listing_at

Found: TypeAlias = Runs | Sheet

# The first that fits a folder reads it: Ray Tune keeps TensorBoard's files too.
MODULES = {
    "ray": "ray_tune",
    "mlflow": "mlflow",
    "optuna": "optuna",
    "sb3": "stable_baselines",
    "tensorboard": "tensorboard",
    "wandb": "wandb",
    "sklearn": "scikit_learn",
    "lm-eval": "lm_eval",
    "rliable": "rliable",
}
# One reader, which knows how each of them lays out its files.
FOLDERS = tuple(
    "folder hydra lightning keras huggingface xgboost lightgbm dvclive ultralytics".split()
)
TOOLS = (*MODULES, *FOLDERS)
# Beside what these keep there may be logs of anybody.
_WITH_LOGS = {"tensorboard", "mlflow", "wandb"}
# Ray Tune writes the same numbers for TensorBoard too: nobody need be told.
_SAME_NUMBERS = {("ray", "tensorboard")}
# A table of anybody's is known by its ending and first bytes. It is not one that begins
# with a comment or JSON (Stable-Baselines3, a journal of Optuna), with a record of a tool
# or a database, with columns that count epochs (the log of one run), or that is named as
# Stable-Baselines3 and TensorBoard name their files.
_TABLES = (".csv", ".tsv")
_MARKS = re.compile(
    rb"\s*[#{]|.{,60}brain\.Event:|SQLite format 3|[^\n]*epoch", re.DOTALL
)
_NAMES = re.compile(r"progress\.csv|.*tfevents.*")
# One of these columns is in every table of a tool: of `mlflow.search_runs`, of
# `study.trials_dataframe`, of W&B (histories, tables of runs, charts), of `cv_results_`.
_COLUMNS = re.compile(
    r"metrics\..*|state|_step|State|.*__MIN|.* - .*|mean_test_.*", re.DOTALL
)


def from_path(path: Path | list[Path], asked: Asked, tool: str | None) -> Found | None:
    """Return the runs of files or folders of another tool, or None if they are nobody's."""
    listing = listing_at(path) if isinstance(path, Path) else listing_among(path)
    if tool is None and is_plain_file(listing):
        return None
    fitting = [t for t in _candidates(tool, "path") if _module(t).fits_path(listing)]
    if tool is None and (not fitting or set(fitting) <= _WITH_LOGS):
        fits = "is_beside" if fitting else "fits_path"
        if getattr(_module("folder"), fits)(listing):  # logs of anybody
            fitting.append("folder")
    if not fitting and listing.is_folder:
        of_tool = f" of {tool}" if tool else ""
        raise CurvewiseError(
            f"{listing.path} is a folder without results{of_tool} that can be read: it has "
            f"{listing.summary()}. Pass a file of results, a folder that one of "
            f"{listed(TOOLS[:6])} wrote, or one with a CSV or JSON file per run.",
            argument="source",
            value=listing.path,
        )
    if not fitting:
        return None
    runs: Found = _module(fitting[0]).read_path(listing, asked)
    others = [t for t in fitting[1:] if (fitting[0], t) not in _SAME_NUMBERS]
    return _with_others(runs, others) if others else runs


def is_plain_file(listing: Listing) -> bool:
    """Return whether a file is a table that no tool knows by its name or first bytes."""
    return (
        listing.path.suffix.lower() in _TABLES
        and not listing.is_folder
        and not _NAMES.fullmatch(listing.path.name)
        and not _MARKS.match(listing.head)
    )


def is_plain_table(table: pa.Table) -> bool:
    """Return whether a table has no column by which a tool is known."""
    return not any(map(_COLUMNS.fullmatch, table.column_names))


def from_table(
    table: pa.Table, name: str, asked: Asked, tool: str | None
) -> Found | None:
    """Return the runs of a table that another tool made, or None if it is nobody's."""
    if tool is None and is_plain_table(table):
        return None
    for candidate in _candidates(tool, "table"):
        module = _module(candidate)
        if module.fits_table(table):
            runs: Found = module.read_table(table, name, asked)
            return runs
    return None


def from_object(source: object, asked: Asked, tool: str | None) -> Found | None:
    """Return the runs of arrays and objects in memory, or None if nobody knows them."""
    more = ["folder"] if tool is None else []
    for candidate in [*_candidates(tool, "object"), *more]:
        module = _module(candidate)
        if module.fits_object(source):
            runs: Found = module.read_object(source, asked)
            return runs
    return None


def several_paths(source: object) -> list[Path] | None:
    """Return the paths of a list, or those that a pattern fits; None for another thing."""
    if isinstance(source, list | tuple):
        if not source or not all(isinstance(one, str | Path) for one in source):
            return None
        return [path for one in source for path in several_paths(one) or [Path(one)]]
    if not isinstance(source, str | Path) or not has_magic(str(source)):
        return None
    if Path(source).expanduser().exists():
        return None
    paths = sorted(glob(str(Path(source).expanduser()), recursive=True))  # noqa: PTH207
    if not paths:
        raise CurvewiseError(
            f"There is no file that fits '{source}'. Check the pattern.",
            argument="source",
            value=source,
        )
    return [Path(one) for one in paths]


def is_foreign_database(path: Path) -> bool:
    """Return whether an SQLite file is another tool's, and not a store of ours."""
    listing = listing_at(path)
    return bool(listing.tables) and any(
        _module(tool).fits_path(listing) for tool in _candidates(None, "path")
    )


def _candidates(tool: str | None, kind: str) -> list[str]:
    tools = list(MODULES) if tool is None else [tool]
    return [name for name in tools if hasattr(_module(name), f"fits_{kind}")]


def _module(tool: str) -> ModuleType | SimpleNamespace:
    if tool in FOLDERS:
        from curvewise.exchange.tools.folders import reader_of

        return reader_of(tool)
    return importlib.import_module(f"curvewise.exchange.tools.{MODULES[tool]}")


def _with_others(runs: Found, others: list[str]) -> Found:
    """Return runs with a remark on other tools' results beside them."""
    tools = [other for other in others if other != "folder"]
    what = f"results of {listed(tools)}" if tools else "logs of another kind"
    remark = Message(
        f"It also holds {what}; ", Keyword("tool", others[0]), " reads those instead."
    )
    runs = replace(runs, remarks=(*runs.remarks, remark))
    if isinstance(runs, Sheet):
        return runs
    if not runs.scalars.names:  # they may have the scores
        raise CurvewiseError(
            f"{runs.source} holds no scores. ",
            remark,
            fixes=[{"tool": other} for other in others],
        )
    return replace(runs, others=tuple(others)) if "folder" in others else runs
