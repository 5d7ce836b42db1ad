#!/usr/bin/env python3
"""Whole campaigns: real fuzzers, real targets, and everything that may happen to them.

usage: campaign.py CAROL ROOT [SECTION...]     prints TAP; sections: ensemble chaos clock ends nasty seeds
                                              places
       campaign.py CAROL ROOT chaos=180        the chaos for so many seconds
"""
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from campaign_kit import (COMMITTED, RUNNING, VOID, Carol, Tap, Witness, built_on_others, engines_of,
                          orphan_segments, record, rows, segments, turns_done, twice_imported,
                          unharvested, wait_until)
from wall_clock import HOUR, WallClock

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
SECTIONS = sys.argv[3:] or ["ensemble", "chaos", "clock", "ends", "nasty", "seeds", "places"]
TOTE = ROOT / "examples" / "tote"
TEMP = Path(tempfile.mkdtemp(prefix="carol-campaign-"))
TEMP.chmod(0o755)
carol = Carol(CAROL)
tap = Tap()
ok = tap.ok


def build(name, source, families=None, *more):
    out = TEMP / "build" / name
    args = ["--families", families] if families else []
    code, text = carol.run("build", "-o", out, "--target", name, *args, *source, *more)
    if code != 0:
        ok(False, f"{name} is built", text)
        raise SystemExit(tap.done())
    return out


def tote():
    if not (TEMP / "build" / "tote").exists():
        build("tote", [TOTE / "tote.c", TOTE / "tote_fuzzer.c"])
    return TEMP / "build" / "tote"


def log_of(name):
    path = TEMP / f"{name}.log"
    return path.read_text(errors="replace") if path.exists() else ""


def nothing_left(what, before):
    left = carol.survivors()
    ok(not left, f"{what}: no process is left", left)
    shm = orphan_segments(before)
    ok(not shm, f"{what}: no shared memory is left", shm)


def replays(what, out):
    r = carol.json("replay", out, "--json")
    ok(r.get("decisions", 0) > 0 and r.get("decisions") == r.get("matched")
       and r.get("first_mismatch", 0) is None, f"{what}: every decision replays as logged", r)


def all_finished(out):
    return rows(out, "SELECT id, state FROM turns WHERE state NOT IN (?, ?)", COMMITTED, VOID)


# --- a: the ensemble ---------------------------------------------------------------------------------
STATUS_NAMES = {"schema", "state", "elapsed_s", "budget_s", "turns", "edges", "seeds", "crashes",
                "execs", "fuzzers", "slots"}
FUZZER_NAMES = {"turns", "active_s", "share", "first_edges", "last_reward", "offered", "taken",
                "exports", "crashes"}


def accounting_adds_up(status):
    """Per slot fuzz + eval + idle = wall, nothing negative, and wall is the campaign's clock."""
    wrong = []
    for s in status["slots"]:
        total = s["fuzz_s"] + s["eval_s"] + s["idle_s"]
        fits = abs(total - s["wall_s"]) < 1e-3 and min(s.values()) >= 0
        if not fits or abs(s["wall_s"] - status["elapsed_s"]) > 0.1 * status["elapsed_s"]:
            wrong.append(s)
    return wrong


