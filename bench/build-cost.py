#!/usr/bin/env python3
"""What carol build costs: see build-cost.sh."""
import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

CAROL, ROOT = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
SIX = ["plain", "afl", "laf", "hfuzz", "neutral", "asan"]
AIM_CPU, AIM_WALL = 7, 4


def call(command, **env):
    """Runs a build; CPU seconds of all its processes, and seconds by the clock."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env={**os.environ, "CCACHE_DISABLE": "1", **env}, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        tail = done.stdout.decode(errors="replace")[-2000:]
        print(f"{tail}\nbuild-cost: {' '.join(map(str, command))} failed; nothing is written", file=sys.stderr)
        sys.exit(2)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def by_hand(src, top):
    """The script as its author would run it."""
    place = top / "hand"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(src, place / "src", symlinks=True)
    for name in ("work", "out"):
        (place / name).mkdir()
    return call([place / "src/build.sh"], CC="clang-19", CXX="clang++-19", CFLAGS="-O2 -g", CXXFLAGS="-O2 -g", SRC=str(place / "src"),
                WORK=str(place / "work"), OUT=str(place / "out"), LIB_FUZZING_ENGINE=str(CAROL.parent / "runtime/libcaroldrv.a"))


def family(name, src, top):
    """CPU time and clock as carol-build.json has them: without digests of the sources and the table of edges."""
    out = top / "alone"
    call([CAROL, "build", "--force", "--families", name, "-o", out, "--src", src, "--", src / "build.sh"])
    built = json.loads((out / "carol-build.json").read_text())["families"][name]
    return built["cpu_seconds"], built["seconds"]


def at_once(src, top):
    return call([CAROL, "build", "--force", "--families", ",".join(SIX), "-o", top / "six", "--src", src, "--", src / "build.sh"])


def measure(a, src):
    """The least of each over the rounds.  Every round builds all, so a busy minute does not fall on one of them alone."""
    jobs = {"by hand": lambda: by_hand(src, a.output)}
    jobs.update({f: lambda f=f: family(f, src, a.output) for f in [*SIX, "cmplog"]})
    if a.wall:
        jobs["six at once"] = lambda: at_once(src, a.output)
    best = {}
    for i in range(a.rounds):
        for name, job in jobs.items():
            cpu, wall = job()
            print(f"# round {i + 1}: {name} {cpu:.1f} CPU s, {wall:.1f} s", flush=True)
            old = best.get(name, (cpu, wall))
            best[name] = min(cpu, old[0]), min(wall, old[1])
    best["sum of six"] = tuple(sum(best[f][i] for f in SIX) for i in (0, 1))
    best["and cmplog"] = tuple(best["sum of six"][i] + best["cmplog"][i] for i in (0, 1))
    return best


def write(best, a):
    """Time by the clock is worth a row only where nothing else ran."""
    cpu, wall = best["by hand"]
    usual = a.target == "xml" and a.rounds >= 3
    file = a.csv or (ROOT / "bench/results" if usual else a.output) / "build-cost.csv"
    with open(f"{file}.new", "w", encoding="utf-8") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["target", "build", "cpu_s", "cpu_plain_builds", "wall_s", "wall_plain_builds", "rounds", "load"])
        for name, (c, w) in best.items():
            clock = [f"{w:.1f}", f"{w / wall:.2f}"] if a.wall else ["", ""]
            out.writerow([a.target, name, f"{c:.1f}", f"{c / cpu:.2f}", *clock, a.rounds, f"{os.getloadavg()[2]:.1f}"])
            print(f"{name:12} {c:7.1f} CPU s  x{c / cpu:.2f}" + (f"  {w:7.1f} s  x{w / wall:.2f}" if a.wall else ""))
    os.replace(f"{file}.new", file)


def main():
    p = argparse.ArgumentParser(prog="build-cost.sh", description="what carol build costs in plain builds")
    p.add_argument("--rounds", type=int, default=3, help="of all builds; the least of each counts (default: 3)")
    p.add_argument("--wall", action="store_true", help="also six families at once, by the clock")
    p.add_argument("--target", default="xml", help="of bench/targets/fetch.sh (default: xml)")
    p.add_argument("-o", "--output", type=Path, default=ROOT / "build/bench-cost")
    p.add_argument("--csv", type=Path, help="where the rows go (default: bench/results/build-cost.csv for three rounds of xml, else DIR/build-cost.csv)")
    a = p.parse_args(sys.argv[3:])
    if a.rounds < 1:
        p.error("--rounds: at least one")
    a.output = a.output.resolve()
    src = a.output / f"{a.target}-src"
    if not (src / "build.sh").exists():
        code = subprocess.run([ROOT / "bench/targets/fetch.sh", a.target, src], check=False).returncode
        if code:
            return code
    best = measure(a, src)
    write(best, a)
    cpu = best["sum of six"][0] / best["by hand"][0]
    held = cpu <= AIM_CPU
    said = f"six families take {cpu:.2f} plain builds of CPU time (aim {AIM_CPU})"
    if a.wall:
        wall = best["six at once"][1] / best["by hand"][1]
        held = held and wall <= AIM_WALL
        said += f" and {wall:.2f} by the clock (aim {AIM_WALL})"
    print(f"{'held' if held else 'NOT held'}: {said}")
    return 0 if held else 1


sys.exit(main())
