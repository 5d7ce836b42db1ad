#!/usr/bin/env python3
"""The neutral runtime, its executor and carol cover, on targets that misbehave in every way the
executor must bear.   cover.py CAROL SOURCE_ROOT   (TAP)"""
import json
import os
import pathlib
import shutil
import struct
import sys
import time

sys.dont_write_bytecode = True
from cases import check, run, run_all, test

CAROL = os.path.abspath(sys.argv[1])
HERE = pathlib.Path(sys.argv[2]).absolute() / "tests/system/cover"


def build(out, *args, **more):
    done = run(CAROL, "build", "-o", out, "--families", "neutral", *args, **more)
    check(done.returncode == 0, f"carol build {args}: {done.stderr}")
    return out


def write_inputs(directory, inputs):
    directory.mkdir(exist_ok=True)
    for name, data in inputs.items():
        (directory / name).write_bytes(data)
    return directory


def cover(built, *inputs, env=None, code=0):
    done = run(CAROL, "cover", "-b", built, "--json", *inputs, env=env)
    check(done.returncode == code, f"exit {done.returncode}, not {code}: {done.stderr}")
    if code:
        return done.stderr
    answer = json.loads(done.stdout)
    check(answer["schema"] == 1, "schema")
    answer["by"] = {os.path.basename(i["path"]): i for i in answer["inputs"]}
    return answer


def status(answer, name):
    one = answer["by"][name]
    return one["status"] + (f" {one['signal']}" if one["status"] in ("crash", "exit") else "")


def left_behind(tmp, patience=20):
    """Processes whose program lies below tmp and that do not go away."""
    end = time.monotonic() + patience
    while (left := processes_below(tmp)) and time.monotonic() < end:
        time.sleep(0.05)
    return left


def processes_below(tmp):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            exe = os.readlink(f"/proc/{pid}/exe")
        except OSError:
            continue
        if exe.startswith(str(tmp)):
            found.append((pid, exe))
    return found


class Table:
    """The neutral table, read by the description in docs/FILES.md."""

    def __init__(self, path):
        data = path.read_bytes()
        (magic, version, header, build_id, self.modules, n_edges, n_funcs, n_preds, n_names, _,
         self.layout, _) = struct.unpack_from("<8sII64s6IQQ", data)
        check(magic == b"CAROLTAB" and version == 1, "magic and version")
        self.build_id = build_id.decode()
        at = header
        names = "pc func pred_off pred_n succ_n depth mem memw ind flags module".split()
        self.edges = [dict(zip(names, struct.unpack_from("<QIIII6H", data, at + 40 * i)))
                      for i in range(n_edges)]
        at += 40 * n_edges
        self.preds = struct.unpack_from(f"<{n_preds}I", data, at)
        at += 4 * n_preds
        text = data[at + 12 * n_funcs:]
        self.funcs = {}
        for i in range(n_funcs):
            name, entry, depth, _ = struct.unpack_from("<IIHH", data, at + 12 * i)
            self.funcs[text[name:text.index(b"\0", name)].decode()] = (entry, depth, i)
        check(len(text) == n_names, "names")

    def of(self, name):
        return [e for e in self.edges if e["func"] == self.funcs[name][2]]


PLANTED = {
    "S": "crash 11", "A": "crash 6", "O": "crash 11", "B": "timeout", "Z": "timeout",
    "X": "exit 3", "Y": "exit 4", "K": "crash 9", "F": "ok", "G": "ok", "D": "ok", "C": "ok",
    "H": "exit 7", "I": "ok", "P": "quarantined", "T": "quarantined", "Q": "crash 9", "R": "ok",
    "W": "ok", "L": "ok", "n": "ok",
}


def planted_inputs(tmp):
    inputs = {name: name.encode() + b"x<>" for name in PLANTED}
    inputs |= {f"L{i:02}": b"L%02d<" % i for i in range(30)}  # 240 MB leaked, 64 MB allowed
    return write_inputs(tmp / "planted", inputs)


