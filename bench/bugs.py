#!/usr/bin/env python3
"""Do the recorded results of the suite hold the figures in planted bugs?

usage: bench/bugs.py CAROL [DIR...]     DIR: what `carol bench run` left (default: those of the suite and of its hold-outs)

For each DIR, sums over its targets of the mean number of bugs, the default's divided by each of: bare afl-fuzz (at least 1.25), equal
(1.10), the best single fuzzer, chosen afterwards on each target (1.10).  Exit 1 when one is not held, 3 when a DIR lacks a contender.
"""
import json
import subprocess
import sys
from pathlib import Path

RESULTS = Path(__file__).resolve().parent / "results"
LIMITS = {"bare-aflpp": 1.25, "equal": 1.10, "best single": 1.10}


def judge(carol, where):
    """Prints a line a figure; 0 if all are held."""
    done = subprocess.run([carol, "bench", "table", where, "--of", "default", "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return 3
    sums = {x["against"]: (x["sum"], x["sum_other"]) for x in json.loads(done.stdout)["against"]}
    if missing := LIMITS.keys() - sums.keys():
        print(f"{where}: no results of {', '.join(sorted(missing))}", file=sys.stderr)
        return 3
    held = True
    for name, limit in LIMITS.items():
        ours, theirs = sums[name]
        good = ours >= limit * theirs
        held &= good
        print(f"{where.name}: default ÷ {name:12} {ours:5.1f} ÷ {theirs:5.1f} = {ours / theirs if theirs else float('inf'):.2f}, "
              f"must be {limit:.2f}: {'held' if good else 'NOT HELD'}")
    return 0 if held else 1


def main():
    return max(judge(sys.argv[1], w) for w in [Path(d) for d in sys.argv[2:]] or [RESULTS / d for d in ("suite", "holdout", "script")])


sys.exit(main())
