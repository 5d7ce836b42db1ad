#!/usr/bin/env python3
"""The benchmark's oracle on one target of the suite, in every family; on the others of ours in two; the libraries are
bench/suite/check.py's.

usage: suite.py CAROL SOURCE_ROOT      prints TAP
"""
import csv
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).absolute()
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench/suite"))
import campaign_kit  # noqa: E402
import check  # noqa: E402
import oracle  # noqa: E402

NAME = "pack"
OTHERS = ["text", "maze", "proto"]  # whose source is here
# Of all that decides what a bug is; docs/RESULTS.md stands on it.  A change means to run everything again.
FROZEN = {("pack", "text", "maze", "proto", "yaml", "png", "gif", "json"): "2b7f0b00f01ca50d", ("script",): "037867b293f688a5",
          ("markup",): "6915aee571699d07"}
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(program, *args, file=None, **more):
    env = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"}
    if file:
        env["CAROL_ORACLE"] = str(file)
    return subprocess.run([str(program), *map(str, args)], env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, check=False, **more)


@test
def witnesses_and_seeds(t):
    """each witness triggers exactly its id in seven builds, no seed triggers any, the neutral build has no oracle"""
    wrong = check.prove(t.src, t.out)
    expect(not wrong, "\n".join(wrong))


@test
def witnesses_of_the_others(t):
    """the same on the other targets that need no library, in two builds"""
    for name in OTHERS:
        wrong = check.prove(*check.build(name, t.tmp, CAROL, "afl,plain,neutral"))
        expect(not wrong, "\n".join([name, *wrong]))


@test
def nothing_was_changed(_):
    """targets, bugs and seeds are those of the results in bench/results"""
    expect(sorted(name for names in FROZEN for name in names) == sorted(check.NAMES), check.NAMES)
    for names, frozen in FROZEN.items():
        h = hashlib.sha256()
        for f in sorted(f for name in names for f in (ROOT / "bench/suite" / name).iterdir() if f.is_file()):
            h.update(f"{f.parent.name}/{f.name} {hashlib.sha256(f.read_bytes()).hexdigest()}\n".encode())
        expect(h.hexdigest()[:16] == frozen, (names, h.hexdigest()[:16]))


@test
def a_wrong_witness_is_seen(t):
    """a witness under another bug's name is found out"""
    copy = t.tmp / "swapped"
    shutil.copytree(t.src, copy)
    a, b = copy / "witness/P01", copy / "witness/P02"
    text = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(text)
    wrong = check.prove(copy, t.out)
    expect(len(wrong) == 14 and all("P01" in w or "P02" in w for w in wrong), wrong)


