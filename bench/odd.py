#!/usr/bin/env python3
"""Programs unlike the examples: is a campaign on them healthy?

usage: bench/odd.py CAROL [--seconds N] [NAME...]

  slow       10 ms of CPU time for every input
  large      more than 200,000 edges
  leaky      loses 64 KB with every input
  directory  reads files that its build.sh puts beside it
  threads    four threads for every input, and one that stays

Each is built in all families and fuzzed with default settings on one core.  Healthy means: at least 0.9 of the slot's time is
inside fuzzers, every fuzzer of the default roster had a turn and none was dropped, the supervisor's memory is flat, no process
survives, and what was found replays."""
import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol, memory_kb

SHARE, GROWTH = 0.9, 1.25
HEAD = "#include <dirent.h>\n#include <libgen.h>\n#include <pthread.h>\n#include <stdint.h>\n#include <stdio.h>\n" \
       "#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n#include <unistd.h>\n"
# A small parser in front of each: something to find.
WALK = """
static volatile unsigned seen;
static void walk(const uint8_t *d, size_t n)
{
    for (size_t i = 0; i + 2 < n; i++) {
        if (d[i] == '<' && d[i + 1] == '/') seen += 1;
        else if (d[i] == '<' && d[i + 1] == '!') { if (d[i + 2] == '-') seen += 2; else if (d[i + 2] == '[') seen += 3; }
        else if (d[i] == '&') { if (d[i + 1] == '#') { if (d[i + 2] == 'x') seen += 4; else seen += 5; } else seen += 6; }
        else if (d[i] > 127) seen += 7;
    }
}
"""
ENTRY = "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n{\n    walk(d, n);\n%s    return 0;\n}\n"
PROGRAMS = {
    "slow": WALK + """
static int64_t used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}
""" + ENTRY % "    for (int64_t until = used() + 10000000; used() < until;) seen++;\n",
    "leaky": WALK + ENTRY % "    char *lost = malloc(65536);\n    if (lost) memset(lost, 1, 65536);\n"
                            "    seen += lost ? (unsigned)lost[n % 65536] : 0;\n",
    "directory": WALK + """
static char words[8][32];
static int n_words;
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[4096], name[4200];
    snprintf(path, sizeof path, "%s", (*argv)[0]);
    snprintf(name, sizeof name, "%s/words", dirname(path));
    DIR *dir = opendir(name);
    for (struct dirent *e; dir && (e = readdir(dir)) && n_words < 8;) {
        snprintf(path, sizeof path, "%s/%s", name, e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (f && fgets(words[n_words], 32, f)) n_words++;
        if (f) fclose(f);
    }
    if (n_words != 4) {
        fprintf(stderr, "%d of 4 words in %s\\n", n_words, name);
        exit(1);
    }
    return 0;
}
""" + ENTRY % "    for (int i = 0; i < n_words; i++)\n"
              "        if (n > 8 && memmem(d, n, words[i], strlen(words[i]))) seen += 10;\n",
    "threads": WALK + """
struct part { const uint8_t *d; size_t n; };
static void *work(void *arg) { struct part *p = arg; walk(p->d, p->n); return NULL; }
static void *stay(void *arg) { for (;;) usleep(1000); return arg; }
""" + ENTRY % """    static pthread_t keeper;
    pthread_t t[4];
    struct part part[4];
    if (!keeper) pthread_create(&keeper, NULL, stay, NULL);
    for (int i = 0; i < 4; i++) {
        part[i] = (struct part){d + n * i / 4, n * (i + 1) / 4 - n * i / 4};
        if (pthread_create(&t[i], NULL, work, &part[i])) abort();
    }
    for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
""",
}


def large(src):
    """2,400 functions of 90 branches, in 24 files; two bytes choose one of them."""
    for f in range(24):
        text = "#include <stddef.h>\n#include <stdint.h>\nextern volatile unsigned seen;\n"
        for g in range(100):
            rows = "".join(f"    if (n > {b % 40 + 2} && d[{b % 40 + 2}] == {(b * 37 + g) % 251}) seen += {b};\n" for b in range(45))
            text += f"void part_{f}_{g}(const uint8_t *d, size_t n)\n{{\n{rows}}}\n"
        (src / f"part{f}.c").write_text(text)
    names = [f"part_{f}_{g}" for f in range(24) for g in range(100)]
    text = HEAD + "volatile unsigned seen;\n" + "".join(f"void {n}(const uint8_t *, size_t);\n" for n in names)
    text += "static void (*const parts[])(const uint8_t *, size_t) = {" + ", ".join(names) + "};\n"
    text += "static void walk(const uint8_t *d, size_t n)\n{\n    if (n > 2) parts[(d[0] << 8 | d[1]) % 2400](d, n);\n}\n"
    (src / "large.c").write_text(text + ENTRY % "")


