#!/usr/bin/env python3
"""Files as C arrays:  embed.py OUT.c NAME=FILE...   gives  const char NAME_data[] and size_t NAME_size."""
import pathlib
import sys


def main(out, *pairs):
    text = ["#include <stddef.h>\n"]
    for pair in pairs:
        name, path = pair.split("=", 1)
        data = pathlib.Path(path).read_bytes()
        rows = [", ".join(str(b) if b < 128 else f"(char){b}" for b in data[i:i + 24]) for i in range(0, len(data), 24)]
        text.append(f"extern const char {name}_data[];\nextern const size_t {name}_size;\n"
                    f"const char {name}_data[] = {{\n" + ",\n".join(rows) + f"}};\nconst size_t {name}_size = {len(data)};\n")
    pathlib.Path(out).write_text("".join(text), encoding="utf-8")


main(*sys.argv[1:])
