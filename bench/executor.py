#!/usr/bin/env python3
"""The neutral executor against afl-showmap -C -i and libFuzzer -runs=0: one corpus, one run, the three
taking turns, so that other load on the machine affects all alike.

   executor.py CAROL NAME=BUILD_DIR,LIBFUZZER_BINARY,CORPUS ...

BUILD_DIR has the families neutral, afl and plain.  Prints per target, as the minimum over the rounds, the wall
time and the cpu time (user and system, of every process) of the whole corpus as carol cover meets it for the
first time: with start-up, reading and the second run of everything new.  Then it prints what each further input
costs, from the same corpus TIMES times over.

There are two figures against each rival.  Per core: the cpu time of carol cover -j1.  By the clock: the wall time
of carol cover with its default, an executor per processor; the rivals have no such option and use one.  The last
lines are the target alone, with and without the neutral flags.  Exit 1 if a figure is not held on the whole
corpus."""
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
ROUNDS = int(os.environ.get("CAROL_BENCH_ROUNDS", "12"))
SLOW_US = 5000
ALONE, ALL = "carol cover -j1", "carol cover"
PR_SET_CHILD_SUBREAPER = 36


def measure(command, env, cwd):
    """CPU and wall seconds of a command and all it leaves, orphans included."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with subprocess.Popen([str(c) for c in command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env,
                          cwd=cwd) as process:
        code = process.wait()  # with a timeout it would look every 50 ms only
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


def repeat_corpus(files, times, target):
    target.mkdir()
    for time_ in range(times):
        for number, file in enumerate(files):
            shutil.copy(file, target / f"{time_}-{number:05}")
    return target


def commands(carol, build, libfuzzer, corpus, scratch):
    target = next(p for p in (pathlib.Path(build) / "neutral").iterdir() if p.suffix == ".edges").stem
    showmap = pathlib.Path(os.environ["CAROL_ENGINES"]) / "afl/afl-showmap"
    return {
        ALONE: [carol, "cover", "-j", "1", "-b", build, corpus],
        ALL: [carol, "cover", "-b", build, corpus],
        "afl-showmap -C -i": [showmap, "-C", "-t", "5000", "-i", corpus, "-o", scratch / "map", "--",
                              f"{build}/afl/{target}"],
        "libFuzzer -runs=0": [libfuzzer, "-runs=0", "-rss_limit_mb=0", corpus],
        "plain, by hand": [f"{build}/plain/{target}", *sorted(corpus.iterdir())],
        "neutral, by hand": [f"{build}/neutral/{target}", *sorted(corpus.iterdir())],
    }


def run_rounds(carol, build, libfuzzer, corpora, tmp):
    """Minimum cpu and wall seconds of everyone on the corpus once and TIMES times over."""
    env = {**os.environ, "AFL_QUIET": "1", "AFL_NO_UI": "1"}
    best = {}
    for _ in range(ROUNDS):
        for times, corpus in corpora.items():
            for who, command in commands(carol, build, libfuzzer, corpus, tmp).items():
                cpu, wall = measure(command, env, tmp)
                old = best.get((who, times), (cpu, wall))
                best[who, times] = (min(cpu, old[0]), min(wall, old[1]))
    return best


def compare(carol, name, build, libfuzzer, corpus):
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as tmp:
        tmp = pathlib.Path(tmp)
        files = usable(carol, build, corpus)
        corpora = {times: repeat_corpus(files, times, tmp / f"corpus{times}") for times in (1, TIMES)}
        best = run_rounds(carol, build, libfuzzer, corpora, tmp)
    n = len(files)
    first = {who: best[who, 1][0] * 1e6 / n for who, t in best if t == 1}
    wall = {who: best[who, 1][1] * 1e6 / n for who in first}
    more, wall_more = ({who: (best[who, TIMES][k] - best[who, 1][k]) * 1e6 / n / (TIMES - 1)
                        for who in first} for k in (0, 1))
    print(f"{name}: {n} inputs, {ROUNDS} rounds, {len(os.sched_getaffinity(0))} processors, "
          "us per input (and times ours: cpu of -j1, wall of the default)")
    print(f"  {'':20}{'first time, cpu':>20}{'wall':>20}{'each further, cpu':>20}{'wall':>20}")
    for who in first:
        bases = ["plain, by hand"] * 4 if "by hand" in who else [ALONE, ALL] * 2
        print(f"  {who:20}" + "".join(f"{v[who]:10.1f} {v[who] / v[base]:7.2f} x" for v, base in
                                      zip((first, wall, more, wall_more), bases)))
    rivals = [who for who in first if who not in (ALONE, ALL) and "by hand" not in who]
    low = [f"{who} {what}" for what, v, base in (("per core", first, ALONE), ("by the clock", wall, ALL))
           for who in rivals if v[who] / v[base] < FIGURE]
    print(f"  {name}, below {FIGURE}: {', '.join(low)}" if low else f"  {name}: at least {FIGURE} against each")
    return not low


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
