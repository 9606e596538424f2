import functools
import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

import curvewise as cw
from curvewise import zoo
from curvewise.engine import spaces
from curvewise.engine.drive import limits_of
from curvewise.engine.experiment import VARIED
from curvewise.flow.toml import PLAN, RUN, from_text, from_toml, imported

MINE = """
import curvewise as cw

def load(rng, scale=1):
    return rng.random(5) * scale

def train(params, data, rng):
    yield 0, {"score": float(data.mean())}

def space(rng):
    return {"lr": float(rng.random())}

whole_task = cw.Task("whole", load)
whole_algorithm = cw.Algorithm("all", {"lr": [1, 2]}, train)
number = 3
"""


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A folder with a module, and Python as it was afterwards."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    (tmp_path / "mine_toml.py").write_text(MINE)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def recipe(folder, text):
    path = folder / "plan.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return from_toml(path, zoo)


def test_names_are_enough(beside):
    found = recipe(
        beside,
        """
        trials = 100
        tasks = ["moons", "circles"]
        algorithms = ["knn", "svm", "svm tuned", "forest"]
        """,
    )
    experiment = found.experiment
    assert [t.name for t in experiment.tasks] == ["moons", "circles"]
    names = [a.name for a in experiment.algorithms]
    assert names == ["knn", "svm", "svm tuned", "forest"]
    assert (experiment.trials, experiment.seed, experiment.vary) == (100, 0, VARIED)
    assert found.options == {"store": str(beside / "plan.db")}


def test_a_file_says_all_that_python_says(beside):
    found = recipe(
        beside,
        """
        seed = 7
        vary = ["params", "data"]
        cross = { params = 10, seed = 5 }
        store = "postgresql://host/runs"
        workers = 2
        executor = "serial"
        timeout = 1.5
        retries = 0
        memory = "0.5 GB"

        [[tasks]]
        zoo = "moons"
        name = "moons, little noise"
        noise = 0.1
        sizes = [10, 20]

        [[tasks]]
        name = "mine"
        sample = "mine_toml:load"
        lines = 2
        settings = { scale = 3 }

        [[algorithms]]
        zoo = "svm"
        name = "linear svm"
        kernel = "linear"
        tuned = { configs = 20, folds = 4, metric = "accuracy" }

        [[algorithms]]
        name = "net"
        run = "mine_toml:train"
        [algorithms.space]
        lr = { loguniform = [1e-5, 1e-1] }

        [metrics]
        score = "lower"
        gain = { direction = "higher", range = [0, inf], unit = "EUR", label = "Gain" }
        """,
    )
    mine = imported("mine_toml:load", beside)
    train = imported("mine_toml:train", beside)
    meant = cw.Experiment(
        [
            zoo.task("moons", name="moons, little noise", noise=0.1, sizes=[10, 20]),
            cw.Task("mine", functools.partial(mine, scale=3), 2),
        ],
        [
            cw.tuned(
                zoo.algorithm("svm", name="linear svm", kernel="linear"),
                *(20, 4, "accuracy"),
            ),
            cw.Algorithm("net", {"lr": cw.loguniform(1e-5, 1e-1)}, train),
        ],
        seed=7,
        vary=["params", "data"],
        cross={"params": 10, "seed": 5},
        metrics=[
            cw.Metric("score", "lower"),
            cw.Metric("gain", "higher", (0, float("inf")), "EUR", "Gain"),
        ],
    )
    assert found.experiment.definition() == meant.definition()
    assert str(found.experiment) == str(meant)
    assert found.experiment.metrics == meant.metrics
    assert found.options == {
        "store": "postgresql://host/runs",
        "workers": 2,
        "executor": "serial",
        "timeout": 1.5,
        "retries": 0,
        "memory": "0.5 GB",
    }


