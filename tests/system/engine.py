#!/usr/bin/env python3
"""carol engine selftest and carol engine run: engine.py CAROL SOURCE_ROOT.  Names in the JSON, imports
offered and taken, the time of turns, cycles and start-up, Ctrl-C, fuzzers that do not obey, exit codes.  TAP
on stdout."""
import array, json, os, signal, subprocess, sys, tempfile
from multiprocessing.pool import ThreadPool

sys.dont_write_bytecode = True
from campaign_kit import Tap

carol, root = os.path.abspath(sys.argv[1]), sys.argv[2]
TAP = Tap()
check = TAP.ok
FUZZERS = ["aflpp", "darwin", "honggfuzz", "mopt", "lafintel", "radamsa", "cmplog", "libfuzzer"]
TURN = ["n", "wall_ms", "active_ms", "startup_ms", "cycle_ms", "park_ms", "cpu_parked_ms", "execs", "cycles", "offered", "taken",
        "exports", "crashes", "hangs"]


def run(tmp, *args, **env):
    return subprocess.run([carol, "engine", *args], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "TMPDIR": tmp + "/tmp", **env})


def nothing_left(tmp):
    return not os.listdir(tmp + "/tmp")


def engines():
    """Where this carol finds its fuzzers."""
    return os.environ.get("CAROL_ENGINES") or os.path.dirname(os.path.realpath(carol)) + "/engines"


def figures(tmp, build):
    for seconds in ("0.7", "3", "10"):  # longer on a machine that is too busy to do anything in so short a turn
        r = run(tmp, "run", "honggfuzz", "-b", build, "-i", tmp + "/seeds", "--turns", "3", "--turn", seconds, "--json")
        got = json.loads(r.stdout) if r.returncode == 0 else {"turns": [], "said": r.stderr}
        turns = got["turns"]
        if turns and all(t["execs"] for t in turns) and sum(t["taken"] for t in turns) >= 5:
            break
    check(got.get("schema") == 1 and got.get("fuzzer") == "honggfuzz" and
          [t["n"] for t in turns] == [1, 2, 3], "engine run: 3 turns of honggfuzz", got)
    check(bool(turns) and all(k in t for t in turns for k in TURN), "engine run: the names of METHOD §18", got)
    check(sum(t["offered"] for t in turns) == 5 and sum(t["taken"] for t in turns) == 5,
          "engine run: half of the seeds were offered as imports and taken", got)
    check(bool(turns) and all(t["execs"] > 0 and t["active_ms"] >= 900 * float(seconds) for t in turns),
          "engine run: every turn executed and had its time", got)
    check(nothing_left(tmp), "engine run: nothing is left in TMPDIR", os.listdir(tmp + "/tmp"))


def imports_first(tmp):
    """Where every input covers more than honggfuzz assumes of one it has not run, and hundreds wait."""
    build, seeds = tmp + "/wide", tmp + "/wide-seeds"
    os.makedirs(seeds)
    for i in range(220):
        with open(f"{seeds}/{i:03d}", "wb") as f:
            f.write(bytes([i, 255 - i, 7 * i % 256, 255, 3 * i % 256]))
    subprocess.run([carol, "build", "-o", build, "--families", "hfuzz",
                    os.path.join(root, "tests/system/targets/wide.c")], capture_output=True, check=True)
    r = run(tmp, "run", "honggfuzz", "-b", build, "-i", seeds, "--turns", "4", "--turn", "1", "--json")
    turns = json.loads(r.stdout)["turns"] if r.returncode == 0 else []
    check(len(turns) == 4 and all(t["taken"] == t["offered"] > 0 for t in turns),
          "honggfuzz: what it is offered it takes in that turn, however much its own inputs cover", r.stdout + r.stderr)


