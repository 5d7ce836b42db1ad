#!/usr/bin/env python3
"""carol build on one source file: what it makes, its cache, and everything that can go wrong.

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
import time
from pathlib import Path

sys.dont_write_bytecode = True
from build_kit import CAROL, FAMILIES, carol, manifest, ok, run_parts, run_target, same_everywhere, write


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
    asan_level(d)
    compiler_malloc(d)
    dearest_first(d)
    static_pie(d, inputs)
    words(top / "words")


WORDS = """
#include <stdint.h>
#include <string.h>
#include <stdio.h>
static const char *const names[] = {"break", "two words", "if"};
static const struct { uint32_t tag; int value; } tags[] = {{0x41424344, 1}, {5, 6}};
static const uint32_t sums[] = {0x41626364, 0x80c1f2e3};
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[64] = "";
    uint32_t v = 0;
    memcpy(text, data, size < 63 ? size : 63);
    memcpy(&v, data, size < 4 ? size : 4);
    if (v == 0x74455874) puts("1");
    if (v == 0x10000000 || v == 0xffff0000) puts("2");
    switch (v ^ size) { case 0x624b4744: puts("3"); break; case 0x63484951: puts("4"); break; case 7: puts("5"); }
    for (int i = 0; i < 3; i++) if (strcmp(text, names[i]) == 0) puts("6");
    for (int i = 0; i < 2; i++) if (v == tags[i].tag) printf("%d\\n", tags[i].value);
    if (memcmp(text, "\\x89PNG", 4) == 0 || strstr(text, "</end>")) puts("7");
    return v == sums[size & 1];
}
"""


def words(d):
    write(d / "words_read.c", WORDS)
    code, said = carol("-o", "out", "--families", "neutral", "words_read.c", cwd=d)
    m = manifest(d / "out")
    found = (d / "out" / (m["words"] or "none")).read_text().split("\n")[:-1] if code == 0 else []
    want = ["tEXt", "tXEt", "bKGD", "DGKb", "cHIQ", "QIHc", "ABCD", "DCBA", "break", "if", "\\x89PNG", "</end>"]
    ok(sorted(x.strip('"') for x in found) == sorted(want),
       "words: what comparisons, switches and tables hold, each once; no masks, sentences or sums", found or said)
    ok(m["words"] == "neutral/carol-words.txt" or str(m["words"]).endswith("/neutral/carol-words.txt"), "words: in a file that no project has", m["words"])
    real = os.path.realpath(shutil.which("clang-19"))
    code, said = carol("-o", "real", "--families", "neutral", "words_read.c", cwd=d, env={"CAROL_CLANG": real})
    ok(code == 0 and manifest(d / "real")["words"], "words: whatever name clang 19 goes by", (real, said))
    write(d / "strange/afl/afl-llvm-dict2file.so", "made for another compiler\n")
    code, said = carol("-o", "none", "--families", "neutral", "words_read.c", cwd=d, env={"CAROL_ENGINES": str(d / "strange")})
    ok(code == 0 and manifest(d / "none")["words"] is None and
       (d / "none/neutral/words_read").read_bytes() == (d / "out/neutral/words_read").read_bytes(),
       "words: none without engines of our own, and the same program", said)


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


def asan_level(d):
    """asan has -O1 where the script says more."""
    cc = Path(CAROL).parent / "runtime/carol-cc"

    def level(family, *flags):
        said = subprocess.run([cc, *flags, "-###", "-c", "harness.c"], cwd=d, check=True, text=True, stderr=subprocess.PIPE,
                              env={**os.environ, "CAROL_FAMILY": family}).stderr
        return re.findall(r'"-(O\w)"', said)[-1:]
    ok([level("asan", x) for x in ("-O2", "-O3", "-O1", "-O0", "-Os")] == [["O1"], ["O1"], ["O1"], ["O0"], ["Os"]],
       "asan: -O2 and -O3 become -O1, the rest stays")
    ok(level("plain", "-O2") == ["O2"] and level("hfuzz", "-O3") == ["O3"], "and they stay in the other families")


def compiler_malloc(d):
    """A compiler gets settings for its malloc, unless there are some."""
    fake = write(d / "fake-clang", "#!/bin/sh\necho $GLIBC_TUNABLES\n", 0o755)
    cc = Path(CAROL).parent / "runtime/carol-cc"

    def given(**env):
        return subprocess.run([cc, "-c", "x.c"], check=True, text=True, stdout=subprocess.PIPE,
                              env={**os.environ, "CAROL_FAMILY": "plain", "CAROL_CLANG": str(fake), **env}).stdout.strip()
    own = "glibc.malloc.check=0"
    ok("glibc.malloc.tcache_count" in given() and given(GLIBC_TUNABLES=own) == own,
       "compilers get settings for malloc, the user's own first", (given(), given(GLIBC_TUNABLES=own)))


def dearest_first(d):
    code, said = carol("-o", "order", "--families", "plain,afl,cmplog,laf", "-j", "1", "harness.c", cwd=d)
    began = re.findall(r"(\w+): building", said)
    ok(code == 0 and began == ["laf", "cmplog", "afl", "plain"], "the dearest families begin first", said)


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


sys.exit(run_parts(short_form, interrupted, one_fails, large_tree, failures_read_well, bad_inputs))
