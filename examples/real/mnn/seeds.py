#!/usr/bin/env python3
"""Writes small MNN models, which are FlatBuffers: seeds.py DIR.

A table is {slot: value}: a number of four bytes, Byte (one byte), Real, text, a list of numbers, a list of texts or
tables, a table.  Slots and types are those of MNN's schema.
"""
import pathlib
import struct
import sys

INPUT, RELU, CONVOLUTION, POOLING, RESHAPE = (34, 21), (69, 51), (12, 9), (47, 31), (73, 55)  # operator, its parameters


class Byte(int):
    pass


class Real(float):
    pass


def pad(out):
    out.extend(bytes(-len(out) % 4))


def put(out, value):
    """Appends it, everything it refers to behind it; returns where it begins."""
    pad(out)
    if isinstance(value, str):
        at = len(out)
        out += struct.pack("<I", len(value)) + value.encode() + b"\0"
        return at
    if isinstance(value, list):
        at = len(out)
        refers = value and isinstance(value[0], (str, dict))
        code = "f" if value and isinstance(value[0], float) else "i"
        out += struct.pack("<I", len(value)) + (bytes(4 * len(value)) if refers else struct.pack(f"<{len(value)}{code}", *value))
        for i, x in enumerate(value if refers else []):
            refer(out, at + 4 + 4 * i, x)
        return at
    slots = max(value) + 1
    table = len(out) + (4 + 2 * slots + 3) // 4 * 4
    where = {s: 4 + 4 * i for i, s in enumerate(value)}
    head = struct.pack(f"<{2 + slots}H", 4 + 2 * slots, 4 + 4 * len(value), *[where.get(s, 0) for s in range(slots)])
    vtable = len(out)
    out += head
    pad(out)
    out += struct.pack("<i", table - vtable) + bytes(4 * len(value))
    for slot, x in value.items():
        field = table + where[slot]
        if isinstance(x, Byte):
            out[field] = x
        elif isinstance(x, (int, float)):
            out[field:field + 4] = struct.pack("<f" if isinstance(x, float) else "<i", x)
        else:
            refer(out, field, x)
    return table


def refer(out, field, value):
    out[field:field + 4] = struct.pack("<I", put(out, value) - field)


def op(kind, name, inputs, outputs, parameters):
    return {0: inputs, 1: Byte(kind[1]), 2: parameters, 3: name, 4: outputs, 5: kind[0]}


def model(*ops, shape=(1, 3, 8, 8)):
    all_ops = [op(INPUT, "in", [], [0], {0: list(shape), 1: 1, 2: Byte(2)}), *ops]
    net = {3: all_ops, 4: ["out"], 7: ["in", *[o[3] for o in ops]], 8: len(all_ops)}
    out = bytearray(4)
    refer(out, 0, net)
    return bytes(out)


FILES = {
    "relu": model(op(RELU, "out", [0], [1], {0: Real(0.5)})),
    "pool": model(op(POOLING, "out", [0], [1], {3: 2, 4: 2, 5: 2, 6: 2})),
    "reshape": model(op(RESHAPE, "out", [0], [1], {0: [1, 192]})),
    "convolution": model(op(CONVOLUTION, "out", [0], [1], {0: {2: 1, 3: 1, 4: 1, 5: 1, 9: 1, 10: 2, 11: 3}, 1: [0.5] * 6, 2: [0.0, 1.0]})),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
