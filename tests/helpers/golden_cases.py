"""What is held to goldens: each kind of answer, example, command, page, figure, record."""

import base64
import contextlib
import functools
import gzip
import io
import json
import re
import runpy
import shlex
import signal
import subprocess
import sys
import tarfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import answers
import drawn_figures
import matplotlib.pyplot as plt
import numpy as np
import studies
from click.testing import CliRunner
from golden_stores import QUIET, STORES, TOML, table
from goldens import ROOT, Case, Shown, brief, read_page

import curvewise as cw
from curvewise.cli import main

EXAMPLES = ("search", "curves", "counts")
FOREIGN = ROOT / "tests/assets/foreign"


# --- answers -----------------------------------------------------------------------------


def shown_answer(answer: Any, *, in_all_languages: bool = True) -> Shown:
    """Return an answer as people and as programs read it."""
    texts = {"str": str(answer)}
    for name in ("headline", "comment"):
        value = getattr(answer, name, "")
        texts |= {name: value() if callable(value) else value}
    if in_all_languages:
        texts["notes"] = "\n".join(answer.notes())
        texts["markdown"] = answer.to_markdown()
        texts["latex"] = answer.to_latex()
        texts["notebook"] = read_page(answer._repr_html_())
    told = json.loads(answer.to_json())
    finite = json.loads(json.dumps(answer.rows()), parse_constant=lambda _: None)
    assert told.pop("rows") == finite, "rows() and to_json() say the same"
    return Shown(
        {name: text for name, text in texts.items() if text},
        {"rows": answer.rows(), "json": told},
    )


def _of_examples() -> Iterator[tuple[str, Callable[[], Any]]]:
    search, curves, counts = (lambda n=n: cw.example(n) for n in EXAMPLES)
    worst: Any = {"metric": "accuracy", "failed": "worst"}

    def performance(**asked: Any) -> Callable[[], Any]:
        return lambda: cw.performance(search(), **worst, **asked)

    yield "performance", performance()
    for band in ("equal_local_levels", "dkw", "anytime"):
        yield f"performance-{band}", performance(band=band, alpha=0.9)
    yield "performance-family", performance(family=True, confidence=0.9)
    yield "performance-threshold", performance(threshold=0.9, over_tasks=False)
    yield "performance-of-curves", lambda: cw.performance(curves(), at="mean", seed=1)
    yield "performance-at-a-step", lambda: cw.performance(curves(), at=50_000)
    yield "difference", lambda: cw.difference(curves(), shuffles=199)
    yield (
        "difference-on-a-grid",
        lambda: cw.difference(curves(), grid=12, windows=4, margin=20.0, shuffles=99),
    )
    yield "learning", lambda: cw.learning(counts(), "error")
    yield "learning-at-a-size", lambda: cw.learning(counts(), "error", size=320)
    yield (
        "learning-as-published",
        lambda: cw.learning(counts(), "error", method="paper", anyway=True),
    )
    yield "forecast", lambda: cw.learning(counts(), "error").at([2560, 10**5])
    yield "size-for", lambda: cw.learning(counts(), "error").size_for(0.05)
    yield "next-run", lambda: cw.learning(counts(), "error").next_run(5000)
    yield "confusion", lambda: cw.confusion(counts())
    for method in ("calibrated", "paper"):
        yield (
            f"confusion-{method}",
            lambda m=method: cw.confusion(counts(), method=m, anyway=True),
        )
    yield (
        "confusion-observed",
        lambda: cw.confusion(counts(), ["f1", "recall"], target="observed", positive=1),
    )
    yield "confusion-forecast", lambda: cw.confusion(counts(), "f1").at([2560, 10**5])
    yield (
        "plan-of-scores",
        lambda: cw.plan.trials(0.03, of="mean", pilot=search(), **worst),
    )
    yield (
        "versions",
        lambda: cw.compare_versions(
            search(), search().where(number=range(40)), margin=0.05, **worst
        ),
    )
    for name, read in zip(EXAMPLES, (search, curves, counts), strict=True):
        yield f"check-{name}", lambda r=read: cw.check(r())
        yield f"explain-{name}", lambda r=read: cw.explain(r())
    for name, make in (studies.BLOCKED | studies.TEMPERED).items():
        yield f"check-{name.replace(' ', '-')}", lambda m=make: cw.check(m())


