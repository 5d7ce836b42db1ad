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
    "X04": b"let a = [1, 2, 3, 4, 5, 6]\nlet b = " + b"[" * 41 + b"a" + b"]" * 41 + b"\n",
    "X05": b"let " + b"n" * 65 + b" = 1\nlet " + b"n" * 66 + b" = 1\n",
    "X06": b"let a = 1\n" + b"unset a\nlet a = 1\n" * 4,
    "X07": b"let a = 4 / 0\n",
    "X08": b'print "%n"\n',
    "X09": b'include "a/../b/../c/../d/../e/../f"\n',
    "X10": b"#\n" * 41 + b"".join(b"let a%d = 1\n" % i for i in range(33)),
    "X11": b'let a = "\\u{110000}"\n',
    "X12": b"let a = 1 << 64\n",
    "X13": b"let a = 0x100000000 * 0x100000000\n",
    "X14": b"let a = 0x\n",
    "X15": b"let a = [1, 2, 3, 4]\nunset a\nlet b = a[0]\n",
    "X16": b"let a = [1, 2, 3, 4]\nlet b = a[-4]\n",
    "X17": b'print "' + b"%d" * 8 + b'", 1, 2, 3, 4\n',
    "X18": b"repeat 11 " * 8 + b"let a = 1\n",
    "X19": b"\xef\xbb\xbf" + b"".join(b"let %c = 1\r\n" % c for c in b"abcdefg"),
}

write_inputs(SEEDS, WITNESSES)
