"""Records of TensorBoard's event files: where each begins, and what stands where in it."""

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from curvewise.metrics import Floats
from curvewise.trials.columns import Bools, Ints

Bytes = NDArray[np.uint8]
_HEADER, _FRAME = 12, 16  # length and its checksum; these and the checksum of the data
AT_ONCE = 4 << 20  # bytes of a file that are looked at together
_SPARE = 16  # zeros behind the last record, so that rows of 8 bytes end inside
_LOOKED_UP = 512  # bytes of a row whose part in its checksum is looked up together
_CELLS = 1 << 18  # of a table of bytes whose checksums are made together: fits a cache
_ENDLESS = 1 << 40  # a length that no file of ours has
_POLYNOMIAL = 0x82F63B78  # Castagnoli's, bits reversed
_MASK = 0xA282EAD8
_length_at = struct.Struct("<Q").unpack_from


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Records of a file, or of several, one after the other."""

    content: Bytes
    begin: Ints  # where the data of each record lie in `content`
    length: Ints
    owner: Ints  # the file that a record is of; never falls
    ends: Ints  # where the whole records of each file end, from its own beginning
    damaged: frozenset[int]  # files that are damaged there

    def rows(self, which: Ints, width: int) -> Bytes:
        """Return so many bytes of some records, one row each."""
        rows: Bytes = sliding_window_view(self.content, width)[self.begin[which]]
        return rows

    def stop(self, file: int, size: int, place: int = 0) -> str:
        """Return why a file of some size cannot be read to its end; empty if it can."""
        end = int(self.ends[file])
        if file in self.damaged:
            return f"is damaged from byte {place + end:,} on"
        return f"ends inside a record, at byte {place + end:,}" if end < size else ""


def blocks(file: IO[bytes], at_once: int = AT_ONCE) -> Iterator[tuple[Block, str]]:
    """Return the records of a file block by block, as far as its frames are whole.

    Beside the last block stands why nothing can be read after it.
    """
    data, place, missing = b"", 0, 0
    while True:
        left = max(os.fstat(file.fileno()).st_size - file.tell(), 0)
        fresh = file.read(min(max(at_once, missing), left))
        data += fresh
        block = framed([data])
        if not fresh or block.damaged:
            yield block, block.stop(0, len(data), place)
            return
        yield block, ""
        end = int(block.ends[0])
        data, place = data[end:], place + end
        is_begun = len(data) >= _HEADER
        missing = _length_at(data)[0] + _FRAME - len(data) if is_begun else 0


def framed(contents: Sequence[bytes]) -> Block:
    """Return the records of several files as one block, as far as frames are whole."""
    begins: list[int] = []
    counts, before = [], 0
    for content in contents:
        at, n = 0, len(begins)
        while at + _HEADER <= len(content):
            begins.append(before + at)
            at += _FRAME + _length_at(content, at)[0]
        counts.append(len(begins) - n)
        before += len(content)
    whole = np.frombuffer(b"".join((*contents, bytes(_SPARE))), np.uint8)
    sizes = np.array([len(content) for content in contents], np.int64)
    begin, owner = np.array(begins, np.int64), np.repeat(np.arange(len(sizes)), counts)
    headers: Bytes = sliding_window_view(whole, _HEADER)[begin]
    lengths = np.ascontiguousarray(headers[:, :8]).view("<u8")[:, 0]
    length = np.minimum(lengths, _ENDLESS).astype(np.int64)
    good = intact(headers, 8)
    limit = np.cumsum(sizes)
    valid = good & (begin + _FRAME + length <= limit[owner])
    damaged = set()
    bad = np.flatnonzero(~valid)
    for file, i in zip(*np.unique(owner[bad], return_index=True), strict=True):
        first = bad[i]
        valid[first:][owner[first:] == file] = False
        if not good[first]:
            damaged.add(int(file))
    begin, length, owner = begin[valid], length[valid], owner[valid]
    ends = np.zeros(len(sizes), np.int64)
    last = np.searchsorted(owner, np.arange(len(sizes)), side="right") - 1
    some = np.bincount(owner, minlength=len(sizes)) > 0
    last = last[some]
    ends[some] = begin[last] + _FRAME + length[last] - (limit - sizes)[some]
    return Block(
        content=whole,
        begin=begin + _HEADER,
        length=length,
        owner=owner,
        ends=ends,
        damaged=frozenset(damaged),
    )


def intact(rows: Bytes, length: int) -> Bools:
    """Return whether the data of each row, so many bytes, fit the checksum behind them."""
    stored = np.ascontiguousarray(rows[:, length : length + 4]).view("<u4")[:, 0]
    crc = _crc32c(rows[:, :length])
    turned = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    whole: Bools = (turned + np.uint32(_MASK)) == stored
    return whole


# --- checksums ---------------------------------------------------------------------------


def _crc32c(rows: Bytes) -> NDArray[np.uint32]:
    """Return the CRC-32C of each row."""
    n, length = rows.shape
    state = np.full(n, 0xFFFFFFFF, np.uint32)
    step = max(_CELLS // min(max(length, 1), _LOOKED_UP), 1)
    for row in range(0, n, step):
        span = slice(row, row + step)
        for at in range(0, length, _LOOKED_UP):
            state[span] = _went_on(state[span], rows[span, at : at + _LOOKED_UP])
    return ~state


def _went_on(state: NDArray[np.uint32], rows: Bytes) -> NDArray[np.uint32]:
    """Return the states of checksums after some more bytes.

    The code is linear: a state is the sum (exclusive or) of what each byte adds, which
    depends on its value and on how far from the end it stands. So all bytes of all rows
    are looked up together. The state before counts as if it were in the first bytes.
    """
    width = rows.shape[1]
    cells = rows + (np.arange(width - 1, -1, -1) * 256).astype(np.int32)
    first = min(width, 4)
    cells[:, :first] ^= state.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :first]
    added = np.bitwise_xor.reduce(_table().take(cells), axis=1)
    after: NDArray[np.uint32] = (
        added if width >= 4 else added ^ (state >> np.uint32(8 * width))
    )
    return after


@cache
def _table() -> NDArray[np.uint32]:
    """Return what a byte adds, by its distance from the end and its value."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (first & 1).astype(bool)
        first = (first >> np.uint32(1)) ^ np.where(odd, _POLYNOMIAL, 0).astype("u4")
    out = np.empty((_LOOKED_UP, 256), np.uint32)
    row = first
    for i in range(_LOOKED_UP):
        out[i] = row
        row = first[row & 255] ^ (row >> np.uint32(8))
    return out.ravel()


