#!/usr/bin/env python3
"""What triage.sh says.   triage.py CAROL CRASHES

By hand: each input once on the asan build, which starts llvm-symbolizer itself and prints where it fails.  Nothing is told
apart, confirmed or minimised by that.  `carol triage` on one core, without minimising, is compared by CPU time, because a
shared machine does not change that.  ASan's own cost, the same runs without symbols, is taken off both sides; the time of
the whole is printed, too."""
import json
import os
import resource
import subprocess
import sys
import time

from on_tote import ROOT, SEEDS, built, carol, verdict
from campaign_kit import add_crash, rows

CRASHES = int(sys.argv[2])
FIGURE = 2


def measured(what):
    """(seconds, CPU seconds) of it and its children."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    what()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def inputs():
    """Different bytes behind known crashes, as fuzzers find them."""
    known = sorted((ROOT / "examples/tote/crashes").iterdir())
    return [known[i % len(known)].read_bytes() + i.to_bytes(4, "little") for i in range(CRASHES)]


def by_hand(binary, folder, symbols):
    """How many of them fail."""
    options = f"symbolize={int(symbols)}:detect_leaks=0"
    env = {**os.environ, "ASAN_OPTIONS": options, "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19"}
    return sum(subprocess.run([binary, f], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0
               for f in sorted(folder.iterdir()))


def triage(out, *more):
    code, text = carol.run("triage", "-q", *more, out, limit=3600)
    if code != 0:
        raise SystemExit(text)


def record(temp, name, crashes):
    out = temp / name
    code, text = carol.run("fuzz", "-q", "-b", temp / "tote", "-i", SEEDS, "-o", out, "-f", "aflpp", "-j", 1, "-d", "1s", "--turn", "1s")
    if code != 0:
        raise SystemExit(text)
    for data in crashes:
        add_crash(out, data)
    return out


def main():
    with built() as temp:
        folder, crashes = temp / "crashes", inputs()
        folder.mkdir()
        for i, data in enumerate(crashes):
            (folder / f"{i:06}").write_bytes(data)
        binary = temp / "tote" / json.loads((temp / "tote/carol-build.json").read_text())["families"]["asan"]["binary"]
        all_cores, one_core = record(temp, "all", crashes), record(temp, "one", crashes)
        first, _ = measured(lambda: triage(all_cores))
        again, _ = measured(lambda: triage(all_cores))
        defects = rows(all_cores, "SELECT count(DISTINCT defect) FROM triage WHERE defect <> ''")[0][0]
        print(f"{CRASHES} crashes, {defects} defects: {first:.1f} s on {os.cpu_count()} cores with confirming and minimising; "
              f"the second time {again:.2f} s")
        failing = [0]
        wall_hand, hand = measured(lambda: failing.__setitem__(0, by_hand(binary, folder, True)))
        _, asan = measured(lambda: by_hand(binary, folder, False))
        wall_ours, ours = measured(lambda: triage(one_core, "-j", 1, "--minimise-time", "0"))
        print(f"by hand {wall_hand:.1f} s ({hand:.1f} s of CPU time; {failing[0]} fail), of which ASan itself {asan:.1f} s; "
              f"carol triage -j 1 {wall_ours:.1f} s ({ours:.1f} s)")
        rest = max(ours - asan, 0.01)
        print(f"throughput, ASan apart: {(hand - asan) / rest:.1f} times that by hand (at least {FIGURE}); all in all {hand / ours:.2f} times")
        return verdict((hand - asan) / rest >= FIGURE and again < first / 10)


sys.exit(main())