def ensemble():
    out, before = TEMP / "ensemble", segments()
    budget = 24
    p = carol.start("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", f"{budget}s",
                    "--turn", "2s", "--seed", 1, "-s", "equal", log=TEMP / "ensemble.log")
    began = time.monotonic()
    wait_until(lambda: turns_done(out) >= 2)
    reader = record(out)
    reader.execute("BEGIN")
    frozen = reader.execute("SELECT count(*) FROM turns").fetchone()[0]
    live = carol.json("status", out, "--json")
    ok(live.get("state") == "running" and live.get("turns", 0) >= 2,
       "status works while it runs and says so", live)
    code, text = carol.run("status", out)
    ok(code == 0 and "running" in text, "status in words, while it runs", text)
    ok(wait_until(lambda: turns_done(out) >= frozen + 4), "a reader's long transaction stops nobody")
    ok(reader.execute("SELECT count(*) FROM turns").fetchone()[0] == frozen,
       "and that reader sees its moment unchanged")
    reader.close()
    try:
        code = p.wait(timeout=budget + 60)
    except subprocess.TimeoutExpired:
        code = "no end"
    took = time.monotonic() - began
    ok(code == 0, f"the campaign ends by itself with 0 ({took:.0f} s)", f"{code}\n{log_of('ensemble')}")
    s = carol.json("status", out, "--json")
    ok(s.get("state") == "ended" and s.get("schema") == 1 and STATUS_NAMES <= s.keys(),
       "status has the names of SPEC 9", s)
    arms = s["fuzzers"]
    ok(all(FUZZER_NAMES <= a.keys() for a in arms.values()), "and so has every fuzzer in it", arms)
    ok(len(arms) == 6, "all six take part", f"{sorted(arms)}\n{log_of('ensemble')}")
    ok(all(a["turns"] > 0 and a["execs"] > 0 for a in arms.values()), "every fuzzer gets turns", arms)
    ok(all(a["taken"] > 0 for a in arms.values()), "every fuzzer takes imports", arms)
    given = dict(rows(out, "SELECT i.fuzzer, count(*) FROM imports m JOIN seeds s ON s.id = m.seed JOIN"
                           " instances i ON i.id = m.instance WHERE s.instance IS NOT NULL GROUP BY 1"))
    ok(given.keys() == arms.keys(), "and is given finds of others", given)
    heirs = built_on_others(out)
    ok(heirs, f"{len(heirs)} seeds are built on a seed of another fuzzer")
    ok(abs(sum(a["share"] for a in arms.values()) - 1) < 1e-6, "shares sum to one", arms)
    wrong = accounting_adds_up(s)
    ok(len(s["slots"]) == 2 and not wrong, "fuzzing + measuring + idle = wall on both slots", s["slots"])
    ok(not all_finished(out), "every turn is committed", all_finished(out))
    ok(not twice_imported(out), "no instance imports a seed twice, or its own", twice_imported(out))
    left = unharvested(out)
    ok(not left, "every file the fuzzers kept is in the store", "\n".join(left))
    replays("ensemble", out)
    nothing_left("ensemble", before)


# --- b: chaos ----------------------------------------------------------------------------------------
def victims(supervisor, builds):
    """What may be killed now, by kind."""
    kinds = {"supervisor": [supervisor]}
    for pid, exe in carol.processes():
        if exe.startswith(f"{builds}/neutral/") or "/neutral/" in exe:
            kinds.setdefault("evaluator", []).append(pid)
        elif exe.startswith(str(builds)):
            kinds.setdefault("target", []).append(pid)
        elif os.path.basename(exe) in ("afl-fuzz", "honggfuzz"):
            kinds.setdefault("fuzzer", []).append(pid)
        elif exe == carol.binary and pid != supervisor:
            kinds.setdefault("init", []).append(pid)
    return kinds


