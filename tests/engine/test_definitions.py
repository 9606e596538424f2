"""Definitions: a change that could change a result shows, and nothing else does."""

import functools
import importlib.util
import itertools
import linecache
import math
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from curvewise import Algorithm, Experiment, Task, integers, loguniform, uniform, when
from curvewise.engine.definitions import definition

_folders = itertools.count()


@pytest.fixture
def defined(tmp_path):
    """Return a function that gives the definition of `run` in a module's source."""

    def text(source, name="run"):
        folder = tmp_path / str(next(_folders))
        folder.mkdir()
        path = folder / "theirs.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("theirs", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return definition(getattr(module, name))

    return text


RUN = """
RATE = 0.5
LABEL = "x"

def helper(x):
    return x + RATE

def run(params, data, rng, n=10, *, scale=2.0):
    '''Train.'''
    for i in range(n):
        yield i, {"loss": helper(i) * scale}
"""


# --- what shows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("* scale", "/ scale"),
        ("n=10", "n=11"),
        ("scale=2.0", "scale=2.5"),
        ("x + RATE", "x - RATE"),
        ("RATE = 0.5", "RATE = 0.25"),
        ('"loss"', '"error"'),
        ("range(n)", "range(n + 1)"),
        ("yield i,", "yield i + 1,"),
    ],
    ids=lambda text: text,
)
def test_a_change_of_code_defaults_helpers_or_constants_shows(defined, old, new):
    assert old in RUN
    assert defined(RUN) != defined(RUN.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'''Train.'''", "'''Train a model, one epoch after another.'''"),
        ("    '''Train.'''\n", ""),
        ("    for i", "    # epochs\n    for i"),
        ("range(n):", "range( n ):  # all"),
        ("\ndef run", "\n\n\n\n\ndef run"),
        ('{"loss": helper(i) * scale}', "{'loss': (helper(i)\n            * scale)}"),
        ('LABEL = "x"', 'LABEL = "y"'),
        ("def helper(x):\n", 'def helper(x):\n    "Help."\n'),
    ],
    ids=lambda text: text,
)
def test_comments_docstrings_layout_and_what_is_not_used_do_not(defined, old, new):
    assert old in RUN
    assert defined(RUN) == defined(RUN.replace(old, new))


def test_a_definition_is_text_that_people_can_read(defined):
    """It is shown as a difference when somebody changed an algorithm."""
    assert defined(RUN) == (
        "def run(params, data, rng, n=10, *, scale=2.0):\n"
        "    for i in range(n):\n"
        "        yield (i, {'loss': helper(i) * scale})\n"
        "n = 10\n"
        "scale = 2.0\n"
        "helper = theirs.helper\n"
        "theirs.helper:\n"
        "def helper(x):\n"
        "    return x + RATE\n"
        "RATE = 0.5"
    )


def test_a_default_shows_by_its_value_not_by_its_name(defined):
    source = "N = {}\ndef run(params, data, rng, n=N):\n    yield n, {{}}\n"
    assert defined(source.format(10)) != defined(source.format(11))


def made(factor):
    def run(params, data, rng):
        yield 0, {"loss": factor * rng.random()}

    return run


def test_what_a_function_closes_over_shows():
    assert definition(made(2)) == definition(made(2))
    assert definition(made(2)) != definition(made(3))
    assert definition(made([1, 2])) != definition(made([1, 3]))
    assert definition(made(made(1))) != definition(made(made(2)))
    assert definition(made(np.arange(3))) != definition(made(np.arange(1, 4)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LAYERS = (50, 100)", "LAYERS = (50, 200)"),
        ("OPTIONS = {'lr': 0.1}", "OPTIONS = {'lr': 0.2}"),
        ("return 1 * x", "return 2 * x"),
        ("GENERATED = 3", "GENERATED = 4"),
        ("INSIDE = 5", "INSIDE = 6"),
    ],
)
def test_a_change_of_what_is_used_shows_wherever_it_is_used(defined, old, new):
    """Tuples and dicts are constants too; a class is code; so is an inner function."""
    source = (
        "LAYERS = (50, 100)\nOPTIONS = {'lr': 0.1}\nGENERATED = 3\nINSIDE = 5\n"
        "class Model:\n    def fit(self, x):\n        return 1 * x\n"
        "def run(params, data, rng):\n"
        "    def inner(x):\n        return x + INSIDE\n"
        "    total = sum(GENERATED * inner(n) for n in LAYERS)\n"
        "    yield 0, {'loss': Model().fit(total) * OPTIONS['lr']}\n"
    )
    assert old in source
    assert defined(source) != defined(source.replace(old, new))


