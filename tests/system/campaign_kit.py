"""What the campaign tests and benchmarks share: running carol, looking at its processes and its record.

Everything started here carries a mark in its environment, so that whatever survives is found, whoever
its parent is by then.
"""
import ctypes
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
import uuid
from pathlib import Path

RUNNING, PARKED, COMMITTED, VOID, LATE = 1, 2, 3, 4, 5  # enum turn_state of src/store/store.h
MARK = "CAROL_TEST_MARK"


class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def ok(self, good, what, detail=""):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {what}", flush=True)
        if not good:
            self.failures += 1
            for line in str(detail).splitlines()[-30:]:
                print(f"# {line}", flush=True)
        return good

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}", flush=True)

    def tidy(self, directory):
        """Removes it, unless it is wanted to look at."""
        if self.failures or os.environ.get("CAROL_KEEP"):
            print(f"# kept: {directory}", flush=True)
        else:
            shutil.rmtree(directory, ignore_errors=True)

    def done(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.failures else 0


def memory_kb(pid):
    """What of a process is in memory; None when it is gone."""
    try:
        return next(int(line.split()[1]) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
                    if line.startswith("VmRSS:"))
    except (OSError, StopIteration):
        return None


def engines_of(carol):
    """Where this carol finds its fuzzers; None when there are none."""
    own = os.environ.get("CAROL_ENGINES") or str(Path(carol).resolve().parent / "engines")
    return own if os.path.exists(os.path.join(own, "afl", "afl-fuzz")) else None


class Carol:
    """Runs one carol binary; remembers its mark."""

    def __init__(self, binary, **env):
        self.binary = str(Path(binary).resolve())
        self.mark = uuid.uuid4().hex
        self.env = {**os.environ, MARK: self.mark, **env}

    @staticmethod
    def words(args):
        """A new campaign is the paper's, unless the test says --default; triage is off unless it says --triage."""
        args = [str(a) for a in args]
        if args[:1] == ["fuzz"] and not {"--help", "--no-triage", "--triage"} & set(args):
            args.insert(1, "--no-triage")
        if args[:1] == ["fuzz"] and not {"--resume", "--help", "--default"} & set(args):
            args.insert(1, "--paper")
        return [a for a in args if a not in ("--default", "--triage")]

    def start(self, *args, env=None, log=None, **popen):
        out = open(log, "ab") if log else subprocess.DEVNULL
        p = subprocess.Popen([self.binary, *self.words(args)], env={**self.env, **(env or {})},
                             stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                             start_new_session=True, **popen)
        if log:
            out.close()
        return p

    def run(self, *args, env=None, limit=120, **popen):
        """Exit code and everything printed."""
        try:
            p = subprocess.run([self.binary, *self.words(args)], env={**self.env, **(env or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=limit, text=True, errors="replace",
                               **popen)
            return p.returncode, p.stdout
        except subprocess.TimeoutExpired as e:
            text = e.stdout or b""
            return "no end", text.decode(errors="replace") if isinstance(text, bytes) else text

    def json(self, *args):
        p = subprocess.run([self.binary, *map(str, args)], env=self.env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=120, text=True, check=False)
        try:
            return json.loads(p.stdout)
        except ValueError:
            return {"error": p.stdout + p.stderr}

    def processes(self):
        """(pid, path of its program) of everything with our mark."""
        want = f"{MARK}={self.mark}".encode()
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if want not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    continue
                found.append((int(pid), os.readlink(f"/proc/{pid}/exe")))
            except OSError:
                pass  # gone meanwhile
        return found

    def survivors(self, patience=10):
        """What is still there after a moment of patience."""
        end = time.monotonic() + patience
        while (left := self.processes()) and time.monotonic() < end:
            time.sleep(0.1)
        return left

    def kill_all(self):
        for pid, _ in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def own_shared_memory():
    """From here on we and our children see only the shared memory that we make, where that is permitted: the
    segments of other programs on this machine say nothing about Carol."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.unshare(0x08000000)  # CLONE_NEWIPC


def segments():
    """SysV shared memory: {id: attached processes}."""
    lines = Path("/proc/sysvipc/shm").read_text().splitlines()[1:]
    return {int(x.split()[1]): int(x.split()[6]) for x in lines}


def orphan_segments(before, patience=5):
    """Segments that came since, that nobody is attached to any more and that stay."""
    end, left = time.monotonic() + patience, None
    while True:
        now = {i for i, attached in segments().items() if i not in before and attached == 0}
        left = now if left is None else left & now
        if not left or time.monotonic() > end:
            return sorted(left)
        time.sleep(0.2)


class Stalls(threading.Thread):
    """Counts how often the machine let us not run for a good part of a fuzzer's limit per input (a second): what it
    executed then is a hang to it, and no fault of ours."""

    def __init__(self):
        super().__init__(daemon=True)
        self.count = 0
        self.start()

    def run(self):
        while True:
            began = time.monotonic()
            time.sleep(0.02)
            self.count += time.monotonic() - began > 0.25


def wait_until(true, patience=90, every=0.05):
    """What it says once it is true; None: it did not become so.  The patience only bounds a failure."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        value = true()
        if value:
            return value
        time.sleep(every)
    return None


def go_on_until(enough, out, carol, seconds=6, tries=8, **how):
    """A busy machine does less in the same time: the ended campaign in out is resumed, for so many seconds more
    each time, until enough() is true.  (exit code, everything printed) of the last time, (0, "") if none was
    needed."""
    code, text = 0, ""
    for _ in range(tries):
        if code != 0 or enough():
            break
        elapsed = rows(out, "SELECT elapsed_ns FROM clock")[0][0] / 1e9
        code, text = carol.run("fuzz", "--resume", out, "-d", f"{elapsed + seconds:.1f}s", **how)
    return code, text


def record(out):
    """The campaign's record, read only: the one place of the tests and benchmarks that opens it."""
    return sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True, timeout=10)


def rows(out, sql, *args):
    db = record(out)
    try:
        return db.execute(sql, args).fetchall()
    finally:
        db.close()


def add_crash(out, data, hang=False, arm=0, sig=11, name="planted"):
    """As if a fuzzer had found it."""
    with sqlite3.connect(Path(out) / "carol.db", timeout=30) as db:
        db.execute("INSERT OR IGNORE INTO crashes(hang, hash, size, arm, signal, name, found_ns, by_eval, data)"
                   " VALUES(?, ?, ?, ?, ?, ?, 5000000000, 0, ?)",
                   (int(hang), hashlib.sha256(data).digest(), len(data), arm, sig, name, data))


def rows_or_none(out, sql, *args):
    """None while the record cannot be read: it is not made yet, or being recovered."""
    try:
        return rows(out, sql, *args)
    except sqlite3.Error:
        return None


def turns_done(out):
    done = rows_or_none(out, "SELECT count(*) FROM turns WHERE state = ?", COMMITTED)
    return done[0][0] if done else 0


class Witness:
    """Remembers all that was ever acknowledged: what a reader of the record has seen once."""

    TABLES = {"seeds": "SELECT id, hash FROM seeds WHERE id > ? ORDER BY id",
              "crashes": "SELECT id, hash FROM crashes WHERE id > ? ORDER BY id",
              "imports": "SELECT id, instance || '/' || seed FROM imports WHERE id > ? ORDER BY id"}

    def __init__(self, out):
        self.out = out
        self.seen = {t: {} for t in self.TABLES}
        self.turns = {}  # id -> (state, round, reward) once finished, else None
        self.clock = 0
        self.backwards = []
        self.looks = 0

    def look(self):
        try:
            db = record(self.out)
        except sqlite3.Error:
            return
        try:
            for t, sql in self.TABLES.items():
                self.seen[t].update(db.execute(sql, (max(self.seen[t], default=0),)))
            for i, state, rnd, reward in db.execute("SELECT id, state, round, reward FROM turns"):
                done = (state, rnd, reward) if rnd else None  # void without a round: being recovered
                self.turns[i] = self.turns.get(i) or done
            for (now,) in db.execute("SELECT elapsed_ns FROM clock"):
                if now < self.clock:
                    self.backwards.append((self.clock, now))
                self.clock = max(self.clock, now)
            self.looks += 1
        except sqlite3.Error:
            pass  # not made yet, or being recovered
        finally:
            db.close()

    def missing(self):
        """What was seen once and is not there, or is another one now."""
        lost = []
        for t, seen in self.seen.items():
            sql = self.TABLES[t].replace("> ?", "> 0")
            now = dict(rows(self.out, sql))
            lost += [f"{t} {i}" for i, v in seen.items() if now.get(i) != v]
        now = {i: r for i, *r in rows(self.out, "SELECT id, state, round, reward FROM turns")}
        lost += [f"turn {i}: was {was}, is {now.get(i)}" for i, was in self.turns.items()
                 if i not in now or (was and list(was) != now[i])]
        return lost


def twice_imported(out):
    """(instance, seed) pairs imported twice by the record, or by what the fuzzers themselves noted."""
    wrong = rows(out, "SELECT instance, seed, count(*) FROM imports GROUP BY 1, 2 HAVING count(*) > 1")
    wrong += rows(out, "SELECT 'never delivered', m.instance, m.seed FROM imports m JOIN turns t ON t.id ="
                       " m.turn WHERE m.delivered = 0 AND EXISTS (SELECT 1 FROM turns u WHERE u.instance ="
                       " m.instance AND u.id > t.id AND u.state = ? AND NOT u.died)", COMMITTED)
    # an instance cannot execute more imports than it was ever given, start corpus included
    wrong += rows(out, "SELECT 'taken', t.instance, sum(t.taken), (SELECT count(*) FROM imports i WHERE"
                       " i.instance = t.instance) AS given FROM turns t GROUP BY t.instance"
                       " HAVING sum(t.taken) > given")
    wrong += rows(out, "SELECT 'own', i.instance, i.seed FROM imports i JOIN seeds s ON s.id = i.seed"
                       " WHERE s.instance = i.instance")
    for export in Path(out).glob("fuzzers/*/export"):  # afl-fuzz's own word: "<import> <queue name>"
        ids = [x.split(" ")[0] for x in export.read_text(errors="replace").splitlines()]
        ids = [x for x in ids if x.isdigit()]
        wrong += [(export.parent.name, i) for i in set(ids) if ids.count(i) > 1]
    return wrong


def built_on_others(out):
    """Seeds with an ancestor of another fuzzer: (seed, its fuzzer, ancestor, that one's)."""
    maker = dict(rows(out, "SELECT s.id, i.fuzzer FROM seeds s JOIN instances i ON i.id = s.instance"))
    parent = dict(rows(out, "SELECT id, parent FROM seeds WHERE parent IS NOT NULL"))
    found = []
    for seed, fuzzer in maker.items():
        up, steps = parent.get(seed), 0
        while up and steps < 10000:
            if maker.get(up, fuzzer) != fuzzer:
                found.append((seed, fuzzer, up, maker[up]))
                break
            up, steps = parent.get(up), steps + 1
    return found


def unharvested(out):
    """Files in the fuzzers' own directories that the record does not know, one line each: queue entries by
    their number (afl-fuzz trims them in place), crashes by their bytes."""
    known = {r[0] for r in rows(out, "SELECT hash FROM seeds UNION SELECT hash FROM crashes")}
    crashes = {r[0] for r in rows(out, "SELECT hash FROM crashes")}
    entries = set(rows(out, "SELECT i.fuzzer || '-' || i.number, e.entry FROM entries e JOIN instances i"
                            " ON i.id = e.instance"))
    places = {r[0].split(".ADDR.")[0] for r in rows(out, "SELECT name FROM crashes")}
    found = []
    for f in (Path(out) / "fuzzers").glob("*/**/*"):
        data = f.read_bytes() if f.is_file() else b""
        sha, kind = hashlib.sha256(data).digest(), f.parent.name.split(".")[0]
        if kind == "queue" and f.name.startswith("id:"):
            there = "orig:z-fallback" in f.name or (instance_of(out, f), int(f.name[3:9])) in entries
        elif kind == "crashes" and f.name.startswith("id:"):
            there = sha in crashes
        elif kind == "crash":  # honggfuzz; of many at one place only some are kept
            there = sha in crashes or f.name.split(".ADDR.")[0] in places
            there = there or (f.name.startswith("SIGVTALRM") and sha in known)  # a hang on an import is none
        else:
            there = kind != "new" or sha in known
        if data and not there:
            found.append(story_of(out, f))
    return found


def instance_of(out, f):
    return f.relative_to(Path(out) / "fuzzers").parts[0]


def story_of(out, f):
    """What may tell why this file of an instance is not in the record."""
    at = f.stat()
    last = rows(out, "SELECT t.id, t.state, t.round, t.parked_ns / 1e9, i.cursor, t.died FROM instances i LEFT"
                     " JOIN turns t ON t.instance = i.id WHERE i.fuzzer || '-' || i.number = ? ORDER BY t.round"
                     " = 0 DESC, t.round DESC LIMIT 1", instance_of(out, f))
    turn, state, rnd, parked, cursor, died = last[0] if last else (None,) * 6
    words = {RUNNING: "running", PARKED: "parked", COMMITTED: "committed", VOID: "void: it was open at a kill",
             LATE: "late"}
    when = time.strftime("%H:%M:%S", time.localtime(at.st_mtime)) + f".{at.st_mtime_ns // 1000000 % 1000:03}"
    record_at = max(x.stat().st_mtime for x in Path(out).glob("carol.db*"))
    return (f"{instance_of(out, f)}: {f.parent.name}/{f.name}, {at.st_size} bytes, saved at {when},"
            f" {record_at - at.st_mtime:+.3f} s before the record's last write; cursor '{cursor}'; last turn {turn}"
            f" ({words.get(state, state)}{', died' if died else ''}), round {rnd}, parked at {parked} s;"
            f" {len(rows(out, 'SELECT id FROM turns WHERE round = 0'))} turns open")
