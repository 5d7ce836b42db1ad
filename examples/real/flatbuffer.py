"""flatbuffer: writes FlatBuffers for the seeds of programs that read them.  Knows no schema: fields have numbers.

  flatbuffer.root({0: 7, 2: "name", 3: [flatbuffer.Table({0: 1.5})]})

An int or a float takes four bytes in its table; bytes stand there as they are (a byte, a struct).  A str, a list and a
Table are put behind what refers to them.
"""
import struct


class Table:
    def __init__(self, fields):
        self.fields = fields


def root(fields):
    out = bytearray(4)
    refer(out, 0, Table(fields))
    return bytes(out)


def refer(out, here, value):
    """Puts the value at the end and its distance at `here`."""
    out.extend(bytes(-len(out) % 4))
    at = put_table(out, value.fields) if isinstance(value, Table) else put_vector(out, value)
    struct.pack_into("<I", out, here, at - here)


def put_vector(out, value):
    at = len(out)
    out.extend(struct.pack("<I", len(value)))
    if isinstance(value, str):
        out.extend(value.encode() + b"\0")
    elif value and isinstance(value[0], (str, Table)):
        out.extend(bytes(4 * len(value)))
        for i, x in enumerate(value):
            refer(out, at + 4 + 4 * i, x)
    else:
        out.extend(b"".join(inline(x) for x in value))
    return at


def inline(value):
    """What stands in a table or vector itself; of a reference, its place."""
    if isinstance(value, bytes):
        return value + bytes(-len(value) % 4)
    if isinstance(value, float):
        return struct.pack("<f", value)
    return struct.pack("<i", value) if isinstance(value, int) else bytes(4)


def put_table(out, fields):
    """The places of its fields, then the fields."""
    n, body, places = max(fields, default=-1) + 1, bytearray(4), {}
    for i in sorted(fields):
        places[i] = len(body)
        body.extend(inline(fields[i]))
    start = len(out)
    out.extend(struct.pack(f"<{n + 2}H", 4 + 2 * n, len(body), *[places.get(i, 0) for i in range(n)]))
    out.extend(bytes(-len(out) % 4))
    at = len(out)
    struct.pack_into("<i", body, 0, at - start)
    out.extend(body)
    for i, place in places.items():
        if isinstance(fields[i], (str, list, Table)):
            refer(out, at + place, fields[i])
    return at
