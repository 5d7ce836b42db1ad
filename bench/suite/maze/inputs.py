#!/usr/bin/env python3
"""Seeds and witnesses of maze.   inputs.py DIR   writes DIR/seeds/* and DIR/witness/ID"""
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from generate import SEED, SIZE, Maze  # noqa: E402
from inputs_kit import write_inputs  # noqa: E402

MAZE = Maze(SIZE, SEED)
write_inputs({"letters": b"news"}, {f"Z{n:02}": MAZE.witness(n) for n in MAZE.bugs})
