#!/usr/bin/env python3
"""Two slots against one: see slots.sh."""
import statistics
import sys

sys.dont_write_bytecode = True
from on_tote import SEEDS, built, carol, rows, verdict

SECONDS = int(sys.argv[2])
PAIRS = 5


def rates(temp, name, jobs, scheduler):
    """Executions per second of campaign, and per CPU second its fuzzers got, which a busy machine does not
    spoil; every fuzzer weighs the same in both."""
    out = temp / name
    code, text = carol.run("fuzz", "-b", temp / "tote", "-i", SEEDS, "-o", out,
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
    with built() as temp:
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
    return verdict(good, ": neither x1.7 by the clock nor x0.85 per CPU second")


sys.exit(main())
