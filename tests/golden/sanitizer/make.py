#!/usr/bin/env python3
"""Makes the raw part of the golden files again with the real compiler; their headers stay as they are.

    make.py [NAME...]          needs clang-19 and llvm-symbolizer-19

A file NAME.txt is a header of `key: value` lines, what the parser must say, an empty line, and what the program printed.
A new case gets the header that is true today for a look by eye: tests/unit/report.c prints what differs."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = {"asan": ["-fsanitize=address"], "ubsan": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"],
         "plain": ["-fstack-protector-all"]}
OPTIONS = ("detect_leaks={leaks}:handle_abort=1:handle_sigill=1:handle_sigbus=1:detect_stack_use_after_return=1:"
           "allocator_may_return_null={null}:hard_rss_limit_mb={rss}:external_symbolizer_path=/usr/bin/llvm-symbolizer-19")
PLAIN = {"plain_segv": "null_read", "plain_fpe": "division", "plain_abort": "aborts", "plain_assert": "assertion",
         "plain_smashed": "smashed", "plain_double_free": "glibc_double_free", "plain_exception": "cxx_exception"}


def names():
    text = (HERE / "cases.c").read_text() + (HERE / "cases.cpp").read_text()
    return [n for n in re.findall(r"CASE\((\w+)\)", text) if n not in ("name", "smashed", "glibc_double_free")] + list(PLAIN)


def build(where):
    for kind, flags in FLAGS.items():
        for source, compiler in (("cases.c", "clang-19"), ("cases.cpp", "clang++-19")):
            # the sources are compiled as /src/target/..., so that no path of this machine is in the files
            subprocess.run([compiler, "-g", "-O1", "-fno-omit-frame-pointer", "-w", *flags,
                            f"-ffile-prefix-map={HERE}=/src/target", HERE / source, "-o",
                            where / f"{kind}-{source.split('.')[1]}"], check=True)


def run(where, name):
    kind = "plain" if name in PLAIN else "ubsan" if name.startswith("ub_") else "asan"
    case = PLAIN.get(name, name)
    program = where / f"{kind}-{'cpp' if case.startswith('cxx') else 'c'}"
    options = OPTIONS.format(leaks=int(name == "leak"), null=int(name == "allocation_null"), rss=300 if name == "rss_limit" else 0)
    done = subprocess.run([program, case], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False, cwd=where,
                          env={"PATH": os.environ["PATH"], "ASAN_OPTIONS": options, "UBSAN_OPTIONS": "print_stacktrace=1"})
    text = done.stderr.decode("utf-8", "replace").replace(str(program), f"/src/out/{program.name}").replace(str(HERE), "/src/target")
    text = re.split(r"^(?:Shadow bytes around|==\d+==ABORTING|==\d+==Register values)", text, flags=re.M)[0]
    return -done.returncode if done.returncode < 0 else 0, text


def main():
    with tempfile.TemporaryDirectory() as temp:
        where = Path(temp)
        build(where)
        for name in sys.argv[1:] or names():
            signal, text = run(where, name)
            file = HERE / f"{name}.txt"
            head = file.read_text().split("\n\n")[0] if file.exists() else f"signal: {signal}"
            file.write_text(head + "\n\n" + text)
    cut()


def cut():
    """Reports that end in the middle: in the header, in the first frame, before the frame of the harness."""
    for name, origin, mark in (("cut_header", "heap_read", "heap-buffer-over"), ("cut_before_stack", "heap_write", "thread T0"),
                               ("cut_frame", "heap_read", "in heap_re"), ("cut_stack", "cxx_template", "media::convert")):
        head, text = (HERE / f"{origin}.txt").read_text().split("\n\n", 1)
        file = HERE / f"{name}.txt"
        head = file.read_text().split("\n\n")[0] if file.exists() else "signal: 0"
        file.write_text(head + "\n\n" + text[:text.index(mark) + len(mark)])


main()
