#!/usr/bin/env python3
"""From crash files to defects: a target with planted defects of every kind, a real campaign on it, and everything that can
go wrong around it.

    triage.py CAROL SOURCE_ROOT
"""
import hashlib
import html
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
import threading
import time
import xml.etree.ElementTree
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from campaign_kit import Carol, Tap, add_crash, rows, rows_or_none, turns_done, wait_until

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2]).resolve()
TEMP = Path(tempfile.mkdtemp(prefix="carol-triage-"))
TAP = Tap()
SOURCE = ROOT / "tests/system/targets/faults.c"
BUILD, OUT = TEMP / "build", TEMP / "out"
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
           (status["untriaged"] == 0 or "go on: carol triage" in text), "status shows them, by whom and when", status)
    TAP.ok(all(d["found_by"] == "aflpp" and 0 < d["first_seen_s"] < 240 for d in status["defects"]), "by aflpp", status)
    code, text = CAROL.run("replay", OUT)
    TAP.ok(code == 0 and re.search(r"^(\d+) decisions, \1 come out exactly", text, re.M), "the journal replays exactly", text)


def buckets():
    for letter in PLANTED:
        for more in (b"0",) if letter == "h" else (b"0", b"0\0\0\0\0\0\0", b"0abc"):  # a hang takes seconds
            add_crash(OUT, b"%" + letter.encode() + more, hang=letter == "h")
    add_crash(OUT, b"%l0", hang=True)
    add_crash(OUT, b"nothing at all")
    code, text = triage("--minimise-time", "10s", "-q")
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


def page_commands(d):
    """The page says how to see a defect again in the words of carol triage, and they do."""
    code, text = CAROL.run("report", OUT, "-o", TEMP / "page.html")
    page = (TEMP / "page.html").read_text() if code == 0 else text
    shown = {i: html.unescape(c) for i, c in re.findall(r"defect (\w+); see it again:</small> <code>(.*?)</code>", page)}
    said = {line.strip() for line in triage()[1].splitlines()}
    wrong = [(x["id"], shown.get(x["id"])) for x in d if shown.get(x["id"]) not in said]
    TAP.ok(len(d) > 5 and not wrong, "the page has the command that carol triage prints for each confirmed defect", (wrong[:3], sorted(said)[:20]))
    crash = next((x for x in d if x["kind"] == "crash"), None)
    done = subprocess.run(["bash", "-c", shown.get(crash["id"], "true")], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False, text=True)
    TAP.ok(done.returncode not in (0, 127) and crash["function"] in done.stderr, "which shows it again", (shown.get(crash["id"]), done))


