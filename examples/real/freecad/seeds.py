#!/usr/bin/env python3
"""Writes a small mesh in each format, after the byte that names it: seeds.py DIR."""
import pathlib
import struct
import sys

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
STL, OBJ, SMF, IV, NAS, PLY = range(6)  # as in the harness


def lines(*text):
    return ("\n".join(text) + "\n").encode()


def numbers(values, by=" ", add=0):
    return by.join(str(v + add) for v in values)


def stl_text():
    out = ["solid s"]
    for face in FACES:
        out += ["facet normal 0 0 1", "outer loop", *["vertex " + numbers(CORNERS[i]) for i in face], "endloop", "endfacet"]
    return lines(*out, "endsolid s")


def stl_binary():
    return bytes(80) + struct.pack("<I", len(FACES)) + b"".join(
        struct.pack("<12fH", 0, 0, 1, *[x for i in face for x in CORNERS[i]], 0) for face in FACES)


def ply(form, body):
    return lines("ply", f"format {form} 1.0", "element vertex 4", "property float x", "property float y", "property float z",
                 "element face 4", "property list uchar int vertex_indices", "end_header") + body


def ply_binary(order):
    return (b"".join(struct.pack(order + "3f", *c) for c in CORNERS)
            + b"".join(struct.pack(order + "B3i", 3, *f) for f in FACES))


POINTS = ["v " + " ".join(f"{x}.0" for x in c) for c in CORNERS]
FILES = {
    "text.stl": (STL, stl_text()), "binary.stl": (STL, stl_binary()),
    "plain.obj": (OBJ, lines("g part", "usemtl m", *POINTS, *["f " + numbers(f, add=1) for f in FACES], "f 1/1/1 2/2/2 3/3/3 4/4/4")),
    "plain.smf": (SMF, lines(*POINTS, *["f " + numbers(f, add=1) for f in FACES])),
    "plain.iv": (IV, lines("#Inventor V2.1 ascii", "Normal {", "vector [ 0.0 0.0 1.0,", "0.0 1.0 0.0 ]", "}", "Coordinate3 {",
                           "point [ 0.0 0.0 0.0,", "1.0 0.0 0.0,", "0.0 1.0 0.0 ]", "}", "IndexedFaceSet {", "coordIndex [ 0,  1,  2, -1 ]", "}")),
    "plain.nas": (NAS, lines(*[f"GRID {i + 1} " + " ".join(f"{x}.0" for x in c) for i, c in enumerate(CORNERS)],
                             "GRID    5               1.0000001.0000001.000000", f"GRID*  {'6':>17}{'':16}{'2.0':>16}2.0", "*       2.0",
                             *[f"CTRIA3 {i + 1} 0 {numbers(f, add=1)}" for i, f in enumerate(FACES)], "CQUAD4 9 0 1 2 3 4")),
    "text.ply": (PLY, ply("ascii", lines(*[numbers(c) for c in CORNERS], *["3 " + numbers(f) for f in FACES]))),
    "little.ply": (PLY, ply("binary_little_endian", ply_binary("<"))),
    "big.ply": (PLY, ply("binary_big_endian", ply_binary(">"))),
}


def main():
    for name, (form, data) in FILES.items():
        (pathlib.Path(sys.argv[1]) / name).write_bytes(bytes([form]) + data)


main()
