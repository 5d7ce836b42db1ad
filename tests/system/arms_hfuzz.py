#!/usr/bin/env python3
"""honggfuzz under control, for real: arms_hfuzz.py CAROL ARMS SOURCE_ROOT (see arms_kit.py)."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from arms_kit import PLAIN, Job, build, clock_job, impatient, preloaded, run_all, slow_fork


def main():
    with tempfile.TemporaryDirectory(prefix="carol-arms-") as tmp:
        lib = build(tmp + "/lib", "hfuzz")
        prog = build(tmp + "/main", "hfuzz", "-DTOY_MAIN", options=("--kind", "file", "--args", "@@"))
        quiet = build(tmp + "/quiet", "hfuzz", "-DTOY_QUIET=2")
        stdin = build(tmp + "/stdin", "hfuzz", "-DTOY_MAIN", options=("--kind", "stdin"))
        jobs = [Job("honggfuzz", *x) for x in [
            ("libfuzzer", "turns", lib), ("file", "turns", prog), ("stdin", "turns", stdin, slow_fork(tmp)),
            ("libfuzzer", "turns", lib, PLAIN), ("libfuzzer", "slow", lib), ("file", "slow", prog),
            ("libfuzzer", "kill", lib), ("file", "kill", prog, PLAIN), ("libfuzzer", "orphan", lib),
            ("libfuzzer", "orphan", lib, PLAIN), ("libfuzzer", "badseeds", lib), ("file", "badseeds", prog),
            ("libfuzzer", "storm", lib), ("file", "storm", prog, PLAIN), ("libfuzzer", "sizes", lib),
            ("libfuzzer", "full", lib, preloaded(tmp, "full_disk")), ("libfuzzer", "stale", quiet, impatient(tmp))]]
        jobs += [clock_job(tmp, "honggfuzz", "libfuzzer", lib), clock_job(tmp, "honggfuzz", "file", prog)]
        return run_all(jobs)


sys.exit(main())
