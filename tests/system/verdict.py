#!/usr/bin/env python3
"""What benchmarks make of their numbers: noise must not help them to hold, and too little is told.

    verdict.py CAROL SOURCE_ROOT
"""
import contextlib
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
from campaign_kit import Tap

TAP = Tap()
BENCH = Path(sys.argv[2]).resolve() / "bench"
sys.path.insert(0, str(BENCH))
sys.argv[2:] = ["1", "1"]
import versus
import viewers


def of_viewers():
    low, wide, high = (0.001, 0.002), (0.003, 0.007), (0.006, 0.008)
    good, both, bad = (0.996, 1.004), (0.98, 1.01), (0.97, 0.994)
    cases = [(low, good, "holds", 0), (low, both, "holds by the CPU time of serving; executions: not told apart", 0),
             (low, bad, "DOES NOT HOLD", 1), (wide, good, "not told apart: take more pairs", 1), (high, good, "DOES NOT HOLD", 1),
             (high, both, "DOES NOT HOLD", 1), (wide, bad, "DOES NOT HOLD", 1)]
    wrong = [(case, viewers.verdict(*case[:2])) for case in cases if viewers.verdict(*case[:2]) != case[2:]]
    TAP.ok(not wrong, "the cost of viewers: held by serving, refuted by either, not told apart where the interval is on both sides", wrong)


def judged(least, mean, medians):
    with contextlib.redirect_stdout(io.StringIO()):
        return versus.judge(SimpleNamespace(least=least, mean=mean), medians)


def of_versus():
    medians = {"gain": {"a": 1.0, "b": 1.44}, "area": {"a": 1.21, "b": 1.21}}  # geometric means: 1.2, 1.21
    cases = [(None, None, True), (1.0, 1.19, True), (1.01, None, False), (1.0, 1.205, False), (None, 1.22, False)]
    wrong = [c for c in cases if judged(c[0], c[1], medians) != c[2]]
    TAP.ok(not wrong, "against afl-fuzz: every median and the mean count, in gain and in area", wrong)
    nan = {"gain": {"a": float("nan")}, "area": {"a": 2.0}}
    TAP.ok(not judged(1.0, None, nan), "what cannot be computed is not held")


def of_bugs():
    def code(**sums):
        rows = [{"against": k.replace("_", " ") if k == "best_single" else k.replace("_", "-"), "sum": a, "sum_other": b} for k, (a, b) in sums.items()]
        with tempfile.TemporaryDirectory() as tmp:
            carol = Path(tmp) / "carol"  # in the place of `carol bench table --json`
            carol.write_text(f"#!/bin/sh\ncat <<'X'\n{json.dumps({'against': rows})}\nX\n")
            carol.chmod(0o755)
            return subprocess.run([BENCH / "bugs.py", carol, tmp], capture_output=True, check=False).returncode
    enough = {"bare_aflpp": (12.5, 10), "equal": (11, 10), "best_single": (11, 10)}
    seen = [code(**enough), code(**{**enough, "bare_aflpp": (12.4, 10)}), code(**{**enough, "equal": (10.9, 10)}),
            code(**{**enough, "best_single": (10.9, 10)}), code(equal=(11, 10))]
    TAP.ok(seen == [0, 1, 1, 1, 3], "planted bugs: each of three ratios counts, and none may be missing", seen)


of_viewers()
of_versus()
of_bugs()
sys.exit(TAP.done())
