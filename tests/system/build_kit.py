"""What the tests of carol build share: running it and the targets it makes, and the frame of a test file."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Tap

CAROL = os.path.abspath(sys.argv[1])
FAMILIES = ["afl", "laf", "hfuzz", "neutral", "asan", "plain", "cmplog"]
FEW = ["afl", "hfuzz", "neutral", "plain"]  # where all would only cost time
tap = Tap()
ok = tap.ok


def carol(*args, cwd=None, env=None, limit=300):
    """Runs carol build; returns exit code and everything it printed."""
    full = {k: v for k, v in os.environ.items() if k not in ("SRC", "CFLAGS", "CXXFLAGS")}
    full.update(env or {})
    p = subprocess.run([CAROL, "build", *map(str, args)], cwd=cwd, env=full, timeout=limit,
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    return p.returncode, p.stdout


def manifest(out):
    return json.loads((Path(out) / "carol-build.json").read_text())


def write(path, text, mode=0o644):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def run_target(binary, args=(), stdin=b""):
    env = {"PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"}
    p = subprocess.run([str(binary), *map(str, args)], input=stdin, env=env, timeout=120,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    chatter = (b"Reading ", b"Execution successful")  # AFL++'s driver, run by hand
    lines = [x for x in p.stdout.split(b"\n") if not x.startswith(chatter)]
    return p.returncode, b"\n".join(lines)


def same_everywhere(out, target, calls):
    """Output and exit code of each family's binary on each call, against plain's."""
    m = {t["target"]: t for t in manifest(out)["targets"]}[target]
    wrong = []
    for call in calls:
        want = run_target(Path(out) / m["families"]["plain"]["binary"], *call)
        for name, f in m["families"].items():
            got = run_target(Path(out) / f["binary"], *call)
            if got != want:
                wrong.append(f"{name} on {call}: {got} instead of {want}")
    return wrong


def run_parts(*parts):
    """Each part gets the same temporary directory and goes on where another failed.  Returns the exit code."""
    top = Path(tempfile.mkdtemp(prefix="carol-build-"))
    try:
        for part in parts:
            began = time.monotonic()
            try:
                part(top)
            except (OSError, KeyError, ValueError, subprocess.SubprocessError) as error:
                ok(False, f"{part.__name__} ran to its end", repr(error))
            print(f"# {part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return tap.done()
