#!/usr/bin/env python3
"""How hard the bugs are: what each fuzzer alone needed for them, and the grade that follows.

usage: calibrate.py [DIR...]      (default: suite, holdout and script in bench/results)

A DIR is what `carol bench run bench/suite/singles.ini -o DIR` made: a campaign of `single:FUZZER` is a
calibration.  Per bug: CPU seconds of each fuzzer, median over trials, and the grade of the best of them beside
the designed one.  A grade beyond what the best fuzzer was given time for is open: `> 120`.  Then how many bugs of each
measured grade each contender triggered, mean over its trials, summed over the targets.
"""
import configparser
import json
import statistics
import sys
from collections import Counter
from pathlib import Path

import check
import oracle

HERE = Path(__file__).resolve().parent
EASY, MEDIUM = 20, 300  # CPU seconds of the best single fuzzer
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
    if best <= MEDIUM:
        return "easy" if best <= EASY else "medium"
    return "hard" if budget >= MEDIUM else f"> {budget:g}"


def table(found, fuzzers):
    """Prints it; {bug: measured grade}"""
    agree, measured_of = Counter(), {}
    print(f"{'bug':4} {'designed':8} {'measured':8} " + " ".join(f"{f:>10}" for f in fuzzers))
    for target in [n for n in check.NAMES if any((n, PREFIX + f) in found for f in fuzzers)]:
        runs = {f: found.get((target, PREFIX + f), []) for f in fuzzers}
        budget = min(r["budget_s"] for rs in runs.values() for r in rs)
        for bug in oracle.load_bugs(HERE / target / "bugs.csv").values():
            medians = [statistics.median([seconds(r, bug["id"]) for r in runs[f]] or [float("inf")]) for f in fuzzers]
            measured = grade(min(medians), budget)
            agree[bug["grade"], measured] += 1
            measured_of[bug["id"]] = measured
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
    grades = sorted(set(measured_of.values()), key=lambda g: (g != "easy", g != "medium"))
    print(f"\n{'on ' + ' '.join(targets):28}" + "".join(f"{g:>8}" for g in grades))
    for contender in contenders:
        counts = Counter()
        for results in (found[t, contender] for t in targets):
            for r in results:
                for b in r["bugs"]:
                    counts[measured_of[b["id"]]] += bool(b["triggered"]) / len(results)
        print(f"{contender:28}" + "".join(f"{counts[g]:8.1f}" for g in grades))


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        return 0
    tops = [Path(d) for d in sys.argv[1:]] or [check.ROOT / "bench/results" / d for d in ("suite", "holdout", "script")]
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
