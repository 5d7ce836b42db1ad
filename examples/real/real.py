#!/usr/bin/env python3
"""Real programs: fetches, builds and fuzzes those in the folders beside this file.

  real.py list                       what there is
  real.py build NAME...              fetches the pinned source and builds it in all families
  real.py fuzz NAME... [-d TIME]     builds and fuzzes each on one core, default settings (default: 30m); goes on
                                     where it was, so it may be stopped at any time
  real.py table [NAME...]            what came out: executions, edges, defects by class and finder
  options: -o DIR  where sources, builds and campaigns go (default: carol/real in the user's cache)
           --rows DIR  a file for each campaign that had its time, with its row of the table: counts, and nothing that leads
                       to a defect, so it may be shared; 'fuzz' leaves out a program that has one, 'table' prints it
           --carol PATH, --families LIST

NAME may be 'all'.  Campaigns hold inputs for defects that nobody has reported yet, so DIR must be outside of this
tree; docs/DISCLOSURE.md says what to do with them.  Exit 1 when something failed, 3 when all that was asked for cannot be had.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
HEAD = ["program", "source", "core minutes", "executions", "edges of the seeds", "edges", "defects", "by class and finder", "not confirmed",
        "time in fuzzers"]
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Missing(Exception):
    """Something that cannot be had here."""


class Failed(Exception):
    """Something that should have worked."""


def programs():
    return sorted(p.parent.name for p in HERE.glob("*/source"))


def sources(name):
    """[[directory, kind, package, version, SHA-256, parts...]], as its file `source` says; no parts: all of it."""
    return [line.split() for line in (HERE / name / "source").read_text().splitlines() if line]


def check_packages(name):
    """The Debian packages that its build needs beyond Carol's own."""
    file = HERE / name / "packages"
    wanted = file.read_text().split() if file.exists() else []
    lacking = [p for p in wanted if "installed" not in subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status}", p], capture_output=True, text=True, check=False).stdout.split()]
    if lacking:
        raise Missing(f"{name} needs packages: apt-get install {' '.join(lacking)}")


def fetch(pinned):
    """The directory in the cache."""
    got = subprocess.run([ROOT / "tools/source.sh", *pinned], stdout=subprocess.PIPE, text=True, check=False)
    if got.returncode == 3:
        raise Missing(f"no source of {pinned[1]}")
    if got.returncode:
        raise Failed(f"tools/source.sh {' '.join(pinned)}: exit {got.returncode}")
    return Path(got.stdout.strip())


def copy(there, here):
    here.parent.mkdir(parents=True, exist_ok=True)
    if there.is_dir():
        shutil.copytree(there, here, symlinks=True)
    else:
        shutil.copy(there, here)


