#!/usr/bin/env python3
"""Two slots against one: see slots.sh."""
import statistics
import sys
import tempfile
from pathlib import Path

CAROL, ROOT, SECONDS = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol, rows

PAIRS = 5
carol = Carol(CAROL)


def rates(temp, name, jobs, scheduler):
    """Executions per second of campaign, and per CPU second its fuzzers got, which a busy machine does not
    spoil; every fuzzer weighs the same in both."""
    out = temp / name
    code, text = carol.run("fuzz", "-b", temp / "tote", "-i", ROOT / "examples/tote/seeds", "-o", out,
                           "-d", f"{SECONDS}s", "--turn", "1s", "-j", jobs, "-s", scheduler, "--seed", 5)
    if code != 0:
        raise SystemExit(f"the campaign failed ({code}):\n{text}")
    elapsed = carol.json("status", out, "--json")["elapsed_s"]
    arms = rows(out, "SELECT sum(execs), sum(active_ns) / 1e9, sum(cpu_ns) / 1e9 FROM turns"
                     " WHERE active_ns > 5e8 GROUP BY arm")  # not the stump at the end of the budget
    inside = sum(a[1] for a in arms) / elapsed
    return (statistics.mean(a[0] / a[1] for a in arms) * inside,
            statistics.mean(a[0] / a[2] for a in arms if a[2]))


def main():
    good = True
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        code, text = carol.run("build", "-o", temp / "tote", ROOT / "examples/tote/tote.c",
                               ROOT / "examples/tote/tote_fuzzer.c")
        if code != 0:
            print(text)
            return 1
        for scheduler in ("single:aflpp", "equal"):
            wall, cpu = [], []
            for i in range(PAIRS):
                order = (1, 2) if i % 2 == 0 else (2, 1)
                r = {j: rates(temp, f"{scheduler.replace(':', '-')}-{i}-{j}", j, scheduler) for j in order}
                wall.append(r[2][0] / r[1][0])
                cpu.append(r[2][1] / r[1][1])
                print(f"{scheduler}: one slot {r[1][0]:.0f}/s, two {r[2][0]:.0f}/s: x{wall[-1]:.2f}; per CPU "
                      f"second {r[1][1]:.0f} and {r[2][1]:.0f}: x{cpu[-1]:.2f}", flush=True)
            print(f"{scheduler}: two slots do {statistics.median(wall):.2f} times the work of one, and "
                  f"{statistics.median(cpu):.2f} times the work per CPU second (medians of {PAIRS})",
                  flush=True)
            good &= statistics.median(wall) >= 1.7 or statistics.median(cpu) >= 0.85
    print("holds" if good else "DOES NOT HOLD: neither x1.7 by the clock nor x0.85 per CPU second")
    return 0 if good else 1


sys.exit(main())