def check_planted(answer):
    wrong = {n: status(answer, n) for n in PLANTED if status(answer, n) != PLANTED[n]}
    check(not wrong, f"wrong status: {wrong}")
    check(all(status(answer, f"L{i:02}") == "ok" for i in range(30)), "leaking inputs are fine")
    base = answer["by"]["n"]["edges"]
    for name, want in PLANTED.items():
        check(want == "quarantined" or answer["by"][name]["edges"] >= base - 1,
              f"{name}: {answer['by'][name]['edges']} edges, {base} without the end")
    check(answer["executor"]["quarantined"] == 2, "two were quarantined")


@test
def a_small_program_bears_everything(tmp):
    answer = cover(build(tmp / "small", HERE / "planted.c"), "-T", "150", "-m", "64M",
                   planted_inputs(tmp))
    check_planted(answer)
    left = left_behind(tmp)
    check(not left, f"left: {left}")


@test
def an_input_that_takes_all_memory_is_told_apart(tmp):
    hungry = write_inputs(tmp / "hungry", {"M": b"Mx", "S": b"Sx", "n": b"nx"})
    answer = cover(tmp / "small", "-T", "10000", "-m", "64M", hungry)
    check([status(answer, n) for n in "MSn"] == ["oom", "crash 11", "ok"], str(answer["by"]))


@test
def a_large_program_bears_everything(tmp):
    lines = "".join(f"    if (x == {i % 251} && v != {i}) v += {i + 1};\n" for i in range(150))
    filler = tmp / "filler.c"
    filler.write_text("int big_switch(unsigned x);\nstatic volatile int v;\n"
                      f"int big_switch(unsigned x)\n{{\n{lines}    return v;\n}}\n")
    answer = cover(build(tmp / "large", HERE / "planted.c", filler, "--", "-DBIG"), "-T", "150",
                   "-m", "64M", planted_inputs(tmp))
    check_planted(answer)
    left = left_behind(tmp)
    check(not left, f"left: {left}")


@test
def the_same_without_namespaces(tmp):
    some = [tmp / "planted" / n for n in "SAXKFDGPQn"]
    answer = cover(tmp / "large", "-T", "150", *some, env={"CAROL_NO_NAMESPACES": "1"})
    wrong = {n: status(answer, n) for n in "SAXKFDGPQn" if status(answer, n) != PLANTED[n]}
    check(not wrong, f"wrong status: {wrong}")
    left = left_behind(tmp)
    check(not left, f"left: {left}")


@test
def the_same_input_gives_the_same_edges_alone_and_in_a_batch(tmp):
    inputs = {f"d{i:03}": bytes((i * 7 + j * j) % 256 for j in range(i % 40)).replace(b"\0", b"<")
              for i in range(200)}
    inputs = {n: b"nx" + d for n, d in inputs.items()}
    many = write_inputs(tmp / "det", inputs)
    batch, single = cover(tmp / "large", many), cover(tmp / "large", "--per-worker", "1", many)
    for name in inputs:
        check(batch["by"][name]["set"] == single["by"][name]["set"], f"{name} differs")
    for name in ("d000", "d017", "d163"):
        alone = cover(tmp / "large", many / name)
        check(alone["by"][name]["set"] == batch["by"][name]["set"], f"{name} alone differs")
    check(batch["executor"]["workers"] < 60, "the batch shared its workers")
    check(single["executor"]["workers"] >= 200, "the others had one each")


@test
def new_edges_of_inputs_add_up_to_what_they_cover_together(tmp):
    many = tmp / "det"
    for jobs in "1", "3":
        answer = cover(tmp / "large", "-j", jobs, many)
        check(sum(i["new"] for i in answer["inputs"]) == answer["edges_covered"], f"-j {jobs}: the sum")
        first = [cover(tmp / "large", "-j", "1", *sorted(many.iterdir())[:n])["edges_covered"] for n in (1, 60)]
        check(first == [sum(i["new"] for i in answer["inputs"][:n]) for n in (1, 60)], f"-j {jobs}: the first")


@test
def code_that_sets_flags_without_asking_covers_the_same(tmp):
    """The server rewrites its own code (runtime/cov/sites.c); as it was built it must say the same."""
    inputs = [tmp / "det", *(tmp / "planted" / n for n in "SAXn")]
    quick, as_built = (cover(tmp / "large", *inputs, env=env) for env in ({}, {"CAROL_ASK": "1"}))
    for one, other in zip(quick["inputs"], as_built["inputs"]):
        check(all(one[k] == other[k] for k in ("path", "status", "signal", "edges", "set")),
              f"{one['path']} differs: {one} {other}")


