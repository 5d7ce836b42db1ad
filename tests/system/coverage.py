#!/usr/bin/env python3
"""Source coverage of a real campaign: `carol coverage`.  Who was first on each line is computed a second time here, by
running every input alone and asking llvm-cov about it.

usage: coverage.py CAROL ROOT     prints TAP
"""
import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter

from stage import Stage
from campaign_kit import rows, turns_done, wait_until

stage = Stage("coverage")
carol, ok, TOTE, TEMP = stage.carol, stage.ok, stage.tote, stage.temp
OUT, ODD = TEMP / "out", TEMP / "odd"

# Ends in every way there is, each in a function of its own.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void crash(void) {
    *(volatile int *)8 = 1; /* CRASH */
}
static void hang(void) {
    for (;;) /* HANG */
        ;
}
static void leave(void) {
    _exit(3); /* LEAVE */
}
static int unused(void) {
    return 7; /* NOBODY */
}
static int early(int c) {
    if (c != 'z')
        return 1;
    return 2; /* AFTER */
}
int main(int argc, char **argv) {
    FILE *f = fopen(argv[argc - 1], "rb");
    int c = f ? fgetc(f) : EOF;
    early(c); /* no counter says that AFTER ran, only a difference of two */
    if (c == 'c') crash();
    if (c == 'h') hang();
    if (c == 'x') leave();
    if (argc > 9) return unused();
    return 0;
}
"""


def fuzz(out, build, turns, new_edges, *more):
    p = carol.start("fuzz", "-b", build, "-o", out, "-d", "1h", "--turn", "0.4s", "--seed", 3, *more, log=TEMP / "log")
    wait_until(lambda: turns_done(out) >= turns)
    wait_until(lambda: (rows(out, "SELECT sum(new_edges) FROM turns")[0][0] or 0) >= new_edges)
    p.terminate()
    p.wait()
    ok(turns_done(out) >= turns, f"a campaign runs ({out.name})", (TEMP / "log").read_text())


# --- the same, input by input ----------------------------------------------------------------------------------------

def trace_of(binary, data):
    """(file, line) with a count, from llvm-cov's trace of this input alone."""
    work = TEMP / "one"
    work.mkdir(exist_ok=True)
    (work / "input").write_bytes(data)
    (work / "raw").unlink(missing_ok=True)
    subprocess.run([binary, work / "input"], env={**os.environ, "LLVM_PROFILE_FILE": f"{work}/raw%c"}, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    subprocess.run(["llvm-profdata-19", "merge", work / "raw", "-o", work / "indexed"], check=True)
    text = subprocess.run(["llvm-cov-19", "export", "-format=lcov", "-instr-profile", work / "indexed", binary],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    file, found = None, set()
    for row in text.splitlines():
        if row.startswith("SF:"):
            file = row[3:]
        elif m := re.match(r"DA:(\d+),(\d+)$", row):
            if int(m[2]):
                found.add((file, int(m[1])))
    return found


def first_by_hand(out, binary):
    roster = rows(out, "SELECT value FROM settings WHERE key = 'fuzzers'")[0][0].split(",")
    arms = dict(rows(out, "SELECT id, arm FROM turns"))
    found = rows(out, "SELECT found_ns, 0, id, turn, data, hash FROM seeds")
    known = {f[5] for f in found}
    found += [c for c in rows(out, "SELECT found_ns, 1, id, turn, data, hash FROM crashes") if c[5] not in known]
    first = {}
    for ns, _, _, turn, data, _ in sorted(found, key=lambda f: f[:3]):
        who = roster[arms[turn]] if turn else "seeds"
        for place in trace_of(binary, data):
            first.setdefault(place, (who, f"{ns / 1e9:.3f}", hashlib.sha1(data).hexdigest()))
    return first, len(found)


def said(folder):
    with open(folder / "first.csv", newline="") as f:
        return {(r["file"], int(r["line"])): r for r in csv.DictReader(f)}


# --- checks ------------------------------------------------------------------------------------------------------------

def needs_a_build():
    code, text = carol.run("coverage", OUT)
    command = text.strip().splitlines()[-1].strip()
    ok(code == 2 and "--families source" in command, "without the family 'source' it says what to type", f"{code} {text}")
    here = TEMP / "bin"
    here.mkdir()
    (here / "carol").symlink_to(stage.path)
    p = subprocess.run(command, shell=True, env={**carol.env, "PATH": f"{here}:{os.environ['PATH']}"}, text=True,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    families = json.loads((TEMP / "tote" / "carol-build.json").read_text())["families"]
    ok(p.returncode == 0 and {"source", "neutral", "afl"} <= families.keys(), "typed, that adds it and keeps the others",
       p.stdout)


def who_was_first():
    r = carol.json("coverage", OUT, "--json")
    first, inputs = first_by_hand(OUT, TEMP / "tote" / "source" / "tote")
    got = said(OUT / "coverage")
    ok(r.get("inputs") == inputs and r["inputs_without_profile"] == 0, "every input runs", r)
    mine = {k: (v["fuzzer"], v["time_s"], v["input"]) for k, v in got.items()}
    differ = [(k, first.get(k), mine.get(k)) for k in first.keys() | mine.keys() if first.get(k) != mine.get(k)]
    ok(first and not differ, "who was first on each line is what the inputs show one by one", differ[:10])
    by = Counter(v[0] for v in first.values())
    ok({n: f["first_lines"] for n, f in r["fuzzers"].items()} == {n: by.get(n, 0) for n in r["fuzzers"]}
       and len(by) > 1, "each finder's lines are counted", (r["fuzzers"], by))
    return r, got


def reports(r, got):
    folder = OUT / "coverage"
    trace = (folder / "lcov.info").read_text()
    lines = [row for row in trace.splitlines() if row.startswith("DA:")]
    ok(r["lines"] == len(lines) and r["lines_covered"] == len(got) == sum(not x.endswith(",0") for x in lines),
       "lcov.info has the same lines", r)
    functions = [sum(int(x) for x in re.findall(rf"^{k}:(\d+)$", trace, re.M)) for k in ("FNF", "FNH")]
    ok([r["functions"], r["functions_covered"]] == functions and functions[1] > 5, "and functions", (r, functions))
    ok(all((folder / "inputs" / v["input"]).exists() for v in got.values()), "the inputs that were first are there")
    deep = json.loads((folder / "first.json").read_text())
    told = {(f["file"], x["line"]): x.get("input") for f in deep["source"] for x in f["lines"] if x["count"]}
    ok(told == {k: v["input"] for k, v in got.items()}, "first.json tells the same")
    ok((folder / "html" / "index.html").exists() and (folder / "index.html").exists()
       and "tote.c" in (folder / "index.html").read_text(), "there are pages to open")
    page = next(p.read_text() for p in (folder / "first").iterdir() if "tote.c</h1>" in p.read_text())
    ok("hsl(" in page and "&lt;" in page, "with the text of the source")
    ok(not list(folder.glob(".work*")), "no work files are left")


def every_end():
    """A program that crashes, hangs, leaves by _exit: each counts with what it ran."""
    (TEMP / "odd.c").write_text(PROGRAM)
    (TEMP / "seeds").mkdir()
    for name in ("okay", "crash", "hang", "xleave", "zed"):
        (TEMP / "seeds" / name).write_text(name)
    code, text = carol.run("build", "-o", TEMP / "odd-build", "--families", "afl,neutral,source", "--kind", "file",
                           TEMP / "odd.c")
    ok(code == 0, "a program with a main() is built", text)
    fuzz(ODD, TEMP / "odd-build", 1, 0, "-i", TEMP / "seeds", "-f", "aflpp", "-j", 1, "-T", 100)
    r = carol.json("coverage", ODD, "-o", TEMP / "odd-coverage", "--json")
    got = {line: v for (file, line), v in said(TEMP / "odd-coverage").items() if file.endswith("odd.c")}
    where = {m[1]: n for n, row in enumerate(PROGRAM.splitlines(), 1) if (m := re.search(r"/\* ([A-Z]+) \*/", row))}
    sha1 = {n: hashlib.sha1(n.encode()).hexdigest() for n in ("crash", "hang", "xleave", "zed")}
    want = {"CRASH": (sha1["crash"], "crash"), "HANG": (sha1["hang"], "timeout"), "LEAVE": (sha1["xleave"], "exit"),
            "AFTER": (sha1["zed"], "ok")}
    told = {k: (got[n]["input"], got[n]["status"]) for k, n in where.items() if n in got}
    ok(told == want, "crashes, hangs, _exit and skipped code count, and what nobody reached does not", (told, want, r))


def mistakes():
    (TEMP / "full").mkdir()
    (TEMP / "full" / "mine").write_text("x")
    for args, says in ((["coverage"], "which campaign"), (["coverage", TEMP], "holds no campaign"),
                       (["coverage", OUT, "-o", TEMP / "full"], "holds something else"),
                       (["coverage", OUT, "-b", TEMP / "full"], "holds no build"),
                       (["coverage", OUT, "-o", "/proc/x"], "cannot"), (["coverage", OUT, "-j", "0"], "-j")):
        code, text = carol.run(*args)
        ok(code == 2 and says in text, f"said: {' '.join(map(str, args[1:])).replace(str(TEMP), '')}", f"{code} {text}")
    ok([f.name for f in (TEMP / "full").iterdir()] == ["mine"], "what is not ours is not touched")
    code, text = carol.run("coverage", OUT, "-o", TEMP / "new", env={"PATH": "/nowhere", "CAROL_CLANG": shutil.which("true")})
    ok(code == 3, "without clang's tools it says so", f"{code} {text}")


def cut_off():
    folder = TEMP / "cut"
    p = carol.start("coverage", OUT, "-o", folder)
    wait_until(lambda: list(folder.glob(".work-*/profile-*")), 60, 0.001)
    p.kill()
    p.wait()
    ok(not carol.survivors() and list(folder.glob(".work-*")), "killed with -9 nothing runs on")
    code, text = carol.run("coverage", OUT, "-o", folder)
    ok(code == 0 and not list(folder.glob(".work-*"))
       and (folder / "first.csv").read_bytes() == (OUT / "coverage" / "first.csv").read_bytes(),
       "the next run clears up and says the same", text)
    p = carol.start("coverage", OUT, "-o", folder)
    wait_until(lambda: list(folder.glob(".work-*/profile-*")), 60, 0.001)
    p.send_signal(signal.SIGINT)
    ok(p.wait() in (130, 0) and not list(folder.glob(".work-*")) and (folder / "first.csv").exists(),
       "Ctrl-C leaves the results of before", p.returncode)


def main():
    stage.build("--families", "afl,neutral", env={"CFLAGS": "-O1 -g"})
    fuzz(OUT, TEMP / "tote", 8, 8, "-i", TOTE / "seeds", "-f", "aflpp,radamsa", "-j", 2)
    needs_a_build()
    reports(*who_was_first())
    for check in (every_end, mistakes, cut_off):
        check()


if __name__ == "__main__":
    sys.exit(stage.play(main))
