#!/usr/bin/env python3
"""Builds targets of the suite and proves their bugs: every witness triggers exactly its id in every
family's build, no seed triggers any, and the neutral build knows nothing of the oracle.

usage: check.py [-o DIR] [--carol CAROL] [--families LIST] [NAME...]      (default: all)

Exit 0 all proved, 1 something is wrong, 3 nothing wrong but a library could not be had.
"""
import argparse
import configparser
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import oracle

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
NAMES = ["pack", "text", "maze", "proto", "yaml", "png", "gif", "json", "script", "markup"]
FAMILIES = "afl,laf,hfuzz,neutral,asan,plain,cmplog,libfuzzer"  # the fuzzers', the rivals' and those of triage


class Missing(Exception):
    """A library that cannot be had here."""


def stage(name, top):
    src = Path(top) / f"{name}-src"
    code = subprocess.run([HERE / "stage.sh", name, src], check=False).returncode
    if code == 3:
        raise Missing(name)
    if code:
        raise RuntimeError(f"stage.sh {name} failed")
    return src


def build(name, top, carol, families=FAMILIES):
    """(directory of the staged sources, directory of the build)"""
    src, out = stage(name, top), Path(top) / name
    done = subprocess.run([carol, "build", "-o", out, "--families", families, "--src", src, "--",
                           src / "build.sh"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"carol build {name}: {done.stdout[-4000:]}")
    return src, out


def manifest(out):
    return json.loads((out / "carol-build.json").read_text())


def binaries(out):
    """{family: program}"""
    return {f: out / d["binary"] for f, d in manifest(out)["families"].items()}


def targets():
    """Those to tune on, and the hold-outs, by suite.ini."""
    suite = configparser.ConfigParser()
    suite.read(HERE / "suite.ini")
    return suite["suite"]["targets"].split(), suite["suite"]["holdout"].split()


def triggered(program, path):
    """What one input triggers: numbers; None when the oracle was never called."""
    with tempfile.TemporaryDirectory() as tmp:
        file = Path(tmp) / "oracle"
        env = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0", "CAROL_ORACLE": str(file)}
        subprocess.run([program, path], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=120, check=False)
        if not file.exists():
            return None
        answer = oracle.read(file)
        return {n for n, b in answer["bugs"].items() if b["triggered"]} if answer["execs"] else None


def prove(src, out):
    """A list of what is wrong."""
    bugs, programs, wrong = oracle.load_bugs(src / "bugs.csv"), binaries(out), []
    if b"carol_oracle" in programs["neutral"].read_bytes():
        wrong.append("the neutral build has the oracle")
    witnesses = {p.name: p for p in (src / "witness").iterdir()}
    if set(witnesses) != {row["id"] for row in bugs.values()}:
        wrong.append(f"witnesses and bugs.csv differ: {sorted(witnesses)}")
    for family, program in programs.items():
        if family == "neutral":
            continue
        for number, row in bugs.items():
            if row["id"] in witnesses and (got := triggered(program, witnesses[row["id"]])) != {number}:
                wrong.append(f"{family}: the witness of {row['id']} ({number}) triggers {got}")
        for seed in sorted((src / "seeds").iterdir()):
            if got := triggered(program, seed):
                wrong.append(f"{family}: seed {seed.name} triggers {got}")
    return wrong


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-o", "--output", type=Path, default=ROOT / "build/suite")
    p.add_argument("--carol", default=os.environ.get("CAROL", str(ROOT / "carol")))
    p.add_argument("--families", default=FAMILIES)
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    if unknown := set(a.names) - set(NAMES):
        p.error(f"no such target: {', '.join(sorted(unknown))}")
    a.output.mkdir(parents=True, exist_ok=True)
    worst = 0
    for name in a.names or NAMES:
        try:
            src, out = build(name, a.output.resolve(), a.carol, a.families)
            wrong = prove(src, out)
        except Missing:
            print(f"{name}: skipped", flush=True)
            worst = worst or 3
            continue
        except RuntimeError as e:
            wrong = [str(e)]
        number = len(oracle.load_bugs(HERE / name / "bugs.csv"))
        print(f"{name}: {number} bugs" + ("".join(f"\n  {w}" for w in wrong) or ", all proved"), flush=True)
        worst = 1 if wrong else worst
    return worst


if __name__ == "__main__":
    sys.exit(main())
