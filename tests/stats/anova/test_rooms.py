"""What is public has a public address, and what is private knows little of it."""

import ast
import pickle
from pathlib import Path

import numpy as np
import pytest

from curvewise.stats import anova

ROOM = "curvewise.stats.anova"
KNOWN = {"_lines": set(), "_drawing": {"answers"}}


def public_imports(code):
    """Return the public modules of the room that code imports."""
    modules = {
        node.module
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom)
    }
    names = {m.removeprefix(f"{ROOM}.") for m in modules if m and m.startswith(ROOM)}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("folder", list(KNOWN))
def test_private_modules_import_no_public_ones_but_those_whose_parts_they_make(folder):
    files = list((Path(anova.__file__).parent / folder).glob("*.py"))
    assert len(files) > 4
    for file in files:
        found = public_imports(file.read_text(encoding="utf-8"))
        assert found <= KNOWN[folder], file.name


def test_an_import_of_a_public_module_would_be_found():
    """The negative control."""
    assert public_imports(f"from {ROOM}.windows import averaged") == {"windows"}


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
