#!/usr/bin/env python3
"""The oracle on records of virtual campaigns, and on the same records with one value changed.

usage: records.py RECORDS CAROL [-x] [NAME...]    prints TAP; -x: the records as they are, up to the first that differs

RECORDS is the program tests/unit/records.c, which makes the records.  Every changed value must be found by the check
that is named here: an oracle that finds nothing is none.
"""
import multiprocessing
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import fold

# record, what is changed, the check that must see it
CHANGES = [
    ("equal", "UPDATE turns SET reward = reward / 2 WHERE id = (SELECT max(id) FROM turns WHERE reward > 0)", "reward"),
    ("equal", "UPDATE turns SET raw = raw + 1 WHERE id = 20", "raw reward"),
    ("equal", "UPDATE turns SET new_edges = new_edges + 1 WHERE id = 20", "new edges"),
    ("equal", "UPDATE turns SET crashes = crashes + 1 WHERE id = 9", "signal g_bug"),
    ("equal", "UPDATE turns SET quota_cycles = quota_cycles + 1 WHERE id = 30", "cycles allowed"),
    ("equal", "UPDATE turns SET active_ns = active_ns + 1 WHERE id = 30", "slots: time in fuzzers"),
    ("equal", "UPDATE turns SET start_ns = 10790000000000 WHERE id = 80", "no turn starts at the end"),
    ("equal", "UPDATE settings SET value = 10000000000000 WHERE key = 'budget@1'", "signal elapsed_frac"),
    ("equal", "DELETE FROM calls WHERE id = 1", "raw reward"),
    ("equal", "UPDATE imports SET delivered = 0 WHERE id = 30", "imports arrive"),
    ("equal", "DELETE FROM imports WHERE id = 30", "imports of a turn"),
    ("equal", "UPDATE seeds SET parent = NULL WHERE id = (SELECT max(id) FROM seeds WHERE parent > 0)", "lineage"),
    ("equal", "UPDATE seeds SET share = NULL WHERE share = (SELECT max(share) FROM seeds)", "shared"),
    ("equal", "UPDATE seeds SET state = 2, status = 1 WHERE id = (SELECT min(id) FROM seeds WHERE state = 3)",
     "shared"),
    ("equal", "DELETE FROM crashes WHERE id = (SELECT min(id) FROM crashes WHERE by_eval)",
     "crashes of the neutral build are kept"),
    ("equal", "DELETE FROM crashes WHERE id = (SELECT min(id) FROM crashes WHERE name <> 'echo' AND NOT by_eval)",
     "crashes of a turn, exactly"),
    ("equal", "UPDATE slots SET idle_ns = idle_ns - 1", "slots: time adds up"),
    ("equal", "UPDATE clock SET elapsed_ns = elapsed_ns - 1", "the clock is not behind"),
    ("deaths", "UPDATE turns SET died = 0 WHERE id = (SELECT max(id) FROM turns WHERE died)",
     "three deaths|only deaths"),
    ("deaths", "UPDATE turns SET died = 1 WHERE id = (SELECT min(id) FROM turns WHERE raw > 0)", "raw reward"),
    ("late", "UPDATE turns SET reward = 0.5 WHERE id = -2", "void and late turns earn nothing"),
    ("late", "UPDATE turns SET state = 3 WHERE id = (SELECT max(id) FROM turns WHERE state = 4)", "signal ctx_unc"),
    ("imported", "UPDATE turns SET arm = 0 WHERE arm = -1 AND round > 0", "imports by the user are nobody's"),
    ("imported", "UPDATE seeds SET round = round + 1 WHERE instance IS NULL AND turn < 0", "round of a seed"),
    ("random_new_only", "UPDATE settings SET value = 0 WHERE key = 'neutral_filter'", "shared"),
    ("random_new_only", "UPDATE turns SET instance = (SELECT i.id FROM instances i JOIN instances j USING (fuzzer)"
     " WHERE j.id = turns.instance AND i.id <> j.id) WHERE id = 32", "the most recently idle|an idle instance"),
    ("fused", "UPDATE settings SET value = 'own' WHERE key = 'instances'", "an instance of its fuzzer"),
    ("fused", "UPDATE turns SET arm = (arm + 1) % 3 WHERE arm < 3 AND state = 5",
     "late finds are of the last turn's fuzzer"),
    ("contextual", "UPDATE turns SET at_decision = at_decision - 1 WHERE round = 20", "completions in order|signal"),
    ("contextual", "UPDATE turns SET slot = (slot + 1) % 3 WHERE id = 25", "one turn at a time"),
    ("equal", "UPDATE settings SET value = 8 WHERE key = 'seed'", "choice"),
    ("equal", "UPDATE turns SET startup_ns = startup_ns - 1 WHERE id = 1", "slots: time of start-up"),
    ("equal", "UPDATE turns SET eval_ns = eval_ns - 1 WHERE id = 30", "slots: time of evaluation"),
    ("equal", "UPDATE slots SET start_ns = start_ns - 1, idle_ns = idle_ns + 1", "slots: time of start-up"),
    ("equal", "UPDATE turns SET cycle_ns = cycle_ns * 2 WHERE id = 30", "cycles allowed"),
    ("equal", "UPDATE turns SET active_ns = active_ns - 9000000000 WHERE id = 30", "cycles allowed"),
    ("equal", "UPDATE seeds SET cpu_us = 6000000 WHERE status = 4", "few hangs are measured"),
    ("equal", "UPDATE crashes SET name = '' WHERE id = (SELECT min(id) FROM crashes WHERE by_eval)",
     "they keep name and parent"),
    ("quick", "UPDATE turns SET active_ns = active_ns - 1 WHERE id = 9", "the length of a turn"),
    ("phase", "UPDATE settings SET value = 9 WHERE key = 'seed'", "choice"),
    ("contextual", "UPDATE settings SET value = 9 WHERE key = 'seed'", "features"),
    ("autofz", "UPDATE settings SET value = 9 WHERE key = 'seed'", "choice"),
    ("legion", "UPDATE settings SET value = 9 WHERE key = 'seed'", "choice"),
    ("short_budget", "UPDATE settings SET value = 12345 WHERE key = 'no_predecessor'", "edges without a predecessor"),
]
# checks that look only when something rare is there
RARE = ("three deaths drop a fuzzer", "a dropped fuzzer is told of", "late turns run alone", "shared new only",
        "the most recently idle instance", "a new instance when all are busy", "learned calls are new", "lineage",
        "crashes seen only on the neutral build", "prediction", "index", "posterior mean", "cores", "noise",
        "length of the turn", "delivered imports arrived", "status", "signal mk_z", "deaths are in the turns")


