"""Parts of a campaign are killed at random, and fuzzers save inputs when nobody looks: nothing is lost."""
import hashlib
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from campaign_frame import (CAROL, TEMP, TOTE, accounting_adds_up, carol, log_of, nothing_left, ok, replays, tote,
                            unfinished)
from campaign_kit import (LATE, Witness, engines_of, go_on_until, rows, rows_or_none, segments, turns_done,
                          twice_imported, unharvested, wait_until)

BEGUN = "SELECT value FROM settings WHERE key = 'seed'"  # the first thing a campaign writes


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

    def __init__(self, out, seconds, seed):
        self.out, self.seconds, self.seed, self.rng = out, seconds, seed, random.Random(seed)
        self.log = TEMP / "chaos.log"
        self.killed = {}
        self.bad_ends = []
        self.p = None

    def keep_alive(self):
        if self.p and self.p.poll() is None:
            return
        if self.p and self.p.returncode != -signal.SIGKILL:
            self.bad_ends.append(self.p.returncode)
        if (self.out / "carol.db").exists() and rows_or_none(self.out, BEGUN):
            args = ["--resume", self.out]
        else:  # killed before there was anything to resume
            shutil.rmtree(self.out, ignore_errors=True)
            args = ["-b", tote(), "-i", TOTE / "seeds", "-o", self.out, "-j", 2, "--seed", self.seed]
            args += ["--turn", "1s"]
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
            if took > self.seconds * (1 if enough else 6):
                break
            self.keep_alive()
            next_strike = time.monotonic() + self.rng.uniform(0.3, 3.0)
            while time.monotonic() < next_strike:
                witness.look()
                time.sleep(0.05)
            if took > self.seconds:  # on this machine nothing is finished between our kills
                was = len(witness.turns)
                wait_until(lambda: witness.look() or len(witness.turns) > was, 20)  # pylint: disable=cell-var-from-loop
            self.strike()
        self.keep_alive()
        was = turns_done(self.out)
        if wait_until(lambda: turns_done(self.out) > was, 60) is None:
            self.bad_ends.append("after the last strike no turn was finished")


def chaos(seconds=26):
    out, before = TEMP / "chaos", segments()
    seed = int(os.environ.get("CAROL_TEST_SEED", 7))  # make soak draws others
    print(f"# chaos for {seconds} s, CAROL_TEST_SEED={seed}", flush=True)
    c, w = Chaos(out, seconds, seed), Witness(out)
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
    ok(not unfinished(out), "no turn stays open", unfinished(out))
    pending = rows(out, "SELECT id FROM seeds WHERE state = 1")
    ok(not pending, "no seed stays unmeasured", pending)
    s = carol.json("status", out, "--json")
    ok(s.get("slots") and not accounting_adds_up(s), "accounting still adds up", s)
    ok(rows(out, "PRAGMA integrity_check") == [("ok",)], "the database is sound")
    files = {f.name.rsplit("-", 1)[-1] for f in (out / "crashes").glob("*")}
    want = {r[0][:8].hex() for r in rows(out, "SELECT hash FROM crashes WHERE hang = 0")}
    ok(want <= files, "every crash is a file too", want - files)
    left = unharvested(out)
    ok(not left, f"every file the fuzzers kept is in the store, of killed turns too ({late_turns(out)})",
       "\n".join(left + log_of("chaos").splitlines()[-15:]))
    replays("chaos", out)
    nothing_left("chaos", before)


def late_turns(out):
    """In words, how many inputs were saved outside turns."""
    turns, inputs = rows(out, "SELECT count(*), total(inputs) FROM turns WHERE state = ?", LATE)[0]
    return f"{int(inputs)} of them saved outside turns, {turns} times"


# --- what fuzzers save when nobody looks ---------------------------------------------------------------
# Ends as the real one does, and then an input appears, as if it had been the last execution's.
PARTING = {
    "afl": """n=$(printf %06d "$(ls out/default/queue | grep -c '^id:')")
printf 'parting %s %s' "${PWD##*/}" "$n" >"out/default/queue/id:$n,src:000000,time:1,execs:1,op:parting\"""",
    "honggfuzz": """text="parting ${PWD##*/} $(date +%N)"
printf %s "$text" >"$(printf 'new/%032x.%08x.honggfuzz.cov' "$(date +%s)" "${#text}")\"""",
}


