"""What the package adds to curvewise, and what is said where it is not installed."""

import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest
from click.testing import CliRunner

import curvewise as cw
import curvewise_papers
from curvewise.cli import main
from curvewise.engine.definitions import is_own
from curvewise_papers import command
from curvewise_papers.study import Study

HINT = "pip install ./reproductions"
HIDDEN = """
import sys
from importlib import metadata

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "curvewise_papers":
            raise ModuleNotFoundError(f"No module named {name!r}", name="curvewise_papers")

sys.meta_path.insert(0, Hidden())
usual = metadata.entry_points
metadata.entry_points = lambda **asked: (
    () if asked.get("group") == "curvewise.commands" else usual(**asked)
)
"""


def alone(code):
    """Run code where the package is not installed."""
    return subprocess.run(
        [sys.executable, "-c", HIDDEN + code],
        check=False,
        capture_output=True,
        text=True,
    )


# --- installed ---------------------------------------------------------------------------


def test_the_command_is_an_entry_point():
    (found,) = entry_points(group="curvewise.commands", name="paper")
    assert found.load() is command.paper


def test_help_lists_the_command():
    shown = CliRunner().invoke(main, ["--help"]).output
    papers = shown.index("Commands about papers:")
    assert shown.index("Commands about experiments:") < papers
    assert papers < shown.index("  paper ") < shown.index("Exit status")


def test_help_imports_neither_papers_nor_anything_heavy():
    code = (
        "import sys; from curvewise.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert "curvewise_papers.command" in loaded
    heavy = {"numpy", "sklearn", "rich", "tomllib", "curvewise_papers.study"}
    assert heavy.isdisjoint(loaded)


def test_other_commands_do_not_import_it():
    code = (
        "import sys; from curvewise.cli import main\n"
        "try: main(['example', 'search'])\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "curvewise_papers" not in done.stderr.split()


def test_it_is_an_attribute_of_curvewise():
    assert cw.papers is curvewise_papers
    assert cw.zoo.tictactoe is sys.modules["curvewise_papers.tictactoe"]


def test_both_have_one_version():
    assert version("curvewise-papers") == version("curvewise") == cw.__version__


def test_both_have_one_licence():
    own = Path(__file__).parents[1] / "LICENSE"
    assert own.read_bytes() == (own.parents[1] / "LICENSE").read_bytes()


def test_its_code_counts_as_ours():
    """Where it is installed editable, too: it is not the user's to define."""
    assert not is_own(Study)
    assert not is_own(command.paper.callback)
    assert is_own(alone)


# --- not installed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        "cw.papers",
        "cw.zoo.pendulum",
        "cw.zoo.faces_task()",
        "cw.zoo.task('tabular', source='letter')",
    ],
)
def test_without_it_one_line_says_how_to_get_it(asked):
    done = alone(f"import curvewise as cw\ntry: {asked}\n"
                 "except cw.CurvewiseError as problem: print(problem)")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert done.stdout.endswith(f"{HINT}\n")


@pytest.mark.parametrize("words", ["'paper', 'list'", "'paper', '--help'"])
def test_without_it_the_command_says_how_to_get_it(words):
    done = alone(f"from curvewise.cli import main; main([{words}])")
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("curvewise: ")
    assert done.stderr.endswith(f"{HINT}\n")


def test_without_it_help_does_not_list_the_command():
    done = alone("from curvewise.cli import main; main(['--help'])")
    assert done.returncode == 0
    assert "Commands about experiments" in done.stdout
    assert "paper" not in done.stdout


def test_without_it_curvewise_can_be_looked_into():
    """hasattr() and what lists members ask for every name."""
    done = alone("import curvewise as cw; print(hasattr(cw, 'papers'))")
    assert done.stdout == "False\n"


def test_a_module_that_it_lacks_is_no_reason_to_install_it():
    """Only the package's own absence is answered with how to get it."""
    code = (
        "import sys; sys.modules['pyarrow.parquet'] = None\n"
        "import curvewise.reproductions as own\n"
        "try: own.papers('curvewise_papers.nonsense')\n"
        "except ModuleNotFoundError as problem: print(problem.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "curvewise_papers.nonsense\n"