def test_the_code_of_a_decorated_function_shows(defined):
    source = (
        "import functools\n"
        "def twice(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*args):\n        return f(*args)\n"
        "    return inner\n"
        "@twice\ndef run(params, data, rng):\n    return {'loss': 1}\n"
    )
    assert defined(source) != defined(source.replace("'loss': 1", "'loss': 2"))


def test_the_code_of_a_decorator_shows(defined):
    source = (
        "import functools\n"
        "def twice(f):\n"
        "    @functools.wraps(f)\n"
        "    def inner(*args):\n        return f(*args) * 2\n"
        "    return inner\n"
        "@twice\ndef run(params, data, rng):\n    return {'loss': 1}\n"
    )
    assert defined(source) != defined(source.replace("* 2", "* 3"))


def test_the_code_of_a_cached_function_shows(defined):
    source = "import functools\n@functools.cache\ndef run(rng):\n    return 1\n"
    assert defined(source) != defined(source.replace("return 1", "return 2"))


def test_arguments_of_a_partial_show():
    assert definition(functools.partial(made, 1)) != definition(
        functools.partial(made, 2)
    )
    assert definition(functools.partial(round, ndigits=2)) != definition(
        functools.partial(round, ndigits=3)
    )


@dataclass
class Settings:
    rate: float

    def run(self, params, data, rng):
        return {"loss": self.rate}


class Plain:
    def __init__(self, rate):
        self.rate = rate

    def run(self, params, data, rng):
        return {"loss": self.rate}

    def __call__(self, params, data, rng):
        return {"loss": self.rate}


@pytest.mark.parametrize("kind", [Settings, Plain])
def test_a_method_shows_its_code_and_its_object(kind):
    assert definition(kind(0.1).run) == definition(kind(0.1).run)
    assert definition(kind(0.1).run) != definition(kind(0.2).run)
    assert "return {'loss': self.rate}" in definition(kind(0.1).run)


def test_an_object_that_is_called_shows_its_state():
    assert definition(Plain(0.1)) == definition(Plain(0.1))
    assert definition(Plain(0.1)) != definition(Plain(0.2))


def test_an_object_that_is_called_shows_its_code(defined):
    source = (
        "class Learner:\n    def __call__(self, params, data, rng):\n"
        "        return {'loss': 1}\nrun = Learner()\n"
    )
    assert defined(source) != defined(source.replace("'loss': 1", "'loss': 2"))


class Estimator:
    """What scikit-learn's have; importing those would take longer than all of this."""

    def __init__(self, C):
        self.C = C
        self.fitted_ = object()

    def get_params(self, deep=True):
        return {"C": self.C}


def test_an_estimator_shows_its_settings():
    name = f"{__name__}.Estimator"
    assert definition(Estimator(2.0)).startswith(f"{name}({{'C': 2.0}})\n")
    assert definition(Estimator(2.0)) != definition(Estimator(3.0))


def test_an_estimator_whose_settings_cannot_be_had_is_shown_all_the_same():
    class Broken:
        def get_params(self, deep=True):
            raise RuntimeError("no")

        def __repr__(self):
            return "Broken()"

    assert definition(Broken()).startswith("Broken()\n")


# --- plain values --------------------------------------------------------------------


class Node:
    pass


def test_values_that_hold_themselves_come_to_an_end():
    loop = [1]
    loop.append(loop)
    assert definition(loop) == "[1, <list>]"
    node = Node()
    node.next = node
    assert definition(node).count("<Node>") == 1
    deep = 0
    for _ in range(2_000):
        deep = [deep]
    assert definition(deep).endswith("[<list>" + "]" * definition(deep).count("["))


