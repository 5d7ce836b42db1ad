#!/usr/bin/env python3
"""A comparison with 32 bits (targets/magic.c): cmplog passes it, with imports on the way, aflpp does not; and
what both need to be built: magic.py CAROL SOURCE_ROOT.  TAP on stdout."""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
TEMP = Path(tempfile.mkdtemp(prefix="carol-magic-"))
TAP = Tap()
ok = TAP.ok


def build(families):
    return CAROL.run("build", "-o", TEMP / "build", "--families", families, ROOT / "tests/system/targets/magic.c")


def turns(fuzzer, seconds):
    got = CAROL.json("engine", "run", fuzzer, "-b", TEMP / "build", "-i", TEMP / "seeds", "--turns", 4, "--turn", seconds,
                     "--json")
    return got.get("turns", [])


def total(some, what):
    return sum(t[what] for t in some)


def passed(some):
    return total(some, "crashes") > 0 and total(some, "taken") == total(some, "offered") > 0


def needs_two_builds():
    code, text = build("afl")
    ok(code == 0, "the target is built for aflpp", text)
    code, text = CAROL.run("engine", "run", "cmplog", "-b", TEMP / "build", "-i", TEMP / "seeds", "--turns", 1)
    ok(code == 3 and "--families cmplog" in text, "cmplog says which build it lacks", f"{code}\n{text}")
    code, text = build("cmplog")
    ok(code == 0, "it is built beside the first", text)


def comparison():
    for seconds in (1, 4, 16):  # longer on a machine that is too busy
        some = turns("cmplog", seconds)
        if passed(some):
            break
    ok(passed(some), "cmplog passes the comparison and takes its imports", some)
    plain = turns("aflpp", seconds)
    ok(total(plain, "execs") > 0 and total(plain, "crashes") == 0, "aflpp in the same time does not", plain)


def main():
    (TEMP / "seeds").mkdir()
    for i in range(4):
        (TEMP / "seeds" / str(i)).write_bytes(b"a seed of %d bytes" % (16 + i) + b"." * i)
    needs_two_builds()
    comparison()
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
