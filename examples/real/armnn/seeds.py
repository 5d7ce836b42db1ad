#!/usr/bin/env python3
"""Writes small networks, as FlatBuffers: seeds.py DIR."""
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from flatbuffer import Table, root

FLOAT = b"\1"
# of each layer its number in the union and in the enumeration
ACTIVATION, ADDITION, CONSTANT, INPUT, OUTPUT, POOLING, RESHAPE, SOFTMAX = (1, 9), (2, 0), (5, 12), (9, 1), (11, 3), (13, 4), (14, 5), (15, 6)


def info(*shape):
    return Table({0: list(shape), 1: FLOAT, 2: 1.0})


def base(index, kind, inputs, outputs):
    """`inputs` are the layers whose first output this one takes."""
    return Table({0: index, 1: f"layer{index}", 2: kind[1], 3: [Table({0: i, 1: struct.pack("<2I", x, 0)}) for i, x in enumerate(inputs)],
                  4: [Table({0: i, 1: x}) for i, x in enumerate(outputs)]})


def layer(kind, fields):
    return Table({0: bytes([kind[0]]), 1: Table(fields)})


def network(shape, *middle, last=None):
    """An input, what is between, an output of what `last` names."""
    n = len(middle) + 1
    ends = [layer(INPUT, {0: Table({0: base(0, INPUT, [], [info(*shape)]), 1: 0})}),
            layer(OUTPUT, {0: Table({0: base(n, OUTPUT, [n - 1 if last is None else last], []), 1: 0})})]
    return root({0: [ends[0], *middle, ends[1]], 1: [0], 2: [0], 3: Table({0: 1})})


def constant(index, *shape):
    return layer(CONSTANT, {0: base(index, CONSTANT, [], [info(*shape)]),
                            1: Table({0: info(*shape), 1: b"\3", 2: Table({0: [0] * (shape[0] * shape[1])})})})


FILES = {
    "activation": network([1, 4], layer(ACTIVATION, {0: base(1, ACTIVATION, [0], [info(1, 4)]), 1: Table({0: b"\3", 1: 6.0, 2: 0.0})})),
    "softmax": network([1, 4], layer(SOFTMAX, {0: base(1, SOFTMAX, [0], [info(1, 4)]), 1: Table({0: 1.0})})),
    "reshape": network([2, 6], layer(RESHAPE, {0: base(1, RESHAPE, [0], [info(3, 4)]), 1: Table({0: [3, 4]})})),
    "add": network([2, 3], constant(1, 2, 3), layer(ADDITION, {0: base(2, ADDITION, [0, 1], [info(2, 3)])})),
    "pool": network([1, 2, 4, 4], layer(POOLING, {0: base(1, POOLING, [0], [info(1, 2, 2, 2)]), 1: Table({5: 2, 6: 2, 7: 2, 8: 2})})),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