def test_every_option_of_the_python_functions_can_be_written():
    in_python_only = {"experiment", "progress", "retry_failed", "notes"}
    assert set(inspect.signature(cw.run).parameters) - in_python_only == set(RUN)
    assert set(inspect.signature(cw.Experiment).parameters) == set(PLAN)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("lr = { loguniform = [1e-5, 0.1] }", {"lr": cw.loguniform(1e-5, 0.1)}),
        ("p = { uniform = [0, 1] }", {"p": cw.uniform(0, 1)}),
        ("k = { integers = [1, 6] }", {"k": cw.integers(1, 6)}),
        ("k = { log_integers = [1, 64] }", {"k": cw.log_integers(1, 64)}),
        ("width = [64, 128]", {"width": [64, 128]}),
        ("layers = [[16], [32, 32]]", {"layers": [[16], [32, 32]]}),
        ('act = "relu"', {"act": "relu"}),
        (
            'o = { choice = ["adam", "sgd"], weights = [3, 1] }',
            {"o": cw.choice("adam", "sgd", weights=[3, 1])},
        ),
        ("one = { choice = [[1, 2]] }", {"one": cw.choice([[1, 2]])}),
        (
            "d = { mixture = [[0.0], { uniform = [0.1, 0.5] }] }",
            {"d": cw.mixture([0.0], cw.uniform(0.1, 0.5))},
        ),
        (
            'kernel = ["poly", "rbf"]\n'
            'degree = { when = { kernel = "poly" }, then = { integers = [2, 5] } }',
            {
                "kernel": ["poly", "rbf"],
                "degree": cw.when({"kernel": "poly"}, cw.integers(2, 5)),
            },
        ),
        (
            "inner = { a = [1, 2], b = { uniform = [0, 1] } }",
            {"inner": {"a": [1, 2], "b": cw.uniform(0, 1)}},
        ),
        (
            "mixture = [{ C = [1, 10] }, { nu = { uniform = [0, 1] } }]\n"
            "weights = [1, 3]",
            cw.mixture({"C": [1, 10]}, {"nu": cw.uniform(0, 1)}, weights=[1, 3]),
        ),
    ],
)
def test_spaces_are_written_as_tables(beside, text, meant):
    found = recipe(
        beside,
        'trials = 1\ntasks = ["moons"]\n[[algorithms]]\nrun = "mine_toml:train"\n'
        f"[algorithms.space]\n{text}\n",
    )
    (one,) = found.experiment.algorithms
    assert one.name == "train"
    assert spaces.describe(one.space, whole=True) == spaces.describe(meant, whole=True)


def test_a_space_may_be_a_function_and_an_entry_a_whole_object(beside):
    found = recipe(
        beside,
        """
        trials = 1
        tasks = ["mine_toml:whole_task", "mine_toml:load"]
        algorithms = [
          "mine_toml:whole_algorithm",
          "mine_toml:whole_algorithm tuned",
          { run = "mine_toml:train", name = "drawn", space = "mine_toml:space" },
        ]
        """,
    ).experiment
    assert [t.name for t in found.tasks] == ["whole", "load"]
    assert [a.name for a in found.algorithms] == ["all", "all tuned", "drawn"]
    assert found.algorithm("drawn").space.__name__ == "space"


def test_paths_are_beside_the_file(beside):
    (beside / "f.toml").write_text(
        'trials = 1\nstore = "sub/x.db"\ntasks = "moons"\nalgorithms = "knn"\n'
    )
    options = from_toml(beside / "f.toml", zoo).options
    assert options["store"] == str(beside / "sub" / "x.db")
    with pytest.raises(cw.CurvewiseError, match=f"no file '{beside}/faces.npz'"):
        recipe(
            beside,
            'trials = 1\nalgorithms = "knn"\n[[tasks]]\nzoo = "faces"\n'
            'path = "faces.npz"\n',
        )


def test_a_mark_at_the_beginning_of_a_file_is_no_mistake(beside):
    text = 'trials = 1\ntasks = "moons"\nalgorithms = "knn"\n'
    (beside / "f.toml").write_bytes(text.encode("utf-8-sig"))
    assert from_toml(beside / "f.toml", zoo).experiment.trials == 1


