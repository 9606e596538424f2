"""What holds for the package as a whole."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from chance import RANDOM

import curvewise as cw
import curvewise_papers
from curvewise.questions.registry import QUESTIONS

PACKAGE = Path(cw.__file__).parent
PACKAGES = {
    "curvewise": PACKAGE,
    "curvewise_papers": Path(curvewise_papers.__file__).parent,
}
TESTS = Path(__file__).parent
SNAPSHOT = TESTS / "assets" / "public_names.txt"
HEAVY = (
    "ray",
    "psycopg",
    "pebble",
    "cloudpickle",
    "scipy.stats",
    "sklearn",
    "matplotlib",
    "plotly",
    "pyarrow",
    "pandas",
    "jinja2",
)


def modules():
    return [
        module.name
        for name, home in PACKAGES.items()
        for module in pkgutil.walk_packages([str(home)], f"{name}.")
        if module.name != "curvewise.__main__"
    ]


def after(statement):
    """Return the modules that a fresh Python has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_curvewise_imports_nothing_heavy():
    assert not after("import curvewise").intersection(HEAVY)


def test_the_waist_and_the_store_import_nothing_heavy_either():
    use = "import curvewise as cw; cw.Trials; cw.Metric; cw.store; cw.read; cw.run; cw.zoo"
    assert not after(use).intersection(HEAVY)


def test_a_heavy_import_would_be_seen():
    """The negative control."""
    assert after("import scipy.stats").intersection(HEAVY)


@pytest.mark.slow
@pytest.mark.parametrize("name", modules())
def test_every_module_can_be_imported_first(name):
    """No import works only because another came before it."""
    after(f"import {name}")


def test_every_public_name_is_there_and_says_what_it_is():
    assert {*cw.__all__, "papers"} == set(dir(cw))
    for name in dir(cw):
        assert getattr(cw, name) is not None
        assert name == "__version__" or inspect.getdoc(getattr(cw, name))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        cw.nonsense  # noqa: B018


def signatures():
    """Return the public names and how they are called, a line each."""
    lines = []
    for name in dir(cw):
        value = getattr(cw, name)
        if inspect.ismodule(value):
            members = getattr(value, "__all__", None) or [
                n
                for n, v in vars(value).items()
                if not n.startswith("_")
                and getattr(v, "__module__", "") == value.__name__
            ]
            lines += [
                f"{name}.{m}{_called(getattr(value, m))}" for m in sorted(members)
            ]
        elif inspect.isclass(value):
            lines.append(f"{name}{_called(value)}")
            lines += [
                f"{name}.{n}{_called(v)}"
                for n, v in sorted(inspect.getmembers(value))
                if not n.startswith("_") and not _inherited(value, n)
            ]
        else:
            lines.append(f"{name}{_called(value)}")
    for module in (
        *("answer", "review.check", "review.finding", "trials.doors"),
        *(_short(name) for name in modules() if _is_open(name)),
    ):
        home = import_module(f"curvewise.{module}")
        lines += [
            f"{module}.{n}{_called(v)}"
            for n, v in sorted(vars(home).items())
            if callable(v)
            and getattr(v, "__module__", "") == home.__name__
            and n[0] != "_"
            and n in getattr(home, "__all__", [n])
        ]
    return "\n".join(lines) + "\n"


def _short(module):
    return module.removeprefix("curvewise.")


_OPEN_ROOMS = ("curvewise.questions.", "curvewise.stats.")


def _is_open(name):
    """Whether users are invited: a statistic or a question that lists its names."""
    return name.startswith(_OPEN_ROOMS) and hasattr(import_module(name), "__all__")


def _inherited(owner, name):
    return any(name in dir(base) for base in (ValueError, UserWarning)) and issubclass(
        owner, Exception
    )


def _called(value):
    if not callable(value):
        return ""
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        return "(...)"
    parts, starred = [], False
    for p in parameters:
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        starred = starred or p.kind is p.VAR_POSITIONAL
        star = "*" * ((p.kind is p.VAR_POSITIONAL) + 2 * (p.kind is p.VAR_KEYWORD))
        default = "" if p.default is p.empty else f"={p.default!r}"
        parts.append(star + p.name + default)
    return f"({', '.join(parts)})"


def test_public_names_and_signatures_change_only_on_purpose():
    """If this change is on purpose: write the changelog, then copy the new lines to
    tests/assets/public_names.txt (python tests/test_architecture.py does)."""
    assert signatures() == SNAPSHOT.read_text(encoding="utf-8")


