#!/usr/bin/env python3
"""A short real campaign under --share worth: imports are taken, heavy inputs are not, also after kill -9 and
--resume, and the journal replays bit for bit.

usage: exchange.py CAROL ROOT     prints TAP
"""
import sys

from stage import Stage
from campaign_kit import go_on_until, rows, turns_done, wait_until

stage = Stage("exchange")
carol, ok, TOTE, TEMP = stage.carol, stage.ok, stage.tote, stage.temp
OUT = TEMP / "out"
TURNS = 9


def seeds():
    """Those of tote, and one that is far too large and brings nothing."""
    where = TEMP / "seeds"
    where.mkdir()
    for seed in (TOTE / "seeds").iterdir():
        (where / seed.name).write_bytes(seed.read_bytes())
    largest = max((TOTE / "seeds").iterdir(), key=lambda f: f.stat().st_size).read_bytes()
    (where / "bulky").write_bytes(largest + bytes(60000))
    return where


def campaign():
    p = carol.start("fuzz", "-b", TEMP / "tote", "-i", seeds(), "-o", OUT, "-j", 2, "-d", "1h", "--turn", "0.5s", "-s",
                    "equal", "-f", "aflpp,honggfuzz,radamsa", "--seed", 3, "--share", "worth", log=TEMP / "log")
    wait_until(lambda: turns_done(OUT) >= TURNS)
    p.kill()
    p.wait()
    was = turns_done(OUT)
    ok(was >= TURNS, "a campaign runs", (TEMP / "log").read_text())
    code, text = go_on_until(lambda: turns_done(OUT) > was + TURNS, OUT, carol, 5)
    ok(code == 0, "killed with -9, it goes on", f"{code}\n{text}")


def look():
    ok(rows(OUT, "SELECT value FROM settings WHERE key = 'share'") == [("worth",)], "the record says how it shares")
    taken = rows(OUT, "SELECT arm, sum(offered), sum(taken) FROM turns GROUP BY arm")
    ok(len(taken) == 3 and all(offered and got for _, offered, got in taken), "every fuzzer takes imports", taken)
    own = rows(OUT, "SELECT i.* FROM imports i JOIN seeds s ON s.id = i.seed WHERE s.instance = i.instance"
                    " OR s.share IS NULL")
    ok(not own, "nobody is given what is its own or not shared", own)
    bulky = rows(OUT, "SELECT id, share FROM seeds WHERE name LIKE '%bulky'")
    given = rows(OUT, "SELECT count(*) FROM imports WHERE seed = ?", bulky[0][0])
    ok(bulky[0][1] and given == [(0,)], "a bulky seed without an edge of its own is given to nobody", (bulky, given))
    r = carol.json("replay", OUT, "--json")
    ok(r.get("decisions", 0) >= 2 * TURNS and r["decisions"] == r["matched"] and r["state_equal"],
       "every decision replays bit for bit", r)


def main():
    stage.build()
    campaign()
    look()


sys.exit(stage.play(main))
