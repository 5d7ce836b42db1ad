#!/usr/bin/env python3
"""Do the recorded results of the suite hold the figures in planted bugs?

usage: bench/bugs.py CAROL [DIR]     DIR: what `carol bench run` left (default: bench/results/suite)

Sums over the targets of the mean number of bugs, the default's divided by each of: bare afl-fuzz (at least 1.25), equal
(1.10), the best single fuzzer, chosen afterwards on each target (1.10).  Exit 1 when one is not held, 3 when DIR lacks a contender.
"""
import json
import subprocess
import sys
from pathlib import Path

LIMITS = {"bare-aflpp": 1.25, "equal": 1.10, "best single": 1.10}


def main():
    where = sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parent / "results/suite"
    done = subprocess.run([sys.argv[1], "bench", "table", where, "--of", "default", "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return 3
    sums = {x["against"]: (x["sum"], x["sum_other"]) for x in json.loads(done.stdout)["against"]}
    if missing := LIMITS.keys() - sums.keys():
        print(f"no results of {', '.join(sorted(missing))}", file=sys.stderr)
        return 3
    held = True
    for name, limit in LIMITS.items():
        ours, theirs = sums[name]
        good = ours >= limit * theirs
        held &= good
        print(f"default ÷ {name:12} {ours:5.1f} ÷ {theirs:5.1f} = {ours / theirs if theirs else float('inf'):.2f}, "
              f"must be {limit:.2f}: {'held' if good else 'NOT HELD'}")
    return 0 if held else 1


sys.exit(main())
