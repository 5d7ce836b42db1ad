#!/usr/bin/env python3
"""The power is cut: what Carol acknowledged is on the disk, and a campaign goes on from there.

usage: power_cut.py CAROL ROOT     prints TAP
       CAROL_TEST_SEED=N           of the campaigns, of what is torn, and, when given, of the moments of the cuts

kill -9 says nothing about fsync: the kernel keeps what was written.  Here preload/power_cut.c notes what Carol
synced, and kills it as a chosen commit returns.  What is in the record then is acknowledged, all of it; what was
synced is what the disk has.  Two disks are built from that: one that lost every unsynced write, and one that kept
some of them, sector by sector.  Neither has anything that the fuzzers wrote, for nobody synced that.

Two campaigns are told a lie each, by a database that syncs less and by a disk that does not sync large inputs: the
checks must notice.
"""
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.dont_write_bytecode = True
from campaign_frame import (CAROL, ROOT, TEMP, TOTE, accounting_adds_up, build, carol, nothing_left, ok, replays, tap,
                            unfinished)
from campaign_kit import engines_of, go_on_until, rows, segments, turns_done, twice_imported, unharvested

SEED = int(os.environ.get("CAROL_TEST_SEED", 7))
RNG = random.Random(SEED)
SECTOR = 512
LIBRARY = TEMP / "power_cut.so"
OFTEN = {"CAROL_TEST_PRAGMA": "PRAGMA wal_autocheckpoint = 10"}  # the log goes to the database every ten pages


class Disk:
    """A directory of which it is noted what a power cut would leave."""

    def __init__(self, name):
        self.home = TEMP / name
        self.live, self.platter = self.home / "live", self.home / "platter"
        self.live.mkdir(parents=True)
        self.platter.mkdir()

    def env(self, commits, **lies):
        return {"LD_PRELOAD": str(LIBRARY), "CAROL_TEST_DISK": str(self.live),
                "CAROL_TEST_PLATTER": str(self.platter), "CAROL_TEST_CUT": str(commits), **lies}

    def sync_all(self):
        for f in [self.live, *self.live.glob("**/*")]:
            st = f.lstat()
            if f.is_dir():
                lines = (f"{'d' if x.is_dir() else 'f'}{x.lstat().st_ino} {x.name}\n" for x in f.iterdir())
                (self.platter / f"d{st.st_ino}").write_text("".join(lines))
            elif f.is_file():
                shutil.copyfile(f, self.platter / f"f{st.st_ino}")

    def left(self, name, rng=None):
        """A directory with what the cut left; with rng: and with some of what was not synced."""
        self.restore("d", self.live.stat().st_ino, self.live, self.home / name, rng)
        return self.home / name

    def restore(self, kind, inode, live, to, rng):
        noted = self.platter / f"{kind}{inode}"
        if kind == "f":
            synced = noted.read_bytes() if noted.exists() else b""
            same = live.exists() and live.stat().st_ino == int(inode)
            to.write_bytes(torn(synced, live.read_bytes(), rng) if rng and same else synced)
            return
        to.mkdir()
        for line in noted.read_text().splitlines() if noted.exists() else []:
            entry, name = line.split(" ", 1)
            self.restore(entry[0], entry[1:], live / name, to / name, rng)


def torn(synced, written, rng):
    """Each sector is one or the other, and so is the length."""
    size = rng.choice((len(synced), len(written)))
    both = [x.ljust(size, b"\0") for x in (synced, written)]
    return b"".join(rng.choice(both)[i:min(i + SECTOR, size)] for i in range(0, size, SECTOR))


def content(out):
    """Every row of the record, by table.  Read from a copy: reading changes the files of a database."""
    copy = TEMP / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for f in out.glob("carol.db*"):
        if not f.name.endswith("-shm"):
            shutil.copy(f, copy)
    try:
        db = sqlite3.connect(copy / "carol.db")
        tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
        found = {t: sorted(map(repr, db.execute(f"SELECT * FROM {t}"))) for t in tables}
        db.close()
        return found
    except sqlite3.Error as e:
        return {"error": [str(e)]}


def lost_rows(acknowledged, left):
    """One line for each table that is not as it was acknowledged."""
    return [f"{t}: {len(set(v) - set(left.get(t, [])))} of {len(v)} rows lost" for t, v in acknowledged.items()
            if left.get(t) != v] + left.get("error", [])


def large_inputs(out):
    """The names of the files that must be there for what the record has."""
    return [r[0].hex() for r in rows(out, "SELECT hash FROM seeds WHERE data IS NULL UNION SELECT hash FROM crashes"
                                          " WHERE data IS NULL")]


def lost_files(names, out):
    return [n for n in names if not (out / "blobs" / n).exists()
            or hashlib.sha256((out / "blobs" / n).read_bytes()).hexdigest() != n]


def cut(what, disk, commits, *args, **lies):
    """Runs carol fuzz until its power is cut; what it had acknowledged, which is all it had written."""
    code, text = carol.run("fuzz", *args, env=disk.env(commits, **lies))
    rows_by_table = content(disk.live / "out")
    count = ", ".join(f"{len(rows_by_table.get(t, []))} {t}" for t in ("turns", "seeds", "imports", "crashes"))
    ok(code == -signal.SIGKILL and rows_by_table.get("settings"),
       f"{what}: the power is cut as commit {commits} returns, with {count}", f"{code}\n{text}")
    return rows_by_table


