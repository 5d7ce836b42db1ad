#!/usr/bin/env python3
"""libFuzzer under control, for real: arms_libfuzzer.py CAROL ARMS SOURCE_ROOT (see arms_kit.py)."""
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from arms_kit import PLAIN, Job, build, run_all


def main():
    with tempfile.TemporaryDirectory(prefix="carol-arms-") as tmp:
        lib = build(tmp + "/lib", "libfuzzer")
        words = Path(tmp) / "words @2.dict"
        words.write_text('gate="GATE"\nhigh="\\xf1\\x02"\n', encoding="ascii")
        jobs = [Job("libfuzzer", "libfuzzer", *x) for x in [
            ("turns", lib), ("turns", lib, {**PLAIN, "CAROL_TEST_DICT": str(words)}), ("slow", lib), ("kill", lib),
            ("kill", lib, PLAIN), ("orphan", lib), ("orphan", lib, PLAIN), ("badseeds", lib), ("storm", lib),
            ("storm", lib, PLAIN), ("sizes", lib)]]
        return run_all(jobs)


sys.exit(main())
