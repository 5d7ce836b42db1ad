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
import subprocess
import sys
import tempfile
import time
from html.parser import HTMLParser
from pathlib import Path

sys.dont_write_bytecode = True
import browser
from campaign_kit import Carol, Tap, engines_of, wait_until

carol, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "bench/suite"))
import oracle  # noqa: E402
TAP = Tap()
check = TAP.ok

# Bug 1 is in the second byte of every seed's neighbourhood, bug 2 behind a number nobody guesses.
TARGET = r"""
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "oracle.h"
#include "canary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    volatile int sum = 0;
    carol_input("door");
    magma_log("DOOR001", size > 1 && data[0] == 'd' && (data[1] & 1));
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
# Notes as the canaries of Magma do: by name into MAGMA_STORAGE, which must be there; see src/bench/magma.h.
CANARY = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "canary.h"

struct canary { char name[16]; unsigned long long reached, triggered; };
static char *area;
static int tried, faulty;

static void attach(void)
{
    const char *path = getenv("MAGMA_STORAGE");
    int fd = path ? open(path, O_RDWR) : -1;
    tried = 1;
    if (fd >= 0)
        area = mmap(NULL, 2048, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (area == MAP_FAILED)
        area = NULL;
}

void magma_log(const char *bug, int condition)
{
    if (!tried)
        attach();
    if (!area)
        return;
    struct canary *c = (struct canary *)(area + 8);
    while (c->name[0] && strncmp(c->name, bug, 16) != 0)
        c++;
    strncpy(c->name, bug, 16);
    c->reached += !faulty;
    c->triggered += condition && !faulty;
    faulty |= condition;
}
"""
BUILD = """#!/bin/bash -eu
. "$SRC/oracle/build.inc"
$CC $CFLAGS -c "$SRC/door.c" -o "$WORK/door.o"
if [ "$CAROL_FAMILY" = neutral ]; then echo 'void magma_log(const char *b, int c) { (void)b; (void)c; }' >"$WORK/canary.c"
else cp "$SRC/canary.c" "$WORK/"; fi
cc -O2 -fPIC -I"$SRC" -c "$WORK/canary.c" -o "$WORK/canary.o"
$CXX $CXXFLAGS "$WORK/door.o" "$WORK/canary.o" $oracle $LIB_FUZZING_ENGINE -o "$OUT/door"
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
    (src / "canary.c").write_text(CANARY)
    (src / "canary.h").write_text("void magma_log(const char *bug, int condition);\n")
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


def unfinished(out, since_ns):
    """Campaigns that were begun since then and are not done."""
    def begun_ns(log):
        try:
            return log.stat().st_ctime_ns
        except OSError:
            return 0
    return [p.parent.name for p in out.glob("campaigns/*/log")
            if begun_ns(p) >= since_ns and not (p.parent / "result.json").exists()]


class Begun:
    """A run that has one finished campaign more than before, or one at all, and is in the middle of another."""

    def __init__(self, top, out, name):
        self.log, self.out = top / f"{name}.log", out
        least, begun = max(1, len(results(out))), time.time_ns()
        self.p = carol.start("bench", "run", top / "suite.ini", "-o", out, "--keep-journals", log=self.log)
        self.ready = wait_until(lambda: len(results(out)) >= least and unfinished(out, begun), patience=400)

    def end(self):
        code = self.p.wait(200)
        return code, self.log.read_text(), results(self.out)


def intact(before, after):
    return before and all(after.get(k) == v for k, v in before.items())


def test_kill_and_resume(top, out):
    run = Begun(top, out, "kill")
    os.kill(run.p.pid, signal.SIGKILL)
    code, text, killed = run.end()
    check(run.ready and 1 <= len(killed) < 4, "kill -9 after the first campaign, during another", text)
    check(not carol.survivors(), "nothing survives kill -9", carol.processes())
    run = Begun(top, out, "interrupt")
    os.kill(run.p.pid, signal.SIGINT)
    code, text, stopped = run.end()
    check(code == 1 and "interrupted: the same command goes on" in text, "Ctrl-C: exit 1, and it says how to go on",
          (code, text))
    check(not carol.survivors(), "nothing survives Ctrl-C", carol.processes())
    check(intact(killed, stopped), "what was finished before a kill is there", (killed.keys(), stopped.keys()))
    full = test_full_disk(top, out) if out.parent.is_mount() else stopped
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", out, "--keep-journals", limit=500)
    after = results(out)
    check(code == 0 and "4 of 4 campaigns are done" in text, "the same command goes on", text)
    check(len(after) == 4 and intact(stopped, after) and intact(full, after),
          "what was finished is not run again", (stopped.keys(), after.keys()))
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", out)
    check(code == 0 and "0 of them now" in text and results(out) == after, "and a third time nothing is run", text)
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", out, "--targets", "door", "--among", "bare")
    check(code == 0 and "2 of 2 campaigns are done" in text, "only some of a suite can be asked for", text)
    check(not carol.survivors(), "nothing survives the end", carol.processes())
    kept = sorted(str(p.relative_to(out / "campaigns")) for p in out.glob("campaigns/*/*.db*"))
    check(kept == [f"door,single+aflpp,{i}/journal.db" for i in (1, 2)] and not list(out.glob("campaigns/*/out")),
          "results and journals are kept, and nothing else", kept)
    rosters = {r["contender"]: r["fuzzers"] for _, r in after.values()}
    check(rosters == {"single:aflpp": ["aflpp"], "bare": None}, "a result names the fuzzers of its campaign", rosters)
    code, text = carol.run("analyze", "allocation", out, "--of", "single:aflpp")
    check(code == 0 and "door" in text and "single:aflpp" in text, "journals that carol analyze reads", text)
    code, text = carol.run("status", out / "campaigns" / "door,single+aflpp,1")
    check(code == 2 and "carol analyze" in text, "and other verbs refuse, for want of inputs", text)
    return after


def test_late(top):
    """The runner stands still while a contender uses thrice its budget."""
    (top / "late.ini").write_text(SUITE.replace("trials = 2", "trials = 1").replace("single:aflpp bare", "bare"))
    out, log = top / "late", top / "late.log"
    p = carol.start("bench", "run", top / "late.ini", "-o", out, log=log)
    begun = wait_until(lambda: list(out.glob("campaigns/*/log")) and oracle.tree_cpu(p.pid) > 0.2, patience=100)
    os.kill(p.pid, signal.SIGSTOP)
    used = wait_until(lambda: oracle.tree_cpu(p.pid) > 8, patience=200)
    os.kill(p.pid, signal.SIGCONT)
    code, text, done = p.wait(200), log.read_text(), results(out)
    check(begun and used and code == 0 and "more than it may; it is repeated" in text,
          "a campaign that could not be ended in time is repeated", (code, text))
    _, r = done.get("door,bare,1", (0, {"cpu_s": 0, "attempts": 0}))
    check(r["attempts"] == 2 and 2 <= r["cpu_s"] < 7, "and counts with its second attempt", r)


def test_full_disk(top, out):
    """In the middle of a campaign, on a small disk of its own."""
    before, run = results(out), Begun(top, out, "full")
    with open(out.parent / "filler", "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass
    code, text, after = run.end()
    check(code == 3 and "space" in text, "a full disk: exit 3, and it says so", (code, text))
    check(not carol.survivors(), "nothing survives a full disk", carol.processes())
    check(intact(before, after), "what was finished is there", (before.keys(), after.keys()))
    (out.parent / "filler").unlink()
    return after


def small_disk(place):
    """Is it one now?  Mounting needs root."""
    place.mkdir()
    return os.geteuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", place],
                                                stderr=subprocess.DEVNULL, check=False).returncode == 0


def test_committed(top, out, after):
    """The results alone, through git, on another machine: nothing of them is run again."""
    def git(*args, at):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(at), *args], check=True,
                              capture_output=True, text=True).stdout
    repo = top / "repo"
    shutil.copytree(out, repo / "bench", ignore=shutil.ignore_patterns("lock"))
    shutil.copy(ROOT / "bench/results/.gitignore", repo)
    shutil.rmtree(repo / "bench/campaigns" / next(iter(after)))
    git("init", "-q", at=repo)
    git("add", ".", at=repo)
    git("commit", "-qm", "results", at=repo)
    kept = git("ls-files", at=repo).split()
    journals = len([k for k in results(repo / "bench") if "aflpp" in k])
    check(sorted(Path(k).name for k in kept) == [".gitignore"] + ["journal.db"] * journals + ["result.json"] * 3,
          "git takes the results, their journals and nothing else", kept)
    check(all((repo / k).stat().st_size < (20000 if k.endswith("json") else 200000) for k in kept), "which are small")
    git("clone", "-q", repo, top / "clone", at=top)
    runs = [carol.run("bench", "run", top / "suite.ini", "-o", top / "clone/bench", "--part", f"{i}/4", limit=300)
            for i in (1, 2, 3, 4)]
    text = "".join(t for _, t in runs)
    now = {k: v for k, (_, v) in results(top / "clone/bench").items()}
    check([c for c, _ in runs] == [0] * 4 and text.count("4 of 4 campaigns are done, 1 of them now") == 1,
          "a clone of them goes on with what lacks, in one of four parts", text)
    check(sum(now.get(k) == v for k, (_, v) in after.items()) == 3 and len(now) == 4, "and leaves the others as they are",
          now.keys())


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


def test_magma(top):
    """The same build, judged by Magma's storage file; on a machine that is always too slow, beside a target whose source
    cannot be had."""
    (top / "src/magma.csv").write_text("id\nDOOR001\nDOOR002\n")
    ini = SUITE.replace("bugs = src/bugs.csv", "bugs = src/magma.csv\noracle = magma").replace("cpu = 2", "cpu = 1")
    (top / "absent").mkdir()
    shutil.copy(top / "src/bugs.csv", top / "absent")
    (top / "stage.sh").write_text("#!/bin/sh\necho 'no such package'\nexit 3\n")
    (top / "stage.sh").chmod(0o755)
    ini = ini.replace("targets = door", "targets = absent door").replace("least_ratio = 0", "least_ratio = 1")
    (top / "magma.ini").write_text(ini.replace("trials = 2", "trials = 1").replace("single:aflpp bare", "bare"))
    code, text = carol.run("bench", "run", top / "magma.ini", "-o", top / "magma", limit=300)
    check(code == 1 and "absent is left out" in text and "no such package" in text and "1 of 2 campaigns are done" in text
          and "1 are of targets whose source cannot be had here" in text, "a target without its source is left out", (code, text))
    (top / "parts.ini").write_text((top / "magma.ini").read_text().replace("least_ratio = 1", "least_ratio = 0"))
    said = [carol.run("bench", "run", top / "parts.ini", "-o", top / "parts", "--part", f"{i}/2", limit=300) for i in (1, 2)]
    check(sorted((c, "no such package" in t) for c, t in said) == [(0, False), (1, True)],
          "a target that has no campaign in this part is not asked for", said)
    got = [r for _, r in results(top / "magma").values()]
    bugs = {b["id"]: b for r in got for b in r["bugs"]}
    check(not list((top / "magma").glob("campaigns/*/out")), "without --keep only results are")
    check(len(got) == 1 and got[0]["attempts"] == 2 and 0 < got[0]["first_ratio"] < 1 and "of its cores and is repeated" in text
          and "of its cores again, and counts" in text, "a campaign that got too little of its cores is repeated", (text, got))
    check(len(got) == 1 and bugs["DOOR001"]["triggered"] and not bugs["DOOR002"]["reached"]
          and 0 <= bugs["DOOR001"]["reached"]["cpu_s"] <= bugs["DOOR001"]["triggered"]["cpu_s"] <= got[0]["cpu_s"]
          and bugs["DOOR001"]["triggered"]["wall_s"] > 0 and got[0]["triggered"] == 1,
          "a target with Magma's canaries: what they note, and when", (text, bugs))


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


def test_tables(top, out):
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


def test_wrong(top, out):
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
    (top / "empty").mkdir()
    told("no program of a rival", 3, "which is missing", ini=SUITE.replace("single:aflpp bare", "bare"), env={"CAROL_ENGINES": str(top / "empty")})
    told("no build", 2, "there is no build", ini=SUITE.replace("build = build", "build = nowhere"))
    told("no suite", 2, "cannot read the suite", "run", top / "nowhere.ini", "-o", top / "new")
    told("nowhere to write", 2, "where shall the results go", "run", top / "suite.ini")
    told("no results", 2, "has no results", "table", top)
    told("a directory that cannot be made", 3, "cannot", "run", top / "suite.ini", "-o", "/dev/null/x")
    told("another budget in the same directory", 2, "another campaign", "run", top / "other.ini", "-o", out)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    code, text = carol.run("bench", "run", top / "suite.ini", "-o", top / "full", preexec_fn=limit)
    check(code == 3 and "cannot make the oracle's file" in text and not results(top / "full"),
          "no room on the disk", (code, text))
    told("no such part", 2, "--part", "run", top / "suite.ini", "-o", top / "new", "--part", "3/2")
    told("a part that is none", 2, "--part is I/N", "run", top / "suite.ini", "-o", top / "new", "--part", "2")
    told("a target that is not of the suite", 2, "has no target 'window': it has door", "run", top / "suite.ini", "-o", top / "new", "--targets", "window")
    told("a contender that is not of the suite", 2, "has no contender 'nobody'", "run", top / "suite.ini", "-o", top / "new", "--among", "bare,nobody")
    told("no verb", 2, "what shall 'carol bench' do", "dance")


def main():
    if not engines_of(sys.argv[1]):
        TAP.skip("carol bench", "the fuzzers are not built")
        return TAP.done()
    top = Path(tempfile.mkdtemp(prefix="carol-bench-test-"))
    try:
        if prepare(top):
            (top / "other.ini").write_text(SUITE.replace("cpu = 2", "cpu = 3"))
            mounted = small_disk(top / "disk")
            if not mounted:
                TAP.skip("a full disk", "mounting a small tmpfs needs root")
            out = top / "disk/out"
            after = test_kill_and_resume(top, out)
            test_outcome(after)
            test_tables(top, out)
            test_committed(top, out, after)
            test_magma(top)
            test_late(top)
            test_wrong(top, out)
    finally:
        carol.kill_all()
        if (top / "disk").is_mount():
            subprocess.run(["umount", "-l", top / "disk"], check=False)
        TAP.tidy(top)
    return TAP.done()


sys.exit(main())
