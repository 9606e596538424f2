"""What other rooms may import of the statistics, and what is written in one place."""

import ast
import pkgutil
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import curvewise
from curvewise import stats
from curvewise.errors import CurvewiseError
from curvewise.stats.asymptotics import TOGETHER, enough
from curvewise.stats.bounds import order_statistics
from curvewise.stats.validation import checked_chance, checked_support

PACKAGE = Path(curvewise.__file__).parent
# A module that lists no names is for the statistics alone; what is asked, all may check.
PRIVATE = {
    module.name
    for module in pkgutil.walk_packages(stats.__path__, "curvewise.stats.")
    if not hasattr(import_module(module.name), "__all__")
} - {"curvewise.stats.validation"}


def private_imports(code):
    """Return the modules of the statistics that code imports from and no user may."""
    tree = ast.parse(code)
    names = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for name in (node.module, *(f"{node.module}.{a.name}" for a in node.names))
    ]
    names += [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    ]
    return [name for name in names if name in PRIVATE]


def test_other_rooms_use_the_public_modules_only():
    found = {
        str(path.relative_to(PACKAGE)): private
        for path in PACKAGE.rglob("*.py")
        if "stats" not in path.relative_to(PACKAGE).parts[:1]
        and (private := private_imports(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    "code",
    [
        "from curvewise.stats.asymptotics import enough",
        "from curvewise.stats import curves",
        "import curvewise.stats.anova.draws",
    ],
)
def test_a_private_import_would_be_found(code):
    """The negative control."""
    assert private_imports(code)


@pytest.mark.parametrize("confidence", [0.6, 0.9, 0.95, 0.999, 1 - 1e-9])
@pytest.mark.parametrize("n", [1, 2, 7, 59, 1000, 40_000])
@pytest.mark.parametrize("p", [0, 0.01, 0.5, 0.7, 0.99, 1])
def test_order_statistics_are_those_of_the_binomial_distribution(n, p, confidence):
    first, last = order_statistics(n, p, confidence)
    each = (1 - confidence) / 2
    assert first == max(binom.ppf(each, n, p), 0)
    assert last == binom.isf(each, n, p) + 1


def test_what_holds_together_needs_more():
    assert enough("mean") < enough("mean", 0.99) == TOGETHER
    assert enough("difference of mean", 0.98) < enough("difference of mean", 0.981)
    assert enough("dominance", 0.999) == enough("dominance")


def test_a_support_that_is_too_small_names_all_scores():
    samples = np.array([0.5, 2.0]), np.array([-1.0])
    with pytest.raises(CurvewiseError) as refused:
        checked_support((0, 1), *samples)
    assert refused.value.argument == "support"
    assert checked_support((-1, 2), *samples) == (-1, 2)


def test_chance_is_checked_in_one_place():
    rng = np.random.default_rng(0)
    assert checked_chance(39, rng, 39) == 39
    with pytest.raises(CurvewiseError) as refused:
        checked_chance(38, rng, 39)
    assert refused.value.argument == "resamples"
    with pytest.raises(CurvewiseError) as refused:
        checked_chance(100, 7)
    assert refused.value.argument == "rng"
