"""Every scheduler on a real target with the default fuzzers, killed and resumed once in the middle.

usage: eight.py CAROL CAROL_BY_CLANG ROOT [SCHEDULER...]     see eight.sh
Prints one line per scheduler as it is done, then the shares; exit 1 when a decision does not replay.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CAROL, CLANG, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), Path(sys.argv[3])
sys.path.insert(0, str(ROOT / "tests" / "system"))
sys.dont_write_bytecode = True
from campaign_kit import Carol, engines_of, rows, turns_done, wait_until

EACH = float(os.environ.get("SECONDS_EACH", "120"))
TURN = float(os.environ.get("TURN", "5"))
TOTE = ROOT / "examples" / "tote"
TEMP = Path(tempfile.mkdtemp(prefix="carol-eight-"))
carol = Carol(CAROL)


def names():
    code, text = carol.run("fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", TEMP / "no", "-s",
                           "nosuch", "-d", "1s")
    found = re.search(r"there are: (.*)", text)
    if code != 2 or not found:
        sys.exit(f"bench: carol does not list its schedulers: {text}")
    return [x.strip().replace("NAME", "aflpp") for x in found.group(1).split(",")]


def compiler(binary):
    text = subprocess.run(["readelf", "-p", ".comment", binary], capture_output=True, text=True,
                          check=False).stdout
    return "clang" if "clang version" in text else "gcc" if "GCC:" in text else "unknown"


def campaign(name, out):
    """Half of it, kill -9, the other half.  What happened, in words; None: all well."""
    log = TEMP / f"{out.name}.log"
    p = carol.start("fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", out, "-d", f"{EACH:g}s",
                    "--turn", f"{TURN:g}s", "-s", name, "--seed", 6, log=log)
    wait_until(lambda: turns_done(out) >= 1 or p.poll() is not None, patience=120)
    time.sleep(EACH / 2)
    if p.poll() is not None:
        return f"it ended with {p.returncode} before it was killed: {log.read_text()[-500:]}"
    p.kill()
    p.wait()
    code, text = carol.run("fuzz", "--resume", out, limit=EACH + 120)
    return None if code == 0 else f"resumed, it ended with {code}: {text[-500:]}"


def replay(binary, out):
    p = subprocess.run([binary, "replay", out, "--json"], capture_output=True, text=True, check=False)
    try:
        r = json.loads(p.stdout)
    except ValueError:
        return False, p.stderr.strip()[-200:] or "no answer"
    first = r["first_mismatch"]
    text = f"{r['matched']}/{r['decisions']}"
    if first:
        text += f" (turn {first['turn']}, {first['what']}: {first['logged']} != {first['computed']})"
    return p.returncode == 0 and r["matched"] == r["decisions"] > 0, text


def line(name, out, trouble, judges):
    s = carol.json("status", out, "--json")
    void = rows(out, "SELECT count(*) FROM turns WHERE state = 4")[0][0]
    answers = [replay(b, out) for _, b in judges]
    good = not trouble and all(a[0] for a in answers)
    print(f"{name:14} {s.get('turns', 0):6} {void:5} {s.get('edges', 0):6} {s.get('seeds', 0):6} "
          f"{s.get('crashes', 0):8} " + " ".join(f"{a[1]:>13}" for a in answers)
          + ("" if good else "   WRONG") + (f"   {trouble}" if trouble else ""), flush=True)
    shares = {k: v["turns"] for k, v in s.get("fuzzers", {}).items()}
    return good, shares


def main():
    if not engines_of(CAROL):
        print("bench: the fuzzers are not built: make engines", file=sys.stderr)
        return 3
    code, text = carol.run("build", "-o", TEMP / "tote", "--target", "tote", TOTE / "tote.c",
                           TOTE / "tote_fuzzer.c")
    if code != 0:
        print(text, file=sys.stderr)
        return 1
    judges = [(compiler(b), b) for b in (CAROL, CLANG)]
    if len({c for c, _ in judges}) < 2:
        print(f"bench: both are built by {judges[0][0]}", file=sys.stderr)
        return 3
    print(f"{EACH:g} s each, turns of {TURN:g} s, the default fuzzers, {os.cpu_count()} cores, kill -9 and --resume "
          f"in the middle\n{'scheduler':14} {'turns':>6} {'void':>5} {'edges':>6} {'seeds':>6} "
          f"{'crashes':>8} " + " ".join(f"{'replay ' + c:>13}" for c, _ in judges), flush=True)
    good, shares = True, {}
    for name in sys.argv[4:] or names():
        out = TEMP / name.replace(":", "-")
        held, shares[name] = line(name, out, campaign(name, out), judges)
        good = good and held
    arms = list(next(iter(shares.values()), {}))
    print(f"\n{'% of turns':14} " + " ".join(f"{a:>9}" for a in arms))
    for name, turns in shares.items():
        total = sum(turns.values()) or 1
        print(f"{name:14} " + " ".join(f"{100 * turns.get(a, 0) / total:9.1f}" for a in arms))
    print("\nevery decision replays bit for bit, with both" if good else "\nNOT every decision replays")
    return 0 if good else 1


try:
    sys.exit(main())
finally:
    carol.kill_all()
    if os.environ.get("KEEP"):
        print(f"kept: {TEMP}")
    else:
        shutil.rmtree(TEMP, ignore_errors=True)
