#!/usr/bin/env python3
"""The neutral executor against afl-showmap -C -i and libFuzzer -runs=0: one corpus, one run, the three
taking turns, so that what else the machine does meets all alike.

   executor.py CAROL NAME=BUILD_DIR,LIBFUZZER_BINARY,CORPUS ...

BUILD_DIR has the families neutral, afl and plain.  Printed per target: cpu time per input (user and
system of every process, the minimum over the rounds) and wall time.  Start-up is in it, so the corpus
is read TIMES times over.  The last lines: the same inputs through the target alone, with and without
the neutral flags.  Exit 1 when a ratio is below the figure of the specification."""
import ctypes
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

FIGURE = 2.0
TIMES = int(os.environ.get("CAROL_BENCH_TIMES", "5"))
ROUNDS = int(os.environ.get("CAROL_BENCH_ROUNDS", "5"))
SLOW_US = 5000
PR_SET_CHILD_SUBREAPER = 36


def measure(command, env, cwd):
    """CPU and wall seconds of a command and all it leaves, orphans included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env,
                          cwd=cwd) as process:
        code = process.wait(timeout=600)
    while True:  # what was orphaned is ours now: its time counts when it is reaped
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        raise SystemExit(f"{command[0]} ended with {code}: {command}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def usable(carol, build, corpus):
    """The inputs that end well and soon: a slow one measures the target, a crash ends libFuzzer."""
    done = subprocess.run([carol, "cover", "-b", build, "--json", corpus], capture_output=True,
                          text=True, check=True)
    inputs = json.loads(done.stdout)["inputs"]
    return [i["path"] for i in inputs if i["status"] == "ok" and i["cpu_us"] <= SLOW_US]


def repeat_corpus(files, target):
    for time_ in range(TIMES):
        for number, file in enumerate(files):
            shutil.copy(file, target / f"{time_}-{number:05}")
    return len(files) * TIMES


def commands(carol, build, libfuzzer, corpus, scratch):
    target = next(p for p in (pathlib.Path(build) / "neutral").iterdir() if p.suffix == ".edges").stem
    showmap = pathlib.Path(os.environ["CAROL_ENGINES"]) / "afl/afl-showmap"
    return {
        "carol cover": [carol, "cover", "-b", build, corpus],
        "afl-showmap -C -i": [showmap, "-C", "-t", "5000", "-i", corpus, "-o", scratch / "map", "--",
                              f"{build}/afl/{target}"],
        "libFuzzer -runs=0": [libfuzzer, "-runs=0", "-rss_limit_mb=0", corpus],
        "plain": [f"{build}/plain/{target}", *sorted(corpus.iterdir())],
        "neutral": [f"{build}/neutral/{target}", *sorted(corpus.iterdir())],
    }


def compare(carol, name, build, libfuzzer, corpus):
    env = {**os.environ, "AFL_QUIET": "1", "AFL_NO_UI": "1"}
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as tmp:
        tmp = pathlib.Path(tmp)
        (tmp / "corpus").mkdir()
        n = repeat_corpus(usable(carol, build, corpus), tmp / "corpus")
        cpu, wall = {}, {}
        for _ in range(ROUNDS):
            for who, command in commands(carol, build, libfuzzer, tmp / "corpus", tmp).items():
                c, w = measure(command, env, tmp)
                cpu.setdefault(who, []).append(c * 1e6 / n)
                wall.setdefault(who, []).append(w * 1e6 / n)
    ours = min(cpu["carol cover"])
    good = True
    print(f"{name}: {n} inputs ({n // TIMES} x {TIMES}), {ROUNDS} rounds, us per input")
    for who, times in cpu.items():
        if who in ("plain", "neutral"):
            continue
        ratio = min(times) / ours
        verdict = "" if who == "carol cover" else f"{ratio:8.2f} x" + (
            "" if ratio >= FIGURE else f"   below {FIGURE}")
        good = good and (who == "carol cover" or ratio >= FIGURE)
        print(f"  {who:20} cpu {min(times):8.1f}  wall {min(wall[who]):8.1f}{verdict}")
    for family in ("plain", "neutral"):
        print(f"  {family + ' build, by hand':20} cpu {min(cpu[family]):8.1f}  wall "
              f"{min(wall[family]):8.1f}{min(cpu[family]) / min(cpu['plain']):8.2f} x plain")
    return good


def main():
    carol = os.path.abspath(sys.argv[1])
    sys.stdout.reconfigure(line_buffering=True)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    good = True
    for spec in sys.argv[2:]:
        name, _, rest = spec.partition("=")
        good = compare(carol, name, *map(os.path.abspath, rest.split(","))) and good
    return 0 if good else 1


sys.exit(main())
