#!/usr/bin/env python3
"""A short real campaign under every scheduler: it runs, its journal replays bit for bit, also after
kill -9 and --resume, and every decision of it can be explained.

usage: schedulers.py CAROL ROOT [SCHEDULER...]     prints TAP
"""
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "vectors")]
sys.dont_write_bytecode = True
from campaign_kit import (Carol, Tap, engines_of, go_on_until, orphan_segments, own_shared_memory, rows, segments,
                          turns_done, wait_until)
from oracle import drawn_order

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
TOTE = ROOT / "examples" / "tote"
FUZZERS = "aflpp,honggfuzz,radamsa"
KILLED = ("contextual", "autofz", "rate")  # most to learn, goes by the clock, counts turns in flight
TEMP = Path(tempfile.mkdtemp(prefix="carol-schedulers-"))
SIGNALS = 15
own_shared_memory()
carol = Carol(CAROL)
tap = Tap()
ok = tap.ok


def names():
    """Every scheduler there is, as carol itself lists them."""
    code, text = carol.run("fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", TEMP / "no", "-s",
                           "nosuch", "-d", "1s")
    found = re.search(r"there are: (.*)", text)
    ok(code == 2 and found, "an unknown scheduler is refused with the list", f"{code}\n{text}")
    listed = [x.strip() for x in found.group(1).split(",")] if found else []
    return [x.replace("NAME", "aflpp") for x in listed]


def fuzz(name, out, budget):
    return ["fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", budget, "--turn",
            "0.5s", "-s", name, "-f", FUZZERS, "--seed", 3]


def replays(what, out):
    r = carol.json("replay", out, "--json")
    return ok(r.get("schema") == 1 and r.get("decisions", 0) >= 4 and r["decisions"] == r["matched"]
              and r["first_mismatch"] is None and r["differs"] == 0 and r["state_equal"],
              f"{what}: all {r.get('decisions')} decisions replay bit for bit", r)


def explains(name, out):
    n = rows(out, "SELECT max(id) FROM turns")[0][0]
    x = carol.json("explain", out, "--turn", n, "--json")
    arms = x.get("fuzzers", {})
    whole = all({"signals", "standardised", "mean", "width", "noise", "draw"} <= a.keys()
                and len(a["signals"]) == len(a["standardised"]) == SIGNALS for a in arms.values())
    ran = rows(out, "SELECT arm FROM turns WHERE id = ?", n)[0][0]
    ok(x.get("turn") == n and sorted(arms) == sorted(FUZZERS.split(",")) and whole and x.get("why")
       and x.get("chosen") == FUZZERS.split(",")[ran], f"{name}: its last turn is explained", x)
    code, text = carol.run("explain", out, "--turn", n)
    ok(code == 0 and "why: " in text and "win_mean" in text and max(map(len, text.split("\n"))) < 300
       and text.count("\n") <= 40, f"{name}: on one screen", text)
    x = carol.json("explain", out, "--json")
    chosen = {k: v["choices"] for k, v in x.get("fuzzers", {}).items()}
    ok(x.get("decisions") == n and sum(chosen.values()) == n and
       len(x["influence"]) == (SIGNALS if x["reads_signals"] else 0), f"{name}: and the whole campaign", x)
    return x


def short(name):
    out = TEMP / name.replace(":", "-")
    code, text = carol.run(*fuzz(name, out, "3s"))
    if code == 0:
        code, text = go_on_until(lambda: turns_done(out) >= 4, out, carol, 3)
    if not ok(code == 0, f"{name}: a campaign of a few seconds ends with 0", f"{code}\n{text}"):
        return
    if replays(name, out):
        explains(name, out)


def killed(name):
    """kill -9 of the supervisor in the middle of turns, then on from there."""
    out, before = TEMP / f"{name}-killed", segments()
    p = carol.start(*fuzz(name, out, "1h"), log=TEMP / "killed.log")
    wait_until(lambda: turns_done(out) >= 7)
    live = carol.json("explain", out, "--turn", 3, "--json")
    ok(live.get("turn") == 3, f"{name}: a running campaign is explained", live)
    time.sleep(0.2)
    p.kill()
    p.wait()
    was = turns_done(out)
    code, text = go_on_until(lambda: turns_done(out) > was, out, carol, 2.5)
    ok(code == 0 and turns_done(out) > was >= 7, f"{name}: killed with -9, it goes on",
       f"{code}\n{text}\n{was} {turns_done(out)}")
    replays(f"{name}, killed and resumed", out)
    left = carol.survivors()
    ok(not left and not orphan_segments(before), f"{name}: nothing is left over", left)


def others(out):
    """The journal of random under others."""
    n = rows(out, "SELECT count(*) FROM turns WHERE id > 0")[0][0]
    arms = [r[0] for r in rows(out, "SELECT arm FROM turns WHERE id > 0 ORDER BY id")]
    r = carol.json("replay", out, "--scheduler", "equal", "--json")
    order = drawn_order(int(rows(out, "SELECT value FROM settings WHERE key = 'seed'")[0][0]), 3)
    want = sum(arm != order[i % 3] for i, arm in enumerate(arms))
    ok(r.get("decisions") == n and r.get("differs") == want and r["matched"] == n - want
       and sum(r["choices"].values()) == n and len(r["turns"]) == n,
       f"equal would have chosen otherwise at {want} of {n} decisions of random", r)
    code, text = carol.run("replay", out, "-s", "single:radamsa", "--turns")
    ok(code == 0 and "-> radamsa" in text, "a what-if in words ends with 0", f"{code}\n{text}")
    for wrong in (["explain", out, "--turn", n + 1], ["explain", out, "--turn", "0"],
                  ["explain", TEMP / "nowhere"], ["explain"], ["replay", out, "-s", "nosuch"],
                  ["replay", TEMP / "nowhere"], ["replay", out, "--sched-opt", "nosuch=1"]):
        code, text = carol.run(*wrong)
        ok(code == 2 and text.strip(), f"wrong usage is 2: {' '.join(map(str, wrong))}"
           .replace(str(TEMP), "TEMP"), f"{code}\n{text}")


def alone():
    """single: has a roster of one, whichever, without being told."""
    out = TEMP / "alone"
    code, text = carol.run("fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", out, "-j", 1, "-d", "1s", "-s", "single:havoc")
    took_part = rows(out, "SELECT value FROM settings WHERE key = 'fuzzers'") if code == 0 else text
    ok(took_part == [("havoc",)], "single: needs no -f, and nobody else takes part", took_part)


def main():
    if not engines_of(CAROL):
        print("1..0 # SKIP the fuzzers are not built: make engines")
        return 0
    try:
        code, text = carol.run("build", "-o", TEMP / "tote", "--target", "tote", TOTE / "tote.c",
                               TOTE / "tote_fuzzer.c")
        ok(code == 0, "the target is built", text)
        all_of_them = names()
        for name in sys.argv[3:] or all_of_them:
            began = time.monotonic()
            short(name)
            if name in KILLED:
                killed(name)
            print(f"# {name}: {time.monotonic() - began:.0f} s", flush=True)
        if (TEMP / "random").exists():
            others(TEMP / "random")
        alone()
    finally:
        carol.kill_all()
        tap.tidy(TEMP)
    return tap.done()


sys.exit(main())
