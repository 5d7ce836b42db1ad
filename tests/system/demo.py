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


def main():
    done = subprocess.run([ROOT / "tools" / "demo.sh", "9"], cwd=TEMP, text=True, capture_output=True, timeout=110,
                          env={**os.environ, "DEMO": str(TEMP / "demo"), "CAROL": CAROL}, check=False)
    text = done.stdout + done.stderr
    TAP.ok(done.returncode == 0, "the demo runs to its end", text)
    TAP.ok(re.search(r"^ +[0-9]+ [a-zA-Z-]+ in [a-z_]+, tote[a-z_]*\.c:[0-9]+$", text, re.M),
           "it names a bug by fault and place", text)
    TAP.ok(re.search(r"^([0-9]+) decisions, \1 come out exactly", text, re.M), "every decision of it replays", text)
    TAP.ok("\nNext:" in text and "--resume" in text, "and it says what to type next", text)
    TAP.tidy(TEMP)
    return TAP.done()


sys.exit(main())
