"""Walks a page of the documentation from top to bottom, as a reader would.

Python is run, commands are typed, files whose first line is their name are written; what
the page says comes out is held against what does.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.pyplot as plt
from click.testing import CliRunner

from curvewise.cli import main

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"([^\n]*)\n+```(\w+)\n(.*?)```", re.S)
_FILE = re.compile(r"# ([\w-]+\.(?:py|toml))$")
_FINE = (0, 3)  # 3: finished, but some trials failed


@dataclass
class Walk:
    """What happened on the way: outputs beside what the page says, and what was left."""

    outputs: list[tuple[str, str]] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)


def walked(text, page="page"):
    """Walk a page in the current folder."""
    walk, names, said = Walk(), {"__name__": "__main__"}, None
    for before, kind, body in _FENCE.findall("\n" + text):
        if before.startswith("<!-- not run: "):
            walk.not_run.append(body)
            said = None
        elif file := _FILE.match(body.splitlines()[0]):
            Path(file[1]).write_text(body)
        elif kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, page, "exec"), names)
            said = out.getvalue()
        elif kind == "text":
            assert said is not None, f"{page}: nothing was run before {body[:60]!r}"
            walk.outputs.append((said, body))
            said = None
        elif kind == "console":
            _type_all(body, walk, page)
        else:
            assert kind in ("toml", "latex", "bibtex"), f"{page}: what is ```{kind}?"
    plt.close("all")
    return walk


def agrees(said, written):
    """Say whether an output is what a page writes; three dots stand for anything."""
    parts = [" ".join(p.split()) for p in re.split(r"(?<!\S)\.{3}(?!\S)", written)]
    pattern = ".*".join(re.escape(part) for part in parts)
    return re.fullmatch(rf"\s*{pattern}\s*", " ".join(said.split()), re.S) is not None


def _type_all(body, walk, page):
    for entry in re.split(r"^\$ ", body, flags=re.M)[1:]:
        line, _, written = entry.partition("\n")
        line = line.split("   #")[0].strip()
        out = _type(line, page, may_refuse=bool(written.strip()))
        walk.commands.append(line)
        if written.strip():
            walk.outputs.append((out, written))


def _type(line, page, may_refuse):
    command, _, target = line.partition(" > ")
    words = shlex.split(command)
    if words[:2] == ["pip", "install"]:
        return ""
    if words[0] == "head":
        lines = Path(words[2]).read_text().splitlines(keepends=True)
        return "".join(lines[: -int(words[1])])
    assert words[0] == "curvewise", f"{page}: {line} is neither run nor marked"
    done = CliRunner().invoke(main, words[1:])
    refused = may_refuse and done.exit_code == 1 and "curvewise: " in done.stderr
    assert done.exit_code in _FINE or refused, (
        f"{page}: {line}: {done.output}{done.exception!r}"
    )
    if target:
        Path(target).write_text(done.stdout)
    return done.stderr + done.stdout
