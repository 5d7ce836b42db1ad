#!/usr/bin/env python3
"""Whole campaigns: real fuzzers, real targets, and everything that may happen to them.

usage: campaign.py CAROL ROOT [SECTION...]     prints TAP; sections: ensemble chaos late clock ends nasty
                                              seeds places
       campaign.py CAROL ROOT chaos=180        the chaos for so many seconds
"""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from campaign_clock import clock
from campaign_ensemble import ends, ensemble, seeds
from campaign_frame import CAROL, TEMP, carol, tap
from campaign_kills import chaos, late
from campaign_kit import engines_of
from campaign_nasty import nasty, places

SECTIONS = {f.__name__: f for f in (ensemble, chaos, late, clock, ends, nasty, seeds, places)}


def main():
    if not engines_of(CAROL):
        print("1..0 # SKIP the fuzzers are not built: make engines")
        return 0
    try:
        for s in sys.argv[3:] or SECTIONS:
            name, _, arg = s.partition("=")
            began = time.monotonic()
            SECTIONS[name](*([int(arg)] if arg else []))
            print(f"# {name}: {time.monotonic() - began:.0f} s", flush=True)
    finally:
        carol.kill_all()
        tap.tidy(TEMP)
    return tap.done()


sys.exit(main())