T, A, N = 'tasks = ["moons"]\n', 'algorithms = ["knn"]\n', "trials = 3\n"
NET = N + T + '[[algorithms]]\nrun = "mine_toml:train"\n'
LR = NET + "[algorithms.space]\nlr = "


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            N + "tasks = = 3",
            "is no TOML: Invalid value (at line 2, column 9). The line is",
        ),
        ("trails = 3", "There is no key 'trails'. Did you mean 'trials'?"),
        (T + A, "trials is missing. Say how many"),
        (N + T, "'algorithms' is missing. Name at least one algorithm, such as alg"),
        (N + A, "'tasks' is missing. Name at least one task, such as tasks = [\"moons"),
        (N + A + "tasks = 3", "'tasks' is 3. Write a list or a text."),
        (N + A + "tasks = []", "tasks is empty"),
        (
            N + A + "[tasks]\nzoo = 'moons'",
            "A table among several begins with [[tasks]]",
        ),
        (N + A + "tasks = [3]", "tasks, entry 1 is 3. Write a name in quotes, or a"),
        (
            N + A + "tasks = ['mons']",
            "tasks, entry 1: There is no task 'mons'. Did you",
        ),
        (N + A + "tasks = ['moons', 'moons']", "tasks has 'moons' twice"),
        (N + T + "seed = 1.5", "'seed' is 1.5. Write a whole number."),
        (N + T + "seed = true", "'seed' is True. Write a whole number."),
        (N + T + A + "seed = -1", "seed is -1"),
        (N + T + A + "workers = 0", "workers is 0. Pass a whole number from 1 on."),
        (N + T + A + "retries = -1", "retries is -1. Pass a whole number from 0 on."),
        (N + T + A + "timeout = 0", "timeout is 0. Pass seconds above 0."),
        (N + T + A + "timeout = inf", "timeout is inf. Pass seconds above 0."),
        (N + T + A + "memory = '2 XB'", "memory is '2 XB'. Pass bytes, or a text"),
        (N + T + A + "memory = 0", "memory is 0. Pass bytes, or a text"),
        (N + T + A + "store = ''", "'store' is ''. Write the path of a file, or leave"),
        (N + T + A + "executor = 'locl'", "no executor 'locl'. Did you mean 'local'?"),
        (
            N + T + A + "vary = ['parms']",
            "no role to vary 'parms'. Did you mean 'params'",
        ),
        (N + T + A + "vary = [1]", "'vary' is 1. Write a text."),
        (T + A + "cross = { sed = 2 }", "no role to cross 'sed'. Did you mean 'seed'?"),
        (N + T + A + "cross = { seed = 2 }", "crosses to 2. Leave it out."),
        (
            N + T + A + "metrics = { loss = 3 }",
            "metrics, 'loss' is 3. Write \"higher\" or",
        ),
        (N + T + A + "metrics = { loss = 'up' }", "Say 'higher' or 'lower'"),
        (
            N + T + A + "metrics.loss = { dir = 'lower' }",
            "no key 'dir'. Did you mean 'dire",
        ),
        (
            T + "[[algorithms]]\nzoo = 'knn'\ntrials = 3",
            "'trials' belongs to the whole experiment. Write it above the first line in",
        ),
        (NET + "trials = 3", "'trials' belongs to the whole experiment."),
        (NET + "spaec = {}", "There is no key 'spaec'. Did you mean 'space'?"),
        (NET + "name = 3", "'name' is 3. Write a text."),
        (NET + "space = 3", "'space' is 3. Write a table or a text."),
        (NET + "settings = { x = 1 }", "no setting of mine_toml:train called 'x'"),
        (NET + "tuned = 3", "'tuned' is 3. Write true or false or a table."),
        (NET + "tuned = true", "'tuned': Algorithm 'train' has no hyperparameters to"),
        (NET + "tuned = { config = 3 }", "There is no key 'config'. Did you mean"),
        (N + T + "[[algorithms]]\nzoo = 'knn'\nk = 3", "no setting of 'knn' 'k'"),
        (
            N + T + "[[algorithms]]\nzoo = 'svm'\nkernl = 'rbf'",
            "'kernl'. Did you mean 'kernel'? There are: 'name', 'space', 'validate', "
            "'examples', ",
        ),
        (
            N + A + "[[tasks]]\nzoo = 'moons'\nnoize = 1",
            "called 'noize'. Did you mean 'noi",
        ),
        (N + A + "[[tasks]]\nzoo = 'moons'\nn = 'a'", "n is 'a'. Pass a whole number"),
        (
            N + A + "[[tasks]]\nsampel = 'a:b'",
            "neither zoo = 'moons' nor sample = 'module:function'. Write one of them. "
            "There is no key 'sampel'. Did you mean 'sample'?",
        ),
        (
            N + A + "[[tasks]]\nsample = 'mine_toml:whole_task'\nname = 'x'",
            "mine_toml:whole_task is a whole Task, and 'name' is given too. Leave it out",
        ),
        (N + A + "tasks = ['mine_toml:number']", "sample is 3, which cannot be called"),
        (
            LR + "{ loguniforn = [1, 2] }",
            "'lr': There is no distribution 'loguniforn'. Di",
        ),
        (LR + "{ uniform = 2 }", "uniform is 2. Write { uniform = [low, high] }."),
        (LR + "{ uniform = [2, 1] }", "'lr': uniform goes from 2 to 1"),
        (
            LR + "{ uniform = [1, 2], x = 3 }",
            "'x' stands beside 'uniform'. Leave it out",
        ),
        (
            LR + "{ choice = [] }",
            "choice is []. Write { choice = [...] }, with at least",
        ),
        (LR + "{ choice = [1], weights = 2 }", "weights is 2. Write a list"),
        (LR + "{ choice = [1], weights = [1, 2] }", "'lr': "),
        (LR + "{ when = 3, then = 4 }", "is no condition. Write { when = { kernel"),
        (LR + "{ when = { k = 1 }, then = 4 }", "There is no parameter 'k'"),
        (LR + "[{ uniform = [0, 1] }, 3]", "Write { choice = [...] } around it."),
        (LR + "[]", "the list is empty"),
        (NET + "space.mixture = [3]", "mixture holds 3. Write tables, each a space."),
    ],
)
def test_mistakes_name_file_and_key_and_what_to_do(beside, text, words):
    with pytest.raises(cw.CurvewiseError) as caught:
        recipe(beside, text)
    assert str(caught.value).startswith(str(beside / "plan.toml"))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (
            "mine_tom:load",
            "There is no module 'mine_tom'. Did you mean 'mine_toml'. In",
        ),
        ("mine_toml.sub:load", "There is no module 'mine_toml.sub'"),
        ("mine_toml:loads", "no name in .*mine_toml.py: 'loads'. Did you mean 'load'"),
        ("mine_toml:load.x", "There is no name in"),
        (
            "needs_zzz:f",
            "'needs_zzz' cannot be imported. needs_zzz.py, line 2: ModuleNotF",
        ),
        ("raises_zzz:f", "raises_zzz.py, line 1: ZeroDivisionError: division by zero"),
        ("leaves_zzz:f", "leaves_zzz.py, line 2: SystemExit: 3"),
        ("syntax_zzz:f", "syntax_zzz.py, line 2: invalid syntax"),
        (
            "json:loads",
            "json.py has the name of a module that is in use already .*json",
        ),
    ],
)
def test_a_function_that_cannot_be_had_says_why(beside, reference, words):
    for name, text in {
        "needs_zzz": "\nimport nonexistent_zzz",
        "raises_zzz": "1 / 0",
        "leaves_zzz": "import sys\nsys.exit(3)",
        "syntax_zzz": "\ndef f(:",
        "json": "",
    }.items():
        (beside / f"{name}.py").write_text(text)
    with pytest.raises(cw.CurvewiseError, match=words) as caught:
        recipe(beside, N + A + f"tasks = ['{reference}']")
    assert "tasks, entry 1: key 'sample': " in str(caught.value)