def new_campaign(name, commits, **env):
    disk = Disk(name)
    return disk, cut(name, disk, commits, "-b", TEMP / "build" / "tote", "-i", TOTE / "seeds", "-o",
                     disk.live / "out", "-j", 2, "-d", "10m", "--turn", "0.3s", "-f", "aflpp,honggfuzz", "--seed",
                     SEED, **env)


def nothing_acknowledged_is_lost(name, commits, **env):
    """A new campaign, cut after so many commits: what the cut left, and what was acknowledged."""
    disk, acknowledged = new_campaign(name, commits, **env)
    left, torn_one = disk.left("left"), disk.left("torn", RNG)
    lost = lost_rows(acknowledged, content(left / "out"))
    ok(not lost, f"{name}: every row is on a disk that has only what was synced", "\n".join(lost))
    lost = lost_rows(acknowledged, content(torn_one / "out"))
    ok(not lost, f"{name}: and on one that has some of the rest", "\n".join(lost))
    return left / "out", acknowledged


KEPT = {"seeds": "SELECT id, hash, name, found_ns FROM seeds",
        "crashes": "SELECT id, hash, hang FROM crashes",
        "imports": "SELECT id, instance, seed FROM imports",
        "turns": "SELECT id, state, round, reward FROM turns WHERE round > 0"}


def goes_on(what, out, acknowledged):
    """status agrees with what was acknowledged, and --resume goes on with all of it."""
    s = carol.json("status", out, "--json")
    ok(s.get("seeds") == len(acknowledged["seeds"]), f"{what}: status counts every seed", s)
    was = {t: set(rows(out, sql)) for t, sql in KEPT.items()}
    done = turns_done(out)
    code, text = go_on_until(lambda: turns_done(out) > done + 3, out, carol, seconds=4)
    ok(code == 0, f"{what}: it is resumed, without anything that the fuzzers wrote", f"{code}\n{text}")
    lost = {t: len(was[t] - set(rows(out, sql))) for t, sql in KEPT.items()}
    ok(not any(lost.values()) and was["turns"], f"{what}: and still has all of it", lost)
    ok(turns_done(out) > done + 3 and not unfinished(out) and not twice_imported(out),
       f"{what}: {turns_done(out) - done} turns were added, none is open, and no import came twice",
       f"{unfinished(out)} {twice_imported(out)}")
    ok(not unharvested(out), f"{what}: what the fuzzers save anew is stored, under numbers that were used before",
       "\n".join(unharvested(out)))
    ok(rows(out, "PRAGMA integrity_check") == [("ok",)], f"{what}: the database is sound")
    s = carol.json("status", out, "--json")
    ok(s.get("slots") and not accounting_adds_up(s), f"{what}: the accounting adds up", s)
    files = {f.name.rsplit("-", 1)[-1] for f in (out / "crashes").glob("*")}
    want = {r[0][:8].hex() for r in rows(out, "SELECT hash FROM crashes WHERE hang = 0")}
    ok(want <= files, f"{what}: every crash is a file again", want - files)
    replays(what, out)


def large_find(what, base, **lies):
    """A find of more than 1 MB appears in a campaign, which is cut when it has taken it: the large inputs that it
    has acknowledged, and those that are lost."""
    disk = Disk(what)
    shutil.copytree(base, disk.live / "out")
    data = RNG.randbytes(3 << 19)
    new = disk.live / "out" / "fuzzers" / "honggfuzz-0" / "new"
    new.mkdir(parents=True, exist_ok=True)
    (new / f"{7:032x}.{len(data):08x}.honggfuzz.cov").write_bytes(data)
    disk.sync_all()
    acknowledged = cut(what, disk, 20, "--resume", disk.live / "out", "-d", "10m", **lies)
    left, names = disk.left("left") / "out", large_inputs(disk.live / "out")
    lost = lost_rows(acknowledged, content(left))
    ok(not lost, f"{what}: every row is on the disk", "\n".join(lost))
    return names, lost_files(names, left)


def moments():
    """After how many commits the power is cut."""
    if "CAROL_TEST_SEED" in os.environ:
        return sorted({60, *RNG.sample(range(2, 100), 4)})
    return 3, 25, 60


def main():
    if not engines_of(CAROL):
        print("1..0 # SKIP the fuzzers are not built: make engines")
        return 0
    before = segments()
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", "-o", LIBRARY,
                    ROOT / "tests" / "system" / "preload" / "power_cut.c"], check=True)
    build("tote", [TOTE / "tote.c", TOTE / "tote_fuzzer.c"], "neutral,afl,hfuzz")
    try:
        nothing_acknowledged_is_lost("cut with checkpoints", 40, **OFTEN)
        for commits in moments():
            out, acknowledged = nothing_acknowledged_is_lost(f"cut {commits}", commits)
        goes_on("after the cut", out, acknowledged)
        names, lost = large_find("a large find", out)
        ok(names and not lost, f"a large find: {len(names)} acknowledged, with all its bytes", f"{names} {lost}")
        names, lost = large_find("a large find that is not synced", out, CAROL_TEST_LIE="/blobs/")
        ok(names and lost == names, "a large find that is not synced: its loss is noticed", f"{names} {lost}")
        disk, acknowledged = new_campaign("synchronous = NORMAL", 25, CAROL_TEST_PRAGMA="PRAGMA synchronous = NORMAL")
        lost = lost_rows(acknowledged, content(disk.left("left") / "out"))
        ok(lost, "synchronous = NORMAL: the loss is noticed", acknowledged.keys())
        print(f"# {'; '.join(lost)}", flush=True)
        nothing_left("power cuts", before)
    finally:
        carol.kill_all()
        tap.tidy(TEMP)
    return tap.done()


sys.exit(main())