def test_every_question_has_its_picture_its_tests_and_its_page():
    docs = TESTS.parent / "docs" / "reference"
    for question in QUESTIONS:
        assert (PACKAGE / "questions" / question.name / "charts.py").exists()
        assert (TESTS / "questions" / question.name / "test_answer.py").exists()
        assert (TESTS / "questions" / question.name / "test_charts.py").exists()
        assert (docs / f"{question.name}.md").exists()


def test_the_contract_names_every_question():
    """Import contracts know no list but their own: one that is short lets names pass."""
    text = (TESTS.parent / "pyproject.toml").read_text(encoding="utf-8")
    (contract,) = (
        contract
        for contract in tomllib.loads(text)["tool"]["importlinter"]["contracts"]
        if contract["name"].startswith("Whoever goes through all questions")
    )
    names = [f"curvewise.questions.{question.name}" for question in QUESTIONS]
    assert contract["forbidden_modules"] == names


def imports_the_whole(tree):
    """Return whether code imports the package itself, and all rooms with it."""
    return any(
        isinstance(node, ast.Import) and any(a.name == "curvewise" for a in node.names)
        for node in ast.walk(tree)
    )


def test_only_commands_use_the_package_as_users_do():
    """Contracts cannot see a room through the package's own name."""
    commands = re.compile(r"cli/.*|questions/(commands|\w+/command)\.py")
    for path in PACKAGE.rglob("*.py"):
        name, text = path.relative_to(PACKAGE).as_posix(), path.read_text("utf-8")
        if "import curvewise" in text and imports_the_whole(ast.parse(text)):
            assert commands.fullmatch(name), name


def test_a_room_that_did_would_be_seen():
    """The negative control."""
    assert imports_the_whole(ast.parse("def f():\n    import curvewise as cw"))
    assert not imports_the_whole(ast.parse("from curvewise import text"))


def private_imports(tree):
    """Return the private names that code imports from other modules of ours."""
    return [
        f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith("curvewise")
        for alias in node.names
        if re.search(r"(^|\.)_[a-z]", f"{node.module}.{alias.name}", re.IGNORECASE)
    ]


def test_no_private_name_crosses_a_module():
    for home in PACKAGES.values():
        for path in home.rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert private_imports(tree) == [], path


@pytest.mark.parametrize(
    "code",
    ["from curvewise.stats.bands import _width", "from curvewise._hidden import width"],
)
def test_one_that_did_would_be_seen(code):
    """The negative control."""
    assert private_imports(ast.parse(code))


# Statistics hand out numbers; the questions that ask them say what they mean. Labels of an
# estimand or a method are no sentences, and errors speak where they are raised.
_SENTENCE = re.compile(
    r"(A|An|[A-Z][a-z]+)[ ,:;]|.*[\w)]\.$|.*[\w)]\. [A-Z]", re.DOTALL
)
_ERRORS = re.compile(r"(Error|Warning|\bwarn|\bbad_value|\bwarn_if_few|\bMessage)$")


def sentences(tree):
    """Return what code says in sentences, but for docstrings, errors and warnings."""
    if isinstance(tree, ast.Raise):
        return []
    if isinstance(tree, ast.Call) and _ERRORS.search(ast.unparse(tree.func)):
        return []
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return []
    if isinstance(tree, ast.Constant | ast.JoinedStr):
        parts = tree.values if isinstance(tree, ast.JoinedStr) else [tree]
        values = [getattr(part, "value", None) for part in parts]
        words = " ".join(value for value in values if isinstance(value, str)).split()
        text = "".join(v if isinstance(v, str) else "x" for v in values)
        return [text] if len(words) >= 4 and _SENTENCE.match(text) else []
    return [text for node in ast.iter_child_nodes(tree) for text in sentences(node)]


def test_statistics_write_no_sentences():
    home = PACKAGE / "stats"
    wordy = {
        path.relative_to(home).as_posix()
        for path in home.rglob("*.py")
        if sentences(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert wordy == set()


@pytest.mark.parametrize(
    "code",
    [
        "notes.append('The curve rises with more data')",
        "text = f'{name} falls without end: use it between {low} and {high}.'",
        "def f():\n    'Say it.'\n    return f'{n} sizes. More of them help'",
    ],
)
def test_a_sentence_in_a_statistic_would_be_found(code):
    """The negative control."""
    assert len(sentences(ast.parse(code))) == 1


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    'Return what was asked for.'",
        "raise CurvewiseError(f'There are {n} sizes. Pass more.')",
        "warnings.warn('The largest error is above 1.', CurvewiseWarning)",
        "Interval(low, high, 'F of line means', 'about 95%, for independent trials')",
    ],
)
def test_docstrings_errors_and_labels_are_no_sentences(code):
    assert not sentences(ast.parse(code))


