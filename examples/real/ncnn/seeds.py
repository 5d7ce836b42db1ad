#!/usr/bin/env python3
"""Writes small networks, description and weights in one file: seeds.py DIR."""
import pathlib
import struct
import sys

INPUT = "Input data 0 1 data 0=4 1=4 2=3"
MAGIC = 7767517


def network(layers, weights=b""):
    text = "\n".join([str(MAGIC), f"{len(layers) + 1} {len(layers) + 1}", INPUT, *layers]) + "\n"
    return text.encode() + b"\0" + weights


def floats(n):
    return struct.pack(f"<{n}f", *[i / 8 for i in range(n)])


FILES = {
    "relu": network(["ReLU relu 1 1 data out 0=0.1"]),
    "convolution": network(["Convolution c 1 1 data out 0=2 1=1 5=1 6=6"], struct.pack("<I", 0) + floats(8)),
    "product": network(["InnerProduct p 1 1 data out 0=1 1=1 2=48"], struct.pack("<I", 0) + floats(49)),
    "norm": network(["BatchNorm n 1 1 data a 0=3", "Reshape r 1 1 a out 0=-1"], floats(12)),
    "arrays": network(["Crop c 1 1 data a -23309=2,0,1 -23310=2,2,3 -23311=2,0,1", "Permute p 1 1 a b 0=3", "Softmax s 1 1 b out 0=0 1=1"]),
    # AbsVal (0) on the output of Input (16), with one parameter each
    "binary": struct.pack("<3i", MAGIC, 2, 2) + struct.pack("<6i", 16, 0, 1, 0, 0, 4) + struct.pack("<i", -233)
              + struct.pack("<5i", 0, 1, 1, 0, 1) + struct.pack("<i", -233),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
