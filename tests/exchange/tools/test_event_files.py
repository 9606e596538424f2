"""What event files hold, read many records at a time, is what was written."""

import struct

import event_files as ef
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curvewise.exchange.runs import Asked
from curvewise.exchange.tools.tensorboard import heard_in, joined
from curvewise.exchange.tools.tensorboard.records import blocks, intact

NAME = "events.out.tfevents.{}.host"
FILES = settings(deadline=None, max_examples=50)  # a disk may be slow
TAGS = st.sampled_from(["loss", "acc", "eval/return", "a", "été", "x" * 200])
STEPS = st.one_of(
    st.integers(0, 300), st.integers(-5, 2**40), st.sampled_from([-(2**62), 2**52])
)
VALUES = st.floats(width=32)
SCALARS = st.tuples(TAGS, VALUES, st.sampled_from(["simple", "content", "list"]))
EVENTS = st.tuples(STEPS, st.lists(SCALARS, max_size=3))
HARM = st.tuples(st.integers(0, 400), st.integers(0, 400), st.booleans())


def heard(path, at_once=1 << 20, **asked):
    """Return [(tag, step, value), ...] of a file, and what was heard beside."""
    (one,) = heard_in([path], Asked(**asked), {}, at_once)
    tag, step, value, _ = joined(one)
    tags = list(one.tags)
    told = zip(tag.tolist(), step.tolist(), value.tolist(), strict=True)
    return [(tags[t], s, v) for t, s, v in told], one, one.stop


def same(one, other):
    return np.array_equal(np.array(one, float), np.array(other, float), equal_nan=True)


def value_of(tag, value, form):
    if form == "simple":
        return ef.simple(tag, value)
    return ef.tensor(tag, value, kind=form)


@FILES
@given(st.lists(EVENTS, max_size=40), st.sampled_from([1, 70, 1 << 20]))
def test_what_was_written_is_read(tmp_path_factory, events, at_once):
    path = tmp_path_factory.mktemp("events") / NAME.format(1)
    records = [
        ef.event(*(value_of(*scalar) for scalar in scalars), step=step)
        for step, scalars in events
    ]
    ef.write(path, ef.version(), *records)
    ours, one, stop = heard(path, at_once)
    written = [(tag, float(step), v) for step, values in events for tag, v, _ in values]
    assert [o[0] for o in ours] == [w[0] for w in written]
    assert same([o[1:] for o in ours], [w[1:] for w in written])
    assert (one.events, one.broken, stop) == (len(events) + 1, 0, "")


def test_many_records_that_are_alike_in_length_only(tmp_path):
    """More layouts than are tried at once: the rest goes one by one."""
    tags = [f"tag_{i:04}" for i in range(500)]
    records = [ef.event(ef.simple(tag, i), step=i) for i, tag in enumerate(tags, 300)]
    path = ef.write(tmp_path / NAME.format(1), ef.version(), *records)
    ours, _, _ = heard(path)
    assert ours == [(tag, float(i), float(i)) for i, tag in enumerate(tags, 300)]


def test_a_value_that_is_not_a_scalar_stands_beside_scalars(tmp_path):
    image = ef.sized(1, b"picture") + ef.sized(4, bytes(5000))
    mixed = ef.event(ef.simple("loss", 0.5), image, step=3)
    text = ef.event(ef.tensor("note", 1.0, plugin="text"), step=3)
    nobody = ef.event(ef.tensor("nobody", 1.0, plugin=None), step=3)
    later = ef.event(ef.tensor("named_later", 2.0, plugin=None), step=1)
    named = ef.event(ef.tensor("named_later", 3.0), step=2)
    path = ef.write(tmp_path / NAME.format(1), mixed, text, nobody, later, named)
    ours, one, _ = heard(path)
    assert ours == [
        ("loss", 3.0, 0.5),
        ("named_later", 1.0, 2.0),
        ("named_later", 2.0, 3.0),
    ]
    assert one.others == {"picture", "note"}


@pytest.fixture
def small(tmp_path):
    events = [ef.event(ef.simple("loss", i / 7), step=i) for i in range(120, 132)]
    path = ef.write(tmp_path / "run" / NAME.format(1), ef.version(), *events)
    return path, [("loss", float(i), float(np.float32(i / 7))) for i in range(120, 132)]


def test_a_file_that_was_cut_is_read_up_to_there(small):
    path, written = small
    whole = path.read_bytes()
    with path.open("rb") as file:
        (block, _), _ = blocks(file)
    ends = {0, *(int(e) for e in block.begin + block.length + 4)}
    seen = set()
    for size in (*range(0, len(whole), 3), *ends - {len(whole)}):
        path.write_bytes(whole[:size])
        ours, one, stop = heard(path)
        assert ours == written[: len(ours)]
        assert one.broken == 0
        assert bool(stop) == (size not in ends)
        assert one.events == sum(0 < end <= size for end in ends)
        seen.add(len(ours))
    assert seen == set(range(len(written)))


