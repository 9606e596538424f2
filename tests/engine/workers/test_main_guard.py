"""Scripts that start workers: refused at once without a guard, and else not bothered."""

import os
import subprocess
import sys
import textwrap

import pytest

# What only asks; no worker is started.
ASK = """
from curvewise.engine.workers.process import refuse_unguarded_scripts as ask
"""

EXPERIMENT = """
import curvewise as cw

def run(params, data, rng):
    yield 0, {"accuracy": data}

task = cw.Task("t", lambda rng: rng.random())
experiment = cw.Experiment(task, cw.Algorithm("a", {}, run), 3)
"""

RUN = "print([t.status for t in cw.run(experiment, workers=1, progress=False)])"
FINE = "['ok', 'ok', 'ok']\n"

ADVICE = (
    "Worker processes import the script, and would start the run again. Put the call "
    "under\n\n    if __name__ == '__main__':\n\nor pass executor='serial'."
)


def python(*arguments, folder, **options):
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        **options,
    )


@pytest.fixture
def script(tmp_path):
    """Return a function that runs a script in a folder of its own."""

    def run(text, *arguments, **options):
        (tmp_path / "script.py").write_text(textwrap.dedent(text))
        return python("script.py", *arguments, folder=tmp_path, **options)

    return run


def is_refused(done, line):
    path = rf"script.py, line {line}, starts worker processes without a main guard. "
    return done.returncode == 1 and f"{path}{ADVICE}" in done.stderr


# --- real runs -----------------------------------------------------------------------


def test_a_script_without_a_guard_is_told_at_once(script):
    """Before any worker is started: Python's own message is a page, many times over."""
    done = script(EXPERIMENT + RUN)
    assert is_refused(done, 9), done.stderr
    assert done.stderr.count("Traceback") == 1
    assert done.stdout == ""


def test_a_script_with_a_guard_runs(script):
    done = script(EXPERIMENT + f"\nif __name__ == '__main__':\n    {RUN}\n")
    assert (done.stdout, done.stderr) == (FINE, "")


def test_a_script_without_a_guard_may_run_in_its_own_process(script):
    done = script(EXPERIMENT + RUN.replace("workers=1", "executor='serial'"))
    assert (done.stdout, done.stderr) == (FINE, "")


def test_code_on_the_command_line_runs(tmp_path):
    """As in a notebook: there is no script that workers could import."""
    done = python("-c", EXPERIMENT + RUN, folder=tmp_path)
    assert (done.stdout, done.stderr) == (FINE, "")


def test_code_from_standard_input_runs(tmp_path):
    done = python("-", folder=tmp_path, input=EXPERIMENT + RUN)
    assert (done.stdout, done.stderr) == (FINE, "")


def test_a_module_that_runs_when_it_is_imported_does_so_under_a_guard(tmp_path):
    """What workers need travels by value here: they do not import the module."""
    by_value = EXPERIMENT.replace(
        "{}, run)", '{}, lambda params, data, rng: {"accuracy": data})'
    )
    (tmp_path / "helper.py").write_text(by_value + RUN)
    (tmp_path / "script.py").write_text(
        "if __name__ == '__main__':\n    import helper\n"
    )
    done = python("script.py", folder=tmp_path)
    assert (done.stdout, done.stderr) == (FINE, "")


# A module that would start workers that import the module: here, twice at most.
BOMB = """
import os
depth = int(os.environ.get("DEPTH", "0"))
os.environ["DEPTH"] = str(depth + 1)
if depth == 2:
    raise ValueError("workers start workers")
"""


def test_workers_do_not_start_workers(tmp_path):
    """They load a function from the module that starts the run, and run it again."""
    (tmp_path / "helper.py").write_text(BOMB + EXPERIMENT + RUN)
    (tmp_path / "script.py").write_text(
        "if __name__ == '__main__':\n    import helper\n"
    )
    done = python("script.py", folder=tmp_path, env=os.environ | {"DEPTH": "0"})
    assert "ValueError: workers start workers" not in done.stderr
    assert "A worker was about to start workers." in done.stderr


# --- what counts as a guard ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "if __name__ == '__main__':\n    ask()",
        'if "__main__" == __name__:\n    ask()',
        "if __name__ == '__main__' and True:\n    for _ in range(2):\n        ask()",
        "def main():\n    ask()\n\nif __name__ == '__main__':\n    main()",
        "def main():\n    ask()\n\nif __name__ == '__main__': main()",
    ],
)
def test_a_guard_is_an_if_that_asks_for_the_name(script, text):
    done = script(ASK + text)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("ask()", 3),
        ("def main():\n    ask()\n\nmain()", 6),
        ("if True:\n    ask()", 4),
        ("for _ in range(2):\n    ask()", 4),
        ("if __name__ == '__main__':\n    pass\nask()", 5),
        ("class A:\n    ask()", 3),
        ("[ask() for _ in range(2)]", 3),
        ("ask(\n)", 3),
    ],
)
def test_anything_else_is_none(script, text, line):
    done = script(ASK + text)
    assert is_refused(done, line), done.stderr


def test_a_module_that_is_imported_without_a_guard_is_refused(tmp_path, script):
    """The line is the script's: that is where the guard belongs."""
    (tmp_path / "helper.py").write_text(ASK + "ask()")
    done = script("import sys\nimport helper\n")
    assert is_refused(done, 2), done.stderr


def test_a_guard_may_stand_inside_of_something(script):
    done = script(
        ASK + "try:\n    if __name__ == '__main__':\n        ask()\nfinally:\n    pass"
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("names", ["{'__name__': '__main__'}", "globals()"])
def test_a_cell_that_a_guarded_script_executes_is_allowed(script, names):
    """As kernels of notebooks and debuggers do."""
    cell = ASK.strip() + "\\n" * 9 + "ask()"
    done = script(
        f"if __name__ == '__main__':\n"
        f'    exec(compile("{cell}", "<cell>", "exec"), {names})'
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_prompt_and_a_notebook_have_no_script(tmp_path):
    code = ASK + "exec('ask()', {'__name__': '__main__', 'ask': ask})\nask()"
    done = python("-c", code, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_script_started_as_a_module_is_a_script(tmp_path):
    (tmp_path / "script.py").write_text(ASK + "ask()")
    assert is_refused(python("-m", "script", folder=tmp_path), 3)


def test_a_script_that_cannot_be_read_again_gets_the_benefit_of_the_doubt(script):
    done = script(
        """
        from curvewise.engine.workers.process import refuse_unguarded_scripts as ask
        import os
        os.remove(__file__)
        ask()
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_function_of_another_module_is_not_the_scripts_top_level(tmp_path):
    """A test under pytest, for one: its runner has a guard or is somebody else's."""
    from curvewise.engine.workers.process import refuse_unguarded_scripts

    refuse_unguarded_scripts()


def test_a_worker_that_reads_its_script_is_told_that_the_guard_is_missing(script):
    """The second fence: where the first one was climbed over."""
    done = script(
        """
        import multiprocessing
        from curvewise.engine.workers.process import refuse_unguarded_scripts as ask
        multiprocessing.current_process()._inheriting = True
        if __name__ == '__main__':
            ask()
        """
    )
    assert done.returncode == 1
    assert f"A worker was about to start workers. {ADVICE}" in done.stderr