class Chaos:
    """Keeps a campaign running by resuming it and kills parts of it at random."""

    def __init__(self, out, seconds, rng):
        self.out, self.seconds, self.rng = out, seconds, rng
        self.log = TEMP / "chaos.log"
        self.killed = {}
        self.bad_ends = []
        self.p = None

    def keep_alive(self):
        if self.p and self.p.poll() is None:
            return
        if self.p and self.p.returncode != -signal.SIGKILL:
            self.bad_ends.append(self.p.returncode)
        if (self.out / "carol.db").exists() and rows_or_none(self.out):
            args = ["--resume", self.out]
        else:  # killed before there was anything to resume
            shutil.rmtree(self.out, ignore_errors=True)
            args = ["-b", tote(), "-i", TOTE / "seeds", "-o", self.out, "-j", 2, "--seed", 7]
            args += ["--turn", "1s", "--scheduler", "equal"]  # so that each gets a turn after its kill
        # now and then as on a host that forbids namespaces, where cleaning up is Carol's own work
        env = {"CAROL_NO_NAMESPACES": "1"} if self.rng.random() < 0.3 else None
        self.p = carol.start("fuzz", *args, "-d", "1h", log=self.log, env=env)

    def strike(self):
        kinds = victims(self.p.pid, tote())
        weights = {"supervisor": 4, "fuzzer": 2, "target": 2, "evaluator": 3, "init": 1}
        kind = self.rng.choices(list(kinds), [weights[k] for k in kinds])[0]
        try:
            os.kill(self.rng.choice(kinds[kind]), signal.SIGKILL)
            self.killed[kind] = self.killed.get(kind, 0) + 1
        except OSError:
            return
        if kind == "supervisor":
            self.p.wait(timeout=30)

    def run(self, witness):
        began = time.monotonic()
        while True:
            took = time.monotonic() - began
            enough = len(witness.turns) >= 8 and len(witness.seen["seeds"]) > 20
            if took > self.seconds * (1 if enough else 3):
                break
            self.keep_alive()
            next_strike = time.monotonic() + self.rng.uniform(0.3, 3.0)
            while time.monotonic() < next_strike:
                witness.look()
                time.sleep(0.05)
            self.strike()
        self.keep_alive()
        was = turns_done(self.out)
        if wait_until(lambda: turns_done(self.out) > was, 60) is None:
            self.bad_ends.append("after the last strike no turn was finished")


def rows_or_none(out):
    try:
        return rows(out, "SELECT value FROM settings WHERE key = 'seed'")
    except sqlite3.Error:
        return None


def chaos(seconds=26):
    out, before = TEMP / "chaos", segments()
    seed = int(os.environ.get("CAROL_CHAOS_SEED", random.randrange(1 << 30)))
    print(f"# chaos for {seconds} s, CAROL_CHAOS_SEED={seed}", flush=True)
    c, w = Chaos(out, seconds, random.Random(seed)), Witness(out)
    c.run(w)
    os.kill(c.p.pid, signal.SIGINT)
    try:
        code = c.p.wait(timeout=60)
    except subprocess.TimeoutExpired:
        code = "no end"
    ok(code == 0, "after it all Ctrl-C still ends cleanly", f"{code}\n{log_of('chaos')}")
    elapsed = rows(out, "SELECT elapsed_ns FROM clock")[0][0] / 1e9
    code, text = carol.run("fuzz", "--resume", out, "-d", f"{int(elapsed) + 4}s")
    ok(code == 0, "and it goes on and ends", f"{code}\n{text}")
    seen = {t: len(v) for t, v in w.seen.items()}
    ok(not c.bad_ends, f"nothing but our kill ends it (killed: {c.killed})",
       f"{c.bad_ends}\n{log_of('chaos')}")
    lost = w.missing()
    ok(not lost, f"nothing acknowledged is lost: {seen}, {len(w.turns)} turns", "\n".join(lost))
    ok(w.looks > 10 and seen["seeds"] > 20 and len(w.turns) >= 8, "and something was acknowledged", seen)
    ok(not w.backwards, "the clock never goes back", w.backwards)
    twice = twice_imported(out)
    ok(not twice, "no instance imports a seed twice, or its own", twice)
    ok(not all_finished(out), "no turn stays open", all_finished(out))
    pending = rows(out, "SELECT id FROM seeds WHERE state = 1")
    ok(not pending, "no seed stays unmeasured", pending)
    s = carol.json("status", out, "--json")
    ok(s.get("slots") and not accounting_adds_up(s), "accounting still adds up", s)
    ok(rows(out, "PRAGMA integrity_check") == [("ok",)], "the database is sound")
    files = {f.name.rsplit("-", 1)[-1] for f in (out / "crashes").glob("*")}
    want = {r[0][:8].hex() for r in rows(out, "SELECT hash FROM crashes WHERE hang = 0")}
    ok(want <= files, "every crash is a file too", want - files)
    left = unharvested(out)
    if left:  # saved by one that was going down, between two turns: its next turn takes it
        print(f"# left until the next turns: {left}", flush=True)
        elapsed = rows(out, "SELECT elapsed_ns FROM clock")[0][0] / 1e9
        carol.run("fuzz", "--resume", out, "-d", f"{int(elapsed) + 10}s")
        left = sorted(set(left) & set(unharvested(out)))
    ok(not left, "every file the fuzzers kept is in the store, of killed turns too", "\n".join(left))
    replays("chaos", out)
    nothing_left("chaos", before)