def test_no_bit_can_flip_unnoticed(small):
    path, written = small
    whole = path.read_bytes()
    for at in range(0, len(whole), 2):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        path.write_bytes(damaged)
        ours, one, stop = heard(path)
        assert set(ours) <= set(written)
        assert one.broken == 1 or "damaged" in stop
        # The frame of the record is whole: those after it can be read.
        if one.broken:
            assert len(ours) >= len(written) - 1


@FILES
@given(st.lists(HARM, min_size=2, max_size=6), st.sampled_from([300, 1 << 20]))
def test_files_that_are_read_together_do_not_harm_each_other(
    tmp_path_factory, harms, at_once
):
    folder, paths = tmp_path_factory.mktemp("events"), []
    for i, (at, size, is_restart) in enumerate(harms):
        events = [ef.event(ef.simple("loss", i + j), step=j) for j in range(4)]
        again = [ef.restart(2), ef.event(ef.tensor("acc", 0.5), step=2)]
        path = ef.write(folder / str(i), ef.version(), *events, *again * is_restart)
        data = bytearray(path.read_bytes())
        data[at % len(data)] ^= 1
        path.write_bytes(data[: size or None])
        paths.append(path)
    tags = {}
    together = list(heard_in(paths, Asked(), tags, at_once))
    for path, one in zip(paths, together, strict=True):
        ours, alone, stop = heard(path)
        tag, step, value, dropped = joined(one)
        told = zip([*map([*tags].__getitem__, tag)], step, value, strict=True)
        assert list(told) == ours
        assert (one.events, one.broken, one.stop) == (alone.events, alone.broken, stop)
        assert (one.restarts, dropped) == (alone.restarts, joined(alone)[3])


def test_damage_in_a_picture_does_not_matter_and_in_its_scalar_does(tmp_path):
    image = ef.sized(1, b"picture") + ef.sized(4, bytes(5000))
    path = tmp_path / NAME.format(1)
    for values, broken in (((image,), 0), ((image, ef.simple("loss", 1.0)), 1)):
        ef.write(path, ef.version(), ef.event(*values, step=1))
        assert heard(path)[1].broken == 0
        data = bytearray(path.read_bytes())
        data[2000] ^= 1
        path.write_bytes(data)
        ours, one, _ = heard(path)
        assert (ours, one.broken) == ([], broken)


def test_a_length_beyond_the_file_is_not_believed(tmp_path):
    path = tmp_path / NAME.format(1)
    length = struct.pack("<Q", 2**62)
    path.write_bytes(ef.framed(ef.version()) + length + ef.masked(length) + b"abc")
    _, one, stop = heard(path)
    assert one.events == 1
    assert stop.startswith("ends inside")


def test_whole_records_that_are_no_events_are_counted(tmp_path):
    path = ef.write(tmp_path / NAME.format(1), ef.version(), b"\xff\xff\xff", b"\x07")
    _, one, stop = heard(path)
    assert (one.events, one.broken, stop) == (3, 2, "")


@FILES
@given(st.lists(st.binary(max_size=60), max_size=12))
def test_records_of_anything_are_survived(tmp_path_factory, records):
    path = tmp_path_factory.mktemp("events") / NAME.format(1)
    scalar = ef.event(ef.simple("loss", 1.0), step=1)
    inside = [ef.event(ef.sized(1, b"x") + ef.sized(8, r), step=2) for r in records]
    about = [ef.event(ef.sized(9, r), step=2) for r in records]
    ef.write(path, scalar, *records, *inside, *about, scalar)
    ours, _, stop = heard(path)
    assert stop == ""
    assert [o for o in ours if o[0] == "loss"] == [("loss", 1.0, 1.0)] * 2


def test_every_kind_of_nan_is_one(tmp_path):
    signalling = ef.sized(1, b"loss") + b"\x15" + bytes.fromhex("0100807f")
    path = ef.write(tmp_path / NAME.format(1), ef.event(signalling, step=1))
    ((_, _, value),), _, _ = heard(path)
    assert np.isnan(value)


@pytest.mark.parametrize("length", [0, 1, 3, 4, 8, 55, 511, 512, 513, 515, 516, 1500])
def test_checksums_are_those_of_the_published_code(length):
    data = np.random.default_rng(length).integers(0, 256, length, np.uint8).tobytes()
    row = np.frombuffer(data + ef.masked(data), np.uint8)[None]
    assert intact(row, length).all()
    other = row.copy()
    other[0, -1] ^= 1
    assert not intact(other, length).any()


def test_the_slow_checksum_is_the_published_one():
    assert ef.crc32c(b"123456789") == 0xE3069283
    assert ef.crc32c(bytes(32)) == 0x8A9136AA
