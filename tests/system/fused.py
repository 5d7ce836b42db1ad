#!/usr/bin/env python3
"""A short real campaign with --instances fused: five fuzzers are modes of one afl-fuzz with one queue, what is found
in a turn was made in its mode, imports are taken in every mode, also after kill -9 and --resume; the journal replays
bit for bit, and the oracle agrees.

usage: fused.py CAROL ROOT     prints TAP
"""
import shutil
import sys

from stage import Stage
from campaign_kit import engines_of, go_on_until, rows, rows_or_none, wait_until

stage = Stage("fused")
import fold

carol, ok, CAROL, TOTE, TEMP = stage.carol, stage.ok, stage.path, stage.tote, stage.temp
OUT = TEMP / "out"
FUZZERS = ["aflpp", "mopt", "darwin", "radamsa", "havoc", "honggfuzz"]
MODES = {"mopt": ",op:MOpt", "darwin": ",op:darwin", "radamsa": ",op:radamsa"}  # what names of their finds have
TURNS = 2  # of everybody, in each life


def words(out, *more):
    return ["fuzz", "-b", TEMP / "tote", "-i", TOTE / "seeds", "-o", out, "-j", 1, "-d", "1h", "--turn", "0.5s", "-s",
            "equal", "-f", ",".join(FUZZERS), "--seed", 3, "--instances", "fused", *more]


def least_turns():
    counts = rows_or_none(OUT, "SELECT count(*) FROM turns WHERE state = 3 GROUP BY arm") or []
    return min((n for n, in counts), default=0) if len(counts) == len(FUZZERS) else 0


def finds():
    """{fuzzer: names of what it found}"""
    found = {f: [] for f in FUZZERS}
    for arm, name in rows(OUT, "SELECT t.arm, s.name FROM seeds s JOIN turns t ON t.id = s.turn"):
        found[FUZZERS[arm]].append(name)
    return found


def campaign():
    p = carol.start(*words(OUT), log=TEMP / "log")
    wait_until(lambda: least_turns() >= TURNS, patience=240)
    p.kill()
    p.wait()
    ok(least_turns() >= TURNS, "a campaign runs", (TEMP / "log").read_text())
    text = (TEMP / "log").read_text()
    ok("dropped" not in text, "every mode takes an import of its self-test exactly once", text)
    code, text = go_on_until(lambda: least_turns() >= 2 * TURNS and all(finds()[m] for m in ("mopt", "darwin")), OUT,
                             carol, 8, limit=300)
    ok(code == 0, "killed with -9, it goes on", f"{code}\n{text}")


def look():
    ok(rows(OUT, "SELECT value FROM settings WHERE key = 'instances'") == [("fused",)], "the record says so")
    pool = rows(OUT, "SELECT fuzzer, number FROM instances ORDER BY fuzzer")
    ok(pool == [("afl", 0), ("honggfuzz", 0)], "there is one afl-fuzz for five fuzzers", pool)
    dirs = sorted(x.name for x in (OUT / "fuzzers").iterdir())
    ok(dirs == ["afl-0", "honggfuzz-0"], "and one directory", dirs)
    found = finds()
    ok(found["mopt"] and found["darwin"], "modes find something", found)
    wrong = [(f, n) for f, names in found.items() for n in names for mode, mark in MODES.items()
             if f != "honggfuzz" and (mark in n) != (f == mode)]
    ok(not wrong, "what a turn found was made in its mode", wrong)
    entries = rows(OUT, "SELECT count(*) FROM entries e JOIN instances i ON i.id = e.instance WHERE i.fuzzer = 'afl'")
    queue = len(list((OUT / "fuzzers/afl-0/out/default/queue").glob("id:*")))
    ok(entries == [(queue,)], "the store knows all of its queue", (entries, queue))
    taken = rows(OUT, "SELECT i.fuzzer, sum(t.offered), sum(t.taken) FROM turns t JOIN instances i ON"
                      " i.id = t.instance GROUP BY 1")
    ok(all(0 < got <= offered for _, offered, got in taken), "imports are taken", taken)
    own = rows(OUT, "SELECT i.* FROM imports i JOIN seeds s ON s.id = i.seed WHERE s.instance = i.instance")
    ok(not own, "nobody is given what another mode found", own)
    faults = [x.read_text() for x in OUT.rglob("fault")]
    ok(not faults, "the library has nothing to complain about", faults)
    r = carol.json("replay", OUT, "--json")
    ok(r.get("decisions", 0) >= 2 * TURNS and r["decisions"] == r["matched"] and r["state_equal"],
       "every decision replays bit for bit", r)
    report = fold.judge(OUT)
    ok(not report.wrong and report.looks.get("an instance of its fuzzer"), "the oracle computes the same",
       report.text())


def another_afl():
    """One without our changes cannot change its mode."""
    theirs = TEMP / "engines"
    shutil.copytree(engines_of(CAROL), theirs, symlinks=True)
    program = theirs / "afl" / "afl-fuzz"
    program.write_bytes(program.read_bytes().replace(b"carol_mode", b"xxxxx_mode"))
    code, text = carol.run(*words(TEMP / "no", "--engines", theirs))
    ok(code == 3 and "--instances own" in text and not (TEMP / "no").exists(), "another afl-fuzz is refused",
       f"{code}\n{text}")
    code, text = carol.run(*words(TEMP / "no", "--instances", "both"))
    ok(code == 2 and "--instances: 'both' is none of own, fused, varied" in text, "so is another word", f"{code}\n{text}")


def main():
    stage.build("--families", "afl,hfuzz,neutral")
    another_afl()
    campaign()
    look()


sys.exit(stage.play(main))
