#!/usr/bin/env python3
"""The neutral executor against afl-showmap -C -i and libFuzzer -runs=0: one corpus, one run, the three
taking turns, so that what else the machine does meets all alike.

   executor.py CAROL NAME=BUILD_DIR,LIBFUZZER_BINARY,CORPUS ...

BUILD_DIR has the families neutral, afl and plain.  Printed per target: cpu time per input (user and
system of every process, the minimum over the rounds) and wall time for the whole corpus as carol cover
meets it for the first time, with start-up, reading and the second run of everything new; then what
each further input costs, from the same corpus TIMES times over.  The last lines: the target alone,
with and without the neutral flags.  Exit 1 when the whole corpus is below the figure of the
specification."""
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
        "carol cover": [carol, "cover", "-b", build, corpus],
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
    whole = {who: best[who, 1][0] * 1e6 / n for who, t in best if t == 1}
    wall = {who: best[who, 1][1] * 1e6 / n for who, t in best if t == 1}
    more = {who: (best[who, TIMES][0] - best[who, 1][0]) * 1e6 / n / (TIMES - 1) for who in whole}
    print(f"{name}: {n} inputs, {ROUNDS} rounds, us per input (and times ours)")
    print(f"  {'':22}{'whole corpus, cpu':>22}{'wall':>18}{'cpu, each further':>22}")
    for who in whole:
        base = "plain, by hand" if "by hand" in who else "carol cover"
        print(f"  {who:22}" + "".join(f"{v[who]:{w}.1f} {v[who] / v[base]:7.2f} x"
                                      for v, w in ((whole, 12), (wall, 8), (more, 12))))
    rivals = [who for who in whole if who not in ("carol cover",) and "by hand" not in who]
    low = [who for who in rivals if whole[who] / whole["carol cover"] < FIGURE]
    print(f"  below {FIGURE} on the whole corpus: {', '.join(low)}" if low else
          f"  at least {FIGURE} against each")
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
