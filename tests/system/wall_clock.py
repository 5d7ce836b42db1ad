"""A wall clock that a test sets as `date -s` would, for Carol and for the fuzzers (preload/wall_clock.c)."""
import os
import struct
import subprocess
import time
from pathlib import Path

HOUR = 3600
SOURCE = Path(__file__).resolve().parent / "preload" / "wall_clock.c"


class WallClock:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.library, self.file = self.folder / "wall_clock.so", self.folder / "clock"
        self.seconds = 0
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.library, SOURCE], check=True)
        self.file.write_bytes(struct.pack("=q", 0))
        self.env = {"CAROL_TEST_CLOCK": str(self.file)}

    def step(self, seconds):
        """All clocks move by so much, now."""
        self.seconds += seconds
        with open(self.file, "r+b") as f:
            f.write(struct.pack("=q", self.seconds))

    def seen(self, program):
        """The settings that programs of this name have read."""
        path = Path(f"{self.file}.seen")
        lines = path.read_text().splitlines() if path.exists() else []
        return {int(s) for name, s in (x.rsplit(" ", 1) for x in lines) if name == program}

    def works(self):
        """A program started now reads this clock: what it says lies between two looks at the true one."""
        before = int(time.time())
        said = subprocess.run(["date", "+%s"], env={**os.environ, **self.env, "LD_PRELOAD": str(self.library)},
                              capture_output=True, text=True, check=True).stdout
        return before <= int(said) - self.seconds <= int(time.time())

    def engines(self, real):
        """A directory of engines whose fuzzers read this clock, beneath Carol's own library."""
        real, own = Path(real).resolve(), self.folder / "engines"
        for part in ("afl", "honggfuzz", "radamsa"):
            (own / part).mkdir(parents=True)
            for f in (real / part).iterdir():
                (own / part / f.name).symlink_to(f)
        for part, name in (("afl", "afl-fuzz"), ("honggfuzz", "honggfuzz")):
            script = own / part / name
            script.unlink()
            script.write_text(f'#!/bin/sh\nLD_PRELOAD="$LD_PRELOAD:{self.library}"\n'
                              f"exec '{real}/{part}/{name}' \"$@\"\n")
            script.chmod(0o755)
        return own