def imports_in_between(tmp):
    """A hundred inputs wait, imports come before every turn, and a turn is too short for all: none keeps the others waiting."""
    build, seeds, log = tmp + "/many", tmp + "/many-seeds", tmp + "/many.log"
    os.makedirs(seeds)
    for i in range(200):  # the second hundred is offered, and has nothing new
        with open(f"{seeds}/{i:03d}", "wb") as f:
            f.write(bytes([100 + i % 100]) * (24 + i // 100))
    subprocess.run([carol, "build", "-o", build, "--families", "hfuzz",
                    os.path.join(root, "tests/system/targets/many.c")], capture_output=True, check=True)
    r = run(tmp, "run", "honggfuzz", "-b", build, "-i", seeds, "--turns", "25", "--turn", "0.4", "--json", CAROL_TEST_LOG=log)
    with open(log, "rb") as f:
        counts = array.array("I", f.read())[100:200]
    check(r.returncode == 0 and min(counts) > 0 and max(counts) < sum(counts) / 4,
          "honggfuzz: its queue is worked through, though imports come first", f"{list(counts)}\n{r.stdout}{r.stderr}")


def timed(tmp, build, fuzzer):
    """Five turns without a quota of cycles: the length asked for, and what was reported."""
    for seconds in ("0.5", "2", "8"):  # longer on a machine that is too busy
        r = run(tmp, "run", fuzzer, "-b", build, "-i", tmp + "/seeds", "--turns", "5", "--turn", seconds, "--json")
        got = json.loads(r.stdout) if r.returncode == 0 else {"turns": [], "said": r.stderr}
        turns, asked = got["turns"], 1000 * float(seconds)
        middle = sorted(t["active_ms"] for t in turns)[len(turns) // 2] if turns else 0
        cycles = sum(t["cycles"] for t in turns)
        if asked <= middle < 1.1 * asked and (cycles or fuzzer == "radamsa"):  # which takes minutes
            break
    return asked, got


def times(fuzzer, asked, got):
    """Each turn ends by time; what cycles and start-up took is told apart."""
    turns = got["turns"]
    middle = sorted(t["active_ms"] for t in turns)[len(turns) // 2] if turns else 0
    cycles = sum(t["cycles"] for t in turns)
    check(len(turns) == 5 and all(t["active_ms"] >= asked for t in turns) and middle < 1.25 * asked,
          f"{fuzzer}: a turn without a quota of cycles lasts as long as asked for", got)
    started = [t["startup_ms"] for t in turns]
    check(bool(turns) and 0 < started[0] <= got["ready_ms"] and not any(started[1:]),
          f"{fuzzer}: start-up is told with the first turn alone", got)
    active = spent = 0
    ahead = []
    for t in turns:
        active, spent = active + t["active_ms"], spent + t["cycle_ms"]
        if spent > active or (t["cycles"] > 0) != (t["cycle_ms"] > 0):
            ahead.append(t["n"])
    check(not ahead and (cycles or fuzzer == "radamsa"),
          f"{fuzzer}: completed cycles took no more than the active time so far", got)
    if cycles >= 20:  # what is left is less than a cycle, and those do not differ by so much
        check(spent > 0.4 * active, f"{fuzzer}: nor much less", got)


def interrupted(tmp, build):
    p = subprocess.Popen([carol, "engine", "run", "aflpp", "-b", build, "-i", tmp + "/seeds", "--turns",
                          "100", "--turn", "0.5"], stdout=subprocess.PIPE, text=True,
                         env={**os.environ, "TMPDIR": tmp + "/tmp"})
    p.stdout.readline()
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    rest = p.communicate(timeout=100)[0]
    # of a hundred turns there were perhaps a few more before we could send the signal
    check(p.returncode == 0 and rest.count("\n") <= 20 and nothing_left(tmp),
          "Ctrl-C: the turn ends and is told, exit 0, nothing is left", f"{p.returncode}\n{rest}")


def selftests(tmp):
    r = run(tmp, "selftest", "aflpp", "honggfuzz", "--json")
    got = json.loads(r.stdout)
    check(r.returncode == 0 and got["ok"] and got["schema"] == 1 and
          all(got["fuzzers"][n]["ok"] for n in ("aflpp", "honggfuzz")),
          "selftest: aflpp and honggfuzz obey on the small target", f"{r.stdout}{r.stderr}")
    check(nothing_left(tmp), "selftest: nothing is left in TMPDIR", os.listdir(tmp + "/tmp"))


def relative_engines(tmp, build):
    os.symlink(engines(), tmp + "/engines")
    done = subprocess.run([carol, "engine", "selftest", "aflpp", "-b", build, "--engines", "engines"],
                          capture_output=True, text=True, timeout=120, cwd=tmp)
    check(done.returncode == 0, "selftest: --engines with a relative path", done.stdout + done.stderr)


def disobedient(tmp, build, script, reason):
    fake = tempfile.mkdtemp(dir=tmp)
    for name in os.listdir(engines()):
        if name != "honggfuzz":
            os.symlink(f"{engines()}/{name}", f"{fake}/{name}")
    os.mkdir(fake + "/honggfuzz")
    with open(fake + "/honggfuzz/honggfuzz", "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\n{script}\n")
    os.chmod(fake + "/honggfuzz/honggfuzz", 0o755)
    r = run(tmp, "selftest", "honggfuzz", "-b", build, "--json", CAROL_ENGINES=fake)
    got = json.loads(r.stdout)["fuzzers"]["honggfuzz"]
    check(r.returncode == 3 and not got["ok"] and reason in got["why"] and nothing_left(tmp),
          f"selftest: '{script}' instead of honggfuzz fails: {got['why']}",
          f"{r.returncode} {os.listdir(tmp + '/tmp')}")


def main():
    with tempfile.TemporaryDirectory(prefix="carol-engine-test-") as tmp:
        os.makedirs(tmp + "/seeds")
        os.makedirs(tmp + "/tmp")
        for i in range(10):
            with open(f"{tmp}/seeds/{i}", "wb") as f:
                f.write(bytes([1, 0, 3, 2, i, i + 1]))
        build = tmp + "/build"
        done = subprocess.run([carol, "build", "-o", build, "--families", "afl,laf,hfuzz,cmplog,libfuzzer",
                               os.path.join(root, "tests/system/targets/toy.c")], capture_output=True,
                              text=True)
        if done.returncode != 0:
            print(f"Bail out! carol build failed: {done.stderr}")
            return 1
        figures(tmp, build)
        imports_first(tmp)
        imports_in_between(tmp)
        with ThreadPool(2) as pool:
            for fuzzer, result in zip(FUZZERS, pool.map(lambda f: timed(tmp, build, f), FUZZERS, 1)):
                times(fuzzer, *result)
        interrupted(tmp, build)
        selftests(tmp)
        relative_engines(tmp, build)
        disobedient(tmp, build, "exit 7", "it died: exit 7")
        disobedient(tmp, build, "printf 'ERROR: \\377'; exit 7", "exit 7: ERROR: ?")
        disobedient(tmp, build, "exec sleep 100", "executed nothing")
        check(run(tmp, "run", "nobody").returncode == 2, "an unknown fuzzer is wrong usage")
        check(run(tmp, "run", "aflpp", "-b", build).returncode == 2, "so are missing seeds")
    return TAP.done()


sys.exit(main())
