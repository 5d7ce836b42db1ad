#!/usr/bin/env python3
"""A page of a day's campaign: see page.sh."""
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests/system"))
import browser

CAROL = sys.argv[1]
INPUTS, OPENINGS = 100_000, 5
SECONDS, BYTES = 2, 3_000_000
FIGURES = "return document.querySelectorAll('#coverage svg.plot').length"
LOADED = "const n = performance.getEntriesByType('navigation')[0]; return n.loadEventEnd / 1000"


def run(*args):
    began = time.monotonic()
    done = subprocess.run([CAROL, *map(str, args)], check=True, stdout=subprocess.DEVNULL)
    return done, time.monotonic() - began


def pad(out):
    """So many inputs that found nothing new, spread over the turns, as fuzzers save them."""
    db = sqlite3.connect(out / "carol.db")
    rows = db.execute("SELECT id, instance, turn, size, found_ns, round, edges, data FROM seeds WHERE turn > 0 AND state = 2").fetchall()
    at = last = db.execute("SELECT max(id) FROM seeds").fetchone()[0]
    for k in range(max(0, INPUTS - last)):
        parent, instance, turn, size, found, rnd, edges, data = rows[k * len(rows) // (INPUTS - last)]
        at += 1
        db.execute("INSERT INTO seeds(id, hash, size, instance, turn, parent, name, found_ns, state, status, signal, cpu_us, round, edges, data)"
                   " VALUES(?, ?, ?, ?, ?, ?, '', ?, 2, 0, 0, 100, ?, ?, ?)",
                   (at, os.urandom(32), size, instance, turn, parent, found, rnd, edges, data))
    db.commit()
    turns = db.execute("SELECT count(*) FROM turns WHERE id > 0").fetchone()[0]
    db.close()
    return turns, at


def served(out):
    """A carol view of it; (process, address)."""
    p = subprocess.Popen([CAROL, "view", str(out), "--web", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    for line in p.stdout:
        if line.startswith("http://"):
            return p, line.strip()
    raise SystemExit("carol view prints no address")


def first_opening(b, address):
    """Seconds until it is open, and until the figures are there."""
    began = time.monotonic()
    b.open(address)
    opened = time.monotonic() - began
    while not b.run(FIGURES):
        time.sleep(0.05)
    return opened, time.monotonic() - began


def openings(b, address):
    times = []
    for _ in range(OPENINGS):
        b.open("about:blank")
        b.open(address)
        times.append(b.run(LOADED))
    return times


def main():
    if not browser.is_here():
        print("chromium or chromium-driver is not installed")
        return 3
    top = Path(tempfile.mkdtemp(prefix="carol-page-"))
    run("sim", "ensemble", "-p", "1", "-s", "contextual", "--campaigns", "1", "-o", top / "day")
    turns, inputs = pad(top / "day")
    _, took = run("report", top / "day", "-o", top / "day.html")
    size = (top / "day.html").stat().st_size
    print(f"{turns} decisions, {inputs} inputs: a page of {size / 1e6:.2f} MB, written in {took:.1f} s")
    with browser.Browser() as b:
        found = {"from a file": openings(b, (top / "day.html").as_uri())}
        p, address = served(top / "day")
        first, whole = first_opening(b, address)
        print(f"served: opened for the first time in {first:.1f} s, with all figures after {whole:.1f} s")
        found["served"] = openings(b, address)
    p.terminate()
    p.wait()
    shutil.rmtree(top)
    held = size < BYTES and first < SECONDS
    for name, times in found.items():
        held = held and statistics.median(times) < SECONDS
        print(f"{name}: open after {', '.join(f'{t:.2f}' for t in times)} s")
    medians = {name: round(statistics.median(times), 2) for name, times in found.items()}
    print(f"a day's page: {size / 1e6:.2f} MB (< 3); open after {medians['from a file']} s from a file, {medians['served']} s served, {first:.1f} s the first time (< 2)")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