def files():
    d = defects()["defects"]
    report = (OUT / "triage" / d[0]["id"] / "report.md").read_text()
    steps = [line.strip() for line in report.split("## Reproduce")[1].split("`original`")[0].splitlines() if line.startswith("    ")]
    TAP.ok(len(steps) == 3, "a report reproduces its defect in three commands", report)
    done = subprocess.run(["bash", "-c", "\n".join(steps)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, check=False, text=True)
    TAP.ok(done.returncode not in (0, 127), "which fail as they should", done)
    TAP.ok(all(w in report for w in ("## Builds", "clang", "first seen", "by aflpp", "## Where the input comes from", "| seed |")),
           "it names builds, finder and ancestors", report)
    page_commands(d)
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


CURL = shutil.which("curl") is not None


class Inbox(HTTPServer):
    """A web address that keeps what is sent to it."""

    def __init__(self):
        self.got = []
        super().__init__(("127.0.0.1", 0), Handler)
        self.words = ["--webhook", f"http://127.0.0.1:{self.server_address[1]}/defects"] if CURL else []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def hook():
    log, inbox = TEMP / "hook.log", Inbox()
    _, text = triage("-q", "--exec", "exit 3")
    TAP.ok("ended with 3; it is told again the next time" in text, "a hook that fails is said", text)
    command = f"cat >> {log}; echo \" $CAROL_DEFECT_ID $CAROL_DEFECT_DIR\" >> {log}"
    triage("-q", "--exec", command, *inbox.words)
    text = log.read_text() if log.exists() else ""
    ids = [x["id"] for x in defects()["defects"] + defects()["unconfirmed"]]
    TAP.ok(all(f" {i} {OUT}/triage/{i}" in text for i in ids) and text.count('"id"') == len(ids), "--exec is run for each, with its JSON", text)
    good = [p["defect"]["id"] for p in inbox.got] == ids and all(p["event"] == "defect" and p["defect"]["fault"] in p["text"] for p in inbox.got)
    if CURL:
        TAP.ok(good, "--webhook is sent each, with a sentence about it", inbox.got)
    else:
        TAP.skip("--webhook is sent each, with a sentence about it", "no curl here")
    triage("-q", "--exec", command, *inbox.words)
    TAP.ok(log.read_text() == text and len(inbox.got) == (len(ids) if CURL else 0), "once")
    code, text = triage("-q", "--webhook", "localhost:1")
    TAP.ok(code == 2 and "http://" in text, "an address that is none is refused", text)
    inbox.shutdown()


BURST = 150


def burst():
    """Crashes of one defect by the hundred, and behind them one each of two others, before the first turn."""
    seeds, out, log, inbox = TEMP / "burst-seeds", TEMP / "burst", TEMP / "burst.hook", Inbox()
    seeds.mkdir()
    (seeds / "a-seed").write_bytes(b"%..")
    for i in range(BURST):
        (seeds / f"b{i:04}").write_bytes(b"%n" + str(i).encode())
    (seeds / "y").write_bytes(b"%i1")  # the same signal at another place
    (seeds / "z").write_bytes(b"%z0")
    p = CAROL.start("fuzz", "--triage", "-b", BUILD, "-i", seeds, "-o", out, "-f", "aflpp", "-j", 1, "-d", "1h", "--turn", "1s", "-T",
                    "100", "--exec", f"cat >> {log}", *inbox.words, log=TEMP / "burst.log")
    faults = "SELECT DISTINCT function FROM triage WHERE crash <= ?"
    seen = wait_until(lambda: len(rows_or_none(out, faults, BURST + 2) or []) == 3)
    ahead = rows(out, "SELECT count(*) FROM triage WHERE function = 'null_read'")[0][0]
    TAP.ok(seen and ahead < BURST / 2, "a burst of crashes of one defect does not keep others waiting", (seen, ahead))
    wait_until(lambda: turns_done(out) >= 5)
    spent, elapsed, most = rows(out, "SELECT value, (SELECT elapsed_ns FROM clock), (SELECT max(cpu_us) FROM triage) FROM settings WHERE"
                                     " key = 'triage.live_us'")[0]
    allowed = max(elapsed / 1e3, 60e6) / 100
    TAP.ok(0 < int(spent) <= allowed + most, "it takes a hundredth of the campaign's time, the first minute's in advance", (spent, allowed, most))
    left = BURST + 2 - rows(out, "SELECT count(*) FROM triage WHERE crash <= ?", BURST + 2)[0][0]
    TAP.ok(left > 0, "so that some wait", left)
    return p, out, log, inbox


def beside(p, out, log, inbox):
    """`carol triage` while that campaign runs, then its end."""
    before = turns_done(out)
    code, text = triage("-q", "--minimise-time", "0", out=out)
    done = rows(out, "SELECT count(*) FROM triage WHERE crash <= ?", BURST + 2)[0][0]
    TAP.ok(code == 0 and p.poll() is None and done == BURST + 2, "carol triage looks at all of them beside the campaign", f"{code} {done} {text}")
    TAP.ok(wait_until(lambda: turns_done(out) > before + 2), "which goes on")
    p.send_signal(signal.SIGINT)
    p.wait()
    text = (TEMP / "burst.log").read_text()
    TAP.ok(p.returncode == 0 and re.search(r"[3-9] defects confirmed", text), "and ends with its defects", text)
    told = re.findall(r'"id": "(\w+)"', log.read_text())
    ids = [d["id"] for d in defects(out)["defects"] + defects(out)["unconfirmed"]]
    posted = {x["defect"]["id"] for x in inbox.got} if CURL else set(ids)
    TAP.ok(set(told) == set(ids) == posted, "its hooks are told of each, most while it runs",
           (told, ids, inbox.got))
    first = json.JSONDecoder().raw_decode(log.read_text())[0]
    TAP.ok(Path(first["input"]).read_bytes().startswith(b"%"), "with a file that is there by then", first)
    code, text = CAROL.run("replay", out)
    TAP.ok(code == 0 and re.search(r"^(\d+) decisions, \1 come out exactly", text, re.M), "and it replays exactly", text)
    code, text = triage("-q", "--baseline", OUT / "triage/defects.json", "--fail-on", "new", out=out)
    TAP.ok(code == 0 and "(known)" in text and "(new)" not in text, "a baseline of another campaign knows them", text)
    inbox.shutdown()


def killed():
    """kill -9 in the middle: nothing is left running, and the next run goes on."""
    out = TEMP / "killed"
    shutil.copytree(OUT, out)
    shutil.rmtree(out / "triage")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM triage")
        db.execute("DELETE FROM minimised")
        db.execute("DELETE FROM crashes WHERE hang")
    p = CAROL.start("triage", "-q", "--minimise-time", "1s", out)
    end = time.monotonic() + 60
    while not rows(out, "SELECT count(*) FROM triage")[0][0] and time.monotonic() < end:
        time.sleep(0.02)
    p.send_signal(signal.SIGKILL)
    p.wait()
    some = rows(out, "SELECT count(*) FROM triage")[0][0]
    TAP.ok(not CAROL.survivors() and some, "nothing survives kill -9")
    p = CAROL.start("triage", "-q", "--minimise-time", "0", out, log=TEMP / "interrupted")
    wait_until(lambda: rows(out, "SELECT count(*) FROM triage")[0][0] > some, every=0.01)
    p.send_signal(signal.SIGINT)
    p.wait()
    text = (TEMP / "interrupted").read_text()
    TAP.ok(p.returncode == 0 and f"are not looked at yet (interrupted); go on: carol triage {out}" in text, "Ctrl-C says what is left", text)
    code, text = triage("-q", "--minimise-time", "0", out=out)
    # what a busy fuzzer took for a hang may be one of their inputs: without hangs there can be fewer
    before, now = ({x["id"]: x["inputs"] for x in defects(o)["defects"] if x["kind"] == "crash"} for o in (OUT, out))
    same = now.keys() == before.keys() and all(now[i] <= before[i] for i in now)
    TAP.ok(code == 0 and same, "the next run comes to the same defects", (code, before, now, text))
    TAP.ok(not list((out / "triage").glob(".run-*")), "and what the killed one left is gone")
    return out


def changed(out):
    """Another build: everything is run again, and what is not so any more is put away, not deleted."""
    few = TEMP / "few"
    shutil.copytree(BUILD, few)
    with sqlite3.connect(out / "carol.db") as db:  # one of each is enough from here on
        db.execute("DELETE FROM triage")
        db.execute("DELETE FROM crashes WHERE hang OR name <> 'planted' OR size > 3")
    triage("-q", "--minimise-time", "1s", out=out)
    was = {d["id"]: d["function"] for d in defects(out)["defects"]}
    (few / "asan/faults").open("ab").write(b"changed")
    code, text = triage("-q", "--minimise-time", "0", "-b", few, out=out)
    now = {d["id"]: d["function"] for d in defects(out)["defects"]}
    TAP.ok(code == 0 and "everything is run again" in text and now == was, "a build that changed is said, and all is run again", f"{text}{was}{now}")
    small = [f.relative_to(out / "triage") for f in (out / "triage").glob("*/minimised")]
    kept = {f.parent.name for f in (out / "triage/earlier").glob("*/minimised-*")}
    TAP.ok(not small and set(was) <= kept, "what was minimised before is put away", (small, kept))
    names = [n for n, f in was.items() if f == "division"]
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM triage WHERE defect = ?", names)
        db.execute("DELETE FROM crashes WHERE data = CAST('%z0' AS BLOB)")
    triage("-q", "--minimise-time", "0", "-b", few, out=out)
    there = (out / "triage" / names[0]).exists()
    earlier = [f.read_bytes() for f in (out / "triage/earlier" / names[0]).glob("original-*")]
    TAP.ok(not there and earlier == [b"%z0"] and (out / "triage/earlier" / names[0] / "report.md").exists(), "so is a defect that is none any more",
           (there, earlier))


def bad_input(out):
    for data in (b"%stuck", b"%loud"):
        add_crash(out, data)
    code, text = triage("-q", "--minimise-time", "0", out=out)
    d = defects(out)
    got = {x["function"]: x["fault"] for x in d["defects"]}
    TAP.ok(code == 0 and got.get("loud") == "null-pointer write", "a report in the middle of 100 MB is found", f"{text}{got}")
    TAP.ok(got.get(None) == "SIGSEGV", "what hangs under the sanitizer alone is told by its signal", f"{text}{got}")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM crashes WHERE data = CAST('%stuck' AS BLOB)")
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


def worse_later():
    """A pointer that is null in the first run and wild in the others: the worst run makes the class."""
    runs, source, out = TEMP / "runs", TEMP / "later.c", TEMP / "latero"
    source.write_text('#include <stdio.h>\n#include <stdint.h>\nint main(void) {\n  FILE *f = fopen("%s", "a+");\n  int first = fgetc(f) == EOF;\n'
                      '  if (getchar() != \'A\')\n    return 0;\n  fseek(f, 0, SEEK_END);\n  fputc(1, f);\n  fclose(f);\n'
                      '  *(volatile char *)(first ? (uintptr_t)8 : (uintptr_t)1 << 40) = 1;\n  return 0;\n}\n' % runs)
    code, text = CAROL.run("build", "-o", TEMP / "later", "--kind", "stdin", "--families", "afl,neutral,asan,plain", source)
    TAP.ok(code == 0, "a program that remembers its runs", text)
    CAROL.run("fuzz", "-b", TEMP / "later", "-i", TEMP / "mains", "-o", out, "-f", "aflpp", "-j", 1, "-d", "1s", "--turn", "1s", "--no-triage")
    with sqlite3.connect(out / "carol.db") as db:
        db.execute("DELETE FROM crashes")
    add_crash(out, b"A")
    runs.unlink(missing_ok=True)
    code, text = triage("-q", "--minimise-time", "0", out=out)
    d = defects(out)["defects"]
    TAP.ok(code == 0 and len(d) == 1 and d[0]["class"] == "withheld", "null in the first run and wild in another: withheld", f"{text}\n{d}")


def sections():
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
    beside(*burst())
    out = killed()
    changed(out)
    bad_input(out)
    symboliser()
    empty()
    worse_later()
    TAP.ok(not CAROL.survivors(), "no process is left")


def main():
    try:
        sections()
    finally:
        CAROL.kill_all()
        TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
