"""What every target's inputs.py ends with."""
import sys
from pathlib import Path


def write_inputs(seeds, witnesses):
    """Writes DIR/seeds/NAME and DIR/witness/ID, DIR being the only argument."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {Path(sys.argv[0]).name} DIR")
    for sub, files in (("seeds", seeds), ("witness", witnesses)):
        to = Path(sys.argv[1]) / sub
        to.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (to / name).write_bytes(data)