def shown_example(name: str) -> Shown:
    trials = cw.example(name)
    metrics = {n: [m.direction, *m.range, m.label] for n, m in trials.metrics.items()}
    rows = table(trials)
    some = rows[:: len(rows) // 12]  # of all of them there is the digest
    told = {"trials": some, "metrics": metrics, "digest": trials.digest()}
    return Shown({"str": str(trials)}, told)


def shown_demo(folder: Path) -> Shown:
    """Return what the demo prints with two trials of each, and the table that it fills."""
    names = runpy.run_path(str(ROOT / "examples/demo.py"))
    in_one = functools.partial(cw.run, **QUIET)  # as processes are slow to start
    with patch.object(cw, "run", in_one), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            names["main"](2)
    return Shown({"stdout": said.getvalue()}, table(cw.read("runs/demo/results.db")))


# --- what is refused ---------------------------------------------------------------------

REFUSED: dict[str, Callable[[], Any]] = {
    "a failed trial": lambda: cw.performance(cw.example("search")),
    "a metric that is not there": lambda: cw.performance(answers.searched(), "acuracy"),
    "two metrics": lambda: cw.learning(cw.example("counts")),
    "no direction": lambda: cw.performance(
        cw.Trials(cw.Trial("t", "a", i, {"zeal": i / 9}) for i in range(9))
    ),
    "a confidence": lambda: cw.performance(answers.searched(), confidence=95),
    "an alpha": lambda: cw.robustness(answers.searched(), alpha=2),
    "a step": lambda: cw.performance(answers.curved(), at=2.5),
    "a band": lambda: cw.performance(answers.searched(), band="dwk", failed=0),
    "shuffles": lambda: cw.difference(answers.curved(), shuffles=0),
    "nothing to compare": lambda: cw.difference(
        answers.curved().where(algorithm="slow")
    ),
    "scores are no curves": lambda: cw.difference(cw.example("search"), failed=0),
    "no sizes": lambda: cw.learning(cw.example("search"), failed="worst"),
    "no counts": lambda: cw.confusion(cw.example("curves")),
    "nothing crossed": lambda: cw.variance_shares(answers.searched()),
    "nothing tuned": lambda: cw.robustness(cw.example("search"), failed="worst"),
    "no common cells": lambda: cw.compare_versions(
        answers.searched(), cw.example("search"), failed="worst"
    ),
    "a half width": lambda: cw.plan.trials(0),
    "a share": lambda: cw.plan.top(5),
    "until": lambda: cw.until("means", half_width=0.1),
    "until as a text": lambda: cw.until("cvar 0.5"),
    "an example": lambda: cw.example("serch"),
    "a task of the zoo": lambda: cw.zoo.task("mons"),
    "a setting of the zoo": lambda: cw.zoo.task("moons", noisy=1),
    "a paper": lambda: cw.papers.find("jordan"),
    "a file": lambda: cw.read("gone.csv"),
    "a status": lambda: cw.Trial("t", "a", 0, status="lost"),
    "the same trial twice": lambda: cw.Trials([cw.Trial("t", "a", 0)] * 2),
    "a direction": lambda: cw.Metric("accuracy", "up"),
    "an experiment": lambda: cw.run("plan.toml"),
    "a space": lambda: cw.uniform(1, 0),
    "repetitions": lambda: cw.audit(answers.curved(), repetitions=1),
    **{name: lambda m=m: _all_of(m()) for name, m in studies.BLOCKED.items()},
}


def _all_of(trials: Any) -> None:
    """Ask for what can be answered of a study that is blocked."""
    steps = trials[0].steps
    cw.performance(trials) if len(steps) < 2 else cw.difference(trials)


def shown_refusals(_folder: Path) -> Shown:
    texts = {}
    for name, ask in REFUSED.items():
        try:
            texts[name] = f"answered: {type(ask()).__name__}"
        except cw.CurvewiseError as problem:
            texts[name] = f"{type(problem).__name__}: {problem}\nfixes: {problem.fixes}"
    return Shown(texts)


# --- pages and figures -------------------------------------------------------------------

PAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "search": lambda: {"trials": cw.example("search"), "failed": "worst"},
    "curves": lambda: {"trials": cw.example("curves"), "audit": 20},
    "counts": lambda: {"trials": cw.example("counts"), "metric": "error"},
    "tuned": lambda: {"trials": answers.searched(), "failed": "worst"},
    "crossed": lambda: {"trials": answers.crossed()},
    "withheld": lambda: {"trials": studies.drift()},
    "anyway": lambda: {"trials": studies.drift(), "anyway": True},
}


