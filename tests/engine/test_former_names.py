"""Old names of modules, as today's."""

import pkgutil
import re

import pytest
from goldens import ROOT

from curvewise import store
from curvewise.engine.former_names import MODULES, current
from curvewise.flow.plan import agree

OLD, NEW = "curvewise.zoo.transfer.Network()", "curvewise_papers.transfer.Network()"


def test_the_longest_name_holds():
    assert current("curvewise.papers.xue2025.moved.Moved()") == (
        "curvewise_papers.xue2025.forecasts.Moved()"
    )
    assert current("curvewise.papers.xue2025.blocks.Blocks()") == (
        "curvewise_papers.xue2025.blocks.Blocks()"
    )


@pytest.mark.parametrize(
    "text", ["curvewise.papersize", "my.curvewise.papers", "curvewise.zoo.tasks", ""]
)
def test_only_whole_names_are_replaced(text):
    assert current(text) == text


def test_every_name_in_a_text_is_replaced():
    lines = "import curvewise.zoo.transfer\nx = curvewise.papers.study.Study"
    assert re.findall(r"curvewise[\w.]+", current(lines)) == [
        "curvewise_papers.transfer",
        "curvewise_papers.study.Study",
    ]


def test_what_has_moved_twice_has_its_last_name():
    assert current("curvewise.engine.sizes.Design()") == (
        "curvewise.engine.supervised.sizes.Design()"
    )
    assert current("curvewise.papers.hoiem2021.learners.Errors()") == (
        "curvewise_papers.hoiem2021.curves.Errors()"
    )


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("spaces.distributions.Uniform", "spaces.laws.Uniform"),
        ("spaces.drawing.When", "spaces.space.When"),
        ("spaces.combining.Choice", "spaces.space.Choice"),
        ("supervised.Supervised", "supervised.data.Supervised"),
        ("supervised.data.Supervised", "supervised.data.Supervised"),
        ("growing.Growing", "supervised.growing.Growing"),
    ],
)
def test_a_class_that_a_definition_names_is_found(text, now):
    assert current(f"curvewise.engine.{text}") == f"curvewise.engine.{now}"
    module, _, name = f"curvewise.engine.{now}".rpartition(".")
    assert pkgutil.resolve_name(f"{module}:{name}").__module__ == module


OURS = [old for old, new in MODULES.items() if new.startswith("curvewise.")]


@pytest.mark.parametrize("old", OURS)
def test_what_has_moved_is_where_the_table_says(old):
    new = pkgutil.resolve_name(MODULES[old])
    assert current(MODULES[old]) == MODULES[old]
    # An old name means nothing else today.
    parent, _, name = old.rpartition(".")
    assert getattr(pkgutil.resolve_name(current(parent)), name, new) is new


def test_all_that_was_public_is_found_where_a_definition_would_name_it_today():
    """What a task's own function holds is written down with the module it stands in."""
    names = (ROOT / "tests/assets/former_names.txt").read_text().split()
    assert len(names) > 300
    for name in names:
        module, _, own = current(name).rpartition(".")
        value = pkgutil.resolve_name(f"{module}:{own}")
        assert f"{value.__module__}.{value.__qualname__}" == current(name)


def test_what_is_kept_in_old_names_stays_and_what_is_new_beside_it_is_kept(tmp_path):
    with store.open(tmp_path / "kept.db") as kept:
        agree(kept, {"algorithm net": OLD})
        agree(kept, {"algorithm net": NEW, "algorithm new": "x"})
        assert kept.notes() == {"algorithm net": OLD, "algorithm new": "x"}