# --- What stands where in a record of an event file ------------------------------------
#
# A record is an Event in the wire format of protocol buffers. Most records of a file differ
# in their numbers only: a layout, found in one of them, holds for all that are alike, and
# `Layout.fits` says which are.


_VARINT, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5  # how a field is written
# Numbers of fields in the published definitions of Event, Summary.Value, TensorProto.
_WALL_TIME, _STEP, _SUMMARY, _SESSION_LOG = 1, 2, 5, 7
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_DTYPE, _CONTENT = 1, 4
# dtype of a tensor: how numpy calls it, and the field that holds its numbers.
_FLOATS, _DOUBLES, _INTS, _HALVES = 5, 6, 7, 13
_DTYPES = {
    1: ("<f4", _FLOATS),
    2: ("<f8", _DOUBLES),
    3: ("<i4", _INTS),
    4: ("u1", _INTS),
    5: ("<i2", _INTS),
    6: ("i1", _INTS),
    9: ("<i8", 10),
    10: ("?", 11),
    17: ("<u2", _INTS),
    19: ("<f2", _HALVES),
    22: ("<u4", 16),
    23: ("<u8", 17),
}
_START = 1  # of a session: what a run wrote at later steps before is taken back
_ENDED = {1: "SUCCESS", 2: "FAILURE", 3: "RUNNING"}
_FREE, _SAME, _LAST_OF_VARINT = 0x00, 0xFF, 0x80


class Field(NamedTuple):
    """A field of a message: its number, how it is written, where its content lies."""

    number: int
    kind: int
    begin: int
    end: int


class Slot(NamedTuple):
    """Where a record holds a scalar."""

    tag: str
    begin: int
    end: int
    dtype: str  # numpy's, of bytes as they lie there or, for a varint, of the number
    is_varint: bool = False
    plugin: str | None = None  # who the value is said to be for
    is_tensor: bool = False

    def values(self, rows: Bytes) -> Floats:
        """Return the scalar of each row."""
        if not self.is_varint:
            return _numbers(rows, self.begin, self.end, self.dtype)
        whole = _varints(rows, self.begin, self.end)
        if self.dtype == "<f2":  # its bits, as a number
            return whole.astype("<u2").view("<f2").astype(np.float64)
        return whole.astype(self.dtype).astype(np.float64)


