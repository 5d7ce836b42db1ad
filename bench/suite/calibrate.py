#!/usr/bin/env python3
"""How hard the bugs are: what each fuzzer alone needed for them, and the grade that follows.

usage: calibrate.py [--graded FILE] [DIR...]      (default: suite, holdout, script and markup in bench/results)

A DIR is what `carol bench run bench/suite/singles.ini -o DIR` made: a campaign of `single:FUZZER` is a
calibration.  Per bug: CPU seconds of each fuzzer, median over trials, and the grade of the best of them beside
the designed one.  A grade beyond what the best fuzzer was given time for is open: `> 120`.  Then how many bugs of each
measured grade each contender triggered, mean over its trials, summed over the targets.

A bug that the best fuzzer triggers within a second is a warm-up: it tells nobody from anybody.  --graded writes the others,
for `carol bench table --bugs`.
"""
import argparse
import configparser
import csv
import json
import statistics
import sys
from collections import Counter
from pathlib import Path

import check
import oracle

HERE = Path(__file__).resolve().parent
WARM_UP, EASY, MEDIUM = 1, 20, 300  # CPU seconds of the best single fuzzer
GRADES = ("warm-up", "easy", "medium", "hard")
PREFIX = "single:"


def campaigns(tops):
    """{(target, contender): [result, one per trial]}"""
    found = {}
    for path in sorted(p for top in tops for p in top.glob("campaigns/*/result.json")):
        r = json.loads(path.read_text())
        found.setdefault((r["target"], r["contender"]), []).append(r)
    return found


def seconds(result, bug):
    """CPU seconds until it was triggered; infinite: it was not"""
    for b in result["bugs"]:
        if b["id"] == bug and b["triggered"]:
            return b["triggered"]["cpu_s"]
    return float("inf")


def grade(best, budget):
    for name, most in (("warm-up", WARM_UP), ("easy", EASY), ("medium", MEDIUM)):
        if best <= most:
            return name
    return "hard" if budget >= MEDIUM else f"> {budget:g}"


def table(found, fuzzers):
    """Prints it; {bug: (target, measured grade)}"""
    agree, measured_of = Counter(), {}
    print(f"{'bug':4} {'designed':8} {'measured':8} " + " ".join(f"{f:>10}" for f in fuzzers))
    for target in [n for n in check.NAMES if any((n, PREFIX + f) in found for f in fuzzers)]:
        runs = {f: found.get((target, PREFIX + f), []) for f in fuzzers}
        budget = min(r["budget_s"] for rs in runs.values() for r in rs)
        for bug in oracle.load_bugs(HERE / target / "bugs.csv").values():
            medians = [statistics.median([seconds(r, bug["id"]) for r in runs[f]] or [float("inf")]) for f in fuzzers]
            measured = grade(min(medians), budget)
            agree[bug["grade"], measured] += 1
            measured_of[bug["id"]] = target, measured
            cells = " ".join(f"{'-' if m == float('inf') else f'{m:.1f}':>10}" for m in medians)
            print(f"{bug['id']:4} {bug['grade']:8} {measured:8} {cells}")
    print()
    for (designed, measured), n in sorted(agree.items()):
        print(f"designed {designed}, measured {measured}: {n}")
    return measured_of


def by_grade(found, measured_of, targets):
    """How many bugs of each grade they triggered: the contenders that ran on all of these targets that anybody ran on."""
    targets = [t for t in targets if any(t == ran for ran, _ in found)]
    contenders = [c for c in sorted({c for _, c in found}) if all((t, c) in found for t in targets)]
    if not targets or not contenders:
        return
    grades = sorted({g for _, g in measured_of.values()}, key=lambda g: (*(g != name for name in GRADES), g))
    print(f"\n{'on ' + ' '.join(targets):28}" + "".join(f"{g:>8}" for g in grades))
    for contender in contenders:
        counts = Counter()
        for results in (found[t, contender] for t in targets):
            for r in results:
                for b in r["bugs"]:
                    counts[measured_of[b["id"]][1]] += bool(b["triggered"]) / len(results)
        print(f"{contender:28}" + "".join(f"{counts[g]:8.1f}" for g in grades))


def write_graded(file, measured_of):
    graded = [(bug, target, grade) for bug, (target, grade) in measured_of.items() if grade != "warm-up"]
    with file.open("w", newline="", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["id", "target", "grade"])
        out.writerows(graded)
    print(f"\n{file}: {len(graded)} bugs: " + ", ".join(f"{n} {g}" for g, n in Counter(g for _, _, g in graded).items()))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS)
    p.add_argument("--graded", type=Path)
    p.add_argument("dirs", nargs="*", type=Path)
    a = p.parse_args()
    tops = a.dirs or [check.ROOT / "bench/results" / d for d in ("suite", "holdout", "script", "markup")]
    found = campaigns(tops)
    fuzzers = sorted({c[len(PREFIX):] for _, c in found if c.startswith(PREFIX)})
    if not fuzzers:
        print(f"calibrate: no campaign of a single fuzzer; to make some: carol bench run bench/suite/singles.ini -o {tops[0]}",
              file=sys.stderr)
        return 3
    measured_of = table(found, fuzzers)
    suite = configparser.ConfigParser()
    suite.read(HERE / "suite.ini")
    for targets in suite["suite"]["targets"], suite["suite"]["holdout"]:
        by_grade(found, measured_of, targets.split())
    if a.graded:
        write_graded(a.graded, measured_of)
    return 0


if __name__ == "__main__":
    sys.exit(main())
