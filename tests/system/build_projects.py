#!/usr/bin/env python3
"""carol build on small projects of every kind, one per build system, and on the bundled example.

usage: build_projects.py CAROL          prints TAP; makes its projects in a temporary directory
"""
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

sys.dont_write_bytecode = True
from build_kit import FAMILIES, FEW, carol, manifest, ok, run_parts, run_target, same_everywhere, write

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
    """What was compiled once is not compiled again, and no family gets what another one compiled.  neutral does without: it
    would have no words the second time."""
    if not shutil.which("ccache"):
        ok(True, "ccache # SKIP it is not installed")
        return
    d, names = top / "ccache", ("afl", "laf", "plain", "neutral")
    write(d / "src/x.c", "#include <stddef.h>\n#include <stdint.h>\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n"
          "{\n    return n > 4 && *(const int *)d == 0x7e3f1a4d;\n}\n")
    write(d / "src/build.sh", "#!/bin/sh -eu\n$CC $CFLAGS -MD -c x.c -o $WORK/x.o\ncp $WORK/x.o $OUT/x.o\n"
          "$CXX $CXXFLAGS $WORK/x.o $LIB_FUZZING_ENGINE -o $OUT/x\n", 0o755)
    env = {"XDG_CACHE_HOME": str(d / "cache")}

    def build(**more):
        code, said = carol("-o", d / "out", "--force", "--families", ",".join(names), "--src", d / "src", "--", d / "src/build.sh", env={**env, **more})
        ok(code == 0, "a project builds with ccache", said)
        return {f: (d / "out" / f / "x.o").read_bytes() for f in names} | {"words": (d / "out/neutral/carol-words.txt").read_bytes()}

    def count():
        said = subprocess.run(["ccache", "--print-stats"], env={**os.environ, "CCACHE_CONFIGPATH": "/dev/null", "CCACHE_DIR": str(d / "cache/carol/ccache")},
                              stdout=subprocess.PIPE, text=True, check=True).stdout
        n = dict(line.split("\t") for line in said.splitlines())
        return int(n["direct_cache_hit"]), int(n["cache_miss"])
    first, before = build(), count()
    ok(before == (0, 3) and first["afl"] != first["laf"] != first["plain"] and first["words"], "ccache: each family compiles for itself", before)
    ok(build() == first and count() == (3, 3), "ccache: and only once", count())
    write(d / "file", "")
    ok(build(XDG_CACHE_HOME=str(d / "file")).keys() == first.keys(), "ccache: left out where its directory cannot be made")
    ok(build(CCACHE_DISABLE="1").keys() == first.keys() and count() == (3, 3), "ccache: switched off by its own variable", count())


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


sys.exit(run_parts(cxx_script, large_cxx, cmake_project, meson_project, make_project, ccached, example))
