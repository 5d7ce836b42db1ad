#!/usr/bin/env python3
"""Writes small models, as FlatBuffers: seeds.py DIR."""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from flatbuffer import Table, root

INPUT, CONST, CONVOLUTION, BINARY, POOLING, RELU, RESHAPE, SOFTMAX = 34, 11, 12, 7, 47, 69, 73, 85  # operators
AXIS, BINARY_P, BLOB, CONV2D, INPUT_P, POOL, RELU_P, RESHAPE_P = 4, 6, 7, 9, 21, 31, 51, 55  # their parameters


def op(kind, inputs, outputs, param=0, fields=None):
    got = {0: inputs, 3: f"op{outputs[0]}", 4: outputs, 5: kind, 6: b"\0"}
    if fields is not None:
        got.update({1: bytes([param]), 2: Table(fields)})
    return Table(got)


def data(*dims):
    return op(INPUT, [], [0], INPUT_P, {0: list(dims), 1: 1, 2: b"\0"})


def model(*ops):
    return root({3: list(ops), 7: [f"t{i}" for i in range(len(ops))], 8: len(ops)})


FILES = {
    "relu": model(data(1, 3, 4, 4), op(RELU, [0], [1], RELU_P, {0: 0.1})),
    "convolution": model(data(1, 3, 4, 4), op(CONVOLUTION, [0], [1], CONV2D, {
        0: Table({2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 9: 1, 10: 2, 11: 3}), 1: [0.5] * 6, 2: [0.25] * 2})),
    "pool": model(data(1, 2, 4, 4), op(POOLING, [0], [1], POOL, {3: 2, 4: 2, 5: 2, 6: 2})),
    "add": model(data(2, 3), op(CONST, [], [1], BLOB, {0: [2, 3], 1: b"\0", 2: 1, 7: [1.0] * 6}), op(BINARY, [0, 1], [2], BINARY_P, {0: 0, 1: 1})),
    "softmax": model(data(2, 6), op(RESHAPE, [0], [1], RESHAPE_P, {0: [3, 4], 1: b"\0"}), op(SOFTMAX, [1], [2], AXIS, {0: 1})),
}


def main():
    for name, content in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(content)


main()
