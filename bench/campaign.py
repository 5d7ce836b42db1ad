#!/usr/bin/env python3
"""What a campaign costs: see campaign.sh."""
import sys
import time

sys.dont_write_bytecode = True
from on_tote import SEEDS, built, carol, memory_kb, verdict

WHICH = sys.argv[2]


def measure(temp, seconds, turn, limit):
    out = temp / f"turn{turn}"
    p = carol.start("fuzz", "-b", temp / "tote", "-i", SEEDS, "-o", out, "-d",
                    f"{seconds}s", "--turn", f"{turn}s", log=temp / "log")
    samples = []
    while p.poll() is None:
        kb = memory_kb(p.pid)
        if kb:
            samples.append(kb)
        time.sleep(1)
    s = carol.json("status", out, "--json")
    start, fuzz, evaluate, idle, wall = (sum(x[k] for x in s["slots"])
                                         for k in ("start_s", "fuzz_s", "eval_s", "idle_s", "wall_s"))
    print(f"turns of {turn} s, {seconds} s, {len(s['slots'])} slots: in fuzzers {fuzz / wall:.4f} (at least "
          f"{limit}), starting them {start / wall:.4f}, measuring {evaluate / wall:.4f}, idle {idle / wall:.4f}; {s['turns']} turns, "
          f"{s['seeds']} seeds, {s['execs'] / wall:.0f} executions per slot second")
    third = max(1, len(samples) // 3)
    early, late = samples[third:2 * third], samples[2 * third:]
    growth = max(late, default=0) / max(max(early, default=1), 1)
    print(f"supervisor memory: {samples[0] if samples else 0} kB at the start, {max(early, default=0)} kB at "
          f"most in the middle third, {max(late, default=0)} kB in the last: x{growth:.3f}")
    return fuzz / wall >= limit and growth < 1.1


def main():
    good = True
    with built() as temp:
        if WHICH in ("short", "both"):
            good &= measure(temp, 60, 2, 0.95)
            good &= measure(temp, 60, 5, 0.97)
        if WHICH in ("long", "both"):
            good &= measure(temp, 245, 120, 0.97)
    return verdict(good)


sys.exit(main())
