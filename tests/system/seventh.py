#!/usr/bin/env python3
"""A fuzzer added as docs/ADDING_A_FUZZER.md says, one file and one line, is everywhere that fuzzers are named:
doctor, help, rosters, builds, self-tests, campaigns, status.

    seventh.py CAROL SEVENTH SOURCE_ROOT     SEVENTH is carol with that fuzzer; prints TAP
"""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap, engines_of, go_on_until

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[3]).resolve()
SEVENTH = Carol(sys.argv[2], CAROL_SELF=CAROL.binary)  # finds engines and runtimes where CAROL does
TEMP = Path(tempfile.mkdtemp(prefix="carol-seventh-"))
NAME, SUMMARY = "rare", "AFL++ with a preference for rarely seen edges"  # of the guide
TAP = Tap()
ok = TAP.ok


def doctors():
    six, seven = (c.json("doctor", "--json").get("fuzzers", {}) for c in (CAROL, SEVENTH))
    ok(list(seven) == [*six, NAME] and NAME not in six, "doctor --json: one more than before", seven)
    ok(seven.get(NAME, {}).items() >= seven["aflpp"].items(), "doctor --json: with what its engine says of itself",
       seven)
    _, text = SEVENTH.run("doctor")
    told = [x.split() for x in text.splitlines()]
    ok([NAME, *told[[x[0] for x in told].index("aflpp")][1:]] in told, "doctor: a line of its own", text)
    empty = TEMP / "engines"
    empty.mkdir()
    state = SEVENTH.json("doctor", "--json", "--engines", empty)["fuzzers"][NAME]
    ok(not state["ok"] and str(empty) in state["why"] and "make engines" in state["fix"],
       "doctor: without its engine it says why and how to get it", state)


def helps():
    for verb in ("fuzz", "engine"):
        lines = [x.split(maxsplit=2) for x in SEVENTH.run(verb, "--help")[1].splitlines()]
        ok([NAME, "afl", SUMMARY] in lines, f"{verb} --help: its name, its family and what it is", lines)
    text = SEVENTH.run("build", "--help")[1]
    line = [x for x in text.splitlines() if x.startswith("  afl ")]
    ok(len(line) == 1 and NAME in line[0].replace(",", "").split()[1:], "build --help: the family afl is for it", text)
    for words in (["fuzz", "-b", "nowhere", "-o", TEMP / "no", "-f", "x"], ["engine", "run", "x"]):
        code, text = SEVENTH.run(*words)
        ok(code == 2 and f", {NAME};" in text, f"{words[0]}: it is among those there are", text)
        ok(NAME not in CAROL.run(*words)[1], f"{words[0]}: and was not without the line")


def self_test():
    got = SEVENTH.json("engine", "selftest", NAME, "--json").get("fuzzers", {})
    ok(list(got) == [NAME] and got[NAME]["ok"], "engine selftest: it obeys, on a target built for it", got)


def turns(out):
    return SEVENTH.json("status", "--json", out).get("fuzzers", {}).get(NAME, {}).get("turns", 0)


def campaign():
    tote, out = ROOT / "examples" / "tote", TEMP / "out"
    code, text = SEVENTH.run("build", "-o", TEMP / "tote", "--families", "afl,neutral", "--target", "tote",
                             tote / "tote.c", tote / "tote_fuzzer.c")
    ok(code == 0 and "carol fuzz" in text, "a target is built", text)
    code, text = SEVENTH.run("fuzz", "-b", TEMP / "tote", "-i", tote / "seeds", "-o", out, "-j", 1, "-d", "4s",
                             "--turn", "0.5s", "-s", "equal", "-f", "all", "--seed", 3)
    ok("honggfuzz does not take part: honggfuzz needs the hfuzz build" in text, "fuzz -f all: who has no build is named",
       text)
    if code == 0:
        code, text = go_on_until(lambda: turns(out) > 0, out, SEVENTH, 3)
    ok(code == 0 and turns(out) > 0, "fuzz -f all: it has turns, says status --json", f"{code}\n{text}")
    text = SEVENTH.run("status", out)[1]
    ok(any(x.startswith(NAME + " ") for x in text.splitlines()), "status: a line of its own", text)
    stats = [x.read_text() for x in out.rglob("fuzzer_stats") if f"/{NAME}-" in str(x)]
    ok(len(stats) == 1 and " -p rare " in stats[0], "it was afl-fuzz, called as its file says", stats)
    ok(not SEVENTH.survivors(), "nothing is left over")


def main():
    os.chdir(TEMP)
    helps()
    if engines_of(CAROL.binary):
        doctors()
        self_test()
        campaign()
    else:
        TAP.skip("the seventh fuzzer runs", "the fuzzers are not built: make engines")
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
