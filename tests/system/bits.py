#!/usr/bin/env python3
"""The same bits from every compiler: all that decides (signals, rewards, schedulers) is compiled with gcc and
clang at several levels, also for this machine's own instructions (fused multiply-add among them), and run
through the same made-up campaign.  Every decision and every saved state must be the same.

    bits.py SOURCE_ROOT
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-ffp-contract=off", "-ffunction-sections", "-Wl,--gc-sections",
         "-include", ROOT / "src/base/banned.h", "-I", ROOT / "src", "-I", ROOT]
LEVELS = [["-O0"], ["-O2"], ["-O3", "-march=native"]]


def sources():
    base = [ROOT / "src/base" / f"{n}.c" for n in ("buf", "det", "die", "err", "rng", "str")]
    rest = [p for d in ("context", "reward", "sched") for p in sorted((ROOT / "src" / d).glob("*.c"))]
    return [ROOT / p for p in ("tests/system/bits.c", "src/eval/edges.c", "src/stats/series.c")] + base + rest


def compilers():
    found = ["gcc"] if shutil.which("gcc") else []
    clang = next((c for c in ("clang-19", "clang-16", "clang") if shutil.which(c)), None)
    return found + ([clang] if clang else [])


def output_of(cc, level, temp):
    program = temp / f"{cc}{''.join(level)}"
    made = subprocess.run([cc, *FLAGS, *level, *sources(), "-o", program, "-lm"], capture_output=True,
                          text=True, check=False)
    if made.returncode != 0:
        return f"does not compile:\n{made.stderr}"
    ran = subprocess.run([program], capture_output=True, text=True, check=False, timeout=300)
    return ran.stdout if ran.returncode == 0 else f"ended with {ran.returncode}:\n{ran.stderr}"


def main():
    ways = [(cc, level) for cc in compilers() for level in LEVELS]
    with tempfile.TemporaryDirectory(prefix="carol-bits-") as name:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outputs = list(pool.map(lambda w: output_of(*w, pathlib.Path(name)), ways))
    lines = outputs[0].splitlines()
    good = len(lines) > 15 and all(len(line.split()[-1]) == 16 for line in lines)
    print(f"1..{len(ways) + 1}\n{'ok' if good else 'not ok'} 1 - {len(lines)} runs hashed", flush=True)
    for n, ((cc, level), text) in enumerate(zip(ways, outputs), 2):
        same = text == outputs[0]
        print(f"{'ok' if same else 'not ok'} {n} - {cc} {' '.join(level)} decides bit for bit as {ways[0][0]} "
              f"{ways[0][1][0]}")
        for mine, first in zip(text.splitlines(), lines):
            if mine != first:
                print(f"# {mine}\n# first: {first}")
        good = good and same
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
