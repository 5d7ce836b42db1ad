#!/usr/bin/env python3
"""Every analysis on many campaigns: see analyze.sh."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CAROL, CAMPAIGNS, TURNS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
NAMES = ["predict", "features", "rank", "forget", "form", "influence", "transfer", "decay", "ranking", "drift", "plateau",
         "arrival", "allocation", "regret"]
MADE = 4         # campaigns simulated per scheduler; the others are the same journals under other names
SECONDS = 120    # of CPU time: the clock says more of the neighbours
PER_CAMPAIGN_KB = 100  # results, names


def simulate(home):
    """Journals of two schedulers on two targets."""
    subprocess.run([CAROL, "sim", "ensemble", "-k", "6", "-j", "6", "--turns", str(TURNS), "-s", "contextual,random",
                    "--campaigns", str(MADE), "-o", home], check=True, stdout=subprocess.DEVNULL)
    journals = sorted(Path(home).glob("*/carol.db"))
    for i, path in enumerate(journals):
        db = sqlite3.connect(path)
        db.execute("UPDATE settings SET value = ? WHERE key = 'target'", (("one", "two")[i % 2],))
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()
    return journals


def elapsed_of(journal):
    db = sqlite3.connect(f"file:{journal}?mode=ro", uri=True)
    elapsed, = db.execute("SELECT elapsed_ns FROM clock").fetchone()
    scheduler, = db.execute("SELECT value FROM settings WHERE key = 'scheduler'").fetchone()
    target, = db.execute("SELECT value FROM settings WHERE key = 'target'").fetchone()
    db.close()
    return elapsed / 1e9, scheduler, target


def lay_out(home, journals, n):
    """As `carol bench run --keep` leaves them, with ten bugs each, so that arrival and plateau have something to say."""
    for i in range(n):
        journal = journals[i % len(journals)]
        wall, scheduler, target = elapsed_of(journal)
        place = Path(home) / "campaigns" / f"{target},{scheduler},{i}"
        (place / "out").mkdir(parents=True)
        os.link(journal, place / "out/carol.db")
        bugs = []
        for b in range(10):
            at = wall * (0.1 + 0.08 * b + 0.0007 * i) if (b + i) % 3 else None
            first = at and {"exec": 1, "cpu_s": at, "wall_s": at}
            bugs.append({"id": f"B{b}", "reached": first, "triggered": first})
        (place / "result.json").write_text(json.dumps({
            "schema": 1, "target": target, "contender": scheduler, "role": "ours" if scheduler == "contextual" else "baseline",
            "trial": i + 1, "seed": i, "cores": 1, "definition": "simulated", "budget_s": wall, "cpu_s": wall, "wall_s": wall,
            "ratio": 1.0, "attempts": 1, "first_ratio": 0.0, "execs": 1, "inputs": 1, "edges_total": 1, "edges": [1] * 21,
            "wall_at_s": [wall * k / 20 for k in range(21)], "top_share": [1.0] * 4, "bugs": bugs, "command": "", "version": "",
            "began": "", "host": ""}))


def ask(name, home):
    """(seconds, CPU seconds, MB of the largest process)"""
    began = time.monotonic()
    p = subprocess.Popen([CAROL, "analyze", name, home, "--json"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        sys.exit(f"carol analyze {name} failed")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    home = Path(tempfile.mkdtemp(prefix="carol-analyze-bench-"))
    few = max(1, CAMPAIGNS // 10)
    try:
        journals = simulate(home / "made")
        lay_out(home / "all", journals, CAMPAIGNS)
        lay_out(home / "few", journals, few)
        size = sum(j.stat().st_size for j in journals) / len(journals) / 1e6
        print(f"{CAMPAIGNS} campaigns of {TURNS} decisions, {size:.1f} MB each, on {len(os.sched_getaffinity(0))} cores")
        print(f"{'question':12} {'s':>7} {'CPU s':>7} {'MB':>7} {f'MB of {few}':>9}")
        wrong, worst = [], (0, 0, 0)
        for name in NAMES:
            small, large = ask(name, home / "few"), ask(name, home / "all")
            print(f"{name:12} {large[0]:7.1f} {large[1]:7.1f} {large[2]:7.1f} {small[2]:9.1f}", flush=True)
            worst = tuple(map(max, worst, large))
            if large[1] > SECONDS or large[2] > small[2] + (CAMPAIGNS - few) * PER_CAMPAIGN_KB / 1024:
                wrong.append(name)
    finally:
        shutil.rmtree(home)
    print(f"{'NOT HELD: ' + ', '.join(wrong) if wrong else 'held'}: at most {worst[0]:.1f} s, {worst[1]:.1f} CPU s,"
          f" {worst[2]:.1f} MB")
    return 1 if wrong else 0


sys.exit(main())
