#!/usr/bin/env python3
"""kill -9 in mid-turn of the target, the fuzzer, the supervisor: kill_arms.py CAROL SOURCE_ROOT.

Runs `carol engine run` on the toy target and kills what is below it, with and without namespaces.  A
killed target costs nothing, a killed fuzzer goes on from its own directory, a killed supervisor leaves
no process and no shared memory, and the next run removes its directory.  TAP on stdout."""
import os, signal, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from campaign_kit import Tap, wait_until

carol, root = sys.argv[1:3]
TAP = Tap()
check = TAP.ok


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


def born(pid):
    """When it was started, in ticks; None: it is gone or a zombie.  A number alone may be somebody else's later."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            fields = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def segments_of(pids, since):
    """Shared memory made by these processes since that time."""
    with open("/proc/sysvipc/shm") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    return [r for r in rows if int(r[4]) in pids and int(r[13]) >= since]


def kill(pids):
    """Those of them that are there; how many."""
    killed = 0
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            pass  # it ended by itself
    return killed


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
        return wait_until(lambda: (tree(self.p.pid) + [[]] * 9)[n], every=0.02) or []


def kill_each(fuzzer, build, tmp, env, how):
    began = int(time.time())
    r = Run(fuzzer, build, tmp, env)
    name = f"{fuzzer}{how}"
    r.turn()
    # the target is below supervisor, init and fuzzer; it may end by itself before we get to it
    killed = wait_until(lambda: len(levels := tree(r.p.pid)) > 3 and kill(levels[-1]), every=0.02)
    line = r.turn() + r.turn()
    check(killed and line.count("\n") == 2, f"{name}: kill -9 of its target, the run goes on", f"{killed}\n{line}")
    killed = kill(r.level(2)[:1])
    lines = [r.turn() for _ in range(3)]  # the turn may just have ended, and the next one
    died = [i for i, line in enumerate(lines) if "died" in line]
    check(killed and died, f"{name}: kill -9 of the fuzzer is told", f"{killed}\n{''.join(lines)}")
    line = r.turn()
    check(line and "died" not in line, f"{name}: the next turn works", line)
    everything = {}
    for _ in range(20):  # file targets come and go
        everything |= {p: born(p) for level in tree(r.p.pid)[1:] for p in level}
        time.sleep(0.01)
    r.p.kill()
    r.p.wait()
    wait_until(lambda: not [p for p, at in everything.items() if at and born(p) == at])
    left = [p for p, at in everything.items() if at and born(p) == at]
    check(len(everything) >= 2 and not left, f"{name}: kill -9 of the supervisor, none of its processes is left",
          f"{left} of {everything}")
    wait_until(lambda: not segments_of({*everything, r.p.pid}, began), 10)
    left = segments_of({*everything, r.p.pid}, began)
    check(not left, f"{name}: no shared memory is left", left)


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
              "a run removes the directories that killed ones left, and leaves none",
              f"{left} {os.listdir(tmp + '/tmp')}")
    return TAP.done()


sys.exit(main())
