#!/usr/bin/env python3
"""Seeds and witnesses of gif.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402


def screen(width=8, height=8, background=0, bits=2):
    return (b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80 | bits - 1, background, 0) +
            bytes(range(3 << bits)))


def blocks(data):
    return b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255]
                    for i in range(0, len(data), 255)) + b"\0"


def codes(numbers, size=2):
    """LZW codes as they come, their width growing as the reader's table does."""
    value = at = 0
    bits, running = size + 1, (1 << size) + 2
    for n in numbers:
        value |= n << at
        at += bits
        running += 1
        if running > 1 << bits and bits < 12:
            bits += 1
        if n == 1 << size:
            bits, running = size + 1, (1 << size) + 2
    return value.to_bytes((at + 7) // 8, "little")


def image(data, width=2, height=2, top=0, flags=0, size=2):
    return (b"," + struct.pack("<HHHHB", 0, top, width, height, flags) + bytes([size]) + blocks(data))


def extension(kind, *parts):
    return b"!" + bytes([kind]) + b"".join(bytes([len(p)]) + p for p in parts) + b"\0"


CLEAR, END = 4, 5
PIXELS = codes([CLEAR, 0, 1, 2, 3, END])

SEEDS = {
    "image": screen() + image(PIXELS) + b";",
    "control": screen() + extension(0xf9, b"\0\1\0\0") + image(PIXELS) + b";",
    "comment": screen() + extension(0xfe, b"words") + image(PIXELS, flags=0x40) + b";",
}

WITNESSES = {
    "F01": screen(background=4) + image(PIXELS) + b";",
    "F02": screen() + image(PIXELS, size=9) + b";",
    "F03": screen() + extension(0xf9, b"\0\1\0") + image(PIXELS) + b";",
    "F04": screen() + image(PIXELS, width=0) + b";",
    "F05": screen() + image(PIXELS, flags=0x40, top=9) + b";",
    "F06": screen() + image(codes([CLEAR, 7, 1, 2, 3, END])) + b";",
    "F07": screen() + image(codes([CLEAR] + [0] * 1200), width=40, height=40) + b";",
    "F08": screen() + extension(0xff, b"NETSCAPE2.0", b"\x01\0\xff") + image(PIXELS) + b";",
    "F09": screen(bits=1) + image(PIXELS) + b";",
}

write_inputs(SEEDS, WITNESSES)
