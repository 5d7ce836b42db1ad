#!/usr/bin/env python3
"""Sums what the tests themselves reported: TAP lines where a test prints TAP, else one per test.

    count-tests.py TESTLOG.json      "N passed, N failed, N skipped"; exit 1 on any failure or no test
"""
import json
import re
import sys

TAP_LINE = re.compile(r"^(ok|not ok)\b(.*)$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)


def count_tap(text):
    """(passed, failed, skipped); tests that were planned and never ran count as failed."""
    passed = failed = skipped = 0
    for line in text.splitlines():
        match = TAP_LINE.match(line)
        if not match:
            continue
        if "# skip" in match.group(2).lower():
            skipped += 1
        elif match.group(1) == "ok":
            passed += 1
        else:
            failed += 1
    planned = sum(int(n) for n in TAP_PLAN.findall(text))
    failed += max(0, planned - passed - failed - skipped)
    return passed, failed, skipped


def count_test(test):
    text = test.get("stdout") or ""
    if TAP_PLAN.search(text):
        passed, failed, skipped = count_tap(text)
        if test["result"] not in ("OK", "SKIP", "EXPECTEDFAIL") and failed == 0:
            failed = 1  # it said all was well and then died
        return passed, failed, skipped
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return 1, 0, 0
    return (0, 0, 1) if test["result"] == "SKIP" else (0, 1, 0)


def main(argv):
    if len(argv) != 2:
        sys.exit("usage: count-tests.py TESTLOG.json")
    totals = [0, 0, 0]
    try:
        with open(argv[1], encoding="utf-8") as log:
            for line in log:
                totals = [a + b for a, b in zip(totals, count_test(json.loads(line)))]
    except OSError as error:
        sys.exit(f"count-tests: {error}; no test ran")
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] or sum(totals) == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
