#!/usr/bin/env python3
"""From crash files to defects: a target with planted defects of every kind, a real campaign on it, and everything that can
go wrong around it.

    triage.py CAROL SOURCE_ROOT
"""
import hashlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree
from pathlib import Path

from campaign_kit import Carol, Tap, rows

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
TEMP = Path(tempfile.mkdtemp(prefix="carol-triage-"))
TAP = Tap()
SOURCE = ROOT / "tests/system/targets/faults.c"
BUILD, OUT = TEMP / "build", TEMP / "out"
LAST_HANGS = 3  # that the end of a campaign runs again
PLANTED = {}  # letter -> (function, line, fault, cwe, class, how)
SCHEMA = ("@microsoft/jest-sarif@1.0.0-beta.0", "package/lib/schemas/sarif-2.1.0-rtm.5.json",
          "2d99159ae54a3eea97f81781cff48780548657c35949f4b7f25e99a2ba4de4f8")


def read_planted():
    function = None
    for number, line in enumerate(SOURCE.read_text().splitlines(), 1):
        head = re.match(r"OWN .*?(\w+)\(", line)
        function = head.group(1) if head else function
        for letter, fault, cwe, kind, how in re.findall(r"/\* DEFECT (.) (.*?), (CWE-\d+), (\w+), (\w+) \*/", line):
            PLANTED[letter] = (function, number, fault, cwe, kind, how)


def add_crash(out, data, hang=False, arm=0, sig=11):
    """As if a fuzzer had found it."""
    with sqlite3.connect(out / "carol.db", timeout=30) as db:
        db.execute("INSERT OR IGNORE INTO crashes(hang, hash, size, arm, signal, name, found_ns, by_eval, data)"
                   " VALUES(?, ?, ?, ?, ?, 'planted', 5000000000, 0, ?)",
                   (int(hang), hashlib.sha256(data).digest(), len(data), arm, sig, data))


def triage(*args, out=OUT, **kw):
    return CAROL.run("triage", *args, out, **kw)


def defects(out=OUT, name="triage"):
    return json.loads((out / name / "defects.json").read_text())


def facts(d):
    line = None if d["kind"] == "hang" or d["fault"] == "stack-overflow" else d["line"]
    return d["function"], line, d["fault"], d["cwe"], d["class"]


def expected(how):
    return sorted((f, None if fault in ("hang", "stack-overflow") else line, fault, cwe, kind)
                  for f, line, fault, cwe, kind, h in PLANTED.values() if h in how)


def build():
    code, text = CAROL.run("build", "-o", BUILD, SOURCE)
    TAP.ok(code == 0, "the target with planted defects is built", text)


def campaign():
    """What it finds must be among the planted ones, told while it runs; the rest is planted as crashes.  A slow machine
    needs minutes for three defects in a hundredth of the time."""
    seeds = TEMP / "seeds"
    seeds.mkdir()
    (seeds / "seed").write_bytes(b"%..")
    code, text = CAROL.run("fuzz", "--triage", "-b", BUILD, "-i", seeds, "-o", OUT, "-f", "aflpp", "-j", 1, "-d", "4m", "--turn",
                           "1s", "-T", "100", "--stop-on-defect", 3)
    TAP.ok(code == 1 and "defects found after" in text, "--stop-on-defect ends a campaign with 1", text)
    TAP.ok("defect 3: " in text, "defects are told while it runs", text)
    TAP.ok(re.search(r"confirmed, from \d+ crashes", text) and f"{OUT}/triage/" in text,
           "the last screen lists them with the command that reproduces each", text)
    status = CAROL.json("status", "--json", OUT)
    TAP.ok(len(status["defects"]) >= 3 and status["fuzzers"]["aflpp"]["defects"] == len(status["defects"]) and
           status["untriaged"] == max(0, status["hangs"] - LAST_HANGS), "status shows them, by whom and when", status)
    TAP.ok(all(d["found_by"] == "aflpp" and 0 < d["first_seen_s"] < 240 for d in status["defects"]), "by aflpp", status)
    code, text = CAROL.run("replay", OUT)
    TAP.ok(code == 0 and re.search(r"^(\d+) decisions, \1 come out exactly", text, re.M), "the journal replays exactly", text)
    spent = rows(OUT, "SELECT total(cpu_us) / 1e6 FROM triage")[0][0]
    TAP.ok(spent < 60, "and triage knows what it cost", spent)


