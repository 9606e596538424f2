import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import refused

from curvewise.engine.supervised.sizes import (
    DESIGNS,
    Design,
    design_of,
    held_size,
    sizes_for,
)
from curvewise.errors import CurvewiseError


@pytest.mark.paper
@pytest.mark.parametrize(
    ("n", "design", "sizes", "models"),
    [
        (400, "cifar100", (25, 50, 100, 200, 400), (16, 8, 4, 2, 1)),
        (1600, "places", (25, 50, 100, 200, 400, 1600), (16, 8, 4, 3, 3, 1)),
        (800, "small", (200, 400, 800), (4, 2, 1)),  # 20, 40, 80 % of 1000
        (800, "minimal", (100, 200, 400, 800), (1, 1, 1, 1)),
    ],
)
def test_designs_are_those_of_the_papers(n, design, sizes, models):
    made = sizes_for(n, design)
    assert (made.sizes, made.models) == (sizes, models)


@pytest.mark.paper
def test_xues_sizes_are_forty_times_powers_of_two_with_every_disjoint_block():
    made = sizes_for(1280, "doubling", steps=6)
    assert made.sizes == tuple(40 * 2**i for i in range(6))
    assert made.models == (32, 16, 8, 4, 2, 1)
    assert sum(made.models) == 63
    assert made.lines == 32


def test_hoiems_31_models_on_cifar100_are_16_lines():
    assert sum(sizes_for(400, "cifar100").models) == 31
    assert sizes_for(400, "cifar100").lines == 16
    assert sizes_for(400, "cifar100") == sizes_for(400, "doubling")
    assert sizes_for(400, "minimal").lines == 1


@given(st.integers(64, 5000), st.sampled_from(["auto", "doubling", *DESIGNS]))
def test_blocks_of_every_design_are_disjoint_and_in_one_nested_line_each(n, name):
    check(sizes_for(n, name), n)


@given(
    st.integers(10, 300),
    st.sets(st.integers(1, 300), min_size=1, max_size=6),
)
def test_so_are_blocks_of_any_sizes(n, sizes):
    sizes = sorted(s for s in sizes if s <= n) or [n]
    design = design_of(n, sizes)
    assert design.models == tuple(n // s for s in sizes)
    check(design, n)


def check(design, n):
    blocks = {
        (size, start)
        for size, own in zip(design.sizes, design.starts, strict=True)
        for start in own
    }
    for size, own in zip(design.sizes, design.starts, strict=True):
        assert (np.diff(own) >= size).all()  # disjoint
        assert own[-1] + size <= n
    found = []
    for i in range(design.lines):
        start, sizes = design.line(i)
        assert sizes
        assert list(sizes) == sorted(set(sizes))  # from one start: each in the next
        found += [(size, start) for size in sizes]
    assert len(found) == len(set(found))
    assert set(found) == blocks
    assert design.line(0) == (0, design.sizes)
    assert design.pool <= n


def test_lines_of_a_doubling_design_go_by_powers_of_two():
    design = sizes_for(160, "cifar100")
    lengths = [len(design.line(i)[1]) for i in range(16)]
    assert lengths == [5, 1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1]


@pytest.mark.parametrize(
    ("n", "smallest", "expected"),
    [
        (1, 25, (1,)),
        (3, 25, (3,)),
        (5, 25, (2, 5)),
        (40, 25, (5, 10, 20, 40)),  # four, though below the smallest
        (1000, 25, (31, 62, 125, 250, 500, 1000)),
        (1000, 100, (125, 250, 500, 1000)),
        (10**6, 25, (31250, 62500, 125000, 250000, 500000, 10**6)),  # six at most
    ],
)
def test_auto_halves_the_pool_to_a_sensible_size(n, smallest, expected):
    assert sizes_for(n, smallest=smallest).sizes == expected


def test_a_design_is_taken_as_it_is_and_one_number_is_one_size():
    design = sizes_for(100, "small")
    assert design_of(120, design) is design
    assert design_of(120, 50) == Design((50,), ((0, 50),))
    assert design_of(100, "small") == design


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sizes_for(0), "n is 0. Pass a whole number from 1 on."),
        (lambda: sizes_for(10.5), "n is 10.5. Pass a whole number"),
        (lambda: sizes_for(99, "placez"), "no design 'placez'. Did you mean 'places"),
        (lambda: sizes_for(99, "small", steps=3), "'small' takes no steps. Only 'doub"),
        (lambda: sizes_for(99, "doubling", steps=0), "steps is 0. Pass a whole"),
        (
            lambda: sizes_for(9, "cifar100"),
            "into 16 parts, and there are 9. Pass sizes",
        ),
        (lambda: design_of(9, []), "sizes is \\[\\]. Pass increasing whole numbers"),
        (lambda: design_of(9, 2.5), "sizes is 2.5. Pass increasing whole numbers"),
        (lambda: design_of(9, [4, 4]), "sizes is \\[4, 4\\]. Pass sizes that increase"),
        (lambda: design_of(9, [4, 2.5]), "A size is 2.5. Pass a whole number"),
        (lambda: design_of(9, [[1, 2]]), r"A size is \[1, 2\]. Pass a whole number"),
        (lambda: design_of(9, True), "A size is True. Pass a whole number"),
        (lambda: design_of(9, {4: [1]}), r"A number of models is \[1\]. Pass a who"),
        (lambda: sizes_for(9, ["small"]), r"no design '\['small'\]'"),
        (lambda: design_of(9, [4, 10]), "Size 10 was asked for, and there are 9 exam"),
        (lambda: design_of(9, {4: 3}), "3 disjoint blocks of 4 .* 9 examples give 2"),
        (lambda: design_of(9, {4: 0}), "A number of models is 0. Pass a whole"),
        (
            lambda: design_of(9, sizes_for(16, "cifar100")),
            "design is for 16 training examples, and there are 9. Make one with",
        ),
        (lambda: sizes_for(9).line(9), "line is 9, and sizes .* 4 lines.* 0 to 3"),
        (lambda: sizes_for(9).line(-1), "line is -1, and"),
        (lambda: sizes_for(9).line(0.5), "line is 0.5, .* Pass a whole number"),
    ],
)
def test_what_cannot_be_is_refused(call, message):
    with pytest.raises(CurvewiseError, match=message):
        call()


@pytest.mark.parametrize(
    ("n", "test", "held"),
    [(2000, 0.4, 800), (1288, 0.4, 516), (100, 0.07, 7), (10, 3, 3), (10, 0, 0)],
)
def test_a_share_is_rounded_up_and_a_number_is_a_number(n, test, held):
    assert held_size(n, test) == held


@pytest.mark.parametrize("test", [1.0, -0.1, 10, -1, True, "half", None, np.nan])
def test_a_test_set_leaves_something_to_train_on(test):
    assert refused(held_size, 10, test) == ("test", test)