def test_in_an_empty_folder_there_is_no_module_either(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    text = N + A + "tasks = ['nothing_zzz:f']"
    with pytest.raises(
        cw.CurvewiseError, match=r"There is no module 'nothing_zzz'. It is"
    ):
        from_text(text, tmp_path / "x.toml", zoo)


def test_what_is_no_text_is_no_toml(tmp_path):
    (tmp_path / "x.toml").write_bytes(b"a = \xff\xfe")
    with pytest.raises(cw.CurvewiseError, match=r"x.toml is no text in UTF-8"):
        from_toml(tmp_path / "x.toml", zoo)


def blocks(language):
    page = Path(__file__).parents[2] / "docs" / "how-to" / "run-an-experiment.md"
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


def test_the_files_in_the_documentation_can_be_read(beside):
    """Each block of the page, completed where it is a part of a file only."""
    (code,) = blocks("python")
    whole = "task = cw.Task('t', load)\nnet = cw.Algorithm('n', {}, train)\n"
    (beside / "train.py").write_text(f"import curvewise as cw\n{code}\n{whole}")
    found = [tomllib.loads(text) for text in blocks("toml")]
    assert len(found) == 8
    for text, table in zip(blocks("toml"), found, strict=True):
        top = "" if "trials" in table else "trials = 1\n"
        top += "" if "tasks" in table else 'tasks = "moons"\n'
        if "space" in table.get("algorithms", ()):
            text = text.replace("[alg", '[[algorithms]]\nrun = "train:train"\n[alg')  # noqa: PLW2901
        elif "algorithms" not in table:
            top += 'algorithms = "knn"\n'
        assert recipe(beside, top + text).experiment.size
    sys.modules.pop("train", None)


def test_a_file_and_run_agree_on_what_a_limit_is(beside):
    found = recipe(beside, N + T + A + "memory = '2 G'\ntimeout = 2\n")
    assert found.options["memory"] == "2 G"
    assert limits_of(2, 1, "2 G") == limits_of(2.0, 1, "2 GB")


def test_what_a_store_remembers_need_not_run_here(beside):
    """Elsewhere there may be no limits of memory, and a trial is replayed without."""
    text = N + T + A + "memory = '2 parsecs'\n"
    assert from_text(text, beside / "plan.toml", zoo).experiment.size == 3