@test
def what_an_input_owes_to_others_is_not_its_own(tmp):
    """The new edges of all inputs are checked in one second run: what another input left behind in the
    process, before it in that run or in the first, must not show."""
    built = build(tmp / "memory", HERE / "memory.c")
    for order in ("aSbUcVTd", "dTVcUbSa"):
        names = {f"{i}{letter}": letter.encode() for i, letter in enumerate(order)}
        together = cover(built, write_inputs(tmp / order, names))
        for name in names:
            alone = cover(built, tmp / order / name)
            check(together["by"][name]["set"] == alone["by"][name]["set"], f"{name} of {order}")
        check(together["executor"]["workers"] < len(names), "they were not all run alone")


@test
def a_thread_of_the_start_shows_in_no_result(tmp):
    """It runs in the server, beside every worker; its code is nobody's."""
    alone = build(tmp / "no-thread", HERE / "threads.c", "--", "-DONLY_LEFT")
    built = build(tmp / "thread", HERE / "threads.c")
    some = write_inputs(tmp / "plain", {f"p{i:02}": b"n" + b"<" * (i % 2) for i in range(40)})
    for how in ([], ["--per-worker", "1"]):
        want, answer = cover(alone, *how, some), cover(built, *how, some)
        for name, one in answer["by"].items():
            check(one["status"] == "ok" and one["edges"] == want["by"][name]["edges"],
                  f"{name} {how}: {one}, without the thread {want['by'][name]}")


@test
def a_thread_that_an_input_leaves_shows_in_no_other_result(tmp):
    built = tmp / "no-thread"
    names = {f"{i:02}{letter}": letter.encode() for i, letter in enumerate("aTbcdTefghi" * 3)}
    together = cover(built, write_inputs(tmp / "some-T", names))
    alone = cover(built, "--per-worker", "1", *(tmp / "some-T" / n for n in names if "T" not in n))
    for name, one in alone["by"].items():
        check(together["by"][name]["set"] == one["set"], f"{name}: {one} {together['by'][name]}")
    check(together["executor"]["workers"] < 2 * len(names), "only they cost a worker")


@test
def the_number_of_executors_changes_no_result(tmp):
    det, ends = tmp / "det", [tmp / "planted" / n for n in "SAX"]
    answers = [cover(tmp / "large", "-j", jobs, det, *ends, det, *ends, det) for jobs in "124"]
    check([a["jobs"] for a in answers] == [1, 2, 4], "as many as asked for")
    for more in answers[1:]:
        for one, other in zip(answers[0]["inputs"], more["inputs"]):
            check(all(one[k] == other[k] for k in ("path", "status", "signal", "set")),
                  f"{one['path']} differs: {one} {other}")
        check(more["edges_covered"] == answers[0]["edges_covered"], "the union differs")
    check("-j" in cover(tmp / "large", "-j", "0", tmp / "planted", code=2), "-j 0 is refused")


@test
def empty_and_huge_inputs_are_measured(tmp):
    big = write_inputs(tmp / "sizes", {"empty": b"", "ten": b"n" + b"<" * 10_000_000,
                                       "forty": b"n" + b">" * 40_000_000})
    answer = cover(tmp / "large", "-T", "5000", big)
    check([status(answer, n) for n in ("empty", "ten", "forty")] == ["ok"] * 3, str(answer["by"]))
    check(0 < answer["by"]["empty"]["edges"] < answer["by"]["ten"]["edges"], "edges")


@test
def programs_with_a_main_read_a_file_or_standard_input(tmp):
    inputs = write_inputs(tmp / "lines", {"two": b"!a\n!b\n", "none": b"k=valuable\nx\n",
                                          "boom": b"x\nboom\n", "empty": b""})
    sets = []
    for kind in ("file", "stdin"):
        extra = ["--args", "-v @@"] if kind == "file" else []
        built = build(tmp / kind, "--kind", kind, *extra, HERE / "lines.c")
        answer = cover(built, inputs)
        check([status(answer, n) for n in ("two", "none", "boom", "empty")] ==
              ["exit 2", "ok", "crash 6", "ok"], f"{kind}: {answer['by']}")
        edges = [answer["by"][n]["edges"] for n in ("empty", "two", "none")]
        check(0 < edges[0] < edges[1] < edges[2], f"{kind}: edges {edges}")
        sets.append(edges)
    table = Table(tmp / "file/neutral/lines.edges")
    check(table.funcs["main"][1] == 0 and table.funcs["classify"][1] == 1, "depth from main")
    check(sum(e["mem"] for e in table.of("main")) >= 4, "malloc, memcpy, free and strcmp in main")
    check(sum(e["mem"] for e in table.of("classify")) == 2, "strchr and strlen in classify")