@test
def neutral_is_free_of_it(t):
    """the neutral build has exactly the edges of the same source without any oracle call"""
    bare = t.tmp / "bare"
    shutil.copytree(t.src, bare)
    # Every call of the oracle is a statement of its own in our targets.
    (bare / "oracle/oracle.h").write_text("#define carol_input(x) ((void)0)\n#define CAROL_BUG(...) ((void)0)\n")
    done = subprocess.run([CAROL, "build", "-o", t.tmp / "bare-out", "--families", "neutral", "--src", bare, "--",
                           bare / "build.sh"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    edges = [check.manifest(d)["edges"] for d in (t.out, t.tmp / "bare-out")]
    expect(edges[0] == edges[1] > 0, edges)


@test
def no_branch_of_its_own(t):
    """a planted bug gives AFL nothing to see: its map is as large when the operands are merely computed"""
    silent = t.tmp / "silent"
    shutil.copytree(t.src, silent)
    header = silent / "oracle/oracle.h"
    text = header.read_text()
    # The operands are still computed, but nobody compares them.
    note = text[text.index("#define CAROL_NOTE("):text.index("while (0)") + len("while (0)")]
    header.write_text(text.replace(note, """#define CAROL_NOTE(fault, id, ...) \\
    do { \\
        const struct carol_term carol_terms[] = {{0, 0, 0}, ##__VA_ARGS__}; \\
        __asm__ volatile("" : : "r"(carol_terms) : "memory"); \\
    } while (0)"""))
    done = subprocess.run([CAROL, "build", "-o", t.tmp / "silent-out", "--families", "laf,afl,plain", "--src", silent,
                           "--", silent / "build.sh"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    for family in ("afl", "laf"):
        sizes = [check.manifest(d)["families"][family]["map_size"] for d in (t.out, t.tmp / "silent-out")]
        expect(sizes[0] == sizes[1] > 0, (family, sizes))


@test
def inert_without_the_variable(t):
    """without CAROL_ORACLE no file appears; with an empty or impossible one the target runs as ever"""
    for family, program in t.programs.items():
        place = t.tmp / f"inert-{family}"
        place.mkdir()
        witness = t.src / "witness/P01"
        plain = run(program, witness, cwd=place)
        odd = run(program, witness, cwd=place, file="/nonexistent/x")
        expect(plain.returncode == odd.returncode == 0, (family, plain.returncode, odd.returncode))
        expect(not list(place.iterdir()), (family, list(place.iterdir())))


@test
def reset_between_inputs(t):
    """one process, three inputs: each counts once, the first keeps its number and time"""
    file = t.tmp / "three"
    a, b = t.src / "witness/P01", t.src / "witness/P02"
    oracle.create(file)
    run(t.programs["plain"], a, b, a, file=file)
    answer = oracle.read(file)
    expect(answer["execs"] == 3 and answer["target"] == NAME, answer)
    counts = {n: (x["reached"], x["triggered"]) for n, x in answer["bugs"].items()}
    # The last is looked at after every input and never holds here.
    expect(counts[1] == (2, 2) and counts[2] == (1, 1) and counts[16] == (3, 0), counts)
    firsts = [answer["bugs"][n]["first_triggered"] for n in (1, 2, 16)]
    expect([f and f["exec"] for f in firsts] == [1, 2, None], firsts)
    walls = [f["wall_s"] for f in firsts[:2]]
    expect(0 < walls[0] < walls[1], walls)


@test
def many_processes_one_file(t):
    """processes that write at the same time lose nothing; files apart merge to the earliest"""
    file, n = t.tmp / "many", 8
    env = {"PATH": "/usr/bin:/bin", "CAROL_ORACLE": str(file)}
    argv = [str(t.programs["plain"])] + [str(t.src / "witness/P01")] * 200
    jobs = [subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL) for _ in range(n)]
    expect(all(j.wait(120) == 0 for j in jobs), "a process failed")
    answer = oracle.read(file)
    expect(answer["execs"] == 200 * n == answer["bugs"][1]["triggered"], answer)
    other = t.tmp / "other"
    run(t.programs["plain"], t.src / "witness/P02", file=other)
    both = oracle.merge([oracle.read(file), oracle.read(other)])
    expect(both["execs"] == 200 * n + 1 and {1, 2} == {k for k, b in both["bugs"].items() if b["triggered"]}, both)


@test
def the_runner_keeps_time(t):
    """oracle.py run: bare afl-fuzz on the afl build is noted with CPU time, and ends at its budget"""
    file, out = t.tmp / "campaign", t.tmp / "afl-out"
    engine = Path(CAROL).resolve().parent / "engines/afl/afl-fuzz"
    env = {"AFL_NO_UI": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_NO_AFFINITY": "1"}
    with open(t.tmp / "afl.log", "w", encoding="utf-8") as log:
        code, used = oracle.run(file, [engine, "-i", t.src / "seeds", "-o", out, "-t", "1000", "--",
                                       t.programs["afl"]], cpu_limit=4, wall_limit=300, env=env, stdout=log, stderr=log)
    answer = oracle.read(file)
    expect(code is None and used >= 4, (code, used, (t.tmp / "afl.log").read_text()[-500:]))
    hit = [b["first_triggered"] for b in answer["bugs"].values() if b["first_triggered"]]
    expect(answer["execs"] > 1000 and hit, answer)
    expect(all(0 <= f["cpu_s"] <= used and f["exec"] <= answer["execs"] for f in hit), (used, hit))
    expect(any(f["cpu_s"] > 0 for f in hit), hit)


@test
def counted_in_carol_s_own_campaigns(t):
    """carol fuzz hands the variable on: honggfuzz's and AFL++'s executions are noted"""
    for fuzzer in ("aflpp", "honggfuzz"):
        file = t.tmp / f"carol-{fuzzer}"
        with open(t.tmp / "carol.log", "w", encoding="utf-8") as log:
            oracle.run(file, [CAROL, "fuzz", "-b", t.out, "-i", t.src / "seeds", "-o", t.tmp / f"out-{fuzzer}", "-j", "1",
                              "-d", "4s", "--turn", "2s", "-f", fuzzer, "--seed", "1", "-q"], wall_limit=300, stdout=log,
                       stderr=log)
        answer = oracle.read(file)
        expect(answer["execs"] > 100 and answer["bugs"], (fuzzer, answer, (t.tmp / "carol.log").read_text()[-500:]))


@test
def triage_notes_nothing(t):
    """the executions of triage count for no benchmark, and the record of a campaign knows nothing of the oracle"""
    out, file = t.tmp / "out-aflpp", t.tmp / "carol-triage"
    expect(b"carol-aflpp" not in (out / "carol.db").read_bytes(), "the record has the oracle's file")
    campaign_kit.add_crash(out, (t.src / "witness/P01").read_bytes())
    done = subprocess.run([CAROL, "triage", "-q", "--minimise-time", "0", out], env={**os.environ, "CAROL_ORACLE": str(file)},
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0 and not file.exists(), done.stderr)
    expect(json.loads((out / "triage/defects.json").read_text())["clean"] >= 1, "it ran nothing")


@test
def magma_and_nonsense(t):
    """a storage file of Magma is read; what is no oracle file is refused"""
    slot = struct.Struct("<16sQQ")
    data = bytearray(2048)
    slot.pack_into(data, 8, b"PNG003", 12, 3)
    slot.pack_into(data, 8 + slot.size, b"PNG007", 1, 0)
    slot.pack_into(data, 8 + 31 * slot.size, b"PNG003", 5, 0)  # the consumer's older copy
    file = t.tmp / "magma"
    file.write_bytes(data)
    bugs = oracle.read(file)["bugs"]
    expect({n: (b["reached"], b["triggered"]) for n, b in bugs.items()} == {"PNG003": (12, 3), "PNG007": (1, 0)}, bugs)
    file.write_bytes(b"nothing of the kind")
    done = subprocess.run([ROOT / "bench/suite/oracle.py", "show", file], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "no oracle file" in done.stderr, (done.returncode, done.stderr))


@test
def the_layout_is_the_header_s(t):
    """what oracle.py reads is where a C program puts it by runtime/oracle/oracle.h"""
    program = t.tmp / "layout.c"
    program.write_text("""#include "oracle.h"
#include <stddef.h>
#include <stdio.h>
int main(void)
{
    printf("%zu %zu %zu %zu %zu", sizeof(struct carol_oracle), offsetof(struct carol_oracle, start_ns),
           offsetof(struct carol_oracle, cpu_ns), offsetof(struct carol_oracle, bug), sizeof(struct carol_bug_record));
    return 0;
}
""")
    subprocess.run(["cc", "-I", ROOT / "runtime/oracle", program, "-o", t.tmp / "layout"], check=True)
    said = subprocess.run([t.tmp / "layout"], capture_output=True, text=True, check=True).stdout
    mine = [oracle.SIZE, oracle.START_AT, oracle.CPU_AT, oracle.HEADER.size, oracle.RECORD.size]
    expect(said == " ".join(map(str, mine)), (said, mine))


@test
def the_tables_are_whole(_):
    """every target has bugs.csv with known grades and unique ids, and suite.ini names them all"""
    ids = []
    for name in check.NAMES:
        with (ROOT / "bench/suite" / name / "bugs.csv").open(newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f))
        expect(all(r["grade"] in ("easy", "medium", "hard") and r["obstacle"] and r["what"] for r in rows), name)
        expect([int(r["number"]) for r in rows] == list(range(1, len(rows) + 1)), name)
        ids += [r["id"] for r in rows]
    expect(len(ids) == len(set(ids)) >= 90, len(ids))
    tuned, held = check.targets()
    expect(sorted(tuned + held) == sorted(check.NAMES) and len(held) == 4, (tuned, held))


class World:
    def __init__(self, tmp):
        self.tmp = Path(tmp)
        self.src, self.out = check.build(NAME, self.tmp, CAROL)
        self.programs = check.binaries(self.out)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        t = World(tmp)
        print(f"1..{len(TESTS)}")
        for i, one in enumerate(TESTS, 1):
            try:
                one(t)
                print(f"ok {i} - {one.__doc__}", flush=True)
            except Exception as e:  # pylint: disable=broad-except
                failed = 1
                print(f"not ok {i} - {one.__doc__}", flush=True)
                for line in f"{type(e).__name__}: {e}".splitlines()[:30]:
                    print(f"# {line}", flush=True)
    return failed


sys.exit(main())