@dataclass(slots=True)
class Layout:
    """What stands where in a record."""

    record: bytes
    same: bytearray  # which bits must be as they are here for the layout to hold
    # Where they lie; a time or a step of 0 is not written.
    wall_time: tuple[int, int] | None = None
    step: tuple[int, int] | None = None
    slots: list[Slot] = field(default_factory=list)
    # Tag and plugin of values that are no scalars.
    others: list[tuple[str, str]] = field(default_factory=list)
    is_restart: bool = False  # a resumed run takes back what it wrote at later steps
    params: dict[str, Any] = field(default_factory=dict)
    status: str = ""

    def fits(self, rows: Bytes) -> Bools:
        """Return which rows have this layout; rows are 8, 16, 24, ... bytes wide."""
        width = rows.shape[1]
        record = np.frombuffer(self.record.ljust(width, b"\0"), np.uint64)
        same = np.frombuffer(bytes(self.same).ljust(width, b"\0"), np.uint64)
        words = rows.view(np.uint64)
        other = np.zeros(len(rows), np.uint64)
        for i in np.flatnonzero(same):
            other |= (words[:, i] ^ record[i]) & same[i]
        fits: Bools = other == 0
        return fits

    def steps(self, rows: Bytes) -> Floats:
        """Return the step of each row."""
        if self.step is None:
            return np.zeros(len(rows))
        return _varints(rows, *self.step).astype(np.float64)

    def wall_times(self, rows: Bytes) -> Floats:
        """Return the wall time of each row, in seconds."""
        if self.wall_time is None:
            return np.zeros(len(rows))
        return _numbers(rows, *self.wall_time, "<f8")

    def free(self, begin: int, end: int) -> None:
        """Say that some bytes may be anything."""
        self.same[begin:end] = bytes([_FREE]) * (end - begin)

    def free_varint(self, begin: int, end: int) -> None:
        """Say that a varint may be any other of the same width."""
        self.same[begin:end] = bytes([_LAST_OF_VARINT]) * (end - begin)


def layout_of(record: bytes) -> Layout:
    """Return the layout of a record; a ValueError says that it is no event."""
    layout = Layout(record, bytearray([_SAME]) * len(record))
    for one in fields(record, 0, len(record)):
        at = (one.begin, one.end)
        what = (one.number, one.kind)
        if what == (_WALL_TIME, _EIGHT):
            layout.wall_time = at
            layout.free(*at)
        elif what == (_STEP, _VARINT):
            layout.step = at
            layout.free_varint(*at)
        elif what == (_SUMMARY, _SIZED):
            for value in fields(record, *at):
                if (value.number, value.kind) == (1, _SIZED):
                    _value(layout, value)
        elif what == (_SESSION_LOG, _SIZED):
            parts = {f.number: f for f in fields(record, *at)}
            layout.is_restart = 1 in parts and _whole(record, parts[1]) == _START
        elif one.kind == _SIZED:
            layout.free(*at)
    return layout


def fields(record: bytes, at: int, end: int) -> Iterator[Field]:
    """Return the fields of the message that lies between two places of a record."""
    while at < end:
        key, at = _varint(record, at, end)
        kind = key & 7
        begin = at
        if kind == _VARINT:
            _, at = _varint(record, at, end)
        elif kind == _EIGHT:
            at += 8
        elif kind == _FOUR:
            at += 4
        elif kind == _SIZED:
            size, begin = _varint(record, at, end)
            at = begin + size
        else:
            raise ValueError(f"a field of kind {kind}")
        if at > end:
            raise ValueError("a field that does not end")
        yield Field(key >> 3, kind, begin, at)


def _varint(record: bytes, at: int, end: int) -> tuple[int, int]:
    out = shift = 0
    while at < end and shift < 70:
        byte = record[at]
        out |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return out, at
        shift += 7
    raise ValueError("a number that does not end")


def _whole(record: bytes, one: Field) -> int:
    return _varint(record, one.begin, one.end)[0]


def _text(record: bytes, one: Field) -> str:
    return record[one.begin : one.end].decode(errors="replace")


# --- one value of a summary --------------------------------------------------------------


