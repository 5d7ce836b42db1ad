#!/usr/bin/env python3
"""Writes small pairs of JSON values: seeds.py DIR."""
import json
import pathlib
import sys

VALUE = {"a": [1, -2.5e3, None], "b": {"c": "d\u00e9\n", "~/": True}}
PAIRS = {
    "numbers": ([0, -1, 1e300, 0.5], {}),
    "merge": (VALUE, {"b": None, "e": {"f": 1}}),
    "patch": (VALUE, [{"op": "add", "path": "/a/1", "value": 9}, {"op": "remove", "path": "/b/c"}]),
    "move": (VALUE, [{"op": "move", "from": "/b", "path": "/a/-"}, {"op": "test", "path": "/a/0", "value": 1}]),
}


def main():
    for name, pair in PAIRS.items():
        (pathlib.Path(sys.argv[1]) / name).write_text(" ".join(json.dumps(x) for x in pair))


main()