def two_modules(tmp, name, extra=""):
    script = tmp / "two.sh"
    script.write_text(f"""#!/bin/bash -eu
$CC $CFLAGS {extra} -fPIC -shared {HERE}/library.c -o $OUT/libweigh.so
$CC $CFLAGS {HERE}/user.c -L$OUT -lweigh '-Wl,-rpath,$ORIGIN' $LIB_FUZZING_ENGINE -o $OUT/user
""")
    script.chmod(0o755)
    (tmp / "empty-src").mkdir(exist_ok=True)
    return build(tmp / name, "--src", tmp / "empty-src", "--target", "user", "--", script)


@test
def an_executable_and_its_library_are_two_modules(tmp):
    built = two_modules(tmp, "two")
    inputs = write_inputs(tmp / "weights", {"a": b"a", "ab": b"ab", "nine": b"a" * 50,
                                            "trap": b"b" * 50, "e": b"e", "eab": b"eab", "h": b"h",
                                            "hab": b"hab"})
    answer = cover(built, "-T", "150", inputs)
    table = Table(built / "neutral/user.edges")
    check(table.modules == 2 and len(table.edges) == answer["edges_total"], "two modules")
    entry = table.edges[table.funcs["library_weigh"][0]]
    check(entry["pred_n"] == 1, "the caller in the other module is its predecessor")
    check(table.funcs["library_weigh"][1] == 1, "depth across modules")
    check(answer["by"]["a"]["edges"] < answer["by"]["ab"]["edges"], "edges in the library count")
    check(status(answer, "nine") == "exit 9", status(answer, "nine"))
    # The library is too small for shared flags: its edges are copied at a crash, an exit, a hang.
    check(answer["by"]["trap"]["status"] == "crash" and answer["by"]["trap"]["edges"] > 3, "trap")
    for name, want in (("eab", "exit 5"), ("hab", "timeout")):
        check(status(answer, name) == want, f"{name}: {status(answer, name)}")
        check(answer["by"][name]["edges"] > answer["by"][name[0]]["edges"], f"{name}: edges")
    other = two_modules(tmp, "other", "-DMORE")
    shutil.copy(other / "neutral/libweigh.so", built / "neutral/libweigh.so")
    said = cover(built, inputs, code=2)
    check("another build" in said and "carol build" in said, said)


@test
def cxx_exceptions_and_virtual_calls(tmp):
    built = build(tmp / "cxx", HERE / "shapes.cc")
    answer = cover(built, write_inputs(tmp / "shapes", {"square": b"ab", "line": b"aL",
                                                        "uncaught": b"U", "empty": b""}))
    check([status(answer, n) for n in ("square", "line", "uncaught", "empty")] ==
          ["ok", "ok", "crash 6", "ok"], str(answer["by"]))
    check(answer["by"]["line"]["set"] != answer["by"]["square"]["set"], "the throw shows")
    table = Table(built / "neutral/shapes.edges")
    check(sum(e["ind"] for e in table.of("LLVMFuzzerTestOneInput")) > 0, "virtual calls are seen")
    check(any(e["mem"] for e in table.edges), "new and delete are seen")


@test
def the_table_knows_predecessors_and_depth(tmp):
    table = Table(tmp / "large/neutral/planted.edges")
    known = sum(e["pred_n"] > 0 or e["depth"] == 0 and e["flags"] & 1 for e in table.edges)
    check(known >= 0.99 * len(table.edges), f"{known} of {len(table.edges)} have a predecessor")
    check(all(p < len(table.edges) for p in table.preds), "predecessors are edges")
    check(table.funcs["LLVMFuzzerTestOneInput"][1] == 0, "the entry point has depth 0")
    check(table.funcs["parse"][1] == 1 and table.funcs["big_switch"][1] == 1, "depth 1")
    check(sum(e["mem"] for e in table.of("LLVMFuzzerTestOneInput")) >= 4, "malloc and memset")
    check(not [e for e in table.edges if e["flags"] & 2], "no dead edges at -O1")