def buckets():
    for letter in PLANTED:
        for more in (b"0", b"0\0\0\0\0\0\0", b"0abc"):
            add_crash(OUT, b"%" + letter.encode() + more, hang=letter == "h")
    add_crash(OUT, b"%l0", hang=True)
    add_crash(OUT, b"nothing at all")
    code, text = triage("--minimise-time", "2s", "-q")
    d = defects()
    TAP.ok(code == 0 and sorted(map(facts, d["defects"])) == expected(("sure", "hang")),
           "every planted defect has exactly one bucket, with its place, fault, weakness and class",
           f"{text}\n{sorted(map(facts, d['defects']))}\n{expected(('sure', 'hang'))}")
    TAP.ok(sorted(map(facts, d["unconfirmed"])) == expected(("flaky", "sanitizer")),
           "what fails not always, or only under the sanitizer, is kept apart", d["unconfirmed"])
    talk = next(x for x in d["defects"] if x["function"] == "talkative")
    TAP.ok("in talkative" in (OUT / "triage" / talk["id"] / "stack.txt").read_text(), "a report behind megabytes of output is found and kept")
    why = {u["function"]: u["why"] for u in d["unconfirmed"]}
    TAP.ok("flaky" in why.get("flaky", "") and "only the sanitizer" in why.get("one_too_far", ""), "each with its reason", why)
    TAP.ok(d["slow"] >= 1 and d["clean"] >= 1 and d["waiting"] == 0, "a slow input is no hang, a clean one no crash", text)
    counts = {x["kind"]: (x["plain_runs"], x["plain_crashes"]) for x in d["defects"]}
    TAP.ok(counts["hang"] == (1, 1) and counts["crash"] == (5, 5), "the counts are of runs that were made", counts)
    entries = sorted(x["entry"] for x in d["defects"] if x["function"] == "shared")
    TAP.ok(entries == ["entry_one", "entry_two"], "one place entered in two ways is two defects", entries)
    small = [x for x in d["defects"] if x["kind"] == "crash" and x["minimised"]]
    sizes = [Path(x["minimised"]).stat().st_size for x in small]
    TAP.ok(len(small) == len(expected(("sure",))) and set(sizes) == {3}, "each is minimised to the three bytes it needs", sizes)
    originals = [Path(x["minimised"]).with_name("original").stat().st_size for x in small]
    TAP.ok(min(originals) >= 3, "and the original is kept", originals)


def again():
    before = rows(OUT, "SELECT crash, cpu_us FROM triage ORDER BY 1")
    code, _ = triage("-q")
    TAP.ok(code == 0 and rows(OUT, "SELECT crash, cpu_us FROM triage ORDER BY 1") == before, "a second run runs nothing again")
    add_crash(OUT, b"%n1234567")
    triage("-q")
    now = rows(OUT, "SELECT crash, cpu_us FROM triage ORDER BY 1")
    TAP.ok(len(now) == len(before) + 1 and now[:-1] == before, "only what is new costs")