def lay_out(name, src):
    src.mkdir()
    if name == "large":
        large(src)
    else:
        (src / f"{name}.c").write_text("#define _GNU_SOURCE\n" + HEAD + PROGRAMS[name])
    (src / "words").mkdir()
    for word in ("alpha", "beta", "gamma", "delta"):
        (src / "words" / word).write_text(word)
    (src / "build.sh").write_text("#!/bin/bash -eu\ncd \"$(dirname \"$0\")\"\n"
                                  "ls *.c | xargs -P2 -I% $CC $CFLAGS -c % -o $WORK/%.o\n"
                                  f"$CXX $CXXFLAGS $WORK/*.o $LIB_FUZZING_ENGINE -pthread -o $OUT/{name}\n"
                                  "cp -r words $OUT/\n")
    (src / "build.sh").chmod(0o755)
    (src / "seeds").mkdir()
    (src / "seeds/one").write_bytes(b"<a href='b'>alp & beta</a> and so on, to some fifty bytes")


def fuzz(carol, name, build, seeds, out, seconds):
    """The campaign's status, and the supervisor's memory as it grew from its second third to the last."""
    samples = []
    p = carol.start("fuzz", "-b", build, "-i", seeds, "-o", out, "-j", "1", "-d", f"{seconds}s", "--default",
                    "--triage", log=out.parent / f"{name}.log")
    while p.poll() is None:
        kb = memory_kb(p.pid)
        samples += [kb] if kb else []
        time.sleep(0.5)
    third = max(1, len(samples) // 3)
    growth = max(samples[2 * third:], default=1) / max(samples[third:2 * third], default=1)
    return p.returncode, carol.json("status", out, "--json"), growth


def judge(carol, name, temp, seconds):
    src, build, out = temp / f"{name}-src", temp / name, temp / f"{name}-out"
    lay_out(name, src)
    code, text = carol.run("build", "-o", build, "--src", src, "--", src / "build.sh", limit=1200)
    if code:
        print(f"{name}: cannot be built\n{text}")
        return False
    code, s, growth = fuzz(carol, name, build, src / "seeds", out, seconds)
    slot = s["slots"][0]
    share = slot["fuzz_s"] / slot["wall_s"]
    turns = {n: f["turns"] for n, f in s["fuzzers"].items()}
    replay = carol.json("replay", out, "--json")
    wrong = [what for what, bad in (
        (f"exit {code}", code), (f"only {share:.3f} of the time in fuzzers", share < SHARE),
        (f"memory x{growth:.2f}", growth > GROWTH), ("fuzzers without a turn", not all(turns.values())),
        ("a fuzzer was dropped", any(f["dropped"] for f in s["fuzzers"].values())),
        ("a process survives", carol.survivors()), ("it does not replay", replay["matched"] != replay["decisions"]),
        ("too small", name == "large" and s["edges_total"] < 200000)) if bad]
    print(f"{name}: {s['edges_total']} edges, {s['execs']} executions, {s['edges']} covered, {share:.3f} of the slot in fuzzers "
          f"({slot['start_s'] / slot['wall_s']:.3f} starting, {slot['eval_s'] / slot['wall_s']:.3f} measuring), turns "
          f"{', '.join(f'{n} {t}' for n, t in turns.items())}, memory x{growth:.2f}: {'; '.join(wrong) or 'healthy'}", flush=True)
    if wrong:
        print((temp / f"{name}.log").read_text())
    return not wrong


def main():
    names = ["slow", "large", "leaky", "directory", "threads"]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("carol")
    p.add_argument("--seconds", type=int, default=60)
    p.add_argument("names", nargs="*", default=names)
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="carol-odd-") as temp:
        good = [judge(Carol(a.carol), n, Path(temp), a.seconds) for n in a.names]
    print("holds" if all(good) else "DOES NOT HOLD")
    return 0 if all(good) else 1


sys.exit(main())
