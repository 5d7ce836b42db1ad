#!/usr/bin/env python3
"""Runs every fuzzer alone on targets of the suite and keeps when it triggered what.

usage: calibrate.py [-o DIR] [--cpu S] [--trials N] [-j N] [--fuzzers LIST] [NAME...]
       calibrate.py --table [--cpu S]     what calibration.csv says: per bug the best fuzzer and its grade

A campaign is one target, one fuzzer under `carol fuzz --scheduler single:FUZZER`, one trial, S seconds of
CPU time of everything below it.  Each is written to calibration.csv when it ends, and one that is there is
not run again, so this may be stopped and started at will.  Without NAME all targets but the hold-outs of
suite.ini are run.
"""
import argparse
import csv
import io
import os
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import check
import oracle

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "calibration.csv"
FIELDS = ["target", "fuzzer", "trial", "budget_cpu_s", "cpu_s", "wall_s", "execs", "bug", "reached_cpu_s",
          "cpu_to_trigger_s", "exec_of_trigger"]
FUZZERS = ["aflpp", "darwin", "honggfuzz", "mopt", "lafintel", "radamsa"]
EASY, MEDIUM, HARD = 20, 300, 600  # CPU seconds; what lies between the last two is medium to hard


def rows():
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def campaign_of(row):
    return row["target"], row["fuzzer"], int(row["trial"]), float(row["budget_cpu_s"])


def append(new):
    """All rows of a campaign in one write, on disk when this returns: a campaign that is there is there whole."""
    text = io.StringIO()
    out = csv.DictWriter(text, FIELDS, lineterminator="\n")
    if not RESULTS.exists():
        out.writeheader()
    out.writerows(new)
    with RESULTS.open("ab", buffering=0) as f:
        f.write(text.getvalue().encode())
        os.fsync(f.fileno())


def run_one(carol, top, target, fuzzer, trial, budget):
    """One campaign; its rows, or a text that says why there are none."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=top) as tmp:
        file, out = Path(tmp) / "oracle", Path(tmp) / "out"
        command = [carol, "fuzz", "-b", Path(top) / target, "-i", Path(top) / f"{target}-src/seeds", "-o", out,
                   "-j", "1", "-d", "0", "--turn", "2s", "-f", fuzzer, "-s", f"single:{fuzzer}", "-T", "1000",
                   "--seed", str(trial), "-q", "--no-triage"]
        with open(Path(tmp) / "log", "w+b") as log:
            code, used = oracle.run(file, command, cpu_limit=budget, wall_limit=20 * budget + 120, stdout=log,
                                    stderr=log)
            log.seek(0)
            said = log.read().decode(errors="replace")
        answer, wall = oracle.read(file), time.monotonic() - begun
    if code is not None or not answer["execs"] or used < budget:
        return f"{target} {fuzzer} {trial}: exit {code}, {used:.1f} CPU s, {answer['execs']} inputs\n{said[-500:]}"
    base = {"target": target, "fuzzer": fuzzer, "trial": trial, "budget_cpu_s": f"{budget:g}",
            "cpu_s": f"{used:.1f}", "wall_s": f"{wall:.1f}", "execs": answer["execs"]}
    return to_rows(base, answer)


def to_rows(base, answer):
    names = oracle.load_bugs(HERE / base["target"] / "bugs.csv")
    out = [base]  # the campaign itself, so that one without a bug is known to have been run
    for n, b in sorted(answer["bugs"].items()):
        row = {**base, "bug": names[n]["id"], "reached_cpu_s": f"{b['first_reached']['cpu_s']:.2f}"}
        if b["first_triggered"]:
            row |= {"cpu_to_trigger_s": f"{b['first_triggered']['cpu_s']:.2f}",
                    "exec_of_trigger": b["first_triggered"]["exec"]}
        out.append(row)
    return out


def calibrate(a):
    names = a.names or check.targets()[0]
    ready = []
    for name in names:
        try:
            check.build(name, a.output.resolve(), a.carol)
            ready.append(name)
        except check.Missing:
            print(f"{name}: skipped", flush=True)
    known = {campaign_of(r) for r in rows()}
    todo = [(t, f, n, a.cpu) for n in range(1, a.trials + 1) for t in ready for f in a.fuzzers.split(",")]
    todo = [c for c in todo if c not in known]
    print(f"{len(todo)} campaigns of {a.cpu:g} CPU s, {a.jobs} at a time", flush=True)
    failed = 0
    with ProcessPoolExecutor(a.jobs, max_tasks_per_child=1) as pool:
        for i, done in enumerate(as_completed([pool.submit(run_one, a.carol, a.output.resolve(), *c)
                                               for c in todo]), 1):
            got = done.result()
            if isinstance(got, str):
                failed += 1
                print(got, flush=True)
                continue
            append(got)
            bugs = sum(1 for r in got if r.get("cpu_to_trigger_s"))
            print(f"{i}/{len(todo)} {got[0]['target']} {got[0]['fuzzer']} {got[0]['trial']}: {bugs} bugs, "
                  f"{got[0]['execs']} inputs", flush=True)
    return 1 if failed else 0


def measured_grade(median, budget):
    if median is None:
        return "hard" if budget >= HARD else f"> {budget:g} s"
    return "easy" if median <= EASY else "medium" if median <= MEDIUM else "hard"


def time_of(times, trials):
    """The median over all trials; None when more than half of them did not trigger it."""
    padded = sorted(times) + [float("inf")] * (trials - len(times))
    median = statistics.median(padded) if padded else float("inf")
    return None if median == float("inf") else median


def table(budget):
    """Per bug: median CPU seconds of each fuzzer alone, best of them, designed and measured grade."""
    all_rows = [r for r in rows() if float(r["budget_cpu_s"]) == budget]
    fuzzers = [f for f in FUZZERS if any(r["fuzzer"] == f for r in all_rows)]
    print(f"{'bug':4} {'designed':8} {'measured':10} " + " ".join(f"{f:>10}" for f in fuzzers))
    for target in [n for n in check.NAMES if any(r["target"] == n for r in all_rows)]:
        mine = [r for r in all_rows if r["target"] == target]
        for bug in oracle.load_bugs(HERE / target / "bugs.csv").values():
            medians = []
            for f in fuzzers:
                trials = len({r["trial"] for r in mine if r["fuzzer"] == f})
                times = [float(r["cpu_to_trigger_s"]) for r in mine
                         if r["fuzzer"] == f and r["bug"] == bug["id"] and r["cpu_to_trigger_s"]]
                medians.append(time_of(times, trials))
            best = min((m for m in medians if m is not None), default=None)
            cells = " ".join(f"{'-' if m is None else f'{m:.1f}':>10}" for m in medians)
            print(f"{bug['id']:4} {bug['grade']:8} {measured_grade(best, budget):10} {cells}")
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", type=Path, default=check.ROOT / "build/suite")
    p.add_argument("--carol", default=os.environ.get("CAROL", str(check.ROOT / "carol")))
    p.add_argument("--cpu", type=float, default=600)
    p.add_argument("--trials", type=int, default=5)
    p.add_argument("-j", "--jobs", type=int, default=2)
    p.add_argument("--fuzzers", default=",".join(FUZZERS))
    p.add_argument("--table", action="store_true")
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    if unknown := set(a.names) - set(check.NAMES):
        p.error(f"no such target: {', '.join(sorted(unknown))}")
    if a.table:
        return table(a.cpu)
    a.output.mkdir(parents=True, exist_ok=True)
    return calibrate(a)


if __name__ == "__main__":
    sys.exit(main())
