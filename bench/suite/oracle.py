#!/usr/bin/env python3
"""Reads, merges and feeds the oracle's file (ORACLE.md; layout in runtime/oracle/oracle.h).

  oracle.py show [--json] [--bugs bugs.csv] FILE...    what was reached and triggered, and when first;
                                                       several files of one campaign are merged
  oracle.py run [--cpu S] FILE -- CMD...               runs a campaign that notes into FILE: counts the
                                                       CPU time of CMD and all below it, and ends it
                                                       when S seconds of it are used

A storage file of Magma is recognised by its size and read too; it has counts but no times.
"""
import argparse
import csv
import ctypes
import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

HEADER = struct.Struct("<8sII32sQQQQ")
RECORD = struct.Struct("<8Q")
BUGS = 128
SIZE = HEADER.size + BUGS * RECORD.size
START_AT, CPU_AT = 56, 64  # of start_ns and cpu_ns in the file
MAGMA_SIZE, MAGMA_SLOT, MAGMA_SLOTS = 2048, struct.Struct("<16sQQ"), 31


def first(exec_number, wall_ns, cpu_ns):
    return {"exec": exec_number, "wall_s": wall_ns / 1e9, "cpu_s": cpu_ns / 1e9} if exec_number else None


def read(path):
    """{"target", "execs", "cpu_s", "bugs": {number or name: {"reached", "triggered", "first_..."}}}"""
    data = Path(path).read_bytes()
    if data[:8] == b"CAROLBUG":
        return read_ours(data, path)
    if len(data) == MAGMA_SIZE and data[0] in (0, 1):
        return read_magma(data)
    if data.strip(b"\0") == b"":
        return {"target": "", "execs": 0, "cpu_s": 0.0, "bugs": {}}
    raise ValueError(f"{path} is no oracle file")


def read_ours(data, path):
    _, version, count, target, execs, _, cpu_ns, _ = HEADER.unpack_from(data)
    if version != 1 or len(data) < HEADER.size + count * RECORD.size:
        raise ValueError(f"{path}: version {version} or length {len(data)} is not known")
    bugs = {}
    for i in range(count):
        r = RECORD.unpack_from(data, HEADER.size + i * RECORD.size)
        if r[0]:
            bugs[i] = {"reached": r[0], "triggered": r[1], "first_reached": first(*r[2:5]),
                       "first_triggered": first(*r[5:8])}
    return {"target": target.rstrip(b"\0").decode(), "execs": execs, "cpu_s": cpu_ns / 1e9, "bugs": bugs}


def read_magma(data):
    """The producer's array is always up to date; the consumer's is a copy for Magma's monitor."""
    bugs = {}
    for i in range(MAGMA_SLOTS):
        name, reached, triggered = MAGMA_SLOT.unpack_from(data, 8 + i * MAGMA_SLOT.size)
        if name[0] == 0:
            break
        bugs[name.rstrip(b"\0").decode()] = {"reached": reached, "triggered": triggered,
                                             "first_reached": None, "first_triggered": None}
    return {"target": "magma", "execs": None, "cpu_s": None, "bugs": bugs}


def earlier(a, b):
    return min((x for x in (a, b) if x), key=lambda x: x["wall_s"], default=None)


def merge(records):
    """Several files of one campaign: counts add up, the earliest first counts."""
    whole = records[0]
    for r in records[1:]:
        whole["execs"] = (whole["execs"] or 0) + (r["execs"] or 0)
        whole["cpu_s"] = max(whole["cpu_s"] or 0, r["cpu_s"] or 0)
        for n, b in r["bugs"].items():
            mine = whole["bugs"].setdefault(n, {"reached": 0, "triggered": 0, "first_reached": None,
                                                "first_triggered": None})
            for k in ("reached", "triggered"):
                mine[k] += b[k]
            for k in ("first_reached", "first_triggered"):
                mine[k] = earlier(mine[k], b[k])
    return whole


