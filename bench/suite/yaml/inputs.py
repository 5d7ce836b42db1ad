#!/usr/bin/env python3
"""Seeds and witnesses of yaml.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402

SEEDS = {
    "map": b"a: 1\nb:\n  - x\n  - 'y z'\nc: {d: [1, 2]}\n",
    "text": b'---\n"quoted\\x41": |\n  block\n  of lines\n...\n',
    "anchor": b"- &one 1\n- *one\n- !local text\n",
}

WITNESSES = {
    "Y01": b"%YAML 1.0000000001\n--- a\n",
    "Y02": b'"\\U00110000"\n',
    "Y03": b'"\\ud800"\n',
    "Y04": b'"' + b"k" * 1030 + b'": 1\n',
    "Y05": b"[" * 201 + b"]" * 201 + b"\n",
    "Y06": b"!a%ff b\n",
    "Y07": b"a: |+0\n b\n",
    "Y08": b"a: |2\n \tb\n",
    "Y09": b'"a\n---b"\n',
    "Y10": b"%TAG !a b\n--- c\n",
    "Y11": b"- &a 1\n- 2\n- &a 3\n",
}

write_inputs(SEEDS, WITNESSES)