# --- c: the wall clock -------------------------------------------------------------------------------
def set_clocks(p, out, wall, witness, steps):
    """Moves the clock by each step in mid-campaign; the turns done at each of them."""
    at = []
    for by in steps:
        more = turns_done(out) + 4
        wait_until(lambda: witness.look() or turns_done(out) >= more)  # pylint: disable=cell-var-from-loop
        wall.step(by)
        at.append(turns_done(out))
        loaded = str(wall.library) in Path(f"/proc/{p.pid}/maps").read_text()
        ok(loaded and wall.error() == wall.seconds, f"the clock is set by {by / HOUR:+.0f} h in mid-campaign",
           f"{loaded} {wall.error()} {wall.seconds}")
    return at


def ages(out):
    """Milliseconds after its own start at which afl-fuzz found each entry, as it says."""
    names = [f.name for f in (out / "fuzzers").glob("*/out/default/*/id:*")]
    return [int(n.split(",time:")[1].split(",")[0]) for n in names if ",time:" in n]


def clock():
    out, before = TEMP / "clock", segments()
    budget, wall, w = 14, WallClock(TEMP / "wall"), Witness(out)
    env = {**wall.env, "LD_PRELOAD": str(wall.library), "CAROL_ENGINES": str(wall.engines(engines_of(CAROL)))}
    builds = tote()
    wall.step(HOUR // 2)  # wrong from the start, so that each program's first look shows which clock it reads
    began = time.monotonic()
    p = carol.start("fuzz", "-b", builds, "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", f"{budget}s",
                    "--turn", "1s", "--seed", 3, "-f", "aflpp,honggfuzz", log=TEMP / "clock.log", env=env)
    at = set_clocks(p, out, wall, w, (-HOUR, 2 * HOUR))
    wait_until(lambda: w.look() or p.poll() is not None, budget + 60)
    took = time.monotonic() - began
    read = {name: wall.seen(name) for name in ("carol", "afl-fuzz", "honggfuzz")}
    ok(all(HOUR // 2 in x for x in read.values()), "Carol and the fuzzers read that clock", read)
    ok(p.poll() == 0, "it goes on to its end", f"{p.poll()}\n{log_of('clock')}")
    s = carol.json("status", out, "--json")
    ok(not w.backwards and budget <= s["elapsed_s"] <= took, "elapsed time is the true one",
       f"{w.backwards} {s['elapsed_s']} of {took}")
    late = dict(rows(out, "SELECT i.fuzzer, sum(t.execs) FROM turns t JOIN instances i ON i.id = t.instance"
                          " WHERE t.id > ? GROUP BY 1", at[-1]))
    ok(late.keys() == {"aflpp", "honggfuzz"} and min(late.values()) > 0, "both go on after each", late)
    ok(not s["hangs"], "no hang is made up", s)
    ok(ages(out) and max(ages(out)) <= 1000 * took, "no find is hours old", ages(out))
    ok(all(a["taken"] > 0 for a in s["fuzzers"].values()), "imports are taken", s["fuzzers"])
    ok(not accounting_adds_up(s), "fuzzing + measuring + idle = wall", s["slots"])
    whole("clock", out, w)
    wall.step(-3 * HOUR)
    code, text = carol.run("fuzz", "--resume", out, "-d", f"{int(s['elapsed_s']) + 4}s", env=env)
    ok(code == 0 and turns_done(out) > s["turns"], "set back once more, it is resumed", f"{code}\n{text}")
    whole("clock, resumed", out, w)
    nothing_left("clock", before)


def whole(what, out, witness):
    lost = witness.missing()
    ok(not lost, f"{what}: nothing acknowledged is lost", "\n".join(lost))
    twice = twice_imported(out)
    ok(not twice, f"{what}: no instance imports a seed twice, or its own", twice)
    left = unharvested(out)
    ok(not left and not all_finished(out), f"{what}: every file is in the store, every turn committed",
       f"{left} {all_finished(out)}")
    replays(what, out)


# --- d: ends -----------------------------------------------------------------------------------------
def interrupt(p, times=1, limit=30):
    began = time.monotonic()
    for i in range(times):
        if i:
            time.sleep(0.15)
        p.send_signal(signal.SIGINT)
    try:
        return p.wait(timeout=limit), time.monotonic() - began
    except subprocess.TimeoutExpired:
        p.kill()
        return "no end", time.monotonic() - began


def ends():
    out, before = TEMP / "ends", segments()
    new = ["fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s"]
    p = carol.start(*new, "-f", "aflpp,honggfuzz", log=TEMP / "ends.log")
    wait_until(lambda: turns_done(out) >= 2)
    for args in (new, ["fuzz", "--resume", out]):
        code, text = carol.run(*args, "-d", "2s", limit=20)
        ok(code == 2 and ("running" in text or "already" in text or "in use" in text),
           f"a second '{' '.join(map(str, args[:2]))}' on it is refused", f"{code}\n{text}")
    code, _ = interrupt(p)
    ok(code == 0, "Ctrl-C once ends it with 0", f"{code}\n{log_of('ends')}")
    nothing_left("Ctrl-C", before)
    ok(not rows(out, "SELECT id, state FROM turns WHERE state != ?", COMMITTED),
       "every turn of it is committed")
    was = carol.json("status", out, "--json")
    ok(was.get("state") == "interrupted", "status says interrupted", was)
    p = carol.start("fuzz", "--resume", out, "-d", "1h", log=TEMP / "ends.log")
    wait_until(lambda: turns_done(out) >= was["turns"] + 2)
    code, took = interrupt(p, 2)
    ok(code == 0 and took < 10, f"Ctrl-C twice ends it at once ({took:.1f} s)", f"{code}\n{log_of('ends')}")
    nothing_left("Ctrl-C twice", before)
    now = carol.json("status", out, "--json")
    ok(now["elapsed_s"] > was["elapsed_s"] and now["turns"] > was["turns"]
       and now["execs"] > was["execs"] and now["edges"] >= was["edges"]
       and now["seeds"] >= was["seeds"], "clock and counters went on", f"{was}\n{now}")
    code, text = carol.run("fuzz", "--resume", out, "-d", f"{int(now['elapsed_s']) + 3}s")
    ok(code == 0 and not all_finished(out), "resumed after that, it finishes what was cut",
       f"{code}\n{text}")
    replays("ends", out)
    code, text = carol.run(*new[:6], TEMP / "crash-stop", "--turn", "1s", "-f", "honggfuzz",
                           "--stop-on-crash", "-d", "40s")
    ok(code == 1 and any((TEMP / "crash-stop" / "crashes").iterdir()),
       "--stop-on-crash ends with 1 and keeps the input", f"{code}\n{text}")
    for args in (["--resume", TEMP / "nowhere"], ["-b", tote(), "-i", TEMP / "none", "-o", TEMP / "n"],
                 ["-b", TEMP, "-o", TEMP / "n2"], ["-b", tote(), "-o", TEMP / "n3", "-f", "afl++"],
                 ["-b", tote()], ["-b", tote(), "-o", TEMP / "n4", "-j", "0"],
                 ["-b", tote(), "-o", TEMP / "n5", "-s", "best"]):
        code, text = carol.run("fuzz", *args, "-d", "2s")
        ok(code == 2 and text.strip(), f"wrong usage is 2 with a reason: fuzz {' '.join(map(str, args))}"
           .replace(str(TEMP), "TEMP"), f"{code}\n{text}")


# --- e: nasty targets and fuzzers ---------------------------------------------------------------------
HARNESS = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n" \
          "#include <string.h>\n#include <unistd.h>\n#include <sys/wait.h>\n" \
          "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n{\n%s\n}\n"
NASTY = {
    "always": "if (n > 3 && d[0] == 'a') puts(\"a\");\nabort();",
    "leaky": "char *p = malloc(1 << 20);\nif (p) memset(p, 1, 1 << 20);\n"
             "return n > 3 && d[0] == 'a' && d[1] == 'b' && p ? p[0] == 2 : 0;",
    # says a lot, forks a child per input that outlives it, spins for ever on one input, never crashes
    "forks": "printf(\"%zu bytes\\n\", n); fflush(stdout);\n"
             "if (n == 8 && memcmp(d, \"HANGHANG\", 8) == 0) for (volatile int i = 0;; i++);\n"
             "if (fork() == 0) { usleep(20000); _exit(0); }\n"
             "while (waitpid(-1, 0, WNOHANG) > 0);\n"
             "return n > 2 && d[0] == 'x' ? 0 : 0;",
}


def nasty_target(name, families):
    source = TEMP / f"{name}.c"
    source.write_text(HARNESS % NASTY[name])
    return build(name, [source], families)


def short(name, builds, *args, limit=60):
    out = TEMP / name
    code, text = carol.run("fuzz", "-b", builds, "-o", out, "-j", 2, "--turn", "1s", *args, limit=limit)
    return out, code, text


def nasty():
    before = segments()
    seed = TEMP / "one-seed"
    seed.mkdir()
    (seed / "hello").write_text("hello")
    (seed / "spin").write_text("HANGHANG")

    out, code, text = short("always-out", nasty_target("always", "afl,neutral"), "-i", seed / "hello",
                            "-d", "20s")
    ok(code not in (0, "no end") and "crashes" in text and "seed" in text,
       "a target that crashes on every input: ends with a clear message", f"{code}\n{text}")
    ok(len(list((out / "crashes").glob("*"))) == 1, "and the crashing seed is kept")

    out, code, text = short("leaky-out", nasty_target("leaky", "afl,hfuzz,neutral"), "-i", seed / "hello",
                            "-d", "6s", "-m", "512M", "-f", "aflpp,honggfuzz", "-s", "equal")
    s = carol.json("status", out, "--json")
    ok(code == 0 and min(a["turns"] for a in s["fuzzers"].values()) > 0
       and not any(a["dropped"] for a in s["fuzzers"].values()),
       "a target that leaks 1 MB per input: the campaign goes on", f"{code}\n{text}\n{s}")

    out, code, text = short("forks-out", nasty_target("forks", "afl,neutral"), "-i", seed, "-f", "aflpp",
                            "--stop-on-plateau", "4s", "-d", "60s")
    s = carol.json("status", out, "--json")
    ok(code == 0 and s.get("turns", 0) > 0 and s.get("elapsed_s", 60) < 40,
       "a target that forks, talks and never crashes; --stop-on-plateau ends it", f"{code}\n{text}\n{s}")
    ok(s.get("crashes") == 0, "and nothing is called a crash", s)
    ok("spin is set aside" in text and any((out / "hangs").glob("*")) and s.get("hangs", 0) >= 1,
       "its seed that hangs is set aside", f"{text}\n{os.listdir(out)}")
    nothing_left("nasty targets", before)

    engines = TEMP / "engines"
    shutil.copytree(engines_of(CAROL), engines)
    fake = engines / "honggfuzz" / "honggfuzz"
    fake.write_text("#!/bin/sh\necho 'no such luck' >&2\nexit 3\n")
    fake.chmod(0o755)
    out = TEMP / "dying"
    code, text = carol.run("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s",
                           "-f", "aflpp,honggfuzz", "-d", "7s", "-s", "equal",
                           env={"CAROL_ENGINES": str(engines)})
    s = carol.json("status", out, "--json")
    arms = s.get("fuzzers", {})
    ok(code == 0 and arms.get("honggfuzz", {}).get("dropped") and arms["honggfuzz"].get("why")
       and "honggfuzz is dropped" in text, "a fuzzer that dies every time is dropped with the reason",
       f"{code}\n{text}\n{arms}")
    ok(arms.get("aflpp", {}).get("turns", 0) > 2 and arms["honggfuzz"]["turns"] <= 3,
       "after three tries at most; the others go on", arms)
    replays("with a dropped fuzzer", out)
    out = TEMP / "dying-all"
    code, text = carol.run("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "--turn", "1s",
                           "-f", "honggfuzz", "-d", "20s", env={"CAROL_ENGINES": str(engines)})
    ok(code not in (0, "no end") and "honggfuzz" in text and "dropped" in text,
       "when no fuzzer is left it ends with the reason", f"{code}\n{text}")
    nothing_left("dying fuzzers", before)


# --- f: seeds ----------------------------------------------------------------------------------------
def seeds():
    empty = TEMP / "empty"
    empty.mkdir()
    out, code, text = short("empty-out", tote(), "-i", empty, "-d", "2s", "-f", "aflpp")
    ok(code == 0 and "trivial" in text and turns_done(out) > 0,
       "an empty seed directory: one trivial seed and a warning", f"{code}\n{text}")
    with zipfile.ZipFile(TEMP / "tote_seed_corpus.zip", "w") as z:
        for f in sorted((TOTE / "seeds").iterdir()):
            z.write(f, f"corpus/{f.name}")
    afl = TEMP / "aflout" / "default" / "queue"
    (afl / ".state").mkdir(parents=True)
    (afl / ".state" / "not-a-seed").write_text("bookkeeping")
    (afl.parent / "fuzzer_setup").write_text("# environment variables:\n")
    (afl / "id:000000,time:0,execs:0,orig:a").write_text("from a queue")
    crashing = sorted((TOTE / "crashes").iterdir())[0]
    out, code, text = short("many-out", tote(), "-i", TEMP / "tote_seed_corpus.zip", "-i",
                            TEMP / "aflout", "-i", crashing, "-d", "2s", "-f", "aflpp")
    names = {os.path.basename(r[0]) for r in rows(out, "SELECT name FROM seeds WHERE turn IS NULL")}
    ok(code == 0 and {f.name for f in (TOTE / "seeds").iterdir()} <= names, "seeds from a zip",
       f"{names}\n{text}")
    ok("id:000000,time:0,execs:0,orig:a" in names and "not-a-seed" not in names and
       "fuzzer_setup" not in names, "seeds from an AFL output directory", names)
    ok(f"{crashing.name} is set aside" in text and any((out / "crashes").iterdir()),
       "a crashing seed is set aside and kept", text)
    given = rows(out, "SELECT s.name FROM imports m JOIN seeds s ON s.id = m.seed WHERE s.status NOT IN "
                      "(SELECT status FROM seeds WHERE name = 'extended' OR name LIKE '%/extended')"
                      " AND s.turn IS NULL")
    ok(not given, "and given to no fuzzer", given)


# --- g: places ---------------------------------------------------------------------------------------
def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"\0" * 65536)
        except OSError:
            pass
        try:
            while True:
                f.write(b"\0")
        except OSError:
            pass


def full_disk():
    disk = TEMP / "disk"
    disk.mkdir()
    what = "disk full"
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "none", disk], stderr=subprocess.DEVNULL,
        check=False).returncode == 0
    if not mounted:
        tap.skip(what, "mounting a small tmpfs needs root")
        return
    try:
        full_disk_on(disk, what)
    finally:
        carol.kill_all()
        time.sleep(0.2)
        subprocess.run(["umount", "-l", disk], check=False)


