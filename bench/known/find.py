#!/usr/bin/env python3
"""Known, fixed defects of a real library, found again: `carol fuzz` as it comes, on the version that had them, from one plain seed.

    find.py CAROL [-d TIME] [-j N] [-o DIR]      10m on one core, in DIR or in a new directory

stb_vorbis 1.16 (in miniaudio 1.2 on PyPI) has seven published defects, all fixed in 1.17; one of them, a use of uninitialised
variables (CVE-2019-13220), shows in no build of ours and is not looked for.  The seed is a small valid stream
(vorbis_seed.py).  Prints the advisories whose fault the campaign confirmed in the function they name, and who found it; other
defects are only counted.  Exit 0: three or more were found, 1: fewer, 2: the build or the
campaign failed, 3: the source cannot be had."""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PINNED = ["pypi", "miniaudio", "1.2", "dae7248baa84045d74a05fc47b213273c34a4d05f41f03670d482904f0855226"]
ADVISORIES = [  # what it says, the function it names, and the faults of which one must be seen there
    ("CVE-2019-13217", "heap buffer overflow", "start_decoder", ["heap-buffer-overflow"]),
    ("CVE-2019-13218", "division by zero", "predict_point", ["division-by-zero"]),
    ("CVE-2019-13219", "NULL pointer dereference", "get_window", ["null-pointer", "assertion"]),  # an assertion comes first
    ("CVE-2019-13221", "stack buffer overflow", "compute_codewords", ["stack-buffer-overflow"]),
    ("CVE-2019-13222", "out-of-bounds read", "draw_line", ["global-buffer-overflow", "wild-pointer"]),
    ("CVE-2019-13223", "reachable assertion", "lookup1_values", ["assertion"]),
]
WANTED = 3


def call(*words):
    done = subprocess.run([str(w) for w in words], check=False)
    if done.returncode:
        print(f"{' '.join(map(str, words[:2]))}: exit {done.returncode}", file=sys.stderr)
        sys.exit(2)


def campaign(a, top):
    found = subprocess.run([HERE.parents[1] / "tools/source.sh", *PINNED], stdout=subprocess.PIPE, text=True, check=False)
    if found.returncode:
        sys.exit(3)
    (top / "seeds").mkdir(parents=True, exist_ok=True)
    call(sys.executable, HERE / "vorbis_seed.py", top / "seeds/seed.ogg")
    shutil.copy(Path(found.stdout.strip()) / "miniaudio/stb_vorbis.c", top)
    call(a.carol, "build", "-o", top / "build", HERE / "vorbis_fuzzer.c", "--", f"-I{top}", "-w", "-lm")
    if (top / "out/carol.db").exists():
        call(a.carol, "fuzz", "--resume", top / "out", "-d", a.duration)
    else:
        call(a.carol, "fuzz", "-b", top / "build", "-i", top / "seeds", "-o", top / "out", "-d", a.duration, "-j", a.jobs)


def report(defects):
    known = 0
    for advisory, what, function, faults in ADVISORIES:
        shown = [d for d in defects if d["function"] == function and d["fault"].startswith(tuple(faults))]
        if shown:
            known += 1
            first = min(shown, key=lambda d: d["first_seen_s"])
            print(f"{advisory} ({what} in {function}): {first['fault']}, found by {first['found_by']} after {first['first_seen_s']:.0f} s")
    print(f"{known} of {len(ADVISORIES)} known defects found again; {len(defects)} defects confirmed in all")
    return 0 if known >= WANTED else 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("carol", type=Path)
    p.add_argument("-d", "--duration", default="10m")
    p.add_argument("-j", "--jobs", type=int, default=1)
    p.add_argument("-o", "--output", type=Path)
    a = p.parse_args()
    a.carol = a.carol.resolve()
    top = (a.output or Path(tempfile.mkdtemp(prefix="carol-find-"))).resolve()
    found = top / "out/triage/defects.json"
    if not found.exists():
        campaign(a, top)
    return report(json.loads(found.read_text())["defects"] if found.exists() else [])


if __name__ == "__main__":
    sys.exit(main())
