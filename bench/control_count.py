#!/usr/bin/env python3
"""What control costs, counted instead of timed: control_count.py BUILD [ARM...]   (aflpp mopt honggfuzz)

Counts the fuzzer's user-space instructions and system calls per execution, under control and bare, on
bench/targets/flat.  Unlike CPU time (bench/control.c) they agree on every machine and in every run to a few in
a thousand.  The difference between two lengths of run excludes the start-up.  Prints and judges nothing: only
CPU time says what an instruction costs.  Needs valgrind and strace, which tools/setup.sh does not install; exit
3 without them.  Not part of `make bench`."""
import os, re, shutil, struct, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(sys.argv[1])
ENGINES = os.path.realpath(os.environ.get("CAROL_ENGINES") or BUILD + "/engines")
SHORT, LONG = 5000, 25000
AFL_ENV = ("AFL_NO_UI AFL_NO_AFFINITY AFL_SKIP_CPUFREQ AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES "
           "AFL_NO_FASTRESUME AFL_NO_SYNC").split()
# struct ctl_page (runtime/ctl/page.h): a page whose first turn never ends.
PAGE = bytearray(4096)
struct.pack_into("<IIII", PAGE, 0, 0x6c726163, 1, 1, 0)
struct.pack_into("<I", PAGE, 40, 1)


def command(arm, tmp, execs):
    if arm == "honggfuzz":
        return [tmp + "/honggfuzz", "-v", "-n", "1", "-i", "in", "-o", "out", "-W", ".", "--covdir_new",
                "new", "-t", "1", "-F", "32768", "-P", "-N", str(execs), "--", tmp + "/flat/hfuzz/flat"]
    mopt = ["-L", "0", "-z"] if arm == "mopt" else []
    return [tmp + "/afl-fuzz", "-i", "in", "-o", "out", "-t", "1000", "-m", "none", "-s", "1", "-E",
            str(execs), *mopt, "--", tmp + "/flat/afl/flat"]


def environment(arm, work, control):
    env = dict(os.environ, AFL_MAP_SIZE="65536", AFL_PATH=ENGINES + "/afl", CAROL_BENCH_COUNT=work + "/count")
    env.update({name: "1" for name in AFL_ENV})
    words = []
    if arm == "mopt":
        env["AFL_FRAMESHIFT_DISABLE"] = "1"
    if control: # by env(1): the tools themselves must not load the library
        words = ["LD_PRELOAD=./ctl.so", f"CAROL_CTL={work}/ctl",
                 "CAROL_CTL_EXE=" + ("honggfuzz" if arm == "honggfuzz" else "afl-fuzz")]
        if arm != "honggfuzz":
            words += ["AFL_CUSTOM_MUTATOR_LIBRARY=./ctl.so", *(["CAROL_CTL_BATCHES=1"] if arm == "mopt" else [])]
    return env, words


def run(tool, arm, tmp, execs, control):
    """Runs it; its directory and the executions the target counted."""
    work = tempfile.mkdtemp(dir=tmp)
    for sub in ("in", "out", "new", "inbox"):
        os.mkdir(f"{work}/{sub}")
    for i in range(1, 9):
        with open(f"{work}/in/{i}", "w", encoding="ascii") as f:
            f.write("".join(chr(97 + (i * 7 + k * k) % 26) for k in range(i * 24)))
    for name, data in (("ctl", PAGE), ("count", bytes(4096))):
        with open(f"{work}/{name}", "wb") as f:
            f.write(data)
    library = "libcarolhf.so" if arm == "honggfuzz" else "libcarolctl.so"
    subprocess.run(["strip", "-g", "-o", work + "/ctl.so", f"{BUILD}/runtime/ctl/{library}"], check=True)
    env, words = environment(arm, work, control)
    subprocess.run([*tool, "/usr/bin/env", *words, *command(arm, tmp, execs)], cwd=work, env=env, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    with open(work + "/count", "rb") as f, open(work + "/ctl", "rb") as page:
        if control and not any(page.read()[64:72]): # `execs`
            raise SystemExit(f"{arm}: the library was not at work")
        return work, int.from_bytes(f.read(8), "little")


def instructions(arm, tmp, execs, control):
    """All of the fuzzer's process, and those of them in our library."""
    work, n = run(["valgrind", "--tool=callgrind", "--trace-children=yes", "--trace-children-skip=*/flat",
                   "--callgrind-out-file=cg"], arm, tmp, execs, control)
    text = subprocess.run(["callgrind_annotate", "--threshold=100", "cg"], cwd=work, capture_output=True,
                          text=True, check=True).stdout
    total = int(re.search(r"^([\d,]+).*PROGRAM TOTALS", text, re.M).group(1).replace(",", ""))
    ours = sum(int(x.replace(",", "")) for x in re.findall(r"^ *([\d,]+) .*\[[^]]*/ctl\.so\]", text, re.M))
    return total, ours, n


def calls(arm, tmp, execs, control):
    work, n = run(["strace", "-f", "-c", "-U", "calls,name", "-o", "calls"], arm, tmp, execs, control)
    with open(work + "/calls", encoding="ascii") as f:
        return int(re.findall(r"^ *(\d+) +total", f.read(), re.M)[-1]), n


def per_execution(measure, arm, tmp, control):
    a, b = (measure(arm, tmp, n, control) for n in (SHORT, LONG))
    return [(y - x) / (b[-1] - a[-1]) for x, y in zip(a[:-1], b[:-1])]


def main():
    missing = [x for x in ("valgrind", "strace", "strip") if not shutil.which(x)]
    if missing:
        print(f"control_count: {' '.join(missing)} is missing; apt-get install valgrind strace binutils")
        return 3
    with tempfile.TemporaryDirectory(prefix="carol-count-") as tmp:
        subprocess.run([BUILD + "/carol", "build", "-o", tmp + "/flat", "--families", "afl,hfuzz",
                        ROOT + "/bench/targets/flat/flat.c"], check=True, stderr=subprocess.DEVNULL)
        for name in ("afl/afl-fuzz", "honggfuzz/honggfuzz"): # valgrind stumbles over clang's debug data
            subprocess.run(["strip", "-o", f"{tmp}/{os.path.basename(name)}", f"{ENGINES}/{name}"], check=True)
        for arm in sys.argv[2:] or ("aflpp", "mopt", "honggfuzz"):
            bare, ours = (per_execution(instructions, arm, tmp, c) for c in (False, True))
            print(f"{arm:9} instructions of the fuzzer per execution: bare {bare[0]:.0f}, under control "
                  f"{ours[0]:.0f}, of which {ours[1]:.0f} in our library", flush=True)
            if arm == "honggfuzz": # it traces its target itself, so nobody else can
                continue
            bare, ours = (per_execution(calls, arm, tmp, c)[0] for c in (False, True))
            print(f"          system calls of fuzzer and target: bare {bare:.2f}, under control {ours:.2f}",
                  flush=True)
    return 0


sys.exit(main())
