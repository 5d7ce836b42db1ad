#!/usr/bin/env python3
"""What bench/viewers.py makes of its intervals: noise must not help it to hold.

    verdict.py CAROL SOURCE_ROOT
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Tap

TAP = Tap()
sys.path.insert(0, str(Path(sys.argv[2]).resolve() / "bench"))
sys.argv[2:] = ["1", "1"]
import viewers


def main():
    low, wide, high = (0.001, 0.002), (0.003, 0.007), (0.006, 0.008)
    good, both, bad = (0.996, 1.004), (0.98, 1.01), (0.97, 0.994)
    cases = [(low, good, "holds", 0), (low, both, "holds by the CPU time of serving; executions: not told apart", 0),
             (low, bad, "DOES NOT HOLD", 1), (wide, good, "not told apart: take more pairs", 1), (high, good, "DOES NOT HOLD", 1),
             (high, both, "DOES NOT HOLD", 1), (wide, bad, "DOES NOT HOLD", 1)]
    wrong = [(case, viewers.verdict(*case[:2])) for case in cases if viewers.verdict(*case[:2]) != case[2:]]
    TAP.ok(not wrong, "the cost of viewers: held by serving, refuted by either, not told apart where the interval is on both sides", wrong)


main()
sys.exit(TAP.done())
