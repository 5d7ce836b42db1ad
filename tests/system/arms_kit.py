"""What the tests of the arms share: the toy target built by carol build, runs of tests/system/arms on it a
few at a time, one TAP line per run, and one for each check that a run skipped.

usage of a test: TEST.py CAROL ARMS SOURCE_ROOT
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
from campaign_kit import Tap, engines_of
from wall_clock import WallClock

CAROL, ARMS, ROOT = (os.path.abspath(x) for x in sys.argv[1:4])
TOY = Path(ROOT) / "tests" / "system" / "targets" / "toy.c"
PLAIN = {"CAROL_NO_NAMESPACES": "1"}


class Job(NamedTuple):
    arm: str
    kind: str
    phase: str
    target: str
    env: dict = {}

    def __str__(self):
        return (f"{self.arm} {self.kind} {self.phase}"
                + (" without namespaces" if PLAIN.items() <= self.env.items() else "")
                + (" after a slow fork" if "CAROL_TEST_SLOW_FORK" in self.env else ""))


def build(out, families, *flags, options=()):
    cmd = [CAROL, "build", "-o", out, "--families", families, *options, TOY]
    done = subprocess.run(cmd + (["--", *flags] if flags else []), capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        print(f"Bail out! carol build failed: {done.stderr}")
        sys.exit(1)
    return str(out)


def wrapped_engine(folder, path, prepare):
    """A directory of engines in which one (afl/afl-fuzz) is a script that prepares and goes on to it."""
    script = Path(folder) / path
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\n{prepare}\nexec '{engines_of(CAROL)}/{path}' \"$@\"\n")
    script.chmod(0o755)
    return {"CAROL_ENGINES": str(folder)}


def clock_job(tmp, arm, kind, target):
    """A run in which the fuzzer's wall clock, wrong from the beginning, is set again and again."""
    clock = WallClock(Path(tmp) / f"clock-{arm}-{kind}")
    clock.step(1800)
    return Job(arm, kind, "clock", target,
               {**clock.env, "CAROL_ENGINES": str(clock.engines(engines_of(CAROL)))})


def preloaded(tmp, name):
    """Engines of which honggfuzz runs with a library of preload/."""
    library = Path(tmp) / f"{name}.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, TOY.parents[1] / "preload" / f"{name}.c"],
                   check=True)
    return wrapped_engine(f"{tmp}/{name}", "honggfuzz/honggfuzz", f'export LD_PRELOAD="$LD_PRELOAD:{library}"')


def impatient(tmp):
    """honggfuzz ends after 6 s without new coverage."""
    return wrapped_engine(f"{tmp}/impatient", "honggfuzz/honggfuzz", 'set -- --exit_on_time 6 "$@"')


def slow_fork(tmp):
    """honggfuzz needs two seconds, once, between the fork and the execve of a target."""
    once = Path(tmp) / "slow-once"
    once.touch()
    return {**preloaded(tmp, "slow_fork"), "CAROL_TEST_SLOW_FORK": str(once)}


def clock_was_read(job):
    seen = Path(job.env["CAROL_TEST_CLOCK"] + ".seen")
    program = "honggfuzz" if job.arm == "honggfuzz" else "afl-fuzz"
    return seen.exists() and f"{program} 1800" in seen.read_text().splitlines()


def wait(p, seconds):
    """Until its end; what to say when it did not come."""
    try:
        p.wait(seconds)
        return []
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
        return [f"no end after {seconds} s"]


def run(job):
    """The job, whether it went well, and the lines it printed, those of failed checks first."""
    with tempfile.TemporaryFile("w+", errors="replace") as out:  # no pipe: whatever is left could keep it open
        p = subprocess.Popen([ARMS, job.arm, job.kind, job.target, job.phase], stdout=out, stderr=out,
                             env={**os.environ, "CAROL_SELF": CAROL, **job.env})
        late = wait(p, 240)
        out.seek(0)
        lines = out.read().splitlines()
    wrong = late + [x for x in lines if x.startswith("not ok")]
    if job.phase == "clock" and not clock_was_read(job):
        wrong.append("its fuzzer did not read the wrong clock")
    if os.path.exists(job.env.get("CAROL_TEST_SLOW_FORK", "")):
        wrong.append("no fork of its fuzzer was slow")
    if p.returncode and not wrong:
        wrong.append(f"ended with {p.returncode}")
    return job, not wrong, wrong + ["all of it:"] + lines


def skipped(lines):
    """(what, why) of each check that proved nothing."""
    return [x.split(" - ", 1)[1].split(" # SKIP ") for x in lines if x.startswith("ok") and " # SKIP " in x]


def run_all(jobs):
    """Exit code of the test."""
    tap = Tap()
    with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
        for job, good, lines in pool.map(run, jobs):
            tap.ok(good, str(job))
            if not good or os.environ.get("CAROL_TEST_LONG"):
                for line in lines:
                    print("# " + line, flush=True)
            for what, why in skipped(lines):
                tap.skip(f"{job}: {what}", why)
    return tap.done()