def files():
    d = defects()["defects"]
    report = (OUT / "triage" / d[0]["id"] / "report.md").read_text()
    steps = [line.strip() for line in report.split("## Reproduce")[1].split("`original`")[0].splitlines() if line.startswith("    ")]
    TAP.ok(len(steps) == 3, "a report reproduces its defect in three commands", report)
    done = subprocess.run(["bash", "-c", "\n".join(steps)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False, text=True)
    TAP.ok(done.returncode not in (0, 127), "which fail as they should", done)
    TAP.ok(all(w in report for w in ("## Builds", "clang", "first seen", "by aflpp", "## Where the input comes from", "| seed |")),
           "it names builds, finder and ancestors", report)
    suite = xml.etree.ElementTree.parse(OUT / "triage/junit.xml").getroot().find("testsuite")
    TAP.ok(len(suite.findall("testcase/failure")) == len(d) == int(suite.get("failures")), "junit.xml has a failure per defect")
    sarif = json.loads((OUT / "triage/defects.sarif").read_text())
    prints = {r["partialFingerprints"]["carolBucket/v1"] for r in sarif["runs"][0]["results"]}
    TAP.ok({x["id"] for x in d} <= prints, "SARIF has a fingerprint per defect")
    check_schema(sarif)


def get_schema():
    """The published one, out of a package that has it, kept in the cache; None when it is not to be had."""
    keep = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "carol" / "sarif-2.1.0.json"
    if not keep.exists() and shutil.which("npm"):
        got = subprocess.run(["npm", "pack", "--silent", SCHEMA[0]], cwd=TEMP, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             text=True, check=False, timeout=120)
        if got.returncode == 0:
            with tarfile.open(TEMP / got.stdout.split()[-1]) as tar:
                keep.parent.mkdir(parents=True, exist_ok=True)
                keep.write_bytes(tar.extractfile(SCHEMA[1]).read())
    if not keep.exists() or hashlib.sha256(keep.read_bytes()).hexdigest() != SCHEMA[2]:
        return None
    return json.loads(keep.read_text())


def check_schema(sarif):
    what = "SARIF is valid by the published schema"
    schema = get_schema()
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        jsonschema = None
    if not schema or not jsonschema:
        TAP.skip(what, "no npm or no python3-jsonschema here")
        return
    errors = [e.message for e in jsonschema.Draft7Validator(schema).iter_errors(sarif)]
    TAP.ok(not errors, what, "\n".join(errors))


def verdicts():
    base = TEMP / "base.json"
    shutil.copy(OUT / "triage/defects.json", base)
    TAP.ok(triage("-q", "--fail-on", "any")[0] == 1, "--fail-on any: exit 1")
    code, text = triage("-q", "--fail-on", "new", "--baseline", base)
    TAP.ok(code == 0 and "(known)" in text and "(new)" not in text, "--baseline: nothing new, exit 0", text)
    known = json.loads(base.read_text())
    gone = known["defects"].pop()["id"]
    base.write_text(json.dumps(known))
    code, text = triage("-q", "--fail-on", "new", "--baseline", base)
    TAP.ok(code == 1 and re.search(rf"{gone}.*\(new\)", text), "one that is not in it is new, exit 1", text)
    code, text = triage("-q", "--baseline", SOURCE)
    TAP.ok(code == 2 and "--baseline" in text, "a baseline that is none is refused", text)


def publish():
    bundle = TEMP / "public.tar.gz"
    code, text = triage("-q", "--public", "--bundle", bundle)
    d = defects(name="triage-public")
    withheld = [x for x in d["defects"] + d["unconfirmed"] if x["class"] == "withheld"]
    names = tarfile.open(bundle).getnames()
    TAP.ok(code == 0 and withheld and not any(x["minimised"] or x["input"] for x in withheld), "--public tells no input of the withheld",
           text)
    TAP.ok(not any(x["id"] in n for x in withheld for n in names), "and packs none of them", names)
    told = [x for x in d["defects"] if x["class"] == "crash" and x["kind"] == "crash"]
    TAP.ok(told and all(f"carol-triage/{x['id']}/minimised" in names for x in told), "the others are in the bundle", names)


def hook():
    log = TEMP / "hook.log"
    command = f"cat >> {log}; echo \" $CAROL_DEFECT_ID $CAROL_DEFECT_DIR\" >> {log}"
    triage("-q", "--exec", command)
    text = log.read_text() if log.exists() else ""
    ids = [x["id"] for x in defects()["defects"] + defects()["unconfirmed"]]
    TAP.ok(all(f" {i} {OUT}/triage/{i}" in text for i in ids) and text.count('"id"') == len(ids), "--exec is run for each, with its JSON", text)
    triage("-q", "--exec", command)
    TAP.ok(log.read_text() == text, "once")


def killed():
    """kill -9 in the middle: nothing is left running, and the next run goes on."""
    out = TEMP / "killed"
    shutil.copytree(OUT, out)
    shutil.rmtree(out / "triage")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM triage")
        db.execute("DELETE FROM minimised")
    p = CAROL.start("triage", "-q", "--minimise-time", "1s", out)
    end = time.monotonic() + 60
    while not rows(out, "SELECT count(*) FROM triage")[0][0] and time.monotonic() < end:
        time.sleep(0.02)
    p.send_signal(signal.SIGKILL)
    p.wait()
    some = rows(out, "SELECT count(*) FROM triage")[0][0]
    TAP.ok(not CAROL.survivors() and some, "nothing survives kill -9")
    code, _ = triage("-q", "--minimise-time", "0", out=out)
    same = [(x["id"], x["inputs"]) for x in defects(out)["defects"]] == [(x["id"], x["inputs"]) for x in defects()["defects"]]
    TAP.ok(code == 0 and same, "the next run comes to the same defects")
    TAP.ok(not list((out / "triage").glob(".run-*")), "and what the killed one left is gone")
    return out


def bad_input(out):
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("INSERT INTO crashes(hang, hash, size, arm, signal, name, found_ns, by_eval, data) VALUES(0, ?, 5000000, 0, 11, 'lost', 1, 0, NULL)",
                   (hashlib.sha256(b"lost").digest(),))
    code, text = triage("-q", "--minimise-time", "0", out=out)
    TAP.ok(code == 0 and "set aside" in text and "could not be run" in text, "a crash whose bytes are lost is said, the rest goes on", text)
    code, text = triage("-q", "--minimise-time", "0", out=out, env={"ASAN_SYMBOLIZER_PATH": "/nowhere"})
    where = [d["function"] for d in defects(out)["defects"] if d["fault"].startswith("null-pointer")]
    TAP.ok(code == 0 and "llvm-symbolizer is not installed" in text and len(where) >= 4 and all(w.startswith("faults+0x") for w in where),
           "without llvm-symbolizer: by address, and said", f"{text}{where}")
    plain = TEMP / "plain-only"
    shutil.copytree(BUILD, plain)
    manifest = json.loads((plain / "carol-build.json").read_text())
    for m in [manifest, *manifest["targets"]]:
        m["families"].pop("asan")
    (plain / "carol-build.json").write_text(json.dumps(manifest))
    code, text = triage("-q", "--minimise-time", "0", "-b", plain, out=out)
    faults = {d["fault"] for d in defects(out)["defects"]}
    TAP.ok(code == 0 and "no asan build" in text and {"SIGSEGV", "SIGFPE"} <= faults, "without an asan build: by signal, and said", f"{text}{faults}")
    (plain / "plain/faults").unlink()
    code, text = triage("-q", "-b", plain, out=out)
    TAP.ok(code == 2 and "neither an asan nor a plain build" in text, "without any build: refused with what to do", text)


def symboliser():
    """One that ends while it is asked: another takes its place; when all do, no defect gets a wrong bucket."""
    out, tool, mark = TEMP / "symboliser", TEMP / "symboliser.sh", TEMP / "ended"
    shutil.copytree(OUT, out)
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM crashes WHERE hang OR name <> 'planted' OR substr(data, 1, 2) <> CAST('%n' AS BLOB)")
        db.execute("DELETE FROM triage")
        db.execute("DELETE FROM minimised")
    want = [d["id"] for d in defects()["defects"] if d["function"] == PLANTED["n"][0]]
    tool.write_text("#!/bin/sh\nread line\nexit 1\n")
    tool.chmod(0o755)
    env = {"ASAN_SYMBOLIZER_PATH": str(tool)}
    code, text = triage("-q", "--minimise-time", "0", out=out, env=env)
    d = defects(out)
    TAP.ok(code == 0 and not d["defects"] + d["unconfirmed"] and d["broken"] >= 3 and "could not be run" in text,
           "a symboliser that always ends gives no bucket", f"{code} {text}{d}")
    tool.write_text(f'#!/bin/sh\nmkdir {mark} 2>/dev/null && read line && exit 1\nexec {shutil.which("llvm-symbolizer-19")} "$@"\n')
    code, text = triage("-q", "--minimise-time", "0", out=out, env=env)
    d = defects(out)
    TAP.ok(code == 0 and mark.exists() and [x["id"] for x in d["defects"]] == want and not d["broken"] and "llvm-symbolizer ended" in text,
           "one that ends once is started again, and what could not be run is", f"{code} {text}{want}")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("UPDATE crashes SET data = NULL")
    code, text = triage("-q", "--minimise-time", "1s", out=out)
    TAP.ok(code == 0 and "is not minimised" in text and [x["id"] for x in defects(out)["defects"]] == want,
           "a defect whose input is lost is not minimised, and stays", text)


def empty():
    """No crash at all, and a program with arguments."""
    main = TEMP / "main.c"
    main.write_text('#include <stdio.h>\n#include <stdlib.h>\nint main(int c, char **v) {\n  FILE *f = c > 2 && v[1][1] == \'f\' ? fopen(v[2], "r") : 0;\n'
                    '  int x = f ? fgetc(f) : 0;\n  if (x == \'A\' && fgetc(f) == \'B\')\n    abort();\n  return 0;\n}\n')
    build, seeds, out = TEMP / "mainb", TEMP / "mains", TEMP / "maino"
    code, text = CAROL.run("build", "-o", build, "--kind", "file", main)
    seeds.mkdir()
    (seeds / "s").write_text("xx")
    CAROL.run("fuzz", "-b", build, "-i", seeds, "-o", out, "-f", "aflpp", "-j", 1, "-d", "2s", "--turn", "1s", "--", "-f", "@@")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM crashes")
    code, text = triage(out=out)
    TAP.ok(code == 0 and "no crash" in text and defects(out)["defects"] == [], "a campaign without crashes", text)
    add_crash(out, b"AB")
    code, text = triage("-q", out=out)
    d = defects(out)["defects"]
    TAP.ok(code == 0 and len(d) == 1 and (d[0]["function"], d[0]["line"], d[0]["fault"]) == ("main", 7, "abort"), "a program with arguments", text)
    TAP.ok(f"-f {out}/triage/{d[0]['id']}/" in text if d else False, "whose command has them, too", text)


def main():
    read_planted()
    TAP.ok(len(PLANTED) >= 14, "at least 14 defects are planted", PLANTED)
    build()
    campaign()
    buckets()
    again()
    files()
    verdicts()
    publish()
    hook()
    bad_input(killed())
    symboliser()
    empty()
    TAP.ok(not CAROL.survivors(), "no process is left")
    TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
