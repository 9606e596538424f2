"""What is held to goldens: each kind of answer, example, command, page, figure, record.

Most of it is a line in tests/golden/asked: a new case is a new line.
"""

import base64
import contextlib
import functools
import gzip
import io
import json
import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import warnings
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import answers
import contests
import drawn_figures
import matplotlib.pyplot as plt
import numpy as np
import studies
from click.testing import CliRunner
from commands import commands
from golden_stores import KEPT, NAMES, NEEDS, QUIET, STORES, TOML, finished, table
from goldens import FOLDER, ROOT, Case, Shown, brief, read_page
from support import data

import curvewise as cw
from curvewise.cli import main
from curvewise.engine.recording import Record

EXAMPLES = ("search", "curves", "counts")
FOREIGN = ROOT / "tests/assets/foreign"


def asked(name: str) -> list[str]:
    """Return what is asked in a file, a line each."""
    lines = (FOLDER / f"asked/{name}.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def expressions(name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the names of expressions, and what evaluates them."""
    for line in asked(name):
        title, _, code = line.partition(" = ")
        yield title, functools.partial(_evaluated, code)


def _evaluated(code: str) -> Any:
    trials = {name: cw.example(name) for name in EXAMPLES if name in code}
    worst = {"metric": "accuracy", "failed": "worst"}
    coin = cw.Task("coin", lambda rng: rng.random())
    guess = cw.Algorithm("guess", {"p": [0.3, 0.5]}, lambda params, data, rng: None)
    known = {"cw": cw, "worst": worst, "coin": coin, "guess": guess}
    known |= {"contests": contests, "studies": studies, "record": Record(0)}
    return eval(code, known | trials)


# --- answers -----------------------------------------------------------------------------


def shown_answer(answer: Any, *, in_all_languages: bool = True) -> Shown:
    """Return an answer as people and as programs read it."""
    texts = {"str": str(answer)}
    for name in ("headline", "comment"):
        value = getattr(answer, name, "")
        texts |= {name: value() if callable(value) else value}
    if in_all_languages:
        texts |= {"notes": "\n".join(answer.notes()), "markdown": answer.to_markdown()}
        texts |= {
            "latex": answer.to_latex(),
            "notebook": read_page(answer._repr_html_()),
        }
    told = json.loads(answer.to_json())
    finite = json.loads(json.dumps(answer.rows()), parse_constant=lambda _: None)
    assert told.pop("rows") == finite, "rows() and to_json() say the same"
    texts = {name: text for name, text in texts.items() if text}
    return Shown(texts, {"rows": answer.rows(), "json": told})


def shown_example(name: str) -> Shown:
    """Return what an example is read as; of its trials some, and the digest of all."""
    trials = cw.example(name)
    some = table(trials)[:: len(trials) // 12]
    metrics = {n: [m.direction, *m.range, m.label] for n, m in trials.metrics.items()}
    told = {"trials": some, "metrics": metrics, "digest": trials.digest()}
    return Shown({"str": str(trials)}, told)


def shown_demo() -> Shown:
    """Return what the demo prints with two trials of each, and the table that it fills.

    What scikit-learn learns hangs on the machine: a test example on the border falls to
    one side or to the other. So scores are left out, and numbers in the text.
    """
    names = runpy.run_path(str(ROOT / "examples/demo.py"))
    in_one = functools.partial(cw.run, **QUIET)  # as processes are slow to start
    with patch.object(cw, "run", in_one), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            names["main"](2)
    rows = table(cw.read("runs/demo/results.db"))
    for row in rows:
        del row["counts"]
    text = re.sub(
        r"[+-]?\d[\d,]*(\.\d+)?(?![\w%])",
        "#",
        said.getvalue().replace(str(Path.cwd()), "FOLDER"),
    )
    return Shown({"stdout": re.sub(r" {2,}", "  ", text)}, rows)


def shown_refusals() -> Shown:
    texts = {}
    for name, ask in expressions("refusals"):
        try:
            texts[name] = f"answered: {type(ask()).__name__}"
        except cw.CurvewiseError as problem:
            texts[name] = f"{type(problem).__name__}: {problem}\nfixes: {problem.fixes}"
    return Shown(texts)


def shown_headlines() -> Shown:
    answers_to = ((name, ask()) for name, ask in expressions("headlines"))
    return Shown({n: f"{a.headline()}\n{a.would_change()}" for n, a in answers_to})


def shown_prints() -> Shown:
    return Shown({name: _printed(ask()) for name, ask in expressions("printed")})


def _printed(answer: Any) -> str:
    """Return what is printed, and below it verdicts that are only shown when asked for."""
    is_asked = type(answer).__name__ == "Performance"
    verdicts = map(answer.verdict, answer.tasks) if is_asked else ()
    return "\n".join([str(answer), *verdicts])


# --- pages and figures -------------------------------------------------------------------

PAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "search": lambda: {"trials": cw.example("search"), "failed": "worst"},
    "curves": lambda: {"trials": cw.example("curves")},
    "counts": lambda: {"trials": cw.example("counts"), "metric": "error"},
    "tuned": lambda: {"trials": answers.searched(), "failed": "worst"},
    "audited": lambda: {"trials": answers.curved(), "audit": 20},
    "crossed": lambda: {"trials": answers.crossed()},
    "withheld": lambda: {"trials": studies.drift()},
    "anyway": lambda: {"trials": studies.drift(), "anyway": True},
}


def shown_page(make: Callable[[], dict[str, Any]]) -> Shown:
    page = cw.report.write(path="report.html", **make()).read_text("utf-8")
    charts = re.findall(r'<script type="application/json">(.*?)</script>', page, re.S)
    return Shown(
        {"page": read_page(page)}, [_chart(json.loads(text)) for text in charts]
    )


def _chart(value: Any) -> Any:
    """Return the figure of a page without looks: names, titles and what is drawn."""
    if isinstance(value, dict) and "bdata" in value:
        kind = np.dtype(value["dtype"])
        return brief(np.frombuffer(base64.b64decode(value["bdata"]), kind))
    if isinstance(value, dict):
        looks = ("template", "line", "marker", "font", "margin", "legend", "modebar")
        return {k: _chart(v) for k, v in value.items() if k not in looks}
    return brief([_chart(v) for v in value]) if isinstance(value, list) else value


def shown_figure(draw: Callable[[], Any]) -> Shown:
    drawn = draw()
    figure = getattr(drawn, "figure", drawn)
    texts, numbers = [t.get_text() for t in figure.texts], []
    for axes in figure.axes:
        legend = axes.get_legend()
        texts += [axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
        texts += [
            t.get_text() for t in axes.texts + (legend.get_texts() if legend else [])
        ]
        areas, bars = axes.collections, [p.get_bbox().bounds for p in axes.patches]
        told = {
            "lines": [
                [brief(np.asarray(v, float)) for v in o.get_data()] for o in axes.lines
            ],
            "points": [brief(o.get_offsets().ravel()) for o in areas],
            "areas": [
                brief(p.vertices.ravel()) for o in areas for p in o.get_paths()[:1]
            ],
            "bars": [list(map(float, bounds)) for bounds in bars],
        }
        numbers.append({name: values for name, values in told.items() if values})
    plt.close(figure)
    return Shown({"texts": "\n".join(filter(None, texts))}, numbers)


# --- what other tools recorded -----------------------------------------------------------


def shown_tool(records: list[str]) -> Shown:
    """Return what the records of a tool are read as, and what is asked on the way."""
    texts, numbers = {}, {}
    for name in records:
        trials, said = _read(_unpacked(name))
        texts[name] = "\n".join([*said, str(trials)])
        rows = table(trials)
        same = (f"as {n}" for n, other in numbers.items() if repr(other) == repr(rows))
        numbers[name] = next(same, rows)
    return Shown(texts, numbers)


def _read(source: Path) -> tuple[Any, list[str]]:
    """Read a record with the first answer to each question that is asked."""
    said: list[str] = []
    stated: dict[str, Any] = {}
    while True:
        with (
            contextlib.redirect_stderr(io.StringIO()) as err,
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always", cw.CurvewiseWarning)
            try:
                trials = cw.read(source, **stated)
            except cw.CurvewiseError as problem:
                said.append(f"asks: {problem}")
                asked_of = re.findall(r"'(\w+)'", str(problem).partition(" be ")[0])
                lower = {"metrics": dict.fromkeys(asked_of, "lower")}
                before, stated = stated, {**stated, **(*problem.fixes, lower)[0]}
                assert stated != before, said
                continue
        said += [err.getvalue().strip(), *(f"warns: {w.message}" for w in caught)]
        return trials, said


def _unpacked(name: str) -> Path:
    """Return where a record is, from the current folder; unpacked, if it is packed."""
    path, here = FOREIGN / name, Path(name)
    here.parent.mkdir(parents=True, exist_ok=True)
    if (packed := path.with_name(f"{path.name}.gz")).exists():
        here.write_bytes(gzip.decompress(packed.read_bytes()))
    elif (packed := path.with_name(f"{path.name}.tar.gz")).exists():
        with tarfile.open(packed) as tar:
            tar.extractall(here.parent, filter="data")
    else:
        here.symlink_to(path)
    return here


# --- stores that were left half finished -------------------------------------------------

DATA = os.environ.get("CURVEWISE_DATA", "")


def shown_store(name: str) -> Shown:
    """Go on with a kept store, and return all that it has in the end."""
    path = shutil.copy(STORES / f"{name}.db", f"{name}.db")
    before = len(cw.read(path))
    with patch.dict(os.environ, CURVEWISE_DATA=DATA if name in NEEDS else ""):
        if name in NEEDS:
            data(NEEDS[name])
        trials = finished(name, path)
    assert (len(trials) > before) == (name in KEPT)
    return Shown({"str": str(trials)}, table(trials))


# --- commands ----------------------------------------------------------------------------

_TIMED = ("run", "status", "replay")  # what says how long things take
_CLOCK = r"\b\d[\d,.]* ?(?:ms|s|min|h|hours?|minutes?|seconds?)\b"


def without_times(text: str) -> str:
    """Return a text without durations, the columns that they move, and progress."""
    text = re.sub(r"(?m)^(easy moons .*?)(?: +\d+\.\d+)+$", r"\1 TIME", text)
    text = re.sub(_CLOCK, "TIME", re.sub(r"-{3,}", "---", re.sub(" {2,}", "  ", text)))
    return re.sub(r"(?m)^curvewise: \d+ of \d+ trials.*\n", "", text)


def typed(name: str) -> list[str]:
    """Return what is typed of a command, beginning with its help."""
    return [f"{name} --help", *(c for c in asked("commands") if c.split()[0] == name)]


def shown_command(name: str) -> Shown:
    """Return what a command says to what it is asked, in a folder with files."""
    for example in EXAMPLES:
        Path(f"{example}.csv").write_text(_invoked(["example", example]).stdout)
    cw.write(answers.searched(), "tuned.csv")
    cw.write(answers.searched().where(number=range(20)), "new.csv")
    cw.write(studies.drift(), "drift.csv")
    Path("plan.toml").write_text(TOML)
    Path("half.db").write_bytes((STORES / "toml.db").read_bytes())
    with cw.store.open("half.db") as store:
        store.note({"source folder": str(Path.cwd())})
    Path("own.db").write_bytes((STORES / "own-functions.db").read_bytes())
    texts, numbers = {}, {}
    for line in typed(name):
        words = shlex.split(line.format(docs=ROOT / "docs"))
        done = _watched(words) if "--port" in words else _invoked(words)
        said, err = done.stdout, done.stderr
        if said.startswith("{"):
            numbers[line], said = json.loads(said), "(JSON)\n"
            numbers[line].pop("seconds since last written", None)
        if words[0] == "example" and words[1] in EXAMPLES:
            said = "".join(said.splitlines(keepends=True)[:4]) + "...\n"
        if name in _TIMED and "--help" not in words:
            said, err = without_times(said), without_times(err)
        said += "".join(f"! {line}\n" for line in err.splitlines())
        again = "  # again" * (f"$ curvewise {line}" in texts)
        texts[f"$ curvewise {line}{again}"] = f"{said}(exit status {done.exit_code})"
    return Shown(texts, numbers or None)


def _invoked(words: list[str]) -> Any:
    done = CliRunner().invoke(main, words, prog_name="curvewise")
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def _watched(words: list[str]) -> Any:
    """Serve a page until it says where, and then end that as Ctrl-C does."""
    command, both = [sys.executable, "-m", "curvewise", *words], subprocess.PIPE
    with subprocess.Popen(command, stdout=both, stderr=both, text=True) as serving:
        line = serving.stdout.readline()
        serving.send_signal(signal.SIGINT)
        rest, said = serving.communicate(timeout=20)
    serving.stdout, serving.stderr = re.sub(r":\d+", ":PORT", line + rest), said
    serving.exit_code = serving.returncode
    return serving


def shown_main() -> Shown:
    lines = ("--help", "--version", "", "nonsense", "performance")
    done = {f"$ curvewise {line}": _invoked(line.split()) for line in lines}
    return Shown({k: f"{d.output}(exit status {d.exit_code})" for k, d in done.items()})


# --- all of them -------------------------------------------------------------------------


def _cases() -> Iterator[Case]:
    def case(
        name: str, show: Callable[..., Shown], *given: Any, **options: Any
    ) -> Case:
        return Case(name, functools.partial(show, *given), **options)

    for kind in answers.ANSWERS:
        yield case(f"answers/{kind}", lambda k: shown_answer(answers.answer(k)), kind)
    for name, ask in expressions("answers"):
        short = functools.partial(shown_answer, in_all_languages=False)
        yield case(f"examples/{name}", lambda show, ask: show(ask()), short, ask)
    for name in EXAMPLES:
        yield case(f"examples/read-{name}", shown_example, name)
    yield case("examples/demo", shown_demo)
    yield case("refusals", shown_refusals, has_numbers=False)
    yield case("headlines", shown_headlines, has_numbers=False)
    yield case("printed", shown_prints, has_numbers=False)
    for name, page in PAGES.items():  # what is drawn there has seven digits
        yield case(f"pages/{name}", shown_page, page, relative=1e-6)
    for name, draw in drawn_figures.FIGURES.items():
        yield case(f"figures/{name.replace(' ', '-')}", shown_figure, draw)
    for tool, records in groupby(asked("records"), lambda name: name.split("/")[0]):
        yield case(f"tools/{tool}", shown_tool, list(records))
    for name in NAMES:
        yield case(f"stores/{name}", shown_store, name)
    yield case("commands/curvewise", shown_main, has_numbers=False)
    for name in commands():
        has_json = any("--json" in line for line in typed(name))
        yield case(f"commands/{name}", shown_command, name, has_numbers=has_json)


CASES = list(_cases())
