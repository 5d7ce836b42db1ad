#!/usr/bin/env python3
"""Sums what the tests themselves reported: TAP lines where a test prints TAP, else one per test.

    count-tests.py TESTLOG.json      "N passed, N failed, N skipped"; exit 1 on any failure or no test

That line is the last.  Before it, everything that failed is repeated with its reason, for readers who see
only the end of a log.
"""
import json
import re
import sys

TAP_LINE = re.compile(r"^(ok|not ok)\b(.*)$")
TAP_PLAN = re.compile(r"^1\.\.(\d+)", re.MULTILINE)
GOOD = ("OK", "SKIP", "EXPECTEDFAIL")
REASON_LINES = 25  # of one failed check
OUTPUT_LINES = 15  # of a test that ended without saying what failed


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
        if test["result"] not in GOOD and failed == 0:
            failed = 1  # it said all was well and then died
        return passed, failed, skipped
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        return 1, 0, 0
    return (0, 0, 1) if test["result"] == "SKIP" else (0, 1, 0)


def failed_checks(text):
    """Each failed check with the comments that follow it."""
    checks, inside = [], False
    for line in text.splitlines():
        match = TAP_LINE.match(line)
        if match:
            inside = match.group(1) == "not ok"
            if inside:
                checks.append([line])
        elif inside and line.startswith("#"):
            checks[-1].append(line)
    return checks


def shortened(lines, most):
    """At most so many of them: the beginning and the end, which say most."""
    half = most // 2
    return lines if len(lines) <= most else lines[:half] + ["# ..."] + lines[-half:]


def tell_failure(test, failed):
    """What failed in this test and why, as far as its output tells; failed: how many it counts for."""
    print(f"\nFAILED {test['name']}: {test['result'].lower()}, exit code {test.get('returncode')},"
          f" {test.get('duration', 0):.0f} s")
    text, errors = test.get("stdout") or "", test.get("stderr") or ""
    checks = failed_checks(text)
    for check in checks:
        print("\n".join(shortened(check, REASON_LINES)))
    if len(checks) < failed or test["result"] in ("TIMEOUT", "INTERRUPT"):  # it died, or hung: after what?
        print("\n".join(text.splitlines()[-OUTPUT_LINES:]))
    errors = [x for x in errors.splitlines() if x and not x.startswith("(test program exited")]  # by meson
    if errors:
        print("\n".join(errors[-OUTPUT_LINES:]))


def main(argv):
    if len(argv) != 2:
        sys.exit("usage: count-tests.py TESTLOG.json")
    totals = [0, 0, 0]
    try:
        with open(argv[1], encoding="utf-8") as log:
            for line in log:
                test = json.loads(line)
                counts = count_test(test)
                totals = [a + b for a, b in zip(totals, counts)]
                if counts[1]:
                    tell_failure(test, counts[1])
    except OSError as error:
        sys.exit(f"count-tests: {error}; no test ran")
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] or sum(totals) == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
