"""Old names of modules, as today's."""

import re

import pytest

from curvewise import store
from curvewise.engine.moved import MODULES, current
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


@pytest.mark.parametrize("old", MODULES)
def test_what_has_moved_twice_has_its_last_name(old):
    assert current(MODULES[old]) == MODULES[old]


def test_what_is_kept_in_old_names_stays_and_what_is_new_beside_it_is_kept(tmp_path):
    with store.open(tmp_path / "kept.db") as kept:
        agree(kept, {"algorithm net": OLD})
        agree(kept, {"algorithm net": NEW, "algorithm new": "x"})
        assert kept.notes() == {"algorithm net": OLD, "algorithm new": "x"}