def test_no_page_has_a_place_that_nobody_filled():
    root = TESTS.parent
    pages = [*(root / "docs").rglob("*.md"), *root.glob("*.md")]
    assert len(pages) > 20
    for page in pages:
        assert not re.search(r"@@\S", page.read_text(encoding="utf-8")), page


def own_members(name):
    """Return the public functions and classes that a module defines."""
    module = import_module(name)
    return {
        member: value
        for member, value in vars(module).items()
        if member[0] != "_"
        and getattr(value, "__module__", "") == name
        and (inspect.isfunction(value) or inspect.isclass(value))
    }


def test_every_function_and_class_says_what_it_is():
    for name in modules():
        for member, value in own_members(name).items():
            assert inspect.getdoc(value), f"{name}.{member}"


def test_every_statistic_shows_itself_in_a_doctest():
    for name in modules():
        if _is_open(name) and name.startswith("curvewise.stats."):
            offered = import_module(name).__all__
            for member, value in own_members(name).items():
                if inspect.isfunction(value) and member in offered:
                    assert ">>>" in inspect.getdoc(value), f"{name}.{member}"


def chance_at_import(tree):
    """Return calls of random generators outside of functions, and global seeding."""
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [(node, ast.unparse(node.func)) for node in calls]
    return [
        name
        for node, name in names
        if name.endswith(("random.seed", "random.rand", "random.choice", "set_seed"))
        or (name.endswith(("default_rng", "RandomState")) and id(node) not in inside)
    ]


def test_no_module_keeps_a_random_generator_or_seeds_one():
    for home in PACKAGES.values():
        for path in home.rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not chance_at_import(ast.parse(text)), path


@pytest.mark.parametrize(
    "code", ["rng = np.random.default_rng(0)", "def f():\n    np.random.seed(1)"]
)
def test_one_that_did_would_be_found(code):
    """The negative control."""
    assert chance_at_import(ast.parse(code))


# --- chance ------------------------------------------------------------------------------
#
# Every public function that takes `rng`, and every answer that takes `seed`, must give the
# same result for the same seed and another for another. A new one is found here by its
# signature, and the test fails until chance.py says how to call it with an rng.


def random_functions():
    found = {}
    for name in modules():
        module = import_module(name)
        is_inner = name.startswith(_OPEN_ROOMS) and not _is_open(name)
        if is_inner or "._" in name:  # what it draws, its callers are held to
            continue
        offered = getattr(module, "__all__", vars(module))
        for member, value in vars(module).items():
            own = getattr(value, "__module__", "") == name and member[0] != "_"
            if own and member in offered and inspect.isfunction(value):
                parameters = inspect.signature(value).parameters
                for source in ("rng", "seed"):
                    if source in parameters:
                        found[f"{name}.{member}"] = parameters[source]
    return found


def is_reproducible(call):
    """Whether the same seed gives the same, and another seed something else."""
    one, again, other = (call(rng=np.random.default_rng(s)) for s in (1, 1, 2))
    return repr(one) == repr(again) and repr(one) != repr(other)


def test_every_random_function_is_held_to_its_seed():
    found = random_functions()
    assert set(found) == set(RANDOM)
    for name, parameter in found.items():
        if name.startswith("curvewise.stats."):
            assert parameter.kind is parameter.KEYWORD_ONLY, name
        if parameter.name == "rng":
            assert parameter.default is parameter.empty, name
        assert is_reproducible(RANDOM[name]), name


def test_a_function_that_ignores_its_seed_or_has_one_of_its_own_would_be_found():
    """The negative controls, and one that is as it should be."""
    own = np.random.default_rng(0)

    def honest(*, rng):
        return rng.random()

    def with_its_own(*, rng):
        return own.random()

    def deaf(*, rng):
        return 4

    assert is_reproducible(honest)
    assert not is_reproducible(with_its_own)
    assert not is_reproducible(deaf)


if __name__ == "__main__":
    SNAPSHOT.write_text(signatures(), encoding="utf-8")