def test_a_function_that_calls_itself_comes_to_an_end(defined):
    source = "def run(n):\n    return run(n - 1) if n else 0\n"
    assert defined(source).endswith("run = theirs.run")


def test_a_set_shows_in_one_order():
    assert definition({"b", "a", "c"}) == "set['a', 'b', 'c']"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (True, 1),
        ("1", 1),
        (b"x", "x"),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 2}),
        (np.zeros(4), np.zeros((2, 2))),
        (np.zeros(3), np.ones(3)),
        (np.arange(5_000), np.where(np.arange(5_000) == 2_500, 0, np.arange(5_000))),
        (np.array([1, "a", None], object), np.array([1, "b", None], object)),
        (len, sum),
        (math, np),
        (0.1, 0.1 + 2**-55),
    ],
    ids=str,
)
def test_different_values_have_different_definitions(one, other):
    assert definition(one) != definition(other)


def test_arrays_of_different_types_have_different_definitions():
    assert definition(np.zeros(3)) != definition(np.zeros(3, int))


def test_an_array_that_lies_otherwise_in_memory_is_the_same_array():
    square = np.arange(12.0).reshape(3, 4)
    assert definition(square[:, ::2]) == definition(square[:, ::2].copy())
    assert definition(np.asfortranarray(square)) == definition(square)


def test_nothing_has_an_address():
    values = [Node(), Plain(0.1).run, len, object(), np.random.default_rng(0), Node]
    for value in [*values, made(Node()), functools.partial(made, Node())]:
        assert "0x" not in definition(value)


# --- lambdas -------------------------------------------------------------------------

# The lines below are read as they stand here: hence `fmt: off`.
# fmt: off
STATEMENT = dict(trials=10, run=lambda rng: rng.random() + 1, seed=3)  # noqa: C408
TWO = (lambda rng: rng.random(), lambda rng: rng.normal())
CONSTANTS = (lambda rng: 1, lambda rng: 2)
DEFAULT = lambda rng, n=5: n  # noqa: E731


def two_closures(x):
    return (lambda rng: x + 1), (lambda rng: x * 2)


SPREAD = (  # noqa: E731
    lambda rng:
    rng.random()  # with a comment
    + 1
)
# fmt: on


def test_a_lambda_is_its_own_text_without_the_statement_around_it():
    """Another number of trials in the same call must not look like another task."""
    assert definition(STATEMENT["run"]) == "lambda rng: rng.random() + 1"


def test_a_lambda_may_go_over_several_lines():
    assert definition(SPREAD) == "lambda rng: rng.random() + 1"


def test_two_lambdas_on_one_line_are_told_apart():
    assert [definition(f) for f in TWO] == [
        "lambda rng: rng.random()",
        "lambda rng: rng.normal()",
    ]


def test_two_lambdas_on_one_line_that_differ_by_a_constant_are_told_apart():
    assert [definition(f) for f in CONSTANTS] == ["lambda rng: 1", "lambda rng: 2"]


def test_two_lambdas_on_one_line_that_close_over_something_are_told_apart():
    one, other = two_closures(3)
    assert definition(one) == "lambda rng: x + 1\nx = 3"
    assert definition(other) == "lambda rng: x * 2\nx = 3"


def test_a_lambda_may_have_default_values():
    assert definition(DEFAULT) == "lambda rng, n=5: n\nn = 5"


def test_what_a_lambda_closes_over_shows():
    def make(x):
        return lambda rng: x

    assert definition(make(1)) == "lambda rng: x\nx = 1"
    assert definition(make(1)) != definition(make(2))


def test_the_same_lambda_in_a_loop_has_one_definition():
    assert (
        len({definition(f) for f in [lambda rng: rng.random() for _ in range(3)]}) == 1
    )