def full_disk_on(disk, what):
    out, before = disk / "out", segments()
    p = carol.start("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s", "-f",
                    "aflpp,honggfuzz", "-d", "1h", log=TEMP / "disk.log")
    wait_until(lambda: turns_done(out) >= 3)
    w = Witness(out)
    w.look()
    fill(disk / "filler")
    code = None
    end = time.monotonic() + 40
    while code is None and time.monotonic() < end:
        w.look()
        time.sleep(0.1)
        code = p.poll()
    text = log_of("disk")
    ok(code not in (0, None) and ("full" in text or "space" in text), f"{what}: ends with a clear message",
       f"{code}\n{text}")
    if code is None:
        p.kill()
        p.wait()
    nothing_left(what, before)
    (disk / "filler").unlink()
    lost = w.missing()
    ok(not lost, f"{what}: nothing acknowledged is lost", "\n".join(lost))
    elapsed = rows(out, "SELECT elapsed_ns FROM clock")[0][0] / 1e9
    was = turns_done(out)
    code, text = carol.run("fuzz", "--resume", out, "-d", f"{int(elapsed) + 5}s")
    arms = carol.json("status", out, "--json").get("fuzzers", {})
    ok(code == 0 and turns_done(out) > was and not w.missing(), f"{what}: with room again it goes on",
       f"{code}\n{text}\n{arms}")
    replays(what, out)