def parting_engines():
    """Engines whose fuzzers save one more input when they have been told to end."""
    real, own = Path(engines_of(CAROL)).resolve(), TEMP / "parting"
    for part in ("afl", "honggfuzz", "radamsa"):
        (own / part).mkdir(parents=True)
        for f in (real / part).iterdir():
            (own / part / f.name).symlink_to(f)
    for part, name, place in (("afl", "afl-fuzz", "out/default/queue"), ("honggfuzz", "honggfuzz", "new")):
        script = own / part / name
        script.unlink()
        script.write_text(f"#!/bin/sh\n'{real}/{part}/{name}' \"$@\" &\npid=$!\ntrap 'kill -INT $pid' INT\n"
                          f"wait $pid\nwait $pid\ncode=$?\n[ -d {place} ] || exit $code\n{PARTING[part]}\n"
                          "exit $code\n")
        script.chmod(0o755)
    return own


def stored(out, text):
    """Seeds that begin like this: their fuzzer, whether measured and shared, and what their turn was."""
    return rows(out, "SELECT i.fuzzer, s.state = 2 AND s.share > 0 AND s.round > 0, t.state, t.reward FROM seeds s"
                     " JOIN instances i ON i.id = s.instance JOIN turns t ON t.id = s.turn"
                     " WHERE CAST(s.data AS TEXT) LIKE ? ORDER BY 1", f"{text}%")


def put_by_hand(out):
    """As an orphan of a killed supervisor would: a find of each form, and a crash."""
    home = out / "fuzzers"
    queue = home / "aflpp-0" / "out" / "default" / "queue"
    (queue / f"id:{len(list(queue.glob('id:*'))):06},src:000000,time:1,execs:1,op:orphan").write_text("orphan a")
    (home / "honggfuzz-0" / "new" / f"{7:032x}.{8:08x}.honggfuzz.cov").write_text("orphan h")
    crash = sorted((TOTE / "crashes").iterdir())[0].read_bytes() + b" orphan"
    (queue.parent / "crashes" / "id:000999,sig:06,src:000000,time:1,execs:999999999,op:orphan").write_bytes(crash)
    return hashlib.sha256(crash).digest()


def orphans_given(out):
    """(which, to which fuzzer)."""
    return set(rows(out, "SELECT CAST(s.data AS TEXT), i.fuzzer FROM imports m JOIN seeds s ON s.id = m.seed JOIN"
                         " instances i ON i.id = m.instance WHERE s.data IN (?, ?) AND m.delivered",
                    b"orphan a", b"orphan h"))


def late():
    out, before, env = TEMP / "late", segments(), {"CAROL_ENGINES": parting_engines()}
    code, text = carol.run("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s", "-f",
                           "aflpp,honggfuzz", "-d", "4s", "-s", "equal", env=env)
    if code == 0:
        code, text = go_on_until(lambda: len(set(stored(out, "parting "))) == 2, out, carol, env=env)
    ok(code == 0 and sorted(set(stored(out, "parting "))) == [(n, 1, LATE, 0.0) for n in ("aflpp", "honggfuzz")],
       "what they save while they end is stored, measured, shared and in no reward",
       "\n".join([f"{code}", text, f"{stored(out, 'parting ')}"] + unharvested(out)))
    crash, turns = put_by_hand(out), rows(out, "SELECT max(id) FROM turns")
    ok(len(unharvested(out)) == 3, "three files appear while no Carol runs", unharvested(out))
    code, text = carol.run("fuzz", "--resume", out, "-d", "1s")
    ok(code == 0 and rows(out, "SELECT max(id) FROM turns") == turns, "it is resumed with no time left for a turn",
       f"{code}\n{text}")
    ok(stored(out, "orphan ") == [(n, 1, LATE, 0.0) for n in ("aflpp", "honggfuzz")]
       and rows(out, "SELECT hang FROM crashes WHERE hash = ?", crash) == [(0,)] and not unharvested(out),
       "and stores them all the same", "\n".join([text, f"{stored(out, 'orphan ')}"] + unharvested(out)))
    s = carol.json("status", out, "--json")
    ok(s["seeds"] == rows(out, "SELECT count(*) FROM seeds")[0][0] and s["turns"] == turns[0][0],
       "status counts the inputs, and no turn", s)
    replays("late finds", out)
    others = {("orphan a", "honggfuzz"), ("orphan h", "aflpp")}
    code, text = go_on_until(lambda: orphans_given(out) >= others, out, carol)
    ok(code == 0 and orphans_given(out) >= others, "the other fuzzer is given each",
       f"{code} {orphans_given(out)}\n{text}")
    ok(not twice_imported(out), "and nobody its own, or one twice", twice_imported(out))
    ok(not unharvested(out) and not unfinished(out), "nothing is left over", f"{unharvested(out)} {unfinished(out)}")
    replays("late finds, resumed", out)
    nothing_left("late finds", before)
