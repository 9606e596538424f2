"""Streams: what they are made of, that they differ, and that nobody changes them."""

import hashlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curvewise.engine.seeding import ROLES, stream

FALSE_ALARM = 1e-6


def by_numpy(seed, role, *names, replicate):
    """Return the same generator, spelt out as numpy's documentation has it."""
    words = [ROLES[role]]
    for name in names:
        digest = hashlib.sha256(name.encode()).digest()
        words += [int.from_bytes(digest[i : i + 4], "little") for i in (0, 4, 8, 12)]
    words += [replicate % 2**32, replicate // 2**32]
    sequence = np.random.SeedSequence(seed, spawn_key=tuple(words))
    return np.random.Generator(np.random.PCG64(sequence))


def first(*where, replicate=0):
    """Return the first 64 bits of a stream."""
    return int(stream(*where, replicate=replicate).bit_generator.random_raw())


# --- what a stream is ----------------------------------------------------------------


@given(
    st.integers(0, 2**128 - 1),
    st.sampled_from(list(ROLES)),
    st.lists(st.text(st.characters(codec="utf-8")), max_size=3),
    st.integers(0, 2**64 - 1),
)
def test_a_stream_is_the_one_that_numpy_spawns(seed, role, names, replicate):
    """Whoever has numpy alone can make our streams: the key is documented."""
    ours = stream(seed, role, *names, replicate=replicate)
    theirs = by_numpy(seed, role, *names, replicate=replicate)
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**96, 2**128 - 1])
@pytest.mark.parametrize("replicate", [0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**64 - 1])
def test_numbers_at_the_edges_of_words_are_numpys_too(seed, replicate):
    ours = stream(seed, "seed", "moons", "svm", replicate=replicate)
    theirs = by_numpy(seed, "seed", "moons", "svm", replicate=replicate)
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize(
    ("where", "replicate", "bits", "number"),
    [
        ((0, "params", "moons", "svm"), 0, 9515624259903152850, 0.5158430247571384),
        ((0, "data", "moons"), 0, 14112827303716786209, 0.7650579011301242),
        ((0, "train", "moons"), 0, 13850791531455832709, 0.750852913452412),
        ((0, "test", "moons"), 0, 1357947378172503343, 0.07361447487678108),
        ((0, "seed", "moons", "svm"), 0, 18278657797198604544, 0.9908880246920916),
        ((2026, "seed", "moons", "svm"), 7, 14340315427604632533, 0.7773900570368169),
        (
            (2**127, "seed", "Müller", ""),
            2**40,
            15682130129955713768,
            0.8501299778049185,
        ),
    ],
)
def test_streams_are_pinned(where, replicate, bits, number):
    """A number that a user can see does not change silently: every result hangs here."""
    assert first(*where, replicate=replicate) == bits
    assert stream(*where, replicate=replicate).random() == number


def test_the_numbers_of_roles_are_part_of_every_result():
    assert ROLES == {"params": 1, "data": 2, "train": 3, "test": 4, "seed": 5}


def test_a_stream_can_be_had_twice_and_starts_anew():
    one, other = (stream(1, "seed", "t", "a", replicate=3) for _ in range(2))
    one.random(100)
    assert other.random() == stream(1, "seed", "t", "a", replicate=3).random()


def test_a_numpy_integer_is_as_good_a_seed_as_any():
    one = stream(np.int64(5), "seed", "t", replicate=np.int64(2))
    assert one.random() == stream(5, "seed", "t", replicate=2).random()


def test_a_role_that_nobody_has_is_an_error():
    with pytest.raises(KeyError, match="sed"):
        stream(1, "sed", "t", replicate=0)


# --- streams differ ------------------------------------------------------------------


def test_seeds_roles_names_and_replicates_all_count():
    wheres = [(seed, role, "t", "a") for seed in (0, 1, 2**64) for role in ROLES]
    wheres += [(0, "seed", *names) for names in (("t",), ("a",), ("a", "t"), ("t", ""))]
    found = {first(*w, replicate=r) for w in wheres for r in (0, 1, 2**32, 2**33)}
    assert len(found) == len(wheres) * 4


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a", "b"), ("ab",)),
        (("a",), ("a", "")),
        (("é",), ("e\u0301",)),
        (("a",), ("A",)),
    ],
)
def test_names_are_not_merely_strung_together(one, other):
    assert first(1, "seed", *one) != first(1, "seed", *other)


def test_a_replicates_high_word_is_not_a_name():
    """Replicate 2**32 is not replicate 0 of something else, nor (0, 1) turned round."""
    found = {first(1, "data", "t", replicate=r) for r in (0, 1, 2**32, 2**32 + 1)}
    assert len(found) == 4


def test_a_hundred_thousand_streams_begin_with_different_bits():
    """Were the bits random, two would agree once in four billion such tests."""
    found = {
        first(2026, role, "moons", f"algorithm {a}", replicate=i)
        for role in ROLES
        for a in range(4)
        for i in range(5_000)
    }
    assert len(found) == 100_000


# --- roles are independent -----------------------------------------------------------


def first_uniforms(role, n=20_000):
    return np.array([stream(7, role, "moons", replicate=i).random() for i in range(n)])


def test_hyperparameters_tell_nothing_about_the_data():
    """Erratum to Jordan et al. (2018), Algorithm 1: one seed for all three is not this.

    Under independence, r * sqrt(n) is standard normal; 4.9 is passed once in a million.
    """
    params, data = first_uniforms("params"), first_uniforms("data")
    r = np.corrcoef(params, data)[0, 1]
    assert abs(r) * math.sqrt(len(params)) < 4.9
    assert abs(params.mean() - 0.5) * math.sqrt(12 * len(params)) < 4.9


def test_one_seed_for_all_roles_would_have_tied_them_together():
    """The negative control: Algorithm 1 as printed, each part seeded with the same s."""
    params, data = (
        np.array([np.random.default_rng(s).random() for s in range(1_000)])
        for _ in ("params", "data")
    )
    assert np.corrcoef(params, data)[0, 1] == pytest.approx(1.0)


def test_neighbouring_replicates_and_seeds_are_independent_too():
    here = first_uniforms("seed")
    beside = np.roll(here, 1)
    seeds = np.array(
        [stream(s, "seed", "t", replicate=0).random() for s in range(20_000)]
    )
    for one, other in ((here, beside), (here, seeds), (seeds, np.roll(seeds, 1))):
        assert abs(np.corrcoef(one, other)[0, 1]) * math.sqrt(len(one)) < 4.9
