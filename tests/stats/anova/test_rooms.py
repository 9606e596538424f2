"""What is public has a public address; lines and draws know little of the others."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

from curvewise.stats import anova

ROOM = "curvewise.stats.anova"
KNOWN = {"lines": set(), "draws": {"lines"}}


def imports(code):
    """Return the modules of the room that code imports."""
    modules = {
        node.module
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom)
    }
    return {m.removeprefix(f"{ROOM}.") for m in modules if m and m.startswith(ROOM)}


@pytest.mark.parametrize("name", list(KNOWN))
def test_what_all_tests_of_curves_share_imports_none_of_them(name):
    file = Path(anova.__file__).parent / f"{name}.py"
    assert imports(file.read_text(encoding="utf-8")) == KNOWN[name]


def test_an_import_of_a_module_would_be_found():
    """The negative control."""
    assert imports(f"from {ROOM}.lines import averaged") == {"lines"}


def test_what_is_public_has_a_public_address():
    for name in anova.__all__:
        home = getattr(getattr(anova, name), "__module__", "")
        assert "._" not in home, name
    assert anova.RandomizedAnova.__module__ == f"{ROOM}.answers"


def test_answers_survive_being_pickled():
    lines = np.random.default_rng(1).normal(size=(2, 6, 4))
    found = anova.randomized_anova(lines, rng=np.random.default_rng(2))
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found)
    assert again.tests["algorithm"].flips.is_exact