def test_a_script_that_was_edited_since_it_was_started_still_runs(tmp_path):
    """People edit scripts that run; the text may then be wrong, but nothing breaks."""
    path = tmp_path / "theirs.py"
    path.write_text("run = lambda rng: 1\n")
    spec = importlib.util.spec_from_file_location("theirs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    path.write_text("# a new headline\nother = 3\nrun = lambda rng: 1\n")
    linecache.checkcache()
    assert definition(module.run)


# --- functions without a source ------------------------------------------------------


def executed(source):
    names = {"__name__": "theirs"}
    exec(source, names)
    return names["run"]


def test_a_function_without_source_is_known_by_its_code():
    one = definition(executed("def run(rng):\n    return rng.random() + 1\n"))
    same = definition(executed("def run(rng):\n    return rng.random() + 1  # one\n"))
    other = definition(executed("def run(rng):\n    return rng.random() + 2\n"))
    assert one == same != other
    assert one.startswith("theirs.run, compiled ")


def test_a_lambda_without_source_is_known_by_its_code():
    one = definition(executed("run = lambda rng: rng.random()"))
    other = definition(executed("run = lambda rng: rng.normal()"))
    assert one != other
    assert one.startswith("theirs.<lambda>, compiled ")


def test_a_function_within_a_function_without_source_shows():
    source = "def run(rng):\n    def inner():\n        return {}\n    return inner()\n"
    one, other = (definition(executed(source.format(n))) for n in (1, 2))
    assert one != other


# --- the same in every process -------------------------------------------------------

SCRIPT = """
import functools
import sys
import numpy as np
from curvewise import Algorithm, Experiment, Task, uniform
from curvewise.engine.definitions import definition

class Learner:
    def __init__(self): self.table = {"a": object(), "b": {"x", "y", "z"}}
    def run(self, params, data, rng): return {"accuracy": 1}

def made(word, thing=Learner()):
    return lambda params, data, rng: {"accuracy": len(word)}

def weighted(weights, params, data, rng):
    return {"accuracy": weights.sum()}

executed = {}
exec("def run(params, data, rng):\\n    return rng in {'a', 'b', 'c', 'd'}", executed)

if __name__ == "__main__":
    runs = [Learner().run, made("x"), functools.partial(weighted, np.arange(3))]
    if "executed" in sys.argv:
        runs.append(executed["run"])
    algorithms = [Algorithm(str(i), {"x": uniform(0, 1)}, r) for i, r in enumerate(runs)]
    task = Task("t", lambda rng: rng.random())
    sys.stdout.write(str(Experiment([task], algorithms, 3).definition()))
"""


def printed(path, hash_seed, *arguments):
    return subprocess.run(
        [sys.executable, str(path), *arguments],
        env=os.environ | {"PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_two_processes_agree(tmp_path):
    """No address, no order of a set: else a resumed run would refuse its own store."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    one, other = printed(path, 1), printed(path, 2)
    assert one == other
    assert "accuracy" in one
    assert "0x" not in one


def test_two_processes_agree_on_functions_without_source(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    assert printed(path, 1, "executed") == printed(path, 2, "executed")


# --- an experiment's definition ------------------------------------------------------


def sample(rng):
    return rng.random()


def other_sample(rng):
    return rng.normal()


def train(params, data, rng):
    return {"accuracy": data}


def other_train(params, data, rng):
    return {"accuracy": -data}


def experiment(space=None, run=train, task=sample, lines=1, **options):
    options = {"trials": 3, "seed": 1} | options
    return Experiment(
        [Task("t", task, lines=lines)],
        [Algorithm("a", {} if space is None else space, run)],
        **options,
    )


def changed(one, other):
    before, after = one.definition(), other.definition()
    assert before.keys() == after.keys()
    return [name for name in before if before[name] != after[name]]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"seed": 2}, ["streams"]),
        ({"vary": ["params", "seed"]}, ["streams"]),
        ({"trials": 99}, []),
        ({"vary": ["seed", "test", "train", "params"]}, []),
        ({"task": other_sample}, ["task t"]),
        ({"lines": 2}, ["task t"]),
        ({"run": other_train}, ["algorithm a"]),
        ({"space": {"x": [1, 2]}}, ["algorithm a"]),
    ],
)
def test_a_definition_says_which_part_has_changed(options, what):
    assert changed(experiment(), experiment(**options)) == what


def test_a_crossed_design_may_grow_by_its_first_factor_only():
    small = experiment(trials=None, cross={"params": 3, "seed": 4})
    taller = experiment(trials=None, cross={"params": 5, "seed": 4})
    wider = experiment(trials=None, cross={"params": 3, "seed": 5})
    turned = experiment(trials=None, cross={"seed": 4, "params": 3})
    assert changed(small, taller) == []
    assert changed(small, wider) == changed(small, turned) == ["streams"]
    assert changed(small, experiment()) == ["streams"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": uniform(0, 1)}, {"x": uniform(0, 2)}),
        ({"x": uniform(0, 0.1)}, {"x": uniform(0, 0.1 + 1e-15)}),
        ({"x": loguniform(1, 2)}, {"x": uniform(1, 2)}),
        ({"x": [1, 2]}, {"x": [1, 2, 2]}),
        ({"x": integers(0, 9)}, {"x": integers(0, 8)}),
        ({"x": [1, 2]}, {"y": [1, 2]}),
        (
            {"x": [1, 2], "y": when({"x": 1}, [3, 4])},
            {"x": [1, 2], "y": when({"x": 2}, [3, 4])},
        ),
    ],
    ids=str,
)
def test_a_change_of_the_space_shows(one, other):
    assert changed(experiment(one), experiment(other)) == ["algorithm a"]


def test_a_change_in_the_middle_of_a_long_list_shows():
    one = {"x": list(range(100))}
    other = {"x": [*range(50), -1, *range(51, 100)]}
    assert changed(experiment(one), experiment(other)) == ["algorithm a"]


def test_a_space_in_another_order_is_the_same_space():
    """Parameters are drawn in the order of their names."""
    one = {"x": [1, 2], "y": [3, 4]}
    other = {"y": [3, 4], "x": [1, 2]}
    assert changed(experiment(one), experiment(other)) == []


SPACE = '''
def run(rng):
    """Draw."""
    # uniformly
    return {"x": rng.random()}
'''


def space_of(source, folder):
    folder.mkdir()
    path = folder / "theirs.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("theirs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.run


def test_a_space_that_is_a_function_shows_its_code(tmp_path):
    one = space_of(SPACE, tmp_path / "1")
    other = space_of(SPACE.replace("random", "normal"), tmp_path / "2")
    assert changed(experiment(one), experiment(other)) == ["algorithm a"]


@pytest.mark.parametrize(
    ("old", "new"),
    [('    """Draw."""\n', ""), ("Draw.", "Draw it."), ("# uniformly", "# evenly")],
)
def test_a_space_that_is_a_function_may_be_documented(tmp_path, old, new):
    one = space_of(SPACE, tmp_path / "1")
    other = space_of(SPACE.replace(old, new), tmp_path / "2")
    assert changed(experiment(one), experiment(other)) == []


def test_data_that_a_function_uses_shows(defined):
    """Arrays, frames, series and estimators beside a function are part of it."""
    for made in (
        "np.arange({})",
        "pd.Series(range({}))",
        "pd.DataFrame({{'a': range({})}})",
        "Settings({})",
    ):
        source = (
            "import dataclasses\nimport numpy as np\nimport pandas as pd\n"
            "@dataclasses.dataclass\nclass Settings:\n    n: int\n"
            "data = {}\ndef run(params, data_, rng):\n    return {{'loss': len(data)}}\n"
        )
        one, other = (defined(source.format(made.format(n))) for n in (1000, 1001))
        assert one != other, made
        assert one == defined(source.format(made.format(1000)))


def test_a_change_of_a_base_class_shows(defined):
    source = (
        "class Base:\n    def fit(self):\n        return {}\n"
        "class Net(Base):\n    pass\n"
        "def run(params, data, rng):\n    return {{'loss': Net().fit()}}\n"
    )
    assert defined(source.format(1)) != defined(source.format(2))
