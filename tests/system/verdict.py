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
sys.path.insert(0, str(BENCH / "suite"))
import calibrate


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


def of_targets_without_dictionary():
    with tempfile.TemporaryDirectory() as tmp:
        a = SimpleNamespace(output=Path(tmp))
        made = a.output / "xml" / versus.MANIFEST
        made.parent.mkdir()
        (a.output / "xml-seeds").mkdir()
        target = {"dict": "afl/x.dict", "words": "neutral/carol-words.txt"}

        def manifest(words):
            told = dict(target, words=words)
            made.write_text(json.dumps({**told, "targets": [told], "families": dict.fromkeys(["afl", "laf", "hfuzz", "neutral", "cmplog"])}))
        manifest(target["words"])
        plain, seeds = versus.build(a, "xml-nodict")
        m = json.loads((plain / versus.MANIFEST).read_text())
        TAP.ok([t["dict"] for t in (m, *m["targets"])] == [None, None] and m["words"] == target["words"] and seeds == a.output / "xml-seeds",
               "a target without its dictionary has the words of the target")
        (plain / "mark").touch()
        versus.build(a, "xml-nodict")
        TAP.ok((plain / "mark").exists(), "it is not made again under a comparison that uses it")
        manifest(None)
        try:
            versus.build(a, "xml-nodict")
            TAP.ok(False, "a build that noted no words is refused")
        except versus.Missing as why:
            TAP.ok("remove it" in str(why), "a build that noted no words is refused", why)


def of_grades():
    def ran(target, contender, *seconds):
        bugs = [{"id": f"{target[0].upper()}{i:02d}", "triggered": {"cpu_s": s} if s else None} for i, s in enumerate(seconds, 1)]
        return {"target": target, "contender": contender, "bugs": bugs, "budget_s": 300}
    found = {(r["target"], r["contender"]): [r] for r in
             [ran("pack", "single:aflpp", 3, 40, None), ran("pack", "default", 3, 40, 290), ran("gif", "single:aflpp", 3)]}
    measured = {"P01": ("pack", "easy"), "P02": ("pack", "medium"), "P03": ("pack", "hard"), "G01": ("gif", "easy")}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        calibrate.by_grade(found, measured, ["pack", "script"])
        calibrate.by_grade(found, {}, ["script"])
    TAP.ok([line.split() for line in out.getvalue().splitlines()] ==
           [[], ["on", "pack", "easy", "medium", "hard"], ["default", "1.0", "1.0", "1.0"], ["single:aflpp", "1.0", "1.0", "0.0"]],
           "bugs by measured grade, on the targets that ran", out.getvalue())
    TAP.ok([calibrate.grade(s, 300) for s in (0, 1, 1.1, 20, 20.1, 300, 300.1, float("inf"))] ==
           ["warm-up", "warm-up", "easy", "easy", "medium", "medium", "hard", "hard"] and calibrate.grade(float("inf"), 60) == "> 60",
           "a grade is what the best fuzzer needs; what it had no time for is open")
    with tempfile.TemporaryDirectory() as tmp, contextlib.redirect_stdout(out):
        calibrate.write_graded(Path(tmp) / "graded.csv", {**measured, "P04": ("pack", "warm-up")})
        text = (Path(tmp) / "graded.csv").read_text()
        subprocess.run([BENCH / "suite/calibrate.py", "--graded", Path(tmp) / "again.csv"], capture_output=True, check=True)
        again = (Path(tmp) / "again.csv").read_text()
    TAP.ok(again == (BENCH / "suite/graded.csv").read_text(), "the list of graded bugs is what the recorded campaigns say", again)
    TAP.ok(text == "id,target,grade\nP01,pack,easy\nP02,pack,medium\nP03,pack,hard\nG01,gif,easy\n", "warm-ups are not graded", text)


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
of_targets_without_dictionary()
of_grades()
of_bugs()
sys.exit(TAP.done())
