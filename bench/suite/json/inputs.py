#!/usr/bin/env python3
"""Seeds and witnesses of json.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from inputs_kit import write_inputs  # noqa: E402


def patched(operation):
    return b'{"doc": {"a": [1, 2], "b": {"c": 3}}, "patch": [{' + operation + b"}]}"


SEEDS = {
    "plain": b'{"a": [1, -2.5e3, true, null], "b": {"c": "d\\n\\u0041"}}',
    "patch": patched(b'"op": "add", "path": "/a/1", "value": 4'),
}

WITNESSES = {
    "J01": b'"\\udc00"',
    "J02": b'"\\ud800\\u0041"',
    "J03": b"[" * 51 + b"]" * 51,
    "J04": b"1" * 64,
    "J05": b"[1] /*",
    "J06": patched(b'"op": "add", "path": "/a/01", "value": 4'),
    "J07": patched(b'"op": "add", "path": "/a/99999999999999999999", "value": 4'),
    "J08": patched(b'"op": "add", "path": "/b/~2", "value": 4'),
    "J09": patched(b'"op": "move", "from": "/b", "path": "/b/c"'),
}

write_inputs(SEEDS, WITNESSES)
