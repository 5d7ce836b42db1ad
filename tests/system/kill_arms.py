#!/usr/bin/env python3
"""kill -9 in mid-turn of the target, the fuzzer, the supervisor: kill_arms.py CAROL SOURCE_ROOT.

Runs `carol engine run` on the toy target and kills what is below it, with and without namespaces.  A
killed target costs nothing, a killed fuzzer goes on from its own directory, a killed supervisor leaves
no process and no shared memory, and the next run removes its directory.  TAP on stdout."""
import os, signal, subprocess, sys, tempfile, time

carol, root = sys.argv[1:3]
checks = [0, 0]


def check(ok, what):
    checks[0] += 1
    checks[1] += not ok
    print(f"{'' if ok else 'not '}ok {checks[0]} - {what}", flush=True)


def children(pid):
    out = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                out += [int(x) for x in f.read().split()]
    except OSError:
        pass
    return out


def tree(pid):
    """Lists of pids, one per level: the supervisor, its init, the fuzzer, what that runs."""
    levels = [[pid]]
    while levels[-1]:
        levels.append([c for p in levels[-1] for c in children(p)])
    return levels[:-1]


def until(what, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = what()
        if got:
            return got
        time.sleep(0.02)
    return None


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def segments_of(pids):
    with open("/proc/sysvipc/shm") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return [r[1] for r in rows if int(r[4]) in pids]


class Run:
    """carol engine run, its lines one by one."""

    def __init__(self, fuzzer, build, tmp, env):
        self.p = subprocess.Popen(
            [carol, "engine", "run", fuzzer, "-b", build, "-i", tmp + "/seeds", "--turns", "50",
             "--turn", "0.5"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "TMPDIR": tmp + "/tmp", **env})
        self.p.stdout.readline()

    def turn(self):
        return self.p.stdout.readline()

    def level(self, n):
        """Pids n levels below the supervisor, once there are some (2: the fuzzer)."""
        return until(lambda: (tree(self.p.pid) + [[]] * 9)[n])


def kill_each(fuzzer, build, tmp, env, how):
    r = Run(fuzzer, build, tmp, env)
    name = f"{fuzzer}{how}"
    r.turn()
    depth = len(until(lambda: len(tree(r.p.pid)) > 3 and tree(r.p.pid)) or [])
    target = r.level(depth - 1)
    for pid in target or []:
        os.kill(pid, signal.SIGKILL)
    line = r.turn() + r.turn()
    check(bool(target) and line.count("\n") == 2, f"{name}: kill -9 of its target, the run goes on")
    fuzzer_pid = r.level(2)
    os.kill(fuzzer_pid[0], signal.SIGKILL)
    line = r.turn()
    if "died" not in line:  # the turn had just ended
        line = r.turn()
    check("died" in line, f"{name}: kill -9 of the fuzzer is told")
    line = r.turn()
    check(line and "died" not in line, f"{name}: the next turn works")
    everything = set()
    for _ in range(20):  # file targets come and go
        everything |= {p for level in tree(r.p.pid)[1:] for p in level}
        time.sleep(0.01)
    r.p.kill()
    r.p.wait()
    check(len(everything) >= 2 and until(lambda: not any(map(alive, everything))),
          f"{name}: kill -9 of the supervisor, none of its {len(everything)} processes is left")
    check(not segments_of(everything | {r.p.pid}), f"{name}: no shared memory is left")


def main():
    with tempfile.TemporaryDirectory(prefix="carol-kill-") as tmp:
        os.makedirs(tmp + "/seeds")
        os.makedirs(tmp + "/tmp")
        for i, text in enumerate(["hello", "\1\0\3\2zz", "abc"]):
            with open(f"{tmp}/seeds/{i}", "w", encoding="latin-1") as f:
                f.write(text)
        build = tmp + "/build"
        done = subprocess.run([carol, "build", "-o", build, "--families", "afl,hfuzz",
                               os.path.join(root, "tests/system/targets/toy.c")],
                              capture_output=True, text=True)
        if done.returncode != 0:
            print(f"Bail out! carol build failed: {done.stderr}")
            return 1
        for fuzzer in ("aflpp", "honggfuzz"):
            kill_each(fuzzer, build, tmp, {}, "")
            kill_each(fuzzer, build, tmp, {"CAROL_NO_NAMESPACES": "1"}, ", no namespaces")
        left = os.listdir(tmp + "/tmp")
        subprocess.run([carol, "engine", "run", "aflpp", "-b", build, "-i", tmp + "/seeds", "--turns",
                        "1", "--turn", "0.2"], env={**os.environ, "TMPDIR": tmp + "/tmp"},
                       stdout=subprocess.DEVNULL, check=False)
        check(len(left) == 1 and not os.listdir(tmp + "/tmp"),
              "a run removes the directories that killed ones left, and leaves none")
    print(f"1..{checks[0]}")
    return checks[1] != 0


sys.exit(main())
