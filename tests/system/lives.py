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
WAYS = set("ABCDEFGHJOQRS")


def build(name, *flags):
    code, text = CAROL.run("build", "-o", TEMP / name, "--families", "libfuzzer", ROOT / "tests/system/targets/lives.c",
                           *(["--", *flags] if flags else []))
    ok(code == 0, f"the target is built: {name}", text)


def engine(name, turns, *more):
    return ["engine", "run", "libfuzzer", "-b", TEMP / name, "-i", TEMP / "seeds", "--turns", turns, "--turn", 2, "--timeout", 100,
            *more]


def survives():
    log = TEMP / "log"
    for turns in (5, 15, 45):  # longer on a machine that is too busy
        log.write_text("")
        some = CAROL.json(*engine("build", turns, "--json")).get("turns", [])
        if WAYS <= set(log.read_text()):
            break
    seen = log.read_text()
    ok(WAYS <= set(seen), "the target did everything it can", sorted(WAYS - set(seen)))
    ok(some and not any(t["died"] for t in some), "no turn ended by a death", some)
    ok(all(t["execs"] > 0 for t in some), "each executed something", some)
    ok(sum(t["taken"] for t in some) == sum(t["offered"] for t in some) > 0, "all imports were taken", some)
    ok(sum(t["crashes"] for t in some) >= 5 and sum(t["hangs"] for t in some) > 0, "crashes and hangs were saved", some)
    ok(sum(t["crashes"] for t in some) <= 60, "a few of each place", some)
    ok(all(seen.count(c) > 1 for c in "AEQ"), "it began again after each", seen[:200])


def cannot_begin():
    code, text = CAROL.run(*engine("empty", 1))
    ok(code != 0 and "libFuzzer: deadly signal" in text, "a target that fails on the empty input is a death with a reason",
       f"{code}\n{text}")


def main():
    (TEMP / "seeds").mkdir()
    for i in range(6):
        (TEMP / "seeds" / str(i)).write_bytes(b"a seed of %d bytes" % (16 + i) + b"." * i)
    build("build")
    build("empty", "-DLIVES_EMPTY")
    survives()
    cannot_begin()
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
