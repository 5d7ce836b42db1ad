"""The frame of the campaign tests: which carol, where, the example target, and what every section checks.

campaign.py calls the sections; they are in campaign_ensemble.py, campaign_kills.py, campaign_clock.py and
campaign_nasty.py.  The command line is read here: CAROL ROOT [SECTION...].
"""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import (COMMITTED, LATE, VOID, Carol, Tap, orphan_segments, own_shared_memory, rows,
                          twice_imported, unharvested)

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
import fold
TOTE = ROOT / "examples" / "tote"
TEMP = Path(tempfile.mkdtemp(prefix="carol-campaign-"))
TEMP.chmod(0o755)
own_shared_memory()
carol = Carol(CAROL)
tap = Tap()
ok = tap.ok


def build(name, source, families=None, *more):
    out = TEMP / "build" / name
    args = ["--families", families] if families else []
    code, text = carol.run("build", "-o", out, "--target", name, *args, *source, *more)
    if code != 0:
        ok(False, f"{name} is built", text)
        raise SystemExit(tap.done())
    return out


def tote():
    if not (TEMP / "build" / "tote").exists():
        build("tote", [TOTE / "tote.c", TOTE / "tote_fuzzer.c"])
    return TEMP / "build" / "tote"


def log_of(name):
    path = TEMP / f"{name}.log"
    return path.read_text(errors="replace") if path.exists() else ""


def nothing_left(what, before):
    left = carol.survivors()
    ok(not left, f"{what}: no process is left", left)
    shm = orphan_segments(before)
    ok(not shm, f"{what}: no shared memory is left", shm)


def replays(what, out):
    r = carol.json("replay", out, "--json")
    ok(r.get("decisions", 0) > 0 and r.get("decisions") == r.get("matched")
       and r.get("first_mismatch", 0) is None and r.get("state_equal"), f"{what}: every decision replays as logged", r)
    report = fold.judge(out, carol=carol.binary)
    ok(not report.wrong and report.looks.get("reward"), f"{what}: the oracle computes the same from the record"
       f" ({sum(report.looks.values())} values)", report.text(20))


def unfinished(out):
    """Turns that are not, late ones too."""
    return rows(out, "SELECT id, state, round FROM turns WHERE state NOT IN (?, ?, ?) OR round = 0", COMMITTED,
                VOID, LATE)


def accounting_adds_up(status):
    """Per slot start + fuzz + eval + idle = wall, nothing negative, and wall is the campaign's clock."""
    wrong = []
    for s in status["slots"]:
        total = s["start_s"] + s["fuzz_s"] + s["eval_s"] + s["idle_s"]
        fits = abs(total - s["wall_s"]) < 1e-3 and min(s.values()) >= 0
        if not fits or abs(s["wall_s"] - status["elapsed_s"]) > 0.1 * status["elapsed_s"]:
            wrong.append(s)
    return wrong


def whole(what, out, witness):
    lost = witness.missing()
    ok(not lost, f"{what}: nothing acknowledged is lost", "\n".join(lost))
    twice = twice_imported(out)
    ok(not twice, f"{what}: no instance imports a seed twice, or its own", twice)
    left = unharvested(out)
    ok(not left and not unfinished(out), f"{what}: every file is in the store, every turn committed",
       f"{left} {unfinished(out)}")
    replays(what, out)


def short(name, builds, *args, limit=180):
    out = TEMP / name
    code, text = carol.run("fuzz", "-b", builds, "-o", out, "-j", 2, "--turn", "1s", *args, limit=limit)
    return out, code, text