def create(path):
    """An empty file whose clock starts now; what was there is lost."""
    with open(path, "wb") as f:
        f.truncate(SIZE)
        f.seek(START_AT)
        f.write(struct.pack("<Q", time.monotonic_ns()))


TICK = os.sysconf("SC_CLK_TCK")


def tree_cpu(root):
    """CPU seconds of a process, all below it, and all of theirs that ended and were waited for."""
    total, todo = 0, [root]
    while todo:
        pid = todo.pop()
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
            total += sum(map(int, stat[stat.rindex(b")") + 2:].split()[11:15]))
            for task in os.listdir(f"/proc/{pid}/task"):
                todo += Path(f"/proc/{pid}/task/{task}/children").read_text().split()
        except OSError:
            continue
    return total / TICK


def adopt_orphans():
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_tree(root):
    """Asks kindly, then kills what is left below us."""
    os.kill(root.pid, signal.SIGINT)
    try:
        root.wait(20)
    except subprocess.TimeoutExpired:
        root.kill()
        root.wait()
    for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        try:
            os.kill(int(pid), signal.SIGKILL)
            os.waitpid(int(pid), 0)
        except OSError:
            pass


def run(path, command, cpu_limit=None, wall_limit=None, **popen):
    """Runs a campaign with the oracle on, its CPU clock ticking.  Returns its exit code (None: ended
    by a limit) and the CPU seconds used.  What happens between the limit and the end is not kept."""
    create(path)
    adopt_orphans()
    env = {**os.environ, **popen.pop("env", {}), "CAROL_ORACLE": str(Path(path).absolute())}
    used, begun, code = 0.0, time.monotonic(), None
    with open(path, "r+b") as f, mmap.mmap(f.fileno(), SIZE) as area:
        child = subprocess.Popen([str(c) for c in command], env=env, **popen)
        try:
            while child.poll() is None:
                used = max(used, tree_cpu(child.pid))
                struct.pack_into("<Q", area, CPU_AT, int(used * 1e9))
                if (cpu_limit and used >= cpu_limit) or \
                        (wall_limit and time.monotonic() - begun >= wall_limit):
                    break
                time.sleep(0.05)
            else:
                code = child.returncode
        finally:
            if child.poll() is None:
                at_the_limit = area[:]
                end_tree(child)
                area[:] = at_the_limit
    return code, used


def load_bugs(path):
    """{number: row of bugs.csv}"""
    with open(path, newline="", encoding="utf-8") as f:
        return {int(row["number"]): row for row in csv.DictReader(f)}


def when(f):
    return f"{f['cpu_s']:10.2f} {f['wall_s']:10.2f} {f['exec']:12d}" if f else f"{'-':>10} {'-':>10} {'-':>12}"


def show(answer, names):
    print(f"{answer['target']}: {answer['execs']} inputs, {answer['cpu_s']} CPU s")
    print(f"{'bug':12} {'reached':>10} {'triggered':>10}   first trigger: CPU s, wall s, input")
    for n, b in sorted(answer["bugs"].items()):
        name = names[n]["id"] if n in names else str(n)
        print(f"{name:12} {b['reached']:10d} {b['triggered']:10d}   {when(b['first_triggered'])}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = p.add_subparsers(dest="verb", required=True)
    s = verbs.add_parser("show")
    s.add_argument("--json", action="store_true")
    s.add_argument("--bugs", type=Path)
    s.add_argument("files", nargs="+")
    r = verbs.add_parser("run")
    r.add_argument("--cpu", type=float)
    r.add_argument("file")
    r.add_argument("command", nargs="+")
    a = p.parse_args()
    if a.verb == "run":
        code, used = run(a.file, a.command, cpu_limit=a.cpu)
        print(f"{used:.2f} CPU s", file=sys.stderr)
        return code or 0
    try:
        answer = merge([read(f) for f in a.files])
    except (OSError, ValueError) as e:
        print(f"oracle: {e}", file=sys.stderr)
        return 2
    names = load_bugs(a.bugs) if a.bugs else {}
    if a.json:
        print(json.dumps({"schema": 1, **answer}))
    else:
        show(answer, names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