def shown_page(folder: Path, make: Callable[[], dict[str, Any]]) -> Shown:
    page = cw.report.write(path=folder / "report.html", **make()).read_text("utf-8")
    data = re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)
    return Shown({"page": read_page(page)}, [_chart(json.loads(text)) for text in data])


def _chart(value: Any) -> Any:
    """Return the figure of a page without looks: names, titles and what is drawn."""
    if isinstance(value, dict) and "bdata" in value:
        kind = np.dtype(value["dtype"])
        return brief(np.frombuffer(base64.b64decode(value["bdata"]), kind).tolist())
    if isinstance(value, dict):
        looks = ("template", "line", "marker", "font", "margin", "legend", "modebar")
        return {k: _chart(v) for k, v in value.items() if k not in looks}
    if isinstance(value, list):
        return brief([_chart(v) for v in value])
    return value


def shown_figure(draw: Callable[[], Any]) -> Shown:
    texts, numbers = [], []
    drawn = draw()
    figure = getattr(drawn, "figure", drawn)
    for axes in figure.axes:
        legend = axes.get_legend()
        named = [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        named += [
            t.get_text() for t in axes.texts + (legend.get_texts() if legend else [])
        ]
        texts += filter(None, named)
        lines = [
            [brief(np.asarray(v, float)) for v in o.get_data()] for o in axes.lines
        ]
        areas = [brief(o.get_offsets().ravel()) for o in axes.collections]
        paths = [
            brief(np.asarray(p.vertices).ravel())
            for o in axes.collections
            for p in o.get_paths()[:1]
        ]
        bars = [list(map(float, p.get_bbox().bounds)) for p in axes.patches]
        numbers.append({"lines": lines, "areas": areas, "paths": paths, "bars": bars})
    texts += [t.get_text() for t in figure.texts]
    plt.close(figure)
    return Shown({"texts": "\n".join(texts)}, numbers)


# --- what other tools recorded -----------------------------------------------------------

TOOLS: dict[str, tuple[str, ...]] = {
    "dvclive": ("dvclive/runs",),
    "huggingface": ("huggingface/outputs",),
    "hydra": ("hydra/multirun",),
    "keras": ("keras/logs",),
    "lightgbm": ("lightgbm/logs",),
    "lightning": ("lightning/lightning_logs",),
    "lm-eval": ("lm_eval",),
    "sb3": ("sb3/logs",),
    "ultralytics": ("ultralytics/runs",),
    "xgboost": ("xgboost",),
    "tensorboard": tuple(
        f"tensorboard/{n}"
        for n in ("tensorboardx", "tensors", "torch", "torch_hparams")
    ),
    "ray-tune": tuple(
        f"ray_tune/{v}/{n}" for v in ("2.6.3", "2.60.0") for n in ("bad", "good")
    ),
    "optuna": (
        *(f"optuna/optuna-2.10.1/{n}.db" for n in ("kinds", "search")),
        *("optuna/optuna-2.3.0/search.db", "optuna/optuna-3.1.0/search.log"),
        *(f"optuna/optuna-5.0.0/{n}" for n in ("kinds.db", "kinds.log", "search.db")),
        *(f"optuna/optuna-5.0.0/{n}" for n in ("search.log", "random.csv")),
        *(f"optuna/optuna-5.0.0/random{n}" for n in (".parquet", "_curves.csv")),
    ),
    "mlflow": (
        *(
            f"mlflow/{version}/{name}"
            for version in ("1.30.1", "3.17.2")
            for name in (
                "mlflow.db",
                "mlruns",
                "search_runs.csv",
                "search_runs.parquet",
            )
        ),
        "mlflow/3.17.2/search.db",
    ),
    "sklearn": ("sklearn/1.2.2/cv_results.csv", "sklearn/1.9.1/cv_results.csv"),
    "wandb": (
        *("wandb/offline", "wandb/old", "wandb/exports/artifacts"),
        *(f"wandb/exports/chart{n}.csv" for n in ("", "-by-global-step", "-of-groups")),
        *(
            f"wandb/exports/{n}.csv"
            for n in ("runs", "scan_history", "chart-of-buckets")
        ),
    ),
}


def shown_tool(folder: Path, records: tuple[str, ...]) -> Shown:
    """Return what the records of a tool are read as, and what is asked on the way."""
    texts, numbers = {}, {}
    for name in records:
        source, said, stated = _unpacked(name, folder), [], {}
        for _ in range(4):
            with (
                contextlib.redirect_stderr(io.StringIO()) as err,
                warnings.catch_warnings(record=True) as caught,
            ):
                warnings.simplefilter("always", cw.CurvewiseWarning)
                try:
                    trials = cw.read(source, **stated)
                except cw.CurvewiseError as problem:
                    said.append(f"asks: {problem}")
                    fix = (*problem.fixes, {"metrics": _lower(problem)})[0]
                    stated = {**stated, **fix}
                    continue
            said += [err.getvalue().strip(), *(f"warns: {w.message}" for w in caught)]
            said.append(str(trials))
            rows = table(trials)
            same = (
                f"as {n}" for n, other in numbers.items() if repr(other) == repr(rows)
            )
            numbers[name] = next(same, rows)
            break
        texts[name] = "\n".join(said)
    return Shown(texts, numbers)


def _lower(problem: cw.CurvewiseError) -> dict[str, str]:
    """Return what is to be low, where a tool does not say: all that is asked about."""
    return dict.fromkeys(
        re.findall(r"'(\w+)'", str(problem).partition(" be ")[0]), "lower"
    )


def _unpacked(name: str, folder: Path) -> Path:
    """Return where a record is, from the current folder; unpacked, if it is packed."""
    path = FOREIGN / name
    here = Path(name)
    here.parent.mkdir(parents=True, exist_ok=True)
    if (packed := path.with_name(f"{path.name}.gz")).exists():
        here.write_bytes(gzip.decompress(packed.read_bytes()))
    elif (packed := path.with_name(f"{path.name}.tar.gz")).exists():
        with tarfile.open(packed) as tar:
            tar.extractall(here.parent, filter="data")
    elif not here.exists():
        here.symlink_to(path)
    return here


# --- commands ----------------------------------------------------------------------------

# What each command is asked; its help is always shown. {docs} is the folder docs.
COMMANDS: dict[str, tuple[str, ...]] = {
    "explain": (
        "search.csv",
        "curves.csv",
        "counts.csv --metric error",
        "search.csv --json",
    ),
    "check": ("search.csv", "drift.csv", "search.csv --json", "gone.csv"),
    "performance": (
        "search.csv",
        "search.csv --failed worst",
        "search.csv --failed worst --json",
        "search.csv --failed worst --alpha 0.9 --band anytime --family --threshold 0.9",
        "drift.csv",
        "drift.csv --anyway --no-over-tasks",
        "search.csv --metric acuracy",
    ),
    "robustness": (
        "tuned.csv --failed worst",
        "tuned.csv --failed 0 --json",
        "search.csv",
    ),
    "difference": (
        "curves.csv",
        "curves.csv --grid 12 --windows 4 --margin 20 --shuffles 99 --json",
        "search.csv --failed worst",
    ),
    "learning": (
        "counts.csv --metric error",
        "counts.csv --metric error --at 1000 --at 10000 --reach 0.05 --next 5000",
        "counts.csv --metric error --at 1000 --reach 0.05 --json",
        "counts.csv --metric error --json",
        "search.csv --failed worst",
    ),
    "confusion": (
        "counts.csv",
        "counts.csv --metric f1 --at 10000 --target observed --test-size 500",
        "counts.csv --json",
        "curves.csv",
    ),
    "compare-versions": (
        "tuned.csv new.csv --failed worst",
        "tuned.csv new.csv --failed worst --markdown",
        "tuned.csv new.csv --failed worst --json --margin 2%",
        "tuned.csv curves.csv",
    ),
    "plan": (
        "--half-width 0.05",
        "search.csv --half-width 0.03 --of cvar --failed worst",
        "search.csv --half-width 0.03 --of quantile --alpha 0.9 --failed worst --json",
        "--trials 200 --json",
        "--trials 200",
        "--top 0.05",
        "",
        "--top 0.05 --shift 3",
    ),
    "report": (
        "search.csv -o report.html --failed worst",
        "search.csv -o report.html --failed worst --json",
        "drift.csv -o report.html",
        "gone.csv",
    ),
    "example": ("search", "curves", "counts"),
    "run": (
        "plan.toml --dry-run",
        "plan.toml",
        "plan.toml",
        "plan.toml --trials 5 --quiet",
        'plan.toml --trials 64 --until "mean +- 0.2" --store until.db',
        "gone.toml",
    ),
    "watch": ("plan.toml", "search.csv"),
    "status": ("half.db", "half.db --json", "gone.db"),
    "replay": (
        'half.db "easy moons" tree 0',
        'half.db "easy moons" tree 3',
        "own.db blobs net 0",
    ),
    "export": ("half.db half.csv", "half.db half.csv", "half.db half.jsonl --force"),
    "paper": (
        "list",
        "jordan2018 --study classification --kept {docs}/results",
        "jordan",
    ),
}
_CLOCK = re.compile(r"\b\d[\d,.]* ?(?:ms|s|min|h|hours?|minutes?|seconds?)\b")
_TIMED = ("run", "status", "replay", "watch")  # what says how long things take


def shown_command(folder: Path, name: str) -> Shown:
    """Return what a command says to what it is asked, in a folder with files."""
    for example in EXAMPLES:
        Path(f"{example}.csv").write_text(_invoked("example", example).stdout)
    versions = answers.searched(), answers.searched().where(number=range(20))
    for file, trials in zip(("tuned.csv", "new.csv"), versions, strict=True):
        cw.write(trials, file)
    cw.write(studies.drift(), "drift.csv")
    Path("plan.toml").write_text(TOML)
    Path("half.db").write_bytes((STORES / "toml.db").read_bytes())
    Path("own.db").write_bytes((STORES / "own-functions.db").read_bytes())
    texts, numbers = {}, {}
    for asked in ("--help", *COMMANDS[name]):
        words = shlex.split(asked.format(docs=ROOT / "docs"))
        done = _invoked(name, *words)
        said, shown = done.stdout, f"$ curvewise {name} {asked}"
        if "--json" in words and said.startswith("{"):
            numbers[asked] = json.loads(said)
            said = "(JSON)\n"
        if name == "example" and asked != "--help":
            said = "".join(said.splitlines(keepends=True)[:4]) + "...\n"
        if name in _TIMED:
            said = _without_times(said)
        text = said + "".join(f"! {line}\n" for line in done.stderr.splitlines())
        key = shown if shown not in texts else f"{shown}  # again"
        texts[key] = f"{text}(exit status {done.exit_code})"
    if name == "watch":
        texts["$ curvewise watch half.db --port 0"] = _watched()
    return Shown(texts, numbers or None)


def _without_times(text: str) -> str:
    """Return a text without durations, rates and the columns that they moved."""
    text = _CLOCK.sub("TIME", text)
    return re.sub(r" {2,}", "  ", re.sub(r"-{3,}", "---", text))


def _invoked(*words: str) -> Any:
    done = CliRunner().invoke(main, list(words), prog_name="curvewise")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def _watched() -> str:
    """Return the address that a page is served at, and end what serves it."""
    command = [sys.executable, "-m", "curvewise", "watch", "half.db", "--port", "0"]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = serving.stdout.readline()
    finally:
        serving.send_signal(signal.SIGINT)
        serving.communicate(timeout=20)
    return re.sub(r":\d+", ":PORT", line)


def shown_main(_folder: Path) -> Shown:
    asked = ("--help", "--version", "", "performence", "performance")
    texts = {}
    for words in asked:
        done = _invoked(*words.split())
        texts[f"$ curvewise {words}"] = f"{done.output}(exit status {done.exit_code})"
    return Shown(texts)


# --- all of them -------------------------------------------------------------------------


def _cases() -> Iterator[Case]:
    for kind, make in answers.ANSWERS.items():
        yield Case(f"answers/{kind}", lambda _f, m=make: shown_answer(m()))
    for name, make in _of_examples():
        make_short = lambda _f, m=make: shown_answer(m(), in_all_languages=False)  # noqa: E731
        yield Case(f"examples/{name}", make_short)
    for name in EXAMPLES:
        yield Case(f"examples/read-{name}", lambda _f, n=name: shown_example(n))
    yield Case("examples/demo", shown_demo)
    yield Case("refusals", shown_refusals, has_numbers=False)
    for name, make in PAGES.items():
        # What is drawn is written in single precision.
        make_page = lambda f, m=make: shown_page(f, m)  # noqa: E731
        yield Case(f"pages/{name}", make_page, relative=1e-6)
    for name, draw in drawn_figures.FIGURES.items():
        name = name.replace(" ", "-")  # noqa: PLW2901
        yield Case(f"figures/{name}", lambda _f, d=draw: shown_figure(d))
    for tool, records in TOOLS.items():
        yield Case(f"tools/{tool}", lambda f, r=records: shown_tool(f, r))
    yield Case("commands/curvewise", shown_main, has_numbers=False)
    for name, asked in COMMANDS.items():
        has_json = any("--json" in words for words in asked)
        make_said = lambda f, n=name: shown_command(f, n)  # noqa: E731
        yield Case(f"commands/{name}", make_said, has_json)


CASES = list(_cases())
