#!/usr/bin/env python3
"""Writes small TIFF files: seeds.py DIR."""
import pathlib
import struct
import sys

SHORT, LONG = 3, 4


def tiff(order, tags, data):
    """One directory behind the header, then the pixels; TAG 273 or 324 points to them."""
    mark = b"II" if order == "<" else b"MM"
    at = 8 + 2 + 12 * len(tags) + 4
    out = mark + struct.pack(order + "HI", 42, 8) + struct.pack(order + "H", len(tags))
    for tag, kind, value in sorted(tags):
        value = at if tag in (273, 324) else len(data) if tag in (279, 325) else value
        out += struct.pack(order + "HHI", tag, kind, 1)
        out += struct.pack(order + ("I" if kind == LONG else "HH"), *([value] if kind == LONG else [value, 0]))
    return out + struct.pack(order + "I", 0) + data


def image(order, compression, bits, photometric, data, tiled=False, **more):
    where = [(322, LONG, 16), (323, LONG, 16), (324, LONG, 0), (325, LONG, 0)] if tiled else [
        (273, LONG, 0), (278, LONG, 8), (279, LONG, 0)]
    tags = [(256, SHORT, 8), (257, SHORT, 8), (258, SHORT, bits), (259, SHORT, compression), (262, SHORT, photometric),
            (277, SHORT, 1), *where, *[(int(k[1:]), SHORT, v) for k, v in more.items()]]
    return tiff(order, tags, data)


FILES = {
    "grey.tif": image("<", 1, 8, 1, bytes(range(64))),
    "big.tif": image(">", 1, 8, 0, bytes(range(64))),
    "bits.tif": image("<", 1, 1, 1, bytes(8)),
    "pack.tif": image("<", 32773, 8, 1, b"\xf9\x11" * 8),
    "lzw.tif": image("<", 5, 8, 1, bytes([0x80, 0x00, 0x20, 0x50, 0x38, 0x10, 0x10]), t317=2),
    "fax.tif": image("<", 4, 1, 0, bytes([0xFF, 0xE0, 0x01, 0x00, 0x10, 0x01])),
    "tile.tif": image("<", 1, 8, 1, bytes(256), tiled=True),
}


def main():
    for name, data in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(data)


main()
