#!/usr/bin/env python3
"""What a campaign costs: see campaign.sh."""
import sys
import tempfile
import time
from pathlib import Path

CAROL, ROOT, WHICH = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol

carol = Carol(CAROL)


def memory_kb(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
    except OSError:
        pass
    return None


def measure(temp, seconds, turn, limit):
    out = temp / f"turn{turn}"
    p = carol.start("fuzz", "-b", temp / "tote", "-i", ROOT / "examples/tote/seeds", "-o", out, "-d",
                    f"{seconds}s", "--turn", f"{turn}s", log=temp / "log")
    samples = []
    while p.poll() is None:
        kb = memory_kb(p.pid)
        if kb:
            samples.append(kb)
        time.sleep(1)
    s = carol.json("status", out, "--json")
    fuzz, evaluate, idle, wall = (sum(x[k] for x in s["slots"])
                                  for k in ("fuzz_s", "eval_s", "idle_s", "wall_s"))
    print(f"turns of {turn} s, {seconds} s, {len(s['slots'])} slots: in fuzzers {fuzz / wall:.4f} (at least "
          f"{limit}), measuring {evaluate / wall:.4f}, idle {idle / wall:.4f}; {s['turns']} turns, "
          f"{s['seeds']} seeds, {s['execs'] / wall:.0f} executions per slot second")
    third = max(1, len(samples) // 3)
    early, late = samples[third:2 * third], samples[2 * third:]
    growth = max(late, default=0) / max(max(early, default=1), 1)
    print(f"supervisor memory: {samples[0] if samples else 0} kB at the start, {max(early, default=0)} kB at "
          f"most in the middle third, {max(late, default=0)} kB in the last: x{growth:.3f}")
    return fuzz / wall >= limit and growth < 1.1


def main():
    good = True
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        code, text = carol.run("build", "-o", temp / "tote", ROOT / "examples/tote/tote.c",
                               ROOT / "examples/tote/tote_fuzzer.c")
        if code != 0:
            print(text)
            return 1
        if WHICH in ("short", "both"):
            good &= measure(temp, 60, 5, 0.90)
        if WHICH in ("long", "both"):
            good &= measure(temp, 245, 120, 0.97)
    print("holds" if good else "DOES NOT HOLD")
    return 0 if good else 1


sys.exit(main())
