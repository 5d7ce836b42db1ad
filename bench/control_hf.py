#!/usr/bin/env python3
"""What control costs honggfuzz: control_hf.py CAROL [ROUNDS].

Executions per CPU-second of bare honggfuzz and of honggfuzz under control, on a target of constant
coverage (so that both run inputs of the same kind), interleaved, on one cpu; the time from the request to
parked; start-up; memory parked.  Exit 1 when a figure of SPEC 10 is missed."""
import ctypes, json, os, resource, statistics, subprocess, sys, tempfile

carol = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
RATIO_MIN, PARK_MAX_MS = 0.97, 20

TARGET = """
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    volatile unsigned sum = 0;
    for (size_t i = 0; i < 64; i++)
        sum += n ? p[i % n] : 0;
    return 0;
}
"""


def cpu_of(cmd, cwd):
    """CPU time of the whole tree.  honggfuzz ends without waiting for its target, so we are the one who
    inherits it (PR_SET_CHILD_SUBREAPER) and waits for it."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(cmd, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                   timeout=300)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def bare(honggfuzz, target, tmp):
    """Two lengths; the difference is free of the start-up."""
    cpu = []
    for n in (20000, 100000):
        work = tempfile.mkdtemp(dir=tmp)
        for sub in ("out", "new", "crash", "ws", "dyn"):
            os.mkdir(f"{work}/{sub}")
        cpu.append(cpu_of([honggfuzz, "-v", "-T", "-n", "1", "-i", tmp + "/seeds", "-o", "out",
                           "--covdir_new", "new", "--crashdir", "crash", "-W", "ws", "--dynamic_input",
                           "dyn", "--statsfile", "ws/stats", "-t", "1", "-F", "32768", "-P", "-N",
                           str(n), "--", target], work))
    return 80000 / (cpu[1] - cpu[0])


def controlled(build, tmp):
    out = subprocess.run([carol, "engine", "run", "honggfuzz", "-b", build, "-i", tmp + "/seeds",
                          "--turns", "6", "--turn", "1", "--pause", "0.1", "--json"],
                         capture_output=True, check=True, timeout=120)
    r = json.loads(out.stdout)
    turns = r["turns"][1:]
    rate = sum(t["execs"] for t in turns) / (sum(t["cpu_ms"] for t in turns) / 1000)
    return rate, [t["park_ms"] for t in turns], r


def main():
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as tmp:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        os.mkdir(tmp + "/seeds")
        with open(tmp + "/seeds/a", "w", encoding="ascii") as f:
            f.write("hello")
        with open(tmp + "/flat.c", "w", encoding="ascii") as f:
            f.write(TARGET)
        build = tmp + "/build"
        subprocess.run([carol, "build", "-o", build, "--families", "hfuzz", tmp + "/flat.c"],
                       check=True, stderr=subprocess.DEVNULL)
        engines = os.environ.get("CAROL_ENGINES") or os.path.join(
            os.path.dirname(os.path.realpath(carol)), "engines")
        ratios, parks, last = [], [], None
        for _ in range(rounds):
            b = bare(engines + "/honggfuzz/honggfuzz", build + "/hfuzz/flat", tmp)
            c, p, last = controlled(build, tmp)
            ratios.append(c / b)
            parks += p
            print(f"bare {b:8.0f}, under control {c:8.0f} executions per CPU-second: {c / b:.3f}",
                  flush=True)
        ratio, park = statistics.median(ratios), statistics.median(parks)
        print(f"honggfuzz under control / bare: {ratio:.3f} (at least {RATIO_MIN})")
        print(f"request to parked: median {park:.2f} ms (at most {PARK_MAX_MS}), longest "
              f"{max(parks):.1f} ms")
        print(f"start to first safe point: {last['ready_ms']:.0f} ms; parked: {last['rss_kb']} KB; CPU "
              f"while parked: {sum(t['cpu_parked_ms'] for t in last['turns']):.0f} ms")
        return ratio < RATIO_MIN or park > PARK_MAX_MS


sys.exit(main())
