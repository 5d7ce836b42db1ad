#!/usr/bin/env python3
"""The first thing a newcomer runs: tools/demo.sh, shorter, to its end.

    demo.py CAROL SOURCE_ROOT
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from campaign_kit import Tap

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
TEMP = Path(tempfile.mkdtemp(prefix="carol-demo-"))
TAP = Tap()


BUG = re.compile(r"^ +[0-9a-f]{16}  \w+ +CWE-[0-9]+ .* in [a-z_0-9]+ at tote[a-z_]*\.c:[0-9]+$\n.* minimised to [0-9]+$", re.M)


def demo():
    """Exit code and output.  A busy machine finds no bug in a few seconds: then it is given as long as a newcomer's."""
    for seconds in ("9", "30", "60"):
        done = subprocess.run([ROOT / "tools" / "demo.sh", seconds], cwd=TEMP, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, "DEMO": str(TEMP / "demo"), "CAROL": CAROL})
        if done.returncode != 0 or BUG.search(done.stdout):
            break
    return done.returncode, done.stdout


def main():
    code, text = demo()
    TAP.ok(code == 0, "the demo runs to its end", text)
    TAP.ok(re.search(r"^[1-9][0-9]* defects? confirmed, from", text, re.M) and BUG.search(text),
           "it names a defect by weakness, fault and place, confirmed and minimised", text)
    TAP.ok(re.search(r"^([0-9]+) decisions, \1 come out exactly", text, re.M), "every decision of it replays", text)
    page = re.search(r"xdg-open (\S+report\.html)", text)
    TAP.ok(page and (TEMP / page.group(1)).read_text().lower().startswith("<!doctype html"), "it leaves the page to open", text)
    TAP.ok("\nNext:" in text and "--resume" in text, "and it says what to type next", text)
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