@test
def wrong_use_is_told_with_the_fix(tmp):
    built, one = tmp / "small", tmp / "planted/n"
    (tmp / "nothing").mkdir()
    check("no inputs" in cover(built, code=2), "no inputs")
    check("no input in" in cover(built, tmp / "nothing", code=2), "empty directory")
    check("absent" in cover(built, tmp / "absent", code=2), "missing file")
    check(cover(tmp / "nothing", one, code=2), "no build there")
    bad = tmp / "bad"
    shutil.copytree(built, bad)
    edges = bad / "neutral/planted.edges"
    whole = edges.read_bytes()
    edges.write_bytes(whole[:-7])
    check("truncated" in cover(bad, one, code=2), "truncated table")
    edges.write_bytes((tmp / "large/neutral/planted.edges").read_bytes())
    said = cover(bad, one, code=2)
    check("another build" in said and "carol build" in said, said)
    edges.unlink()
    check("carol build" in cover(bad, one, code=2), "no table")


@test
def a_file_name_need_not_be_text(tmp):
    odd = tmp / "odd"
    odd.mkdir()
    with open(os.fsencode(odd) + b"/a\xff", "wb") as f:
        f.write(b"nx")
    check(list(cover(tmp / "small", odd)["by"]) == ["a\\xff"], "a name that is not UTF-8")


@test
def a_binary_that_was_changed_is_noticed(tmp):
    """Only one that is older than its manifest goes unhashed."""
    binary, one = tmp / "small/neutral/planted", tmp / "planted/n"
    whole, when = binary.read_bytes(), binary.stat()
    binary.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    os.utime(binary, ns=(when.st_atime_ns, when.st_mtime_ns))
    said = cover(tmp / "small", one, code=2)
    check("another build" in said and "carol build" in said, said)
    binary.write_bytes(whole)
    check(cover(tmp / "small", one)["by"]["n"]["edges"] > 0, "what was put back is as good as before")


@test
def the_command_that_the_message_names_mends_a_damaged_table(tmp):
    built, one = tmp / "small", tmp / "planted/n"
    edges = built / "neutral/planted.edges"
    whole = edges.read_bytes()
    for damaged in (whole[:-7], whole[:-7] + bytes(7), (tmp / "large/neutral/planted.edges").read_bytes()):
        edges.write_bytes(damaged)
        build(built, HERE / "planted.c")
        check(edges.read_bytes() == whole, "the table is whole again")
    check(cover(built, one)["by"]["n"]["edges"] > 0, "and can be used")


@test
def run_by_hand_it_is_an_ordinary_program(tmp):
    target = tmp / "small/neutral/planted"
    done = run(target, tmp / "planted/n", tmp / "planted/S")
    check(done.returncode == -11 and "Running" in done.stderr, f"{done.returncode} {done.stderr}")
    check("FILE" in run(target, env={"CAROL_COV": "lib"}).stderr, "inert without its descriptors")


@test
def objects_of_different_flags_are_refused(tmp):
    clang = shutil.which("clang-19")
    runtime = pathlib.Path(CAROL).resolve().parent / "runtime/libcarolcov.a"
    flags = "-O1 -fno-sanitize-link-runtime -fsanitize-coverage=inline-bool-flag,no-prune"
    full = (flags + ",pc-table,control-flow").split()
    one, two, exe = tmp / "one.o", tmp / "two.o", tmp / "mixed"
    for source, out, how in ((HERE / "user.c", one, full), (HERE / "library.c", two, flags.split())):
        done = run(clang, *how, "-c", source, "-o", out)
        check(done.returncode == 0, done.stderr)
    done = run(clang, "-fuse-ld=lld", one, two, runtime, "-o", exe)
    check(done.returncode == 0, done.stderr)
    done = run(exe, env={"CAROL_DUMP": str(tmp / "mixed.edges")})
    check(done.returncode != 0 and "table" in done.stderr, f"{done.returncode} {done.stderr}")
    check(not list(tmp.glob("mixed.edges*")), "nothing is left of the dump")


sys.exit(run_all("carol-cover-"))
