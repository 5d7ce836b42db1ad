#!/usr/bin/env python3
"""Copies the Lua programs of the bench target: seeds.py DIR."""
import pathlib
import shutil
import sys


def main():
    for file in (pathlib.Path(__file__).resolve().parents[3] / "bench/targets/lua/seeds").iterdir():
        shutil.copy(file, sys.argv[1])


main()
