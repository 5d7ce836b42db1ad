#!/usr/bin/env python3
"""Seeds and witnesses of pack.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

SUMS, EXTENDED = 0x01, 0x40


def sum16(data):
    return sum(b * (1 + (i & 1)) for i, b in enumerate(data)) & 0xffff


def fnv32(data):
    h = 0x811c9dc5
    for b in data:
        h = (h ^ b) * 0x01000193 & 0xffffffff
    return h


def chunk(tag, data=b""):
    return tag + struct.pack("<IH", len(data), sum16(data)) + data


def pack(*chunks, version=1, flags=0):
    return b"PAK1" + struct.pack("<HH", version, flags) + b"".join(chunks)


def head(width=8, height=8, bits=8, coded=0):
    return chunk(b"HEAD", struct.pack("<HHBB", width, height, bits, coded))


def nested(level, inner):
    for _ in range(level):
        inner = chunk(b"GRUP", inner)
    return inner


def meta(key, kind, value):
    return chunk(b"META", key.ljust(8, b"\0") + bytes([kind]) + value)


PALETTE = chunk(b"PALT", bytes([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255]))

SEEDS = {
    "plain": pack(head(), chunk(b"NAME", b"\x05first"), PALETTE, chunk(b"DATA", b"\x03\0\1\2\3")),
    "group": pack(head(), chunk(b"GRUP", chunk(b"NAME", b"\x02ab")),
                  meta(b"author", 1, b"somebody"), chunk(b"INDX", struct.pack("<BII", 1, 8, 16))),
    "sums": pack(head(), chunk(b"DATA", b"\x03\0\1\2\3"), flags=SUMS),
}


def signed(first, algorithm):
    return first + chunk(b"SIGN", struct.pack("<IB", fnv32(first), algorithm))


WITNESSES = {
    "P01": pack(head(width=0)),
    "P02": pack(chunk(b"NAME", b"\x40ab")),
    "P03": pack(head(2, 2, 8, 1), chunk(b"DATA", b"\x07" + bytes(8))),
    "P04": pack(head(coded=1), PALETTE, chunk(b"DATA", b"\x00\x09")),
    "P05": pack(meta(b"when", 3, struct.pack("<HBB", 2001, 13, 31))),
    "P06": pack(meta(b"language", 1, b"en_GB.")),
    "P07": pack(chunk(b"INDX", bytes([4]) + struct.pack("<II", 8, 8) * 3 + struct.pack("<II", 0xffffffff, 9))),
    "P08": pack(PALETTE, head(bits=1)),
    "P09": pack(head(), head(), head(), chunk(b"LINK", struct.pack("<HH", 3, 3)), version=0x0203,
                flags=EXTENDED),
    "P10": signed(pack(head()), 9),
    "P11": pack(chunk(b"KEYS", struct.pack("<QIH", 0x1badb0025ca1ab1e, 0x5ca1ab1e ^ 0xa5a5a5a5,
                                           50000))),
    "P12": pack(head(coded=1), nested(3, chunk(b"DATA", b"\x80\x01")), flags=SUMS),
    "P13": pack(meta(b"author", 2, struct.pack("<Q", 9973 * 1000 + 77))),
    "P14": pack(meta(b"encoding", 1, b"utf-16b")),
    "P15": pack(nested(20, b"")),
    "P16": pack(*[chunk(b"NAME", b"\x04name")] * 9, flags=SUMS),
}

write_inputs(SEEDS, WITNESSES)
