#!/usr/bin/env python3
"""The arms on afl-fuzz, for real: arms_afl.py CAROL ARMS SOURCE_ROOT (see arms_kit.py)."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from arms_kit import PLAIN, Job, build, clock_job, run_all, wrapped_engine

FUZZERS = ["aflpp", "lafintel", "mopt", "darwin", "radamsa", "cmplog"]


def main():
    with tempfile.TemporaryDirectory(prefix="carol-arms-") as tmp:
        lib = build(tmp + "/lib", "afl,laf,cmplog")
        prog = build(tmp + "/main", "afl,laf,cmplog", "-DTOY_MAIN", options=("--kind", "file", "--args", "@@"))
        jobs = [Job(a, "libfuzzer", "turns", lib) for a in FUZZERS]
        words = Path(tmp) / "words @2.dict" # afl-fuzz takes @2 for a level
        words.write_text('gate="GATE"\nhigh="\\xf1\\x02"\n', encoding="ascii")
        jobs += [Job(a, "file", "turns", prog, {"CAROL_TEST_DICT": str(words)}) for a in FUZZERS]
        jobs += [Job("aflpp", "stdin", "turns", prog)]
        jobs += [Job(a, "libfuzzer", "slow", lib) for a in FUZZERS]
        jobs += [Job(a, "libfuzzer", "kill", lib) for a in FUZZERS]
        jobs += [Job("aflpp", "file", "kill", prog), Job("aflpp", "libfuzzer", "kill", lib, PLAIN)]
        jobs += [Job("aflpp", "libfuzzer", "orphan", lib), Job("darwin", "libfuzzer", "orphan", lib, PLAIN)]
        jobs += [Job("aflpp", "libfuzzer", "storm", lib), Job("mopt", "file", "storm", prog, PLAIN)]
        # an afl-fuzz that does not load our library, as a static or a wrapped one of a user
        bare = wrapped_engine(tmp + "/bare", "afl/afl-fuzz", "unset LD_PRELOAD AFL_CUSTOM_MUTATOR_LIBRARY")
        jobs += [Job("aflpp", "libfuzzer", "bare", lib, bare)]
        jobs += [Job("aflpp", "libfuzzer", "badseeds", lib), Job("mopt", "file", "badseeds", prog)]
        jobs += [clock_job(tmp, "aflpp", "libfuzzer", lib), clock_job(tmp, "mopt", "file", prog)]
        return run_all(jobs)


sys.exit(main())
