#!/usr/bin/env python3
"""Seeds and witnesses of text.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

SEEDS = {
    "sums": b'let a = 1 + 2 * (3 - 1)\nlet b = a / 2\nprint "%d items", b\n',
    "list": b'# a list\nlet c = [1, [2, 3], "four"]\nd = c[1] + 0x10\n',
    "twice": b'repeat 3 let e = "x\\ty"\n',
}

WITNESSES = {
    "X01": b"let a = 2147483648\n",
    "X02": b'let a = "x\\',
    "X03": b"let a = " + b"(" * 17 + b"1" + b")" * 17 + b"\n",
    "X04": b"let a = " + b"[" * 33 + b"1" + b"]" * 33 + b"\n",
    "X05": b"let " + b"n" * 65 + b" = 1\n",
    "X06": b"let a = 1\n" * 16,
    "X07": b"let a = 4 / 0\n",
    "X08": b'print "%n"\n',
    "X09": b'include "a/../b/c"\n',
    "X10": b"#\n" * 151,
    "X11": b'let a = "\\u{110000}"\n',
    "X12": b"let a = 1 << 64\n",
    "X13": b"let a = 0x7fffffffffff * 0x7fffffffffff\n",
    "X14": b"let a = 0x\n",
    "X15": b"let a = [1]\nunset a\nlet b = a\n",
    "X16": b"let a = [1]\nlet b = a[-1]\n",
    "X17": b'print "%d%d%d%d%d", 1\n',
    "X18": b"repeat 199 repeat 199 repeat 199 let a = 1\n",
    "X19": b"\xef\xbb\xbflet a = 1\r\nlet b = 2\r\n#\r\n",
}

write_inputs(SEEDS, WITNESSES)