def _value(layout: Layout, value: Field) -> None:
    record = layout.record
    parts = {f.number: f for f in fields(record, value.begin, value.end)}
    tag = _text(record, parts[_TAG]) if _TAG in parts else ""
    simple, tensor = parts.get(_SIMPLE_VALUE), parts.get(_TENSOR)
    plugin = _plugin(layout, parts[_METADATA]) if _METADATA in parts else None
    slot = None
    if simple is not None and simple.kind == _FOUR:
        slot = Slot(tag, simple.begin, simple.end, "<f4")
    elif tensor is not None and plugin in (None, "scalars"):
        scalar = _scalar_of(record, tensor)
        slot = scalar and scalar._replace(tag=tag, plugin=plugin, is_tensor=True)
    if slot is not None:
        layout.slots.append(slot)
        free = layout.free_varint if slot.is_varint else layout.free
        free(slot.begin, slot.end)
        return
    layout.others.append((tag, plugin or ""))
    for number, one in parts.items():
        if one.kind == _SIZED and number not in (_TAG, _METADATA):
            layout.free(one.begin, one.end)


def _scalar_of(record: bytes, tensor: Field) -> Slot | None:
    """Return where a tensor holds its only number, or None if it is none."""
    parts = {f.number: f for f in fields(record, tensor.begin, tensor.end)}
    kind = parts.get(_DTYPE)
    dtype, number = _DTYPES.get(_whole(record, kind) if kind else 0, ("", 0))
    if not dtype:
        return None
    if raw := parts.get(_CONTENT):
        is_one = raw.end - raw.begin == np.dtype(dtype).itemsize
        return Slot("", raw.begin, raw.end, dtype) if is_one else None
    one = parts.get(number)
    if one is None:
        return None
    if number in (_FLOATS, _DOUBLES):
        is_one = one.end - one.begin == np.dtype(dtype).itemsize
        return Slot("", one.begin, one.end, dtype) if is_one else None
    is_one = _varint(record, one.begin, one.end)[1] == one.end
    return Slot("", one.begin, one.end, dtype, is_varint=True) if is_one else None


# --- hyperparameters ---------------------------------------------------------------------


def _plugin(layout: Layout, metadata: Field) -> str:
    """Return the plugin that a value is for; keep what that of hyperparameters says."""
    record = layout.record
    name, content = "", None
    for data in fields(record, metadata.begin, metadata.end):
        if (data.number, data.kind) == (1, _SIZED):
            parts = {f.number: f for f in fields(record, data.begin, data.end)}
            name = _text(record, parts[1]) if 1 in parts else ""
            content = parts.get(2)
    if name == "hparams" and content is not None:
        for part in fields(record, content.begin, content.end):
            if (part.number, part.kind) == (3, _SIZED):  # the beginning of a session
                layout.params.update(_params(record, part))
            elif (part.number, part.kind) == (4, _SIZED):  # its end
                ends = {f.number: f for f in fields(record, part.begin, part.end)}
                layout.status = (
                    _ENDED.get(_whole(record, ends[1]), "") if 1 in ends else ""
                )
    return name


def _params(record: bytes, session: Field) -> Iterator[tuple[str, Any]]:
    for entry in fields(record, session.begin, session.end):
        if (entry.number, entry.kind) != (1, _SIZED):
            continue
        pair = {f.number: f for f in fields(record, entry.begin, entry.end)}
        if 1 in pair and 2 in pair:
            yield _text(record, pair[1]), _plain(record, pair[2])


def _plain(record: bytes, value: Field) -> Any:
    for one in fields(record, value.begin, value.end):
        if (one.number, one.kind) == (2, _EIGHT):
            number = struct.unpack_from("<d", record, one.begin)[0]
            # All numbers are written as this kind; 64 units are not 64.0.
            return (
                int(number) if number.is_integer() and abs(number) < 2**53 else number
            )
        if (one.number, one.kind) == (3, _SIZED):
            return _text(record, one)
        if (one.number, one.kind) == (4, _VARINT):
            return bool(_whole(record, one))
    return None


# --- columns of bytes --------------------------------------------------------------------


def _numbers(rows: Bytes, begin: int, end: int, dtype: str) -> Floats:
    column = np.ascontiguousarray(rows[:, begin:end]).view(dtype)[:, 0]
    with np.errstate(invalid="ignore"):  # a NaN may be one that asks for attention
        return column.astype(np.float64)


def _varints(rows: Bytes, begin: int, end: int) -> Ints:
    out = np.zeros(len(rows), np.uint64)
    for i, at in enumerate(range(begin, end)):
        out |= (rows[:, at] & 127).astype(np.uint64) << np.uint64(7 * i)
    return out.view(np.int64)
