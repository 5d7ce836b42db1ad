#!/usr/bin/env python3
"""Two slots against one: see slots.sh."""
import statistics
import sys
import tempfile
from pathlib import Path

CAROL, ROOT, SECONDS = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol

PAIRS = 3
carol = Carol(CAROL)


def rate(temp, name, jobs, scheduler):
    """Executions per second of campaign; with 'equal' every fuzzer weighs the same in both."""
    out = temp / name
    code, text = carol.run("fuzz", "-b", temp / "tote", "-i", ROOT / "examples/tote/seeds", "-o", out,
                           "-d", f"{SECONDS}s", "--turn", "1s", "-j", jobs, "-s", scheduler, "--seed", 5)
    s = carol.json("status", out, "--json")
    if code != 0 or "execs" not in s:
        raise SystemExit(f"the campaign failed ({code}):\n{text}")
    per_fuzzer = [a["execs"] / a["active_s"] for a in s["fuzzers"].values() if a["active_s"] > 0]
    inside = sum(x["fuzz_s"] for x in s["slots"]) / s["elapsed_s"]
    return statistics.mean(per_fuzzer) * inside


def main():
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        code, text = carol.run("build", "-o", temp / "tote", ROOT / "examples/tote/tote.c",
                               ROOT / "examples/tote/tote_fuzzer.c")
        if code != 0:
            print(text)
            return 1
        for scheduler in ("single:aflpp", "equal"):
            ratios = []
            for i in range(PAIRS):
                order = (1, 2) if i % 2 == 0 else (2, 1)
                r = {j: rate(temp, f"{scheduler.replace(':', '-')}-{i}-{j}", j, scheduler) for j in order}
                ratios.append(r[2] / r[1])
                print(f"{scheduler}: one slot {r[1]:.0f}/s, two {r[2]:.0f}/s, ratio {ratios[-1]:.2f}",
                      flush=True)
            print(f"{scheduler}: two slots do {statistics.median(ratios):.2f} times the work of one "
                  f"(median of {PAIRS})", flush=True)
    return 0


sys.exit(main())
