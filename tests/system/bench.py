#!/usr/bin/env python3
"""carol bench: bench.py CAROL SOURCE_ROOT.  A small suite with a target of its own and two contenders, killed in the
middle and resumed; what a wrong suite is told; tables of what came out.  TAP on stdout."""
import csv
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

sys.dont_write_bytecode = True
import browser
from campaign_kit import Carol, Tap, engines_of, wait_until

carol, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
TAP = Tap()
check = TAP.ok

# Bug 1 is in the second byte of every seed's neighbourhood, bug 2 behind a number nobody guesses.
TARGET = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "oracle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    volatile int sum = 0;
    carol_input("door");
    for (size_t i = 0; i < size && i < 64; i++)
        if (data[i] > 100)
            sum++;
    if (size > 1 && data[0] == 'd') {
        CAROL_BUG(1, CAROL_EQ(data[1] & 1, 1));
        uint64_t key = 0;
        if (size > 9)
            memcpy(&key, data + 2, 8);
        CAROL_BUG(2, CAROL_EQ(key, 0x123456789abcdef1ull));
    }
    return 0;
}
"""
BUILD = """#!/bin/bash -eu
. "$SRC/oracle/build.inc"
$CC $CFLAGS -c "$SRC/door.c" -o "$WORK/door.o"
$CXX $CXXFLAGS "$WORK/door.o" $oracle $LIB_FUZZING_ENGINE -o "$OUT/door"
"""
SUITE = """[suite]
targets = door
contenders = single:aflpp bare
trials = 2
cpu = 2
parallel = 1
least_ratio = 0
[target door]
build = build
seeds = src/seeds
bugs = src/bugs.csv
[contender single:aflpp]
scheduler = single:aflpp
[contender bare]
rival = aflpp
"""


def prepare(top):
    src = top / "src"
    (src / "seeds").mkdir(parents=True)
    (src / "door.c").write_text(TARGET)
    (src / "build.sh").write_text(BUILD)
    (src / "build.sh").chmod(0o755)
    (src / "seeds/one").write_bytes(b"d0 a seed")
    (src / "bugs.csv").write_text("id,number,grade\nD1,1,easy\nD2,2,hard\n")
    shutil.copytree(ROOT / "runtime/oracle", src / "oracle")
    (top / "suite.ini").write_text(SUITE)
    code, text = carol.run("build", "-o", top / "build", "--families", "afl,neutral", "--src", src, "--",
                           src / "build.sh", limit=300)
    return check(code == 0, "the target is built", text)


def results(out):
    """{campaign: (time of the file, its content)}"""
    return {p.parent.name: (p.stat().st_mtime_ns, json.loads(p.read_text()))
            for p in sorted(out.glob("campaigns/*/result.json"))}


def unfinished(out):
    return [p.name for p in out.glob("campaigns/*") if (p / "log").exists() and not (p / "result.json").exists()]


def test_kill_and_resume(top):
    out = top / "out"
    p = carol.start("bench", "run", top / "suite.ini", "-o", out, log=top / "log")
    begun = wait_until(lambda: results(out) and unfinished(out), patience=400)
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    before = results(out)
    check(begun and 1 <= len(before) < 4, "killed after the first campaign, during another",
          (top / "log").read_text())
    check(not carol.survivors(), "nothing survives", carol.processes())
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", out, limit=500)
    after = results(out)
    check(code == 0 and "4 of 4 campaigns are done" in text, "the same command goes on", text)
    check(len(after) == 4 and all(after[k] == v for k, v in before.items()),
          "what was finished is not run again", (before.keys(), after.keys()))
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", out)
    check(code == 0 and "0 of them now" in text and results(out) == after, "and a third time nothing is run", text)
    check(not carol.survivors(), "nothing survives the end", carol.processes())
    check(not list(out.glob("campaigns/*/out")), "only results are kept")
    return after


def test_outcome(after):
    for name, (_, r) in after.items():
        bugs = {b["id"]: b for b in r["bugs"]}
        check(r["cpu_s"] >= 2 and r["wall_s"] > 0 and r["execs"] > 100, f"{name}: used its CPU time", r)
        first = bugs["D1"]["triggered"]
        check(first and 0 <= first["cpu_s"] <= r["cpu_s"] and 1 <= first["exec"] <= r["execs"]
              and bugs["D1"]["reached"]["exec"] <= first["exec"], f"{name}: the easy bug, with its times", bugs)
        check(bugs["D2"]["reached"] and not bugs["D2"]["triggered"], f"{name}: the hard one is reached only", bugs)
        check(r["edges"] == sorted(r["edges"]) and 0 < r["edges"][-1] <= r["edges_total"],
              f"{name}: edges over time", r["edges"])
    shares = {r["contender"]: r["top_share"] for _, r in after.values()}
    check(shares["bare"] == [None] * 4 and any(s == 1 for s in shares["single:aflpp"]),
          "shares by quarter, of Carol's contender only", shares)
    check({r["seed"] for _, r in after.values()} == {2, 3}, "every trial has a seed of its own")


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.seen = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if any(k in ("src", "href") and v != "data:," for k, v in attrs): # the icon is empty, so that none is fetched
            self.wrong.append((tag, attrs))
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def test_tables(top):
    out = top / "out"
    code, text = carol.run("bench", "table", out)
    check(code == 0 and "bugs triggered" in text and "door" in text and "best rival" in text, "the table", text)
    t = carol.json("bench", "table", out, "--json", "--of", "bare")
    check(t.get("reference") == "bare" and t["campaigns"] == 4 and len(t["cells"]) == 2
          and [len(c["bugs"]["values"]) for c in t["cells"]] == [2, 2], "the table as JSON", t)
    code, text = carol.run("bench", "table", out, "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    check(code == 0 and len(rows) == 4 and {r["contender"] for r in rows} == {"bare", "single:aflpp"}
          and all(r["bugs"] == "1" for r in rows), "campaigns as CSV", text)
    code, text = carol.run("bench", "table", out, "--csv-bugs")
    check(code == 0 and len(list(csv.DictReader(io.StringIO(text)))) == 8, "bugs as CSV", text)
    code, text = carol.run("bench", "table", out, "--html", top / "page.html")
    page = Tags()
    page.feed((top / "page.html").read_text())
    check(code == 0 and not page.wrong and not page.open and {"svg", "table", "path"} <= page.seen,
          "a page that is whole and loads nothing", (text, page.wrong, page.open))
    if browser.is_here():
        with browser.Browser() as b:
            check(not (wrong := browser.faults(b, top / "page.html")), "which a browser shows, wide and narrow", wrong)


def test_wrong(top):
    def told(name, code, says, *args, ini=None, env=None):
        file = top / "wrong.ini"
        file.write_text(ini or SUITE)
        got, text = carol.run("bench", *(args or ("run", file, "-o", top / "new")), env=env)
        check(got == code and says in text and not list((top / "new").glob("campaigns/*")), name, (got, text))

    told("an unknown target", 2, "there is no target 'window'", ini=SUITE.replace("targets = door", "targets = window"))
    told("an unknown scheduler", 2, "guess", ini=SUITE.replace("scheduler = single:aflpp", "scheduler = guess"))
    told("an unknown rival", 2, "there is no rival 'none'", ini=SUITE.replace("rival = aflpp", "rival = none"))
    told("a build without the family that a rival needs", 2, "has no family hfuzz",
         ini=SUITE.replace("rival = aflpp", "rival = honggfuzz"))
    told("no build", 2, "there is no build", ini=SUITE.replace("build = build", "build = nowhere"))
    told("no suite", 2, "cannot read the suite", "run", top / "nowhere.ini", "-o", top / "new")
    told("nowhere to write", 2, "where shall the results go", "run", top / "suite.ini")
    told("no results", 2, "has no results", "table", top)
    told("a directory that cannot be made", 3, "cannot", "run", top / "suite.ini", "-o", "/dev/null/x")
    told("another budget in the same directory", 2, "another campaign", "run", top / "other.ini", "-o", top / "out")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", top / "full", preexec_fn=limit)
    check(code == 3 and "cannot make the oracle's file" in text and not results(top / "full"),
          "no room on the disk", (code, text))
    told("no verb", 2, "what shall 'carol bench' do", "dance")


def test_interrupt(top):
    out = top / "ctrl-c"
    p = carol.start("bench", "run", top / "suite.ini", "-o", out, log=top / "log2")
    wait_until(lambda: unfinished(out), patience=200)
    os.kill(p.pid, signal.SIGINT)
    code = p.wait(120)
    text = (top / "log2").read_text()
    check(code == 1 and "interrupted" in text, "Ctrl-C: exit 1, and it says how to go on", (code, text))
    check(not carol.survivors(), "nothing survives Ctrl-C", carol.processes())


def main():
    if not engines_of(sys.argv[1]):
        TAP.skip("carol bench", "the fuzzers are not built")
        return TAP.done()
    top = Path(tempfile.mkdtemp(prefix="carol-bench-test-"))
    try:
        if prepare(top):
            (top / "other.ini").write_text(SUITE.replace("cpu = 2", "cpu = 3"))
            after = test_kill_and_resume(top)
            test_outcome(after)
            test_tables(top)
            test_wrong(top)
            test_interrupt(top)
    finally:
        carol.kill_all()
        TAP.tidy(top)
    return TAP.done()


sys.exit(main())
