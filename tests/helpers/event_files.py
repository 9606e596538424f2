"""Event files of TensorBoard, written byte by byte and slowly, for tests."""

import struct


def crc32c(data):
    """Return the CRC-32C, bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(data):
    """Return a record with its length and its checksums."""
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def sized(number, data):
    """Return a field that says how long it is."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def simple(tag, value):
    """Return the value of a summary, in the old form."""
    return sized(1, tag.encode()) + b"\x15" + struct.pack("<f", value)


def tensor(tag, value, plugin="scalars", kind="content"):
    """Return the value of a summary as a tensor of double precision."""
    number = struct.pack("<d", value)
    data = b"\x08\x02" + sized({"content": 4, "list": 6}[kind], number)
    metadata = b"" if plugin is None else sized(9, sized(1, sized(1, plugin.encode())))
    return sized(1, tag.encode()) + metadata + sized(8, data)


def event(*values, step=0, wall_time=1.7e9):
    """Return an event; like a real writer, without what is 0."""
    out = b"\x09" + struct.pack("<d", wall_time) if wall_time else b""
    out += b"\x10" + varint(step) if step else b""
    return out + (sized(5, b"".join(sized(1, v) for v in values)) if values else b"")


def version(wall_time=1.7e9):
    """Return the event that begins a file."""
    return event(wall_time=wall_time) + sized(3, b"brain.Event:2")


def restart(step):
    """Return the event by which a resumed run takes back what it wrote from a step on."""
    return event(step=step) + sized(7, b"\x08\x01")


def write(path, *events):
    """Write a file of events, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(framed, events)))
    return path
