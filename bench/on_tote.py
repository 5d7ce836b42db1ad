"""What campaign.py and slots.py share: Carol, and campaigns on the example target."""
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol, memory_kb, rows

SEEDS = ROOT / "examples/tote/seeds"
carol = Carol(sys.argv[1])


@contextmanager
def built():
    """A directory that is gone afterwards; the target is built in "tote" there."""
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        code, text = carol.run("build", "-o", temp / "tote", ROOT / "examples/tote/tote.c",
                               ROOT / "examples/tote/tote_fuzzer.c")
        if code != 0:
            raise SystemExit(text)
        yield temp


def verdict(good, why=""):
    """The last line, and the exit code."""
    print("holds" if good else f"DOES NOT HOLD{why}")
    return 0 if good else 1
