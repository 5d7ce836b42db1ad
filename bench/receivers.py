#!/usr/bin/env python3
"""How the fuzzers of a campaign fare beside each other: their speed, and how far they get through their queues.

usage: bench/receivers.py OUT [BARE]     e.g. after bench/versus.sh --name mine --keep ...:
       bench/receivers.py build/versus/mine/xml.1/carol/out build/versus/mine/xml.1/bare/out

OUT is a campaign, BARE what a bare afl-fuzz wrote beside it.  For each instance: its turns and their time, executions a
second in that time, the share of it in turns slower than a tenth of BARE's mean speed (without BARE: of the median turn of
the instance); for afl-fuzz also the entries of its queue, how many it has worked on, and how many favourites wait, when
it last wrote that down.
"""
import re
import sqlite3
import statistics
import sys
from pathlib import Path

HEAD = ["instance", "turns", "seconds", "execs/s", "slow %", "entries", "worked on %", "favourites waiting"]


def stats_of(place):
    """fuzzer_stats of the afl-fuzz below; empty: there is none"""
    file = next(iter(sorted(Path(place).glob("**/fuzzer_stats"))), None)
    return dict(re.findall(r"^(\w+)\s*: (.*)$", file.read_text(), re.M)) if file else {}


def queue_of(stats):
    if not stats:
        return ["-"] * 3
    entries = int(stats["corpus_count"])
    return [entries, f"{100 * (1 - int(stats['pending_total']) / entries):.0f}", stats["pending_favs"]]


def instances(out):
    """{name: [(executions, seconds) of each turn]}"""
    base = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True)
    found = {}
    for name, number, execs, ns in base.execute("SELECT fuzzer, number, execs, active_ns FROM turns JOIN instances ON instance = instances.id"):
        if ns > 0:
            found.setdefault(f"{name}-{number}", []).append((execs, ns / 1e9))
    return found


def main():
    if len(sys.argv) not in (2, 3) or not (Path(sys.argv[1]) / "carol.db").exists():
        sys.exit(__doc__)
    out, rows, bare = Path(sys.argv[1]), [], None
    if len(sys.argv) == 3:
        s = stats_of(sys.argv[2])
        if not s:
            sys.exit(f"receivers: no fuzzer_stats below {sys.argv[2]}: is it what afl-fuzz wrote?")
        bare = int(s["execs_done"]) / int(s["run_time"])
        rows.append(["bare", "-", s["run_time"], f"{bare:.0f}", "-", *queue_of(s)])
    for name, turns in sorted(instances(out).items()):
        seconds = sum(t for _, t in turns)
        usual = bare or statistics.median(e / t for e, t in turns)
        slow = sum(t for e, t in turns if e / t < usual / 10)
        rows.append([name, len(turns), f"{seconds:.0f}", f"{sum(e for e, _ in turns) / seconds:.0f}", f"{100 * slow / seconds:.0f}",
                     *queue_of(stats_of(out / "fuzzers" / name))])
    width = [max(len(str(r[i])) for r in [HEAD, *rows]) for i in range(len(HEAD))]
    for r in [HEAD, *rows]:
        print("  ".join(str(v).rjust(w) for v, w in zip(r, width)))


main()
