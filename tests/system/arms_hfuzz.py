#!/usr/bin/env python3
"""honggfuzz under control, for real: arms_hfuzz.py CAROL ARMS SOURCE_ROOT.  Builds the toy target with
carol build and runs tests/system/arms on it, a few at a time; one TAP line per run."""
import concurrent.futures, os, subprocess, sys, tempfile

carol, arms, root = sys.argv[1:4]


def build(out, *flags, options=()):
    cmd = [carol, "build", "-o", out, "--families", "hfuzz", *options,
           os.path.join(root, "tests/system/targets/toy.c")]
    done = subprocess.run(cmd + (["--", *flags] if flags else []), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"Bail out! carol build failed: {done.stderr}")
        sys.exit(1)


def run(job):
    kind, phase, env, target = job
    return job, subprocess.run([arms, "honggfuzz", kind, target, phase], capture_output=True, text=True,
                               env={**os.environ, **env}, timeout=240)


def main():
    with tempfile.TemporaryDirectory(prefix="carol-arms-") as tmp:
        lib, prog, stdin = tmp + "/lib", tmp + "/main", tmp + "/stdin"
        build(lib)
        build(prog, "-DTOY_MAIN", options=("--kind", "file", "--args", "@@"))
        build(stdin, "-DTOY_MAIN", options=("--kind", "stdin"))
        plain = {"CAROL_NO_NAMESPACES": "1"}
        jobs = [("libfuzzer", "turns", {}, lib), ("file", "turns", {}, prog),
                ("stdin", "turns", {}, stdin), ("libfuzzer", "turns", plain, lib),
                ("libfuzzer", "slow", {}, lib), ("file", "slow", {}, prog),
                ("libfuzzer", "kill", {}, lib), ("file", "kill", plain, prog),
                ("libfuzzer", "orphan", {}, lib), ("libfuzzer", "orphan", plain, lib)]
        failed = 0
        print(f"1..{len(jobs)}", flush=True)
        with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:
            for i, (job, done) in enumerate(pool.map(run, jobs), 1):
                ok = done.returncode == 0
                failed += not ok
                print(f"{'' if ok else 'not '}ok {i} - honggfuzz {job[0]} {job[1]}"
                      f"{' without namespaces' if job[2] else ''}", flush=True)
                if not ok or os.environ.get("CAROL_TEST_LONG"):
                    for line in (done.stdout + done.stderr).splitlines():
                        print("# " + line, flush=True)
        return failed != 0


sys.exit(main())
