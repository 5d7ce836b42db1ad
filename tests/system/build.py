#!/usr/bin/env python3
"""carol build on small projects of every kind, and on everything that can go wrong.

usage: build.py CAROL          prints TAP; makes its projects in a temporary directory
"""
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Tap

CAROL = os.path.abspath(sys.argv[1])
FAMILIES = ["afl", "laf", "hfuzz", "neutral", "asan", "plain", "cmplog"]
FEW = ["afl", "hfuzz", "neutral", "plain"]  # where all would only cost time
tap = Tap()
ok = tap.ok


def carol(*args, cwd=None, env=None, limit=300):
    """Runs carol build; returns exit code and everything it printed."""
    full = {k: v for k, v in os.environ.items() if k not in ("SRC", "CFLAGS", "CXXFLAGS")}
    full.update(env or {})
    p = subprocess.run([CAROL, "build", *map(str, args)], cwd=cwd, env=full, timeout=limit,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return p.returncode, p.stdout


def manifest(out):
    return json.loads((Path(out) / "carol-build.json").read_text())


def write(path, text, mode=0o644):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def run_target(binary, args=(), stdin=b""):
    env = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"}
    p = subprocess.run([str(binary), *map(str, args)], input=stdin, env=env, timeout=120,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    chatter = (b"Reading ", b"Execution successful")  # AFL++'s driver, run by hand
    lines = [x for x in p.stdout.split(b"\n") if not x.startswith(chatter)]
    return p.returncode, b"\n".join(lines)


def same_everywhere(out, target, calls):
    """Output and exit code of each family's binary on each call, against plain's."""
    m = {t["target"]: t for t in manifest(out)["targets"]}[target]
    wrong = []
    for call in calls:
        want = run_target(Path(out) / m["families"]["plain"]["binary"], *call)
        for name, f in m["families"].items():
            got = run_target(Path(out) / f["binary"], *call)
            if got != want:
                wrong.append(f"{name} on {call}: {got} instead of {want}")
    return wrong


def left_over(mark):
    """Processes whose command line holds the mark."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in line and int(pid) != os.getpid():
            found.append(line.replace(b"\0", b" ").decode(errors="replace"))
    return found


HARNESS = """
#include "size.h"
#include <stdint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static int answer(const char *s)
{
    switch (s[0]) { case 'a': return 1; case 'b': return 2; case 'c': return s[1] == 'x' ? 3 : 4; }
    return 0;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[SIZE + 1];
    size_t n = size < SIZE ? size : SIZE;
    memcpy(text, data, n);
    text[n] = 0;
    printf("%zu %d %d %s\\n", size, answer(text), strcmp(text, "hello") == 0, text);
    return 0;
}
"""


def short_form(top):
    d = top / "short"
    write(d / "harness.c", HARNESS)
    write(d / "size.h", "#define SIZE 16\n")
    code, said = carol("-o", "out", "harness.c", "--", "-DUNUSED=1", cwd=d)
    if not ok(code == 0, "short form: a C harness in every family", said):
        return
    m = manifest(d / "out")
    ok(m["schema"] == 1 and m["target"] == "harness" and m["kind"] == "libfuzzer"
       and sorted(m["families"]) == sorted(FAMILIES), "its manifest names target, kind, families", m)
    fields = ("binary", "build_id", "compiler", "flags", "seconds", "bytes")
    ok(all(k in f for f in m["families"].values() for k in fields)
       and not any(f["binary"].startswith("/") for f in m["families"].values()),
       "each family has its fields, and paths relative to the directory", m)
    ok(m["families"]["afl"]["map_size"] > 0
       and m["families"]["laf"]["map_size"] > m["families"]["afl"]["map_size"],
       "afl and laf tell their map sizes, laf the larger", m["families"])
    ok((d / "out" / m["table"]).stat().st_size > 0 and m["edges"] > 5 and m["functions"] == 2,
       "the neutral table is there, with edges and functions", (m["edges"], m["functions"]))
    inputs = [write(d / f"in{i}", t) for i, t in enumerate(["hello", "b", "cx", "\n%s%n", "z" * 99])]
    wrong = same_everywhere(d / "out", "harness", [((i,),) for i in inputs])
    ok(not wrong, "every family prints what plain prints", "\n".join(wrong))
    ok(b"HFReadyTag" in (d / "out/hfuzz/harness").read_bytes(),
       "honggfuzz will see that the harness is persistent")
    ok(str(Path(CAROL).resolve().parent).encode() not in (d / "out/neutral/harness").read_bytes(),
       "where Carol was compiled is not in the neutral build")
    cache(d)
    afl_flags(d)
    asan_calls(d)
    static_pie(d, inputs)


def static_pie(d, inputs):
    code, said = carol("-o", "pie", "--families", "plain,afl,laf", "harness.c", "--", "-static-pie", cwd=d)
    wrong = same_everywhere(d / "pie", "harness", [((i,),) for i in inputs]) if code == 0 else [said]
    ok(not wrong, "-static-pie: what afl and laf build works too", "\n".join(wrong))


def afl_flags(d):
    """afl-clang-fast's own -O3 without its -g, which took a third of the time; nobody reads it in the other two, either."""
    cc = Path(CAROL).parent / "runtime/carol-cc"

    def optimised(*flags):
        p = subprocess.run([cc, *flags, "-E", "-P", "-"], input="__OPTIMIZE__", text=True, stdout=subprocess.PIPE, check=True,
                           env={**os.environ, "CAROL_FAMILY": "afl"})
        return p.stdout.strip() == "1"
    ok(optimised() and not optimised("-O0"), "afl is optimised unless the script says otherwise")
    for family in ("afl", "laf", "hfuzz", "neutral"):
        subprocess.run([cc, "-g", "-c", "harness.c", "-o", family + ".o"], cwd=d, check=True, env={**os.environ, "CAROL_FAMILY": family})
        ok(b".debug_info" not in (d / (family + ".o")).read_bytes(), f"{family} has no debug information")


def asan_calls(d):
    """A function with many accesses calls its checks; what they report is the same."""
    lines = "\n".join(f"    p[v[{i}]] = v[{i} + 1];" for i in range(120))
    write(d / "large.c", "#include <stdlib.h>\nvoid large(int *p, volatile int *v);\nvoid large(int *p, volatile int *v)\n{\n" + lines
          + "\n}\nint main(int argc, char **argv)\n{\n    static volatile int v[128];\n    (void)argv;\n    v[100] = argc > 1 ? 8 : 7;\n"
          "    int *p = malloc(8 * sizeof *p);\n    large(p, v);\n    free(p);\n    return 0;\n}\n")
    code, said = carol("-o", "large", "--families", "asan,plain", "--kind", "stdin", "large.c", cwd=d)
    binary = d / "large/asan/large"
    ok(code == 0 and b"__asan_store4" in binary.read_bytes(), "asan: checks of a large function are calls", said)
    said = subprocess.run([binary, "out"], capture_output=True, text=True, check=False).stderr
    ok("WRITE of size 4" in said and re.search(r"#0 \S+ in large .*large\.c:105\b", said) and run_target(binary)[0] == 0,
       "asan: and report the place and the kind of access", said)


def cache(d):
    code, said = carol("-o", "out", "harness.c", "--", "-DUNUSED=1", cwd=d)
    ok(code == 0 and said.count("cached") == len(FAMILIES), "unchanged: all are cached", said)
    os.utime(d / "size.h")
    code, said = carol("-o", "out", "harness.c", "--", "-DUNUSED=1", cwd=d)
    ok(code == 0 and said.count("cached") == len(FAMILIES), "touched but the same: still cached", said)
    write(d / "size.h", "#define SIZE 24\n")
    few = ("--families", "plain,afl")
    code, said = carol("-o", "out", *few, "harness.c", "--", "-DUNUSED=1", cwd=d)
    ok(code == 0 and said.count(": built") == 2, "a changed header rebuilds", said)
    ok(sorted(manifest(d / "out")["families"]) == ["afl", "plain"],
       "families of the old source leave the manifest", manifest(d / "out")["families"].keys())
    code, said = carol("-o", "out", *few, "harness.c", "--", "-DUNUSED=2", cwd=d)
    ok(code == 0 and said.count(": built") == 2, "a changed flag rebuilds", said)
    p = subprocess.run([CAROL, "build", "-o", "out", *few, "--json", "harness.c", "--", "-DUNUSED=2"], cwd=d,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    ok(json.loads(p.stdout) == manifest(d / "out"), "--json prints the manifest and nothing else", p.stdout)
    (d / "out" / "plain" / "harness").write_bytes(b"broken")
    code, said = carol("-o", "out", *few, "harness.c", "--", "-DUNUSED=2", cwd=d)
    ok(code == 0 and "afl: cached" in said and "plain: built" in said,
       "a damaged binary is built again, alone", said)
    code, said = carol("-o", "out", *few, "--force", "harness.c", "--", "-DUNUSED=2", cwd=d)
    ok(code == 0 and said.count(": built") == 2, "--force builds again", said)


LIBRARY = """
#include "lib.h"
#include <new>
template <typename T> struct counter {
    T *p = new T(1);
    ~counter() { delete p; }
    virtual T add(T n) { return *p += n; }
};
int words(const char *s, unsigned long n)
{
    counter<int> c;
    while (n--)
        if (s[n] == ' ' && c.add(1) > 3) throw "too many";
    return c.add(0);
}
"""
CXX_HARNESS = """
#include "lib.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)
{
    try { printf("%d\\n", words(reinterpret_cast<const char *>(d), n)); }
    catch (const char *e) { printf("%s\\n", e); }
    return 0;
}
"""
CXX_SCRIPT = """#!/bin/bash
set -eu
for v in CC CXX CFLAGS CXXFLAGS LIB_FUZZING_ENGINE SRC WORK OUT SANITIZER FUZZING_ENGINE \\
         ARCHITECTURE FUZZING_LANGUAGE; do test -n "${!v}" || { echo "$v is not set"; exit 1; }; done
test -z "${AFL_USE_ASAN-}${HFUZZ_CC_ASAN-}" || { echo "foreign variables"; exit 1; }
test "$PWD" = "$SRC" && test ! -e made-here && touch made-here
$CXX $CXXFLAGS -fsanitize-coverage=trace-pc-guard -fsanitize=fuzzer-no-link -c lib.cc -o $WORK/lib.o
ar rcs $WORK/libwords.a $WORK/lib.o
$CXX $CXXFLAGS -c fuzz.cc -o $WORK/fuzz.o
$CXX $CXXFLAGS $WORK/fuzz.o $LIB_FUZZING_ENGINE $WORK/libwords.a -o $OUT/by_variable
$CXX $CXXFLAGS -fsanitize=address,fuzzer $WORK/fuzz.o $WORK/libwords.a -o $OUT/by_flag
$CXX $CXXFLAGS $WORK/fuzz.o -L/nowhere -lFuzzingEngine $WORK/libwords.a -o $OUT/by_library
ar rcs $WORK/libfuzz.a $WORK/fuzz.o
$CXX $CXXFLAGS $LIB_FUZZING_ENGINE $WORK/libfuzz.a $WORK/libwords.a -o $OUT/in_archive
cp words.dict $OUT/by_variable.dict; cp seeds.zip $OUT/by_variable_seed_corpus.zip
echo "[libfuzzer]" > $OUT/by_variable.options; cp lib.cc $OUT/not_a_target; chmod +x $OUT/not_a_target
"""


def cxx_script(top):
    d = top / "cxx"
    write(d / "lib.h", "int words(const char *s, unsigned long n);\n")
    write(d / "lib.cc", LIBRARY)
    write(d / "fuzz.cc", CXX_HARNESS)
    write(d / "build.sh", CXX_SCRIPT, 0o755)
    write(d / "words.dict", '"a b"\n')
    with zipfile.ZipFile(d / "seeds.zip", "w") as z:
        z.writestr("one", "a b")
    noise = {"AFL_USE_ASAN": "1", "HFUZZ_CC_ASAN": "1", "AFL_LLVM_LAF_ALL": "1"}
    code, said = carol("-o", "out", "--", "./build.sh", cwd=d, env=noise)
    if not ok(code == 0, "a C++ library by a script: the engine by variable, flag, -l, in an archive", said):
        return
    names = [t["target"] for t in manifest(d / "out")["targets"]]
    ok(names == ["by_flag", "by_library", "by_variable", "in_archive"] and all(n in said for n in names),
       "its four targets are found and listed, nothing else", names)
    ok(not (d / "made-here").exists(), "each family worked in a copy of the sources")
    code, said = carol("-o", "out", "--target", "by_variable", "--", "./build.sh", cwd=d, env=noise)
    m = manifest(d / "out")
    ok(code == 0 and said.count("cached") == len(FAMILIES) and m["target"] == "by_variable" and m["chosen"],
       "--target chooses one, from the cache", said)
    ok(all(m[k] and (d / "out" / m[k]).exists() for k in ("dict", "seeds", "options")),
       "dictionary, seeds and options beside it are recorded", m)
    a, b = write(top / "in1", "a b c"), write(top / "in2", "a b c d e")
    wrong = [w for n in names for w in same_everywhere(d / "out", n, [((a,),), ((b,),)])]
    ok(not wrong, "every target does the same in every family, exceptions too", "\n".join(wrong))
    maps = {t["target"]: t["families"]["afl"]["map_size"] for t in m["targets"]}
    ok(maps["by_variable"] == maps["by_library"],
       "the script's own coverage flags do not instrument twice", maps)
    code, said = carol("-o", "out", "--target", "nothing", "--", "./build.sh", cwd=d, env=noise)
    ok(code == 2 and "by_flag, by_library" in said, "an unknown --target: the names there are", said)


CMAKE = """
cmake_minimum_required(VERSION 3.13)
project(mini C)
include(CheckFunctionExists)
include(CheckCCompilerFlag)
find_package(Threads REQUIRED)
check_function_exists(strlcpy HAVE_STRLCPY)
check_function_exists(memmem HAVE_MEMMEM)
check_function_exists(curl_strequal HAVE_CURL_STREQUAL)
check_c_compiler_flag(-fno-such-flag HAVE_NO_SUCH_FLAG)
configure_file(config.h.in config.h)
add_executable(gen gen.c)
add_custom_command(OUTPUT table.h COMMAND gen ${CMAKE_CURRENT_BINARY_DIR}/table.h DEPENDS gen)
add_library(part SHARED part.c)
target_link_options(part PRIVATE -Wl,-z,defs)
add_executable(cfile main.c ${CMAKE_CURRENT_BINARY_DIR}/table.h)
target_include_directories(cfile PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(cfile part Threads::Threads)
set_target_properties(cfile PROPERTIES BUILD_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
"""
CMAKE_MAIN = """
#include "config.h"
#include "table.h"
#include <stdio.h>
#include <string.h>
int part(const char *s);
int main(int argc, char **argv)
{
    char b[64] = "";
    FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!f) return 3;
    if (!fgets(b, sizeof b, f)) return 4;
    printf("%d %d %d %d|%d %d\\n", HAVE_STRLCPY, HAVE_MEMMEM, HAVE_CURL_STREQUAL, HAVE_NO_SUCH_FLAG,
           TABLE, part(b));
    return strncmp(b, "no", 2) == 0;
}
"""

# What large C++ programs do: constructors before main, a thread, exceptions, assembler, a precompiled header (by cmake, and by
# hand without -c), and a probe with flags of its own.
CMAKE_CXX = """
cmake_minimum_required(VERSION 3.16)
project(large CXX ASM)
include(CheckCXXSourceCompiles)
find_package(Threads REQUIRED)
set(CMAKE_REQUIRED_FLAGS "-Werror -Wall")
check_cxx_source_compiles("int main() { return 0; }" HAVE_CLEAN)
check_cxx_source_compiles("int main() { int unused; return 0; }" HAVE_UNUSED)
unset(CMAKE_REQUIRED_FLAGS)
add_library(large STATIC large.cc seven.S)
target_precompile_headers(large PRIVATE <map> <string> <thread>)
target_compile_definitions(large PRIVATE CLEAN=0${HAVE_CLEAN} UNUSED=0${HAVE_UNUSED})
target_link_libraries(large PUBLIC Threads::Threads)
add_executable(large_fuzzer fuzz.cc)
target_link_libraries(large_fuzzer large $ENV{LIB_FUZZING_ENGINE})
"""
SEVEN = """
    .text
    .globl seven
    .type seven, @function
seven:
    movl $7, %eax
    ret
    .size seven, .-seven
    .section .note.GNU-stack,"",@progbits
"""
LARGE = """
#include "lib.h"
extern "C" int seven();
namespace {
std::map<std::string, int> numbers;
struct filled { filled() { numbers["one"] = 1; numbers["seven"] = seven(); } } before_main;
}
int words(const char *s, unsigned long n)
{
    std::string text(s, n);
    int found = 0;
    std::thread([&] { found = numbers.count(text) ? numbers.at(text) : -1; }).join();
    if (found < 0) throw std::string("no word");
    return found + 10 * CLEAN + 100 * UNUSED;
}
"""
LARGE_HARNESS = """
#include "by_hand.hpp"
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)
{
    try { printf("%d\\n", words(reinterpret_cast<const char *>(d), n)); }
    catch (const std::string &e) { printf("%s\\n", e.c_str()); }
    return 0;
}
"""
LARGE_SCRIPT = """#!/bin/bash
set -eu
$CXX $CXXFLAGS by_hand.hpp -o $WORK/by_hand.hpp.pch
cd $WORK
cmake -DCMAKE_CXX_FLAGS="$CXXFLAGS" $SRC >/dev/null
make VERBOSE=1 >make.log 2>&1 || { cat make.log; exit 1; }
$CXX $CXXFLAGS -include-pch by_hand.hpp.pch -c $SRC/fuzz.cc -o fuzz.o
cp large_fuzzer $OUT
"""


def large_cxx(top):
    d = top / "large_cxx"
    write(d / "CMakeLists.txt", CMAKE_CXX)
    write(d / "lib.h", "int words(const char *s, unsigned long n);\n")
    write(d / "by_hand.hpp", '#pragma once\n#include "lib.h"\n#include <stdint.h>\n#include <stdio.h>\n#include <string>\n')
    write(d / "seven.S", SEVEN)
    write(d / "large.cc", LARGE)
    write(d / "fuzz.cc", LARGE_HARNESS)
    write(d / "build.sh", LARGE_SCRIPT, 0o755)
    code, said = carol("-o", "out", "--", "./build.sh", cwd=d)
    if not ok(code == 0, "large C++: constructors, a thread, assembler, precompiled headers, a probe with flags of its own", said):
        return
    inputs = [write(d / f"in{i}", t) for i, t in enumerate(["seven", "one", "two 2"])]
    wrong = same_everywhere(d / "out", "large_fuzzer", [((i,),) for i in inputs])
    said = [run_target(d / "out/plain/large_fuzzer", (i,))[1].split() for i in inputs]
    ok(not wrong and said == [[b"17"], [b"11"], [b"no", b"word"]], "large C++: every family does what plain does", f"{wrong}\n{said}")


def cmake_project(top):
    d = top / "cmake"
    write(d / "CMakeLists.txt", CMAKE)
    names = ("STRLCPY", "MEMMEM", "CURL_STREQUAL", "NO_SUCH_FLAG")
    write(d / "config.h.in", "".join(f"#cmakedefine01 HAVE_{n}\n" for n in names))
    write(d / "gen.c", '#include <stdio.h>\nint main(int c, char **v) { FILE *f = fopen(v[1], "w");'
                       ' return c != 2 || !f || fputs("#define TABLE 42\\n", f) < 0 || fclose(f); }\n')
    write(d / "part.c", "int part(const char *s);\nint part(const char *s)\n"
                        "{ int n = 0; while (*s) n += *s++ == 'o'; return n; }\n")
    write(d / "main.c", CMAKE_MAIN)
    write(d / "build.sh", "#!/bin/sh\nset -eu\ncd $WORK\ncmake $SRC >/dev/null\nmake\n"
                          "cp cfile libpart.so $OUT\n", 0o755)
    code, said = carol("-o", "out", "--families", ",".join(FEW), "--args", "@@", "--", "./build.sh", cwd=d)
    if not ok(code == 0, "a cmake project with a shared library and a generator: file program", said):
        return
    m = manifest(d / "out")
    ok(m["kind"] == "file" and m["args"] == ["@@"] and len(m["families"]) == 4, "its kind is file", m)
    yes, no = write(top / "yes", "foo o\n"), write(top / "no", "no\n")
    wrong = same_everywhere(d / "out", "cfile", [((yes,),), ((no,),), (("/none",),), ((),)])
    ok(not wrong, "probes, generated code and output are the same in every family", "\n".join(wrong))
    ok(b"HFReadyTag" not in (d / "out/hfuzz/cfile").read_bytes(),
       "honggfuzz will not take the main() program for a persistent one")
    out = run_target(d / "out/hfuzz/cfile", (yes,))[1]
    ok(out == b"0 1 0 0|42 3\n", "probes are honest: no strlcpy, no curl_strequal, memmem", out)


MESON = """
project('mini', 'c', default_options: ['warning_level=3', 'werror=true'])
cc = meson.get_compiler('c')
conf = configuration_data()
conf.set10('HAVE_STRLCAT', cc.has_function('strlcat'))
conf.set10('HAVE_MEMMEM', cc.has_function('memmem', prefix: '#define _GNU_SOURCE\\n#include <string.h>'))
configure_file(output: 'config.h', configuration: conf)
lib = shared_library('part', 'part.c', install: true)
executable('mstdin', 'main.c', link_with: lib, install: true, install_rpath: '$ORIGIN')
"""


def meson_project(top):
    d = top / "meson"
    write(d / "meson.build", MESON)
    write(d / "part.c", "#include <stddef.h>\nint part(const char *s, size_t n);\n"
                        "int part(const char *s, size_t n)\n"
                        "{ int x = 0; while (n--) x = x * 31 + s[n]; return x; }\n")
    write(d / "main.c", '#include "config.h"\n#include <stdio.h>\nint part(const char *s, size_t n);\n'
                        "int main(void)\n{\n    char b[256];\n    size_t n = fread(b, 1, sizeof b, stdin);\n"
                        '    printf("%d %d %d\\n", HAVE_STRLCAT, HAVE_MEMMEM, part(b, n));\n'
                        "    return n == 3;\n}\n")
    write(d / "build.sh", "#!/bin/sh\nset -eu\nmeson setup -Dprefix=$WORK/i -Dlibdir=bin $WORK/b $SRC\n"
                          "ninja -C $WORK/b install\ncp $WORK/i/bin/* $OUT\n", 0o755)
    few = ("--families", "hfuzz,laf,neutral,plain")
    code, said = carol("-o", "out", *few, "--", "./build.sh", cwd=d)
    if not ok(code == 0, "a meson project with a shared library: stdin program", said):
        return
    ok(manifest(d / "out")["kind"] == "stdin" and "assumed" in said,
       "its kind is stdin, and that was said to be assumed", said)
    wrong = same_everywhere(d / "out", "mstdin", [((), b"abc"), ((), b""), ((), b"x" * 300)])
    ok(not wrong, "probes and output are the same in every family", "\n".join(wrong))
    code, said = carol("-o", "out", *few, "--kind", "stdin", "--args", "-q 'a b'", "--", "./build.sh",
                       cwd=d)
    ok(code == 0 and said.count("cached") == 4 and manifest(d / "out")["args"] == ["-q", "a b"]
       and "assumed" not in said, "--kind and --args are taken, without building again", said)


MAKE_SCRIPT = """#!/bin/sh
set -eu
cd lib
echo 'int main(void) { return 0; }' > conftest.c
$CC $CFLAGS conftest.c -o conftest && ./conftest && rm conftest
for f in strlcpy xmlStrcmp CRYPTO_memcmp memmem; do
    echo "char $f(void); int main(void) { return $f(); }" > conftest.c
    if $CC $CFLAGS conftest.c -o conftest 2>/dev/null; then echo "$f yes"; else echo "$f no"; fi
done > $OUT/probes.txt
$CC --version > /dev/null; $CC -dumpmachine > /dev/null; $CC -Wl,--version > /dev/null 2>&1
echo 'int x;' | $CC $CFLAGS -x c -c - -o x.o; $CC -r x.o -o y.o
echo 'int main(void) { return 0; }' | $CC $CFLAGS -x c - -o stdin-made; ./stdin-made
test "$(echo FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION | $CC $CFLAGS -E -P -)" = 1
make CC="$CC" CFLAGS="$CFLAGS -Werror"
cp prog $OUT/
"""


def make_project(top):
    d = top / "make"
    write(d / "lib/Makefile", "prog: prog.o\n\t$(CC) $(CFLAGS) -o $@ $^ -lm\n")
    write(d / "lib/prog.c", "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv)\n"
                            "{ return argc > 1 && printf(\"%s\\n\", strstr(argv[1], \"a\") ? \"a\" : \"-\") < 0; }\n")
    script = write(top / "elsewhere" / "script", MAKE_SCRIPT, 0o755)
    code, said = carol("-o", d / "out", "--families", ",".join(FEW), "--src", d, "--", script, cwd=top)
    if not ok(code == 0, "plain make with configure-like probes, script outside the sources", said):
        return
    probes = {f: (d / "out" / f / "probes.txt").read_text() for f in FEW}
    ok(all(p == probes["plain"] for p in probes.values()) and "strlcpy no" in probes["hfuzz"]
       and "memmem yes" in probes["hfuzz"], "the probes answer as in plain", probes)
    wrong = same_everywhere(d / "out", "prog", [(("xay",),), (("b",),), ((),)])
    ok(not wrong, "the program does the same in every family", "\n".join(wrong))
    write(d / "Makefile", "all:\n\t$(CC) $(CFLAGS) lib/prog.c -o $(OUT)/all-made\n.PHONY: all\n")
    (d / "all").mkdir()
    code, said = carol("-o", "../made", "--families", "plain", "--", "make", "all", cwd=d)
    ok(code == 0 and manifest(top / "made")["target"] == "all-made",
       "a make target stays one, though a directory has its name", said)
    write(d / "lib/new", "")
    code, said = carol("-o", d / "out", "--families", "plain", "--src", d, "--", script, cwd=top)
    ok(code == 0 and "plain: built" in said, "a new file in the source tree rebuilds", said)
    script.write_text(MAKE_SCRIPT + "# changed\n")
    code, said = carol("-o", d / "out", "--families", "plain", "--src", d, "--", script, cwd=top)
    ok(code == 0 and "plain: built" in said, "a changed script outside the tree rebuilds", said)


def ccached(top):
    """What was compiled once is not compiled again, and no family gets what another one compiled."""
    if not shutil.which("ccache"):
        ok(True, "ccache # SKIP it is not installed")
        return
    d, names = top / "ccache", ("afl", "laf", "plain")
    write(d / "src/x.c", "#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n"
          "{\n    return n > 4 && *(const int *)d == 77;\n}\n")
    write(d / "src/build.sh", "#!/bin/sh -eu\n$CC $CFLAGS -MD -c x.c -o $WORK/x.o\ncp $WORK/x.o $OUT/x.o\n"
          "$CXX $CXXFLAGS $WORK/x.o $LIB_FUZZING_ENGINE -o $OUT/x\n", 0o755)
    env = {"XDG_CACHE_HOME": str(d / "cache")}

    def build(**more):
        code, said = carol("-o", d / "out", "--force", "--families", ",".join(names), "--src", d / "src", "--", d / "src/build.sh", env={**env, **more})
        ok(code == 0, "a project builds with ccache", said)
        return {f: (d / "out" / f / "x.o").read_bytes() for f in names}

    def count():
        said = subprocess.run(["ccache", "--print-stats"], env={**os.environ, "CCACHE_CONFIGPATH": "/dev/null", "CCACHE_DIR": str(d / "cache/carol/ccache")},
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        n = dict(line.split("\t") for line in said.splitlines())
        return int(n["direct_cache_hit"]), int(n["cache_miss"])
    first, before = build(), count()
    ok(before == (0, 3) and first["afl"] != first["laf"] != first["plain"], "ccache: each family compiles for itself", before)
    ok(build() == first and count() == (3, 3), "ccache: and only once", count())
    write(d / "file", "")
    ok(build(XDG_CACHE_HOME=str(d / "file")).keys() == first.keys(), "ccache: left out where its directory cannot be made")
    ok(build(CCACHE_DISABLE="1").keys() == first.keys() and count() == (3, 3), "ccache: switched off by its own variable", count())


def private(out):
    return [p.name for p in Path(out).glob(".tmp-*")]


def stop_midway(command, d, mark, number):
    """Starts a build, sends the signal when its sleepers run, waits until they are gone."""
    p = subprocess.Popen(command, cwd=d, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until = time.monotonic() + 180
    while len(left_over("sleep\0" + mark)) < 4 and time.monotonic() < until:
        time.sleep(0.05)
    p.send_signal(number)
    said = p.communicate(timeout=60)[0].decode()
    until = time.monotonic() + 90
    while left_over(mark) and time.monotonic() < until:
        time.sleep(0.05)
    return p, said


def interrupted(top):
    d = top / "slow"
    write(d / "t.c", "int main(void) { return 0; }\n")
    mark = f"31{os.getpid()}.{time.time_ns() % 10**9:09}"
    write(d / "build.sh", f"#!/bin/sh\n$CC t.c -o $OUT/t\ntest -e fast || {{ sleep {mark} & sleep {mark}; }}\n",
          0o755)
    command = [CAROL, "build", "-o", "out", "--families", "plain,asan", "--", "./build.sh"]
    for number, name in ((signal.SIGKILL, "kill -9"), (signal.SIGINT, "Ctrl-C")):
        p, said = stop_midway(command, d, mark, number)
        ok(not left_over(mark), f"{name} midway: no process is left", left_over(mark))
        ok(not (d / "out/carol-build.json").exists() and not (d / "out/plain").exists(),
           f"{name} midway: no manifest, no half build", os.listdir(d / "out"))
        if number == signal.SIGINT:
            ok(p.returncode == 130 and not private(d / "out"),
               "Ctrl-C: says so and removes what it made", (p.returncode, said, private(d / "out")))
    (d / "out" / ".tmp-plain-99999").mkdir(parents=True)
    write(d / "fast", "")
    code, said = carol(*command[2:], cwd=d)
    ok(code == 0 and len(manifest(d / "out")["families"]) == 2 and not private(d / "out"),
       "the next build works and removes the remains", said)
    before = (d / "out/carol-build.json").read_text()
    (d / "fast").unlink()
    stop_midway(command, d, mark, signal.SIGKILL)
    digests = {f: hashlib.sha256((d / "out" / x["binary"]).read_bytes()).hexdigest() == x["build_id"]
               for f, x in manifest(d / "out")["families"].items()}
    ok((d / "out/carol-build.json").read_text() == before and all(digests.values()),
       "kill -9 in a rebuild: the old build is still whole", digests)


def one_fails(top):
    d = top / "partly"
    write(d / "t.c", "int main(void) { return 0; }\n")
    write(d / "build.sh", "#!/bin/sh\nset -e\n$CC t.c -o $OUT/t\n"
                          "if [ $SANITIZER = address ]; then echo the reason; exit 7; fi\n", 0o755)
    code, said = carol("-o", "out", "--families", "asan,plain", "--", "./build.sh", cwd=d)
    ok(code == 2 and "the reason" in said and "exit code 7" in said,
       "a script that fails in one family: exit 2, the tail of its log", said)
    ok("is ready" not in said and "carol fuzz" not in said, "and nothing is said to be ready", said)
    ok(list(manifest(d / "out")["families"]) == ["plain"] and not private(d / "out")
       and not (d / "out/asan").exists(), "the other family is kept, and alone in the manifest", said)


def large_tree(top):
    """A tree whose copies take time: said before, and the copies are whole."""
    d = top / "large"
    for i in range(2100):
        write(d / f"data/{i}", str(i))
    write(d / "build.sh", "#!/bin/sh -e\n[ $(cat data/* | wc -c) = $(cat count) ]\n"
                          "echo 'int main(void) { return 0; }' | $CC -x c - -o $OUT/prog\n"
                          "rm -rf $SRC  # it may\n", 0o755)
    write(d / "count", str(sum(len(str(i)) for i in range(2100))))
    code, said = carol("-o", "out", "--families", "plain", "--", "./build.sh", cwd=d)
    ok(code == 0 and "2102 files" in said and "copied for each family" in said and "--src" in said
       and "plain: copying the sources" in said, "a large source tree: what is copied is said", said)
    ok("carol fuzz -b" not in said and "neutral" in said, "what cannot be fuzzed is not offered to be", said)
    os.chmod(d / "data/7", 0)
    code, said = carol("-o", "out", "--families", "plain", "--", "./build.sh", cwd=d)
    if os.geteuid():
        ok(code == 2 and "could not be copied" in said and "data/7" in said, "what cannot be copied is named", said)


def failures_read_well(top):
    """The same reason in every family is told once, in the script's own words."""
    d = top / "cjson-1.7"
    write(d / "build.sh", "#!/bin/sh -e\necho $SRC $WORK $OUT/x\ncat $SRC/cjson/lib.c\n", 0o755)
    code, said = carol("-o", top / "said", "--src", d, "--", d / "build.sh", cwd=top)
    ok(code == 2 and said.count("ends with:") == 1 and "$SRC $WORK $OUT/x\n" in said and ".tmp-" not in said,
       "one tail of equal logs, without private directories", said)
    ok("$SRC/cjson" in said and "--src .." in said, "a script of OSS-Fuzz's layout: how to run it", said)
    write(d / "build.sh", "#!/bin/sh -e\ncat $SRC/made/lib.c\n", 0o755)
    code, said = carol("-o", top / "said", "--src", d, "--", d / "build.sh", cwd=top)
    ok(code == 2 and "--src .." not in said, "no such hint for anything else that is missing", said)


def bad_inputs(top):
    d = top / "bad"
    write(d / "none.c", "int f(void);\nint f(void) { return 1; }\n")
    write(d / "mangled.cc", "#include <cstdint>\n#include <cstddef>\n"
                            "int LLVMFuzzerTestOneInput(const uint8_t *, size_t) { return 0; }\n")
    write(d / "syntax.c", "int main(void) { return }\n")
    write(d / "main.c", "int main(void) { return 0; }\n")
    write(d / "empty.sh", "#!/bin/sh\nexit 0\n", 0o755)
    write(d / "noexec.sh", "#!/bin/sh\nexit 0\n")
    write(d / "file", "")
    plain = ("--families", "plain")
    cases = [
        ("no entry point", 2, "neither", (*plain, "none.c"), None),
        ("no entry point in the neutral build", 2, "neither", ("--families", "neutral", "none.c"), None),
        ("a C++ entry point without extern C", 2, 'extern "C"', (*plain, "mangled.cc"), None),
        ("a syntax error", 2, "expected expression", (*plain, "syntax.c"), None),
        ("a missing source", 2, "No such file", (*plain, "absent.c"), None),
        ("a script given as a source", 2, "-- empty.sh", (*plain, "empty.sh"), None),
        ("no target in $OUT", 2, "no target in $OUT", (*plain, "--", "./empty.sh"), None),
        ("a command that is not there", 2, "no command", (*plain, "--", "./absent.sh"), None),
        ("a script that is not executable", 2, "chmod +x", (*plain, "--", "./noexec.sh"), None),
        ("an unknown family", 2, "no family 'msan'", ("--families", "msan", "main.c"), None),
        ("nothing to build", 2, "nothing to build", (), None),
        ("a wrong kind", 2, "--kind", ("--kind", "tty", "main.c"), None),
        ("file without @@", 2, "@@", ("--kind", "file", "--args", "-x", "main.c"), None),
        ("no source directory", 2, "does not exist", (*plain, "--src", "absent", "--", "true"), None),
        ("no compiler", 3, "apt-get install clang-19", (*plain, "main.c"), {"CAROL_CLANG": "/none/clang"}),
        ("no engines, asked for by name", 3, "CAROL_ENGINES", ("--families", "afl,hfuzz", "main.c"),
         {"CAROL_ENGINES": "/none"}),
    ]
    for what, want, text, args, env in cases:
        code, said = carol("-o", "out", *args, cwd=d, env=env)
        rest = sorted(p.name for p in (d / "out").iterdir()) if (d / "out").exists() else []
        ok(code == want and text in said and set(rest) <= {"logs", ".lock"},
           f"{what}: exit {want} and what to do; nothing left but the log", f"{code} {rest}\n{said}")
        shutil.rmtree(d / "out", ignore_errors=True)
    code, said = carol("-o", "file", "main.c", cwd=d)
    ok(code == 2 and "not a directory" in said.lower(), "an output directory that is a file: exit 2", said)
    code, said = carol("main.c", cwd=d)
    ok(code == 2 and "-o DIR" in said, "no output directory: exit 2", said)
    code, said = carol("-o", "out", "main.c", cwd=d, env={"CAROL_ENGINES": "/none"})
    ok(code == 0 and "skipped" in said and sorted(manifest(d / "out")["families"]) ==
       ["asan", "neutral", "plain"], "no engines, not asked for by name: the rest is built", said)
    engines = os.environ.get("CAROL_ENGINES") or os.path.join(os.path.dirname(CAROL), "engines")
    code, said = carol("-o", "rel", "--families", "hfuzz", "--engines", os.path.relpath(engines, d / "rel-src"), "--",
                       "sh", "-c", "mkdir w && cd w && $CC ../h.c ${LIB_FUZZING_ENGINE%/*}/.//libhfuzz.a -o $OUT/h",
                       cwd=write(d / "rel-src/h.c", HARNESS.replace('#include "size.h"', "#define SIZE 16")).parent)
    ok(code == 0 and manifest(d / "rel-src/rel")["kind"] == "libfuzzer",
       "a relative engines directory, and the engine by another spelling", said)
    p = subprocess.run([os.path.join(os.path.dirname(CAROL), "runtime", "carol-cc"), "main.c"], cwd=d,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       env={"PATH": os.environ["PATH"]})
    ok(p.returncode == 2 and "CAROL_FAMILY" in p.stdout, "carol-cc by hand asks for a family", p.stdout)


def example(top):
    src = Path(__file__).resolve().parents[2] / "examples" / "tote"
    code, said = carol("-o", top / "tote", "--src", src, "--", src / "build.sh", cwd=top)
    if not ok(code == 0 and manifest(top / "tote")["dict"], "the bundled example builds", said):
        return
    wrong = []
    for f in FAMILIES:
        for path in sorted((src / "crashes").iterdir()) + sorted((src / "seeds").iterdir()):
            code = run_target(top / "tote" / f / "tote_fuzzer", (path,))[0]
            if (code != 0) != (path.parent.name == "crashes"):
                wrong.append(f"{f} {path.name}: {code}")
    ok(not wrong, "its crashes crash in every family, its seeds do not", "\n".join(wrong))


def main():
    top = Path(tempfile.mkdtemp(prefix="carol-build-"))
    try:
        for part in (short_form, cxx_script, large_cxx, cmake_project, meson_project, make_project, ccached, interrupted,
                     one_fails, large_tree, failures_read_well, bad_inputs, example):
            began = time.monotonic()
            try:
                part(top)
            except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                ok(False, f"{part.__name__} ran to its end", repr(error))
            print(f"# {part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return tap.done()


sys.exit(main())