def lay_out(name, src):
    """The sources and the files of the folder in one fresh tree: $SRC of build.sh."""
    new = src.with_name(src.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for into, kind, package, version, sum_, *parts in sources(name):
        found = fetch([kind, package, version, sum_])
        for part in parts or [""]:
            copy(found / part, new / into / part)
    for file in (HERE / name).iterdir():
        if file.name not in ("seeds.py", "README.md", "packages"):
            shutil.copy(file, new / file.name)
    shutil.rmtree(src, ignore_errors=True)
    new.rename(src)


def is_laid_out(name, src):
    """Every file of the folder is there as it is here; what was pinned is one of them."""
    return all((src / f.name).is_file() and (src / f.name).read_bytes() == f.read_bytes() for f in (HERE / name).iterdir()
               if f.name not in ("seeds.py", "README.md", "packages"))


def build(a, name):
    top = a.output / name
    check_packages(name)
    if not is_laid_out(name, top / "src"):
        lay_out(name, top / "src")
    more = ["--families", a.families] if a.families else []
    if subprocess.run([a.carol, "build", "-o", top / "build", *more, "--src", top / "src", "--", top / "src/build.sh"],
                      check=False).returncode:
        raise Failed(f"{name} does not build; the log is in {top}/build/logs")
    seeds = top / "seeds"
    shutil.rmtree(seeds, ignore_errors=True)
    seeds.mkdir()
    if subprocess.run([sys.executable, HERE / name / "seeds.py", seeds], check=False).returncode:
        raise Failed(f"{name}: its seeds cannot be made")
    return top


def seconds(text):
    return float(text[:-1]) * UNITS[text[-1]] if text[-1] in UNITS else float(text)


def status(a, out):
    done = subprocess.run([a.carol, "status", "--json", out], stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else None


def wait_for(*command):
    """Its exit code.  A Ctrl-C reaches it too: it ends cleanly first, and then so do we."""
    interrupted = False
    with subprocess.Popen(command) as child:
        while True:
            try:
                code = child.wait()
                break
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return code


def campaign(a, name):
    """(its directory, its status or None)"""
    out = a.output / name / "out"
    return out, status(a, out) if (out / "carol.db").exists() else None


def kept(a, name):
    """What a campaign that had its time, maybe elsewhere, left in --rows."""
    file = a.rows / f"{name}.json" if a.rows else None
    return json.loads(file.read_text()) if file and file.exists() else None


def keep(a, name, s):
    version = subprocess.run([a.carol, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    what = {"seconds": s["elapsed_s"], "carol": version, "row": dict(zip(HEAD, row(a, name)))}
    a.rows.mkdir(parents=True, exist_ok=True)
    new = a.rows / f"{name}.json.new"
    new.write_text(json.dumps(what, indent=1) + "\n")
    new.rename(a.rows / f"{name}.json")


def fuzz(a, name):
    out, s = campaign(a, name)
    before = kept(a, name)
    if before and before["seconds"] >= seconds(a.duration):
        print(f"{name}: has had its {a.duration}, says {a.rows}/{name}.json")
        return
    if not s or s["elapsed_s"] < seconds(a.duration):
        top = build(a, name)
        how = ["--resume", out] if s else ["-b", top / "build", "-i", top / "seeds", "-o", out, "-j", "1"]
        if wait_for(a.carol, "fuzz", *how, "-d", a.duration):
            raise Failed(f"the campaign of {name} failed")
        s = status(a, out)
    print(f"{name}: has had its {a.duration}; {health(s)}")
    if a.rows:
        keep(a, name, s)


def health(s):
    wall = sum(x["wall_s"] for x in s["slots"]) or 1
    fuzzed, started = (sum(x[k] for x in s["slots"]) for k in ("fuzz_s", "start_s"))
    deaths = sum(f["deaths"] for f in s["fuzzers"].values())
    return (f"health: {fuzzed / wall:.3f} of the time in fuzzers, {started / wall:.3f} to start them, "
            f"{deaths} ended by themselves, {s['execs'] / wall:.0f} executions a second")


def counted(defects, key):
    """'2 x, 1 y', most first; nothing else of a defect is told."""
    n = collections.Counter(key(d) for d in defects)
    return ", ".join(f"{k} {v}" for k, v in sorted(n.items(), key=lambda x: (-x[1], x[0]))) or "-"


def built_version(src, source):
    """Of a Debian package the revision that was had, which may be newer than the pinned one."""
    log = src / source[0] / "debian/changelog"
    return log.read_text(errors="replace").split("(", 1)[1].split(")", 1)[0] if log.exists() else source[3]


def row(a, name):
    out, s = campaign(a, name)
    if not s:
        return None
    file = out / "triage/defects.json"
    found = json.loads(file.read_text()) if file.exists() else {"defects": [], "unconfirmed": []}
    sure = found["defects"]
    version = ", ".join(f"{x[2]} {built_version(a.output / name / 'src', x)}" for x in sources(name))
    core_min = sum(x["wall_s"] for x in s["slots"]) / 60
    return [name, version, f"{core_min:.0f}", f"{s['execs']:,}", f"{s['seed_edges']:,}", f"{s['edges']:,} of {s['edges_total']:,}", str(len(sure)),
            counted(sure, lambda d: f"{d['class']} {d['cwe'] or 'without CWE'} by {d['found_by']}"),
            str(len(found["unconfirmed"])), health(s).split()[1]]


def table(a, names):
    rows = []
    for name in names:
        before = kept(a, name)
        rows.append([before["row"][h] for h in HEAD] if before else row(a, name))
    for line in [HEAD, ["---"] * len(HEAD), *filter(None, rows)]:
        print("| " + " | ".join(line) + " |")


def each(what, names):
    """Goes on after one that cannot be had or fails."""
    skipped = failed = 0
    for name in names:
        try:
            what(name)
        except Missing as why:
            print(f"{name}: skipped: {why}", flush=True)
            skipped += 1
        except (Failed, OSError) as why:
            print(f"{name}: failed: {why}", flush=True)
            failed += 1
    return 1 if failed else 3 if skipped == len(names) else 0


def main():
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    p = argparse.ArgumentParser(description="fetch, build and fuzz real programs", epilog="see the top of this file")
    p.add_argument("verb", choices=["list", "build", "fuzz", "table"])
    p.add_argument("names", nargs="*", metavar="NAME", help="of a folder beside this file, or 'all'")
    p.add_argument("-o", "--output", type=Path, default=cache / "carol/real")
    p.add_argument("-d", "--duration", default="30m", help="campaign time of each, on one core (default: %(default)s)")
    p.add_argument("--rows", type=Path, help="where the rows of campaigns that had their time are kept")
    p.add_argument("--carol", default=os.environ.get("CAROL", str(ROOT / "carol")))
    p.add_argument("--families", help="build only these")
    a = p.parse_args()
    a.output = a.output.resolve()
    names = programs() if "all" in a.names or (a.verb == "table" and not a.names) else a.names
    if unknown := sorted(set(names) - set(programs())):
        p.error(f"no such program: {', '.join(unknown)}; there are {', '.join(programs())}")
    if a.output.is_relative_to(ROOT):
        p.error(f"{a.output} is inside of this tree, where what is found could be committed; choose another -o")
    if a.verb == "list":
        for name in programs():
            print(f"{name:12} {(HERE / name / 'README.md').read_text().splitlines()[2]}")
        return 0
    if a.verb == "table":
        table(a, names)
        return 0
    if not names:
        p.error(f"which? {', '.join(programs())}, or all")
    try:
        return each((lambda n: build(a, n)) if a.verb == "build" else (lambda n: fuzz(a, n)), names)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
