#!/usr/bin/env python3
"""Runs a command as if on a worse machine, to find tests that depend on a good one.  Needs root and control
groups, version 1 or 2; disturbs nobody else.

    noisy.py [--still SECONDS] [--percent N] COMMAND...

--still: now and then all its processes are frozen for up to that long; --percent: they share that much of one core.
Exit code: the command's.

    tools/noisy.py --still 1.5 --percent 30 tools/test.sh build arms_hfuzz
"""
import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


class Group:
    """One control group of ours, with a file to freeze it (frozen, thawed) or to limit its time."""

    def __init__(self, old, new):
        unified = next((d for d in (GROUPS, GROUPS / "unified") if (d / "cgroup.procs").exists()), None)
        version_1 = (GROUPS / old).is_dir()
        if not version_1 and not unified:
            sys.exit(f"noisy: no control group for {old} below {GROUPS}")
        self.path = (GROUPS / old if version_1 else unified) / f"noisy-{os.getpid()}"
        self.path.mkdir()
        self.names = old if version_1 else new

    def put(self, name, value):
        (self.path / name).write_text(str(value))

    def enter(self):
        self.put("cgroup.procs", os.getpid())

    def remove(self):
        """What is left in it is killed."""
        for _ in range(100):
            for pid in (self.path / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):  # it ended by itself
                    os.kill(int(pid), signal.SIGKILL)
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)


class Freezer(Group):
    def __init__(self):
        super().__init__("freezer", "freeze")

    def still(self, seconds):
        if self.names == "freezer":
            name, frozen, thawed = "freezer.state", "FROZEN", "THAWED"
        else:
            name, frozen, thawed = "cgroup.freeze", 1, 0
        self.put(name, frozen)
        time.sleep(seconds)
        self.put(name, thawed)


class Limit(Group):
    def __init__(self, percent):
        super().__init__("cpu", "max")
        period = 100000
        if self.names == "cpu":
            self.put("cpu.cfs_period_us", period)
            self.put("cpu.cfs_quota_us", period * percent // 100)
        elif (self.path / "cpu.max").exists():
            self.put("cpu.max", f"{period * percent // 100} {period}")
        else:
            self.path.rmdir()
            sys.exit(f"noisy: the cpu controller is not enabled: echo +cpu >{self.path.parent}/cgroup.subtree_control")


def disturb(child, freezer, longest):
    """Until its end."""
    while child.poll() is None:
        try:
            child.wait(random.uniform(0.5, 4))
        except subprocess.TimeoutExpired:
            if freezer:
                freezer.still(longest * random.choice((0.15, 0.2, 0.35, 0.5, 0.7, 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--still", type=float, default=0)
    parser.add_argument("--percent", type=int, default=0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.command:
        parser.error("no command")
    limit = Limit(args.percent) if args.percent else None
    freezer = Freezer() if args.still else None
    groups = [g for g in (limit, freezer) if g]
    child = subprocess.Popen(args.command, preexec_fn=lambda: [g.enter() for g in groups])
    signal.signal(signal.SIGTERM, lambda *_: child.kill())
    signal.signal(signal.SIGINT, lambda *_: child.kill())
    try:
        disturb(child, freezer, args.still)
    finally:
        for group in groups:
            group.remove()
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    sys.exit(main())
