#!/usr/bin/env python3
"""libFuzzer goes on whatever its target does to their process (targets/lives.c), and ends with the reason when it cannot
begin: lives.py CAROL SOURCE_ROOT.  TAP on stdout."""
import os
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap

TEMP = Path(tempfile.mkdtemp(prefix="carol-lives-"))
os.environ["CAROL_TEST_LOG"] = str(TEMP / "log")
CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
TAP = Tap()
ok = TAP.ok
WAYS = set("ABCDEFGHJKOPQRS")


def build(name, *flags):
    code, text = CAROL.run("build", "-o", TEMP / name, "--families", "libfuzzer", ROOT / "tests/system/targets/lives.c",
                           *(["--", *flags] if flags else []))
    ok(code == 0, f"the target is built: {name}", text)


def engine(name, turns, *more, seeds="seeds"):
    return ["engine", "run", "libfuzzer", "-b", TEMP / name, "-i", TEMP / seeds, "--turns", turns, "--turn", 2, "--timeout", 100,
            *more]


def survives():
    log = TEMP / "log"
    for turns in (5, 15, 45):  # longer on a machine that is too busy
        log.write_text("")
        some = CAROL.json(*engine("build", turns, "--json")).get("turns", [])
        if WAYS <= set(log.read_text()) and all(log.read_text().count(c) > 1 for c in "AEQ"):
            break
    seen = log.read_text()
    ok(WAYS <= set(seen), "the target did everything it can", sorted(WAYS - set(seen)))
    ok(some and not any(t["died"] for t in some), "no turn ended by a death", some)
    ok(all(t["execs"] > 0 for t in some), "each executed something", some)
    ok(sum(t["taken"] for t in some) == sum(t["offered"] for t in some) > 0, "all imports were taken", some)
    ok(sum(t["crashes"] for t in some) >= 5 and sum(t["hangs"] for t in some) > 0, "crashes and hangs were saved", some)
    ok(sum(t["crashes"] for t in some) <= 60, "a few of each place", some)
    ok(all(seen.count(c) > 1 for c in "AEQ"), "it began again after each", seen[:200])


def places():
    """Three crashes are kept of each place, also of those whose stack cannot be read."""
    for turns in (3, 9, 27):
        some = CAROL.json(*engine("nowhere", turns, "--json")).get("turns", [])
        crashes = sum(t["crashes"] for t in some)
        if crashes > 6:
            break
    ok(6 < crashes <= 24, "jumps to nowhere are told apart by where they came from", some)


def once():
    """A signal that waits while a hang is saved does not save it again."""
    (TEMP / "log").unlink()
    some = CAROL.json(*engine("once", 3, "--json")).get("turns", [])
    ok(sum(t["hangs"] for t in some) == 1, "one hang is one file", some)


def lost():
    for turns in (3, 9, 27):
        some = CAROL.json(*engine("lost", turns, "--json")).get("turns", [])
        if sum(t["hangs"] for t in some):
            break
    ok(sum(t["hangs"] for t in some) > 0 == sum(t["crashes"] for t in some), "a hang whose stack cannot be read is no crash", some)


def newline():
    """libFuzzer executes one before anybody can save it, unless it has a corpus."""
    some = CAROL.json(*engine("newline", 3, "--json", seeds="newlines")).get("turns", [])
    ok(some and not any(t["died"] for t in some) and all(t["execs"] > 0 for t in some), "a target that fails on a newline runs", some)
    ok(sum(t["crashes"] + t.get("echoes", 0) for t in some) > 0, "and its crash is saved", some)


def cannot_begin():
    code, text = CAROL.run(*engine("empty", 1))
    ok(code != 0 and "libFuzzer: deadly signal" in text, "a target that fails on the empty input is a death with a reason",
       f"{code}\n{text}")


def main():
    (TEMP / "seeds").mkdir()
    for i in range(6):
        (TEMP / "seeds" / str(i)).write_bytes(b"a seed of %d bytes" % (16 + i) + b"." * i)
    (TEMP / "newlines").mkdir()
    for i, text in enumerate((b"first", b"second", b"\n", b"\n\n")):
        (TEMP / "newlines" / str(i)).write_bytes(text)
    build("build")
    build("newline", "-DLIVES_NEWLINE")
    build("once", "-DLIVES_ONCE")
    build("lost", "-DLIVES_LOST")
    build("nowhere", "-DLIVES_NOWHERE")
    build("empty", "-DLIVES_EMPTY")
    survives()
    places()
    newline()
    once()
    lost()
    cannot_begin()
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