def judged(job):
    """(name, problem or '', checks that looked)"""
    name, out, table, carol = job
    try:
        report = fold.judge(out, table, fakes=True, carol=carol)
    except Exception as e:  # whatever is wrong with a record, the others are judged too
        return name, f"cannot be read: {type(e).__name__}: {e}", {}
    return name, report.text(), report.looks


def changed(job):
    """What the oracle says after a change."""
    out, table, sql, carol = job
    with tempfile.TemporaryDirectory(dir=out.parent) as temp:
        copy = Path(temp) / "out"
        copy.mkdir()
        for f in out.iterdir():
            if not f.name.startswith("carol.db"):
                (copy / f.name).symlink_to(f)
        shutil.copy(out / "carol.db", copy)
        db = sqlite3.connect(copy / "carol.db")
        rows = db.execute(sql).rowcount
        db.commit()
        db.close()
        _, text, _ = judged(("", copy, table, None))
        return rows, text


def make(program, names):
    home = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path(tempfile.gettempdir())
    temp = Path(tempfile.mkdtemp(prefix="carol-records-", dir=home))
    p = subprocess.run([program, str(temp), *names], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       timeout=200, check=False)
    return temp, p.returncode, p.stdout


def main():
    args = [a for a in sys.argv[1:] if a != "-x"]
    stop, (program, carol), names = "-x" in sys.argv, args[:2], args[2:]
    temp, code, text = make(program, names)
    count = failures = 0

    def ok(good, what, detail=""):
        nonlocal count, failures
        count += 1
        failures += not good
        print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)
        for line in [] if good else detail.splitlines():
            print(f"# {line}", flush=True)
        if not good and stop:
            raise SystemExit(1)

    try:
        ok(code == 0, "the records are made", f"{code}\n{text}")
        jobs = [(d.name, d / "out", d / "table.edges", carol) for d in sorted(temp.iterdir())]
        looks = {}
        with multiprocessing.Pool(2) as pool:
            for name, problem, seen in pool.imap_unordered(judged, jobs):
                ok(not problem, f"{name}: nothing differs", problem)
                for k, n in seen.items():
                    looks[k] = looks.get(k, 0) + n
            if not names and not stop:
                unseen = [k for k in RARE if not looks.get(k)]
                ok(not unseen, f"{len(looks)} checks compared {sum(looks.values())} values", f"never looked: {unseen}")
                todo = [(temp / r / "out", temp / r / "table.edges", sql, carol) for r, sql, _ in CHANGES]
                for (record, sql, check), (rows, said) in zip(CHANGES, pool.imap(changed, todo)):
                    found = any(line.startswith(c) for c in check.split("|") for line in said.splitlines())
                    ok(rows > 0 and found, f"{check.split('|')[0]}: sees a change in {record}",
                       f"{rows} rows of {sql}\n{said}")
    finally:
        shutil.rmtree(temp, ignore_errors=True)
    print(f"1..{count}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
