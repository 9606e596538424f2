"""Records of TensorBoard's event files: where each begins, and whether it is whole.

A record is its length (8 bytes), a checksum of these, its data, and a checksum of the
data. The checksum is CRC-32C, turned and shifted by a constant.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import IO

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

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
    """Records of a file, or of several, one after the other.

    Parameters
    ----------
    content : array of uint8
    begin, length : array of int
        Where the data of each record lie in `content`.
    owner : array of int
        The file that a record is of; never falls.
    ends : array of int, shape (file,)
        Where the whole records of each file end, counted from its own beginning.
    damaged : frozenset of int
        Files that are damaged there.
    """

    content: Bytes
    begin: Ints
    length: Ints
    owner: Ints
    ends: Ints
    damaged: frozenset[int]

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
    held, place, missing = b"", 0, 0
    while True:
        left = max(os.fstat(file.fileno()).st_size - file.tell(), 0)
        fresh = file.read(min(max(at_once, missing), left))
        held += fresh
        block = framed([held])
        if not fresh or block.damaged:
            yield block, block.stop(0, len(held), place)
            return
        yield block, ""
        end = int(block.ends[0])
        held, place = held[end:], place + end
        is_begun = len(held) >= _HEADER
        missing = _length_at(held)[0] + _FRAME - len(held) if is_begun else 0


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
    kept = good & (begin + _FRAME + length <= limit[owner])
    damaged = set()
    bad = np.flatnonzero(~kept)
    for file, i in zip(*np.unique(owner[bad], return_index=True), strict=True):
        first = bad[i]
        kept[first:][owner[first:] == file] = False
        if not good[first]:
            damaged.add(int(file))
    begin, length, owner = begin[kept], length[kept], owner[kept]
    ends = np.zeros(len(sizes), np.int64)
    last = np.searchsorted(owner, np.arange(len(sizes)), side="right") - 1
    some = np.bincount(owner, minlength=len(sizes)) > 0
    last = last[some]
    ends[some] = begin[last] + _FRAME + length[last] - (limit - sizes)[some]
    return Block(whole, begin + _HEADER, length, owner, ends, frozenset(damaged))


def intact(rows: Bytes, length: int) -> Bools:
    """Return whether the data of each row, so many bytes, fit the checksum behind them."""
    stored = np.ascontiguousarray(rows[:, length : length + 4]).view("<u4")[:, 0]
    whole: Bools = _masked(_crc32c(rows[:, :length])) == stored
    return whole


# --- checksums ---------------------------------------------------------------------------


def _masked(crc: NDArray[np.uint32]) -> NDArray[np.uint32]:
    turned = (crc >> np.uint32(15)) | (crc << np.uint32(17))
    return turned + np.uint32(_MASK)


def _crc32c(rows: Bytes) -> NDArray[np.uint32]:
    """Return the CRC-32C of each row."""
    n, length = rows.shape
    state = np.full(n, 0xFFFFFFFF, np.uint32)
    step = max(_CELLS // min(max(length, 1), _LOOKED_UP), 1)
    for row in range(0, n, step):
        own = slice(row, row + step)
        for at in range(0, length, _LOOKED_UP):
            state[own] = _went_on(state[own], rows[own, at : at + _LOOKED_UP])
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
    left: NDArray[np.uint32] = (
        added if width >= 4 else added ^ (state >> np.uint32(8 * width))
    )
    return left


@cache
def _table() -> NDArray[np.uint32]:
    """Return what a byte adds, by its distance from the end and its value."""
    first = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        odd = (first & 1).astype(bool)
        first = (first >> np.uint32(1)) ^ np.where(odd, _POLYNOMIAL, 0).astype("u4")
    out = np.empty((_LOOKED_UP, 256), np.uint32)
    own = first
    for i in range(_LOOKED_UP):
        out[i] = own
        own = first[own & 255] ^ (own >> np.uint32(8))
    return out.ravel()
