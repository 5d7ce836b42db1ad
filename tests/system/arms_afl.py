#!/usr/bin/env python3
"""The five arms on afl-fuzz, for real: arms_afl.py CAROL ARMS SOURCE_ROOT.  Builds the toy target with
carol build and runs tests/system/arms on it, a few at a time; one TAP line per run."""
import concurrent.futures, os, subprocess, sys, tempfile

carol, arms, root = sys.argv[1:4]
ARMS = ["aflpp", "lafintel", "mopt", "darwin", "radamsa"]


def build(out, *flags, options=()):
    cmd = [carol, "build", "-o", out, "--families", "afl,laf", *options,
           os.path.join(root, "tests/system/targets/toy.c")]
    done = subprocess.run(cmd + (["--", *flags] if flags else []), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"Bail out! carol build failed: {done.stderr}")
        sys.exit(1)


def bare_engines(tmp):
    """Engines whose afl-fuzz does not load our library, as a static or a wrapped one of a user."""
    home = os.path.dirname(os.path.abspath(carol))
    engines = os.environ.get("CAROL_ENGINES") or os.path.join(home, "engines")
    os.makedirs(tmp + "/bare/afl")
    script = tmp + "/bare/afl/afl-fuzz"
    with open(script, "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nunset LD_PRELOAD AFL_CUSTOM_MUTATOR_LIBRARY\n"
                f"exec '{engines}/afl/afl-fuzz' \"$@\"\n")
    os.chmod(script, 0o755)
    return {"CAROL_ENGINES": tmp + "/bare"}


def run(job):
    arm, kind, phase, env, target = job
    done = subprocess.run([arms, arm, kind, target, phase], capture_output=True, text=True,
                          env={**os.environ, "CAROL_SELF": os.path.abspath(carol), **env}, timeout=240)
    return job, done


def main():
    with tempfile.TemporaryDirectory(prefix="carol-arms-") as tmp:
        build(tmp + "/lib")
        build(tmp + "/main", "-DTOY_MAIN", options=("--kind", "file", "--args", "@@"))
        lib, prog = tmp + "/lib", tmp + "/main"
        jobs = [(a, "libfuzzer", "turns", {}, lib) for a in ARMS]
        with open(tmp + "/words @2.dict", "w", encoding="ascii") as f: # afl-fuzz takes @2 for a level
            f.write('gate="GATE"\nhigh="\\xf1\\x02"\n')
        words = {"CAROL_TEST_DICT": tmp + "/words @2.dict"}
        jobs += [(a, "file", "turns", words, prog) for a in ARMS]
        jobs += [("aflpp", "stdin", "turns", {}, prog)]
        jobs += [(a, "libfuzzer", "slow", {}, lib) for a in ARMS]
        jobs += [(a, "libfuzzer", "kill", {}, lib) for a in ARMS]
        jobs += [("aflpp", "file", "kill", {}, prog)]
        plain = {"CAROL_NO_NAMESPACES": "1"}
        jobs += [("aflpp", "libfuzzer", "kill", plain, lib), ("aflpp", "libfuzzer", "orphan", {}, lib),
                 ("darwin", "libfuzzer", "orphan", plain, lib)]
        jobs += [("aflpp", "libfuzzer", "storm", {}, lib), ("mopt", "file", "storm", plain, prog)]
        jobs += [("aflpp", "libfuzzer", "bare", bare_engines(tmp), lib),
                 ("aflpp", "libfuzzer", "badseeds", {}, lib), ("mopt", "file", "badseeds", {}, prog)]
        failed = 0
        print(f"1..{len(jobs)}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
            for i, (job, done) in enumerate(pool.map(run, jobs), 1):
                ok = done.returncode == 0
                failed += not ok
                print(f"{'' if ok else 'not '}ok {i} - {job[0]} {job[1]} {job[2]}"
                      f"{' without namespaces' if 'CAROL_NO_NAMESPACES' in job[3] else ''}", flush=True)
                if not ok or os.environ.get("CAROL_TEST_LONG"):
                    for line in (done.stdout + done.stderr).splitlines():
                        print("# " + line, flush=True)
        return failed != 0


sys.exit(main())