def ordinary_user():
    what = "an ordinary user"
    if os.geteuid() != 0:
        tap.skip(what, "we are one: everything above ran as one")
        return
    home, out = TEMP / "nobody", TEMP / "nobody" / "out"
    home.mkdir()
    own = shutil.copy(CAROL, home / "carol")  # where Carol and its engines are, only root may look
    shutil.copytree(Path(CAROL).parent / "runtime", home / "runtime",
                    ignore=shutil.ignore_patterns("*.p", "*.symbols"))
    shutil.copytree(engines_of(CAROL), home / "engines")
    seeds_of = shutil.copytree(TOTE / "seeds", home / "seeds")
    os.chown(home, 65534, 65534)
    user = Carol(own, HOME=str(home), CAROL_ENGINES=str(home / "engines"))
    code, text = user.run("fuzz", "-b", tote(), "-i", seeds_of, "-o", out, "-j", 2, "--turn", "1s", "-d", "8s",
                          user=65534, group=65534, extra_groups=[])
    s = carol.json("status", out, "--json")
    ok(code == 0 and len(s.get("fuzzers", {})) == 6
       and all(a["turns"] > 0 and not a["dropped"] for a in s["fuzzers"].values()),
       f"{what} runs all six", f"{code}\n{text}\n{s}")
    left = user.survivors()
    ok(not left, f"{what}: no process is left", left)
    user.kill_all()


def places():
    ordinary_user()
    full_disk()


def main():
    if not engines_of(CAROL):
        print("1..0 # SKIP the fuzzers are not built: make engines")
        return 0
    try:
        for s in SECTIONS:
            name, _, arg = s.partition("=")
            began = time.monotonic()
            globals()[name](*([int(arg)] if arg else []))
            print(f"# {name}: {time.monotonic() - began:.0f} s", flush=True)
    finally:
        carol.kill_all()
        tap.tidy(TEMP)
    return tap.done()


sys.exit(main())
