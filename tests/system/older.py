#!/usr/bin/env python3
"""A campaign of the record version before this one: every command refuses it with what to do, and leaves it as it
is.  tests/data/campaign-v2.db.gz is the record of a real one, cut after eight turns.

    older.py CAROL SOURCE_ROOT
"""
import gzip
import sys
import tempfile
from pathlib import Path

from campaign_kit import Carol, Tap, rows

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2])
TEMP = Path(tempfile.mkdtemp(prefix="carol-older-"))
TAP = Tap()


def refused(out, *words):
    """Exit 2, one message: its version, ours, and the two ways on."""
    before = (out / "carol.db").read_bytes()
    code, text = CAROL.run(*words)
    said = ["carol.db", "older carol", "version 2", "go on with that carol", "start a new campaign", f"{out}/fuzzers"]
    TAP.ok(code == 2 and text.count("\n") == 1 and all(x in text for x in said),
           f"carol {' '.join(map(str, words[:-1]))} says what to do with an older record", f"{code}\n{text}")
    TAP.ok((out / "carol.db").read_bytes() == before, "and leaves it as it is")


def main():
    out = TEMP / "out"
    out.mkdir()
    (out / "carol.db").write_bytes(gzip.decompress((ROOT / "tests/data/campaign-v2.db.gz").read_bytes()))
    TAP.ok(rows(out, "PRAGMA user_version") == [(2,)] and rows(out, "SELECT count(*) FROM turns") == [(8,)],
           "the record is one of version 2, with turns in it")
    for words in (["status"], ["status", "--json"], ["explain"], ["replay"], ["fuzz", "--resume"]):
        refused(out, *words, out)
    TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
