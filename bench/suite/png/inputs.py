#!/usr/bin/env python3
"""Seeds and witnesses of png.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

GREY, RGB, PALETTE = 0, 2, 3


def chunk(tag, data=b""):
    return struct.pack(">I", len(data)) + tag + data + struct.pack(">I", zlib.crc32(tag + data))


def picture(colour, *chunks, after=b""):
    row = b"\0" + bytes(4 * (3 if colour == RGB else 1))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, colour, 0, 0, 0)) +
            b"".join(chunks) + chunk(b"IDAT", zlib.compress(row * 4)) + after + chunk(b"IEND"))


COLOURS = chunk(b"PLTE", bytes(range(12)))

SEEDS = {
    "grey": picture(GREY, chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"sBIT", b"\x08")),
    "palette": picture(PALETTE, COLOURS, chunk(b"tRNS", b"\xff\x80"), chunk(b"hIST", bytes(8))),
    "text": picture(RGB, chunk(b"tEXt", b"Title\0words"), chunk(b"pHYs", struct.pack(">IIB", 1, 1, 1))),
}

WITNESSES = {
    "G01": picture(GREY, chunk(b"sBIT", b"\x09")),
    "G02": picture(PALETTE, COLOURS, chunk(b"tRNS", bytes(5))),
    "G03": picture(PALETTE, COLOURS, chunk(b"bKGD", b"\x04")),
    "G04": picture(PALETTE, COLOURS, chunk(b"hIST", bytes(6))),
    "G05": picture(GREY, chunk(b"pCAL", b"a\0" + struct.pack(">iiBB", 0, 1, 0, 1) + b"m\0" + b"1")),
    "G06": picture(GREY, chunk(b"sPLT", b"a\0\x08" + bytes(7))),
    "G07": picture(GREY, chunk(b"tIME", struct.pack(">HBBBBB", 2001, 13, 1, 0, 0, 0))),
    "G08": picture(GREY, chunk(b"sCAL", b"\x01-1\x001")),
    "G09": picture(GREY, chunk(b"zTXt", b"k" * 80 + b"\0\0" + zlib.compress(b"x"))),
    "G10": picture(GREY, chunk(b"pHYs", struct.pack(">IIB", 1, 1, 2))),
    "G11": picture(GREY, chunk(b"tEXt", b"\0words")),
}

write_inputs(SEEDS, WITNESSES)
