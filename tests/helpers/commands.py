"""An experiment in a folder of its own, and commands on it."""

import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from curvewise.cli import main

MODULE = """
import time
import curvewise as cw

OFFSET = 0.0

def load(rng):
    return rng.random(5)

def train(params, data, rng):
    for epoch in range(3):
        yield epoch, {"loss": params["lr"] * float(data.mean()) / (1 + epoch) + OFFSET}

def shaky(params, data, rng):
    yield 0, {"loss": 1.0}
    if rng.random() < 0.5:
        raise ValueError("diverged")
    yield 1, {"loss": 0.5}

def slow(params, data, rng):
    time.sleep(0.06)
    yield 0, {"loss": float(rng.random())}

experiment = cw.Experiment(
    [cw.Task("data", load)], [cw.Algorithm("net", {"lr": [1, 2]}, train)], 4, seed=1
)
"""
PLAN = """\
trials = 6
seed = 1
executor = "serial"
tasks = ["{module}:load"]

[[algorithms]]
name = "net"
run = "{module}:{function}"
space.lr = {{ loguniform = [0.01, 1] }}
"""


class Folder:
    """A folder with plan.toml and a module, in which commands are run."""

    def __init__(self, path, module):
        self.path, self.module = path, module
        (path / f"{module}.py").write_text(MODULE)
        self.store = path / "plan.db"
        self.plan()

    def plan(self, function="train", more=""):
        """Write plan.toml; `more` comes first."""
        text = PLAN.format(module=self.module, function=function)
        (self.path / "plan.toml").write_text(more + text)

    def change(self, old, new):
        """Change the module, for those who import it from now on."""
        file = self.path / f"{self.module}.py"
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))
        sys.modules.pop(self.module, None)

    def start(self, *arguments, **options):
        """Start a command in a process of its own, in another folder."""
        return subprocess.Popen(
            [sys.executable, "-m", "curvewise", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.path.parent,
            env={**os.environ, "PYTHONWARNINGS": ""},
            **options,
        )


def commands():
    """Every command by its name, also those that are not imported yet."""
    context = click.Context(main)
    return {
        name: main.get_command(context, name) for name in main.list_commands(context)
    }


def invoked(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def ran():
    """Run a command in this process."""
    return invoked


_modules = iter(range(10**6))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an experiment, and Python as it was afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = f"mine_{next(_modules)}"
    yield Folder(tmp_path, module)
    sys.modules.pop(module, None)
