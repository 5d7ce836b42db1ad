#!/usr/bin/env python3
"""Turns of real fuzzers are worth the same: under `equal` the active times of any two over their first twenty turns
differ by at most 5 %, however different their cycles are; start-up is accounted apart.

usage: equal_turns.py CAROL ROOT     prints TAP
"""
import os
import signal
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap, engines_of, own_shared_memory, rows, wait_until

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
TOTE = ROOT / "examples" / "tote"
TEMP = Path(tempfile.mkdtemp(prefix="carol-equal-"))
OUT = TEMP / "out"
TURNS, TURN_S = 20, 0.8
own_shared_memory()
carol = Carol(CAROL)
tap = Tap()
ok = tap.ok


def least_turns():
    try:
        counts = rows(OUT, "SELECT count(*) FROM turns WHERE state = 3 GROUP BY arm")
    except Exception:  # not made yet
        return 0
    return min((n for n, in counts), default=0) if len(counts) == 6 else 0


def campaign():
    p = carol.start("fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", OUT, "-j", 2, "-d", "1h", "--turn",
                    f"{TURN_S}s", "-s", "equal", "--seed", 5, log=TEMP / "log")
    wait_until(lambda: least_turns() >= TURNS or p.poll() is not None)
    p.send_signal(signal.SIGINT)
    ok(p.wait() == 0 and least_turns() >= TURNS, "six fuzzers have twenty turns each", (TEMP / "log").read_text())


def look():
    turns = rows(OUT, "SELECT arm, active_ns, startup_ns, died, instance FROM turns WHERE state = 3 ORDER BY id")
    of = {arm: [t for t in turns if t[0] == arm][:TURNS] for arm in range(6)}
    active = {arm: sum(t[1] for t in v) / 1e9 for arm, v in of.items()}
    stalls = [t for v in of.values() for t in v if t[1] > 2 * TURN_S * 1e9 or t[3]]
    least, most = min(active.values()), max(active.values())
    what = f"their active times differ by at most 5 % ({100 * (most / least - 1):.1f} %)"
    if most > 1.05 * least and stalls:
        tap.skip(what, f"{len(stalls)} turns lasted twice as long as asked: the machine stood still")
    else:
        ok(most <= 1.05 * least, what, active)
    by = {t[4]: [] for t in turns}
    for t in turns:
        by[t[4]].append(t)
    ok(all(v[0][2] > 0 for v in by.values()), "the first turn of every instance has its start-up", by)
    later = [t for v in by.values() for was, t in zip(v, v[1:]) if t[2] > 0 and not was[3]]
    ok(not later, "and no other has one", later)
    s = carol.json("status", OUT, "--json")
    ok(all(a["startup_s"] > 0 for a in s["fuzzers"].values()) and all(x["start_s"] > 0 for x in s["slots"]),
       "status shows it, by fuzzer and by slot", s)
    r = carol.json("replay", OUT, "--json")
    ok(r["matched"] == r["decisions"] and r["state_equal"], "and all of it replays", r)


def main():
    if not engines_of(CAROL):
        print("1..0 # SKIP the fuzzers are not built: make engines")
        return 0
    try:
        code, text = carol.run("build", "-o", TEMP / "tote", *sorted(TOTE.glob("*.c")))
        ok(code == 0, "the target is built", text)
        campaign()
        look()
    finally:
        carol.kill_all()
        tap.tidy(TEMP)
    return tap.done()


sys.exit(main())
