"""What a worker leaves behind: who was at what, and what it had yielded."""

import os
import pickle
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from curvewise.engine.recording import Record
from curvewise.engine.workers import process as module
from curvewise.engine.workers.process import Board, Spool, left_behind


def yielding(number, *values, counts=False):
    record = Record(number)
    record.params, record.labels = {"C": 2}, {"draw": 1}
    for i, value in enumerate(values):
        record.add((i, {"loss": value} | ({"counts": np.eye(2)} if counts else {})))
        yield record


# --- the board -----------------------------------------------------------------------


def test_nobody_is_at_anything_before_a_worker_begins(tmp_path):
    assert Board(tmp_path, 3).read(2) is None


def test_a_worker_says_who_it_is_and_where_and_since_when(tmp_path):
    driver = Board(tmp_path, 3)
    before = time.monotonic_ns()
    Board(tmp_path).at(1, 7)
    notice = driver.read(1)
    assert notice[:2] == (os.getpid(), 7)
    assert before <= notice.since <= time.monotonic_ns()
    assert driver.read(0) is driver.read(2) is None


def test_the_clock_starts_anew_with_each_trial(tmp_path):
    board = Board(tmp_path, 1)
    board.at(0, 0)
    first = board.read(0).since
    board.at(0, 1)
    assert board.read(0).since > first


def test_a_slot_that_was_cleared_is_nobodys(tmp_path):
    board = Board(tmp_path, 1)
    board.at(0, 0)
    board.clear(0)
    assert board.read(0) is None


def test_a_worker_that_dies_between_two_notes_is_not_overdue(tmp_path):
    """While `since` is being written nobody can say since when: so, since now."""
    board = Board(tmp_path, 1)
    board.at(0, 0)
    board._rows[0, 2] = 0
    assert time.monotonic_ns() - board.read(0).since < 1e9


# --- the spool -----------------------------------------------------------------------


@pytest.mark.parametrize("counts", [False, True])
def test_what_was_yielded_is_there_when_the_worker_is_not(tmp_path, counts):
    spool = Spool(tmp_path, 0)
    for record in yielding(4, 3.0, 2.0, 1.0, counts=counts):
        spool.keep(record)
    found = left_behind(tmp_path, 0, 4)
    assert found.since(0)[:5] == record.since(0)[:5]
    assert np.array_equal(found.counts, record.counts)
    spool.close()


def test_the_trial_before_is_forgotten(tmp_path):
    spool = Spool(tmp_path, 0)
    for number in (4, 5):
        for record in yielding(number, float(number)):
            spool.keep(record)
    spool.close()
    assert left_behind(tmp_path, 0, 5).values == {"loss": [5.0]}
    assert left_behind(tmp_path, 0, 4).steps == []


def test_a_choice_before_the_first_step_is_kept(tmp_path):
    spool, record = Spool(tmp_path, 0), Record(1)
    record.add((None, {"chosen": {"C": 3}}))
    spool.keep(record)
    assert left_behind(tmp_path, 0, 1).params == {"C": 3}
    other = Record(2)
    other.add((0, {"loss": 1.0}))
    spool.keep(other)
    spool.close()
    assert left_behind(tmp_path, 0, 1).params == {}  # it is over
    assert left_behind(tmp_path, 0, 2).values == {"loss": [1.0]}


def test_a_trial_that_yielded_nothing_left_nothing(tmp_path):
    Spool(tmp_path, 0).close()
    assert left_behind(tmp_path, 0, 3).steps == []
    assert left_behind(tmp_path, 1, 3).steps == []  # nor did one that never began


def test_slots_have_files_of_their_own(tmp_path):
    spools = [Spool(tmp_path, slot) for slot in (0, 1)]
    for slot, spool in enumerate(spools):
        for record in yielding(7, float(slot)):
            spool.keep(record)
        spool.close()
    assert [left_behind(tmp_path, s, 7).values["loss"] for s in (0, 1)] == [
        [0.0],
        [1.0],
    ]


@pytest.mark.parametrize("counts", [False, True])
def test_a_write_that_was_cut_off_anywhere_is_where_it_ends(tmp_path, counts):
    """A process may be killed between any two bytes."""
    spool = Spool(tmp_path, 0)
    whole = []
    for record in yielding(4, 3.0, 2.0, 1.0, counts=counts):
        spool.keep(record)
        whole.append((tmp_path / "spool-0").stat().st_size)
    spool.close()
    data = (tmp_path / "spool-0").read_bytes()
    for size in range(len(data) + 1):
        (tmp_path / "spool-0").write_bytes(data[:size])
        found = left_behind(tmp_path, 0, 4)
        assert len(found.steps) == sum(end <= size for end in whole)


def test_many_yields_are_written_now_and_then(tmp_path, monkeypatch):
    """The first hundred at once; then a file is not written ten thousand times."""
    writes = []
    real = os.write

    def counted(file, data):
        writes.append(len(pickle.loads(data)[3]))
        return real(file, data)

    monkeypatch.setattr(module.os, "write", counted)
    monkeypatch.setattr(module, "_PAUSE", 0.01)
    spool = Spool(tmp_path, 0)
    for record in yielding(0, *range(5_000)):
        spool.keep(record)
    spool.close()
    assert writes[:100] == [1] * 100
    assert len(writes) < 1_000
    assert 100 <= len(left_behind(tmp_path, 0, 0).steps) <= 5_000
    record = left_behind(tmp_path, 0, 0)
    assert record.values["loss"] == record.steps


# --- Scripts that start workers: refused at once without a guard, and else not bothered ---

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
