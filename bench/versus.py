#!/usr/bin/env python3
"""Carol against bare afl-fuzz, or another Carol, on real libraries, in pairs: see versus.sh.

Every trial is a pair: both sides start at the same moment, one on each of two cores, and change cores from
trial to trial, so that what the machine does to a core it does to both in turn.  With --cores 2 a side gets
both cores, and the sides run one after the other, the first of them changing from trial to trial.

What counts is the neutral coverage of everything a side kept, at ten moments:
  gain   edges at the end beyond those of the seeds
  area   mean gain over the whole time (the area under the curve, divided by the time)
both as Carol's divided by the rival's.
"""
import argparse
import csv
import ctypes
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOMENTS = 10
HOST = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), "")
# where the seeds of a target are in its sources, and how many of them, the smallest first, are taken
TARGETS = {"xml": ("seeds/*", None), "png": ("libpng/contrib/pngsuite/*.png", 12),
           "jpeg": ("seeds/*", None), "sql": ("seeds/*", None),
           "lua": ("seeds/*", None), "cms": ("lcms/testbed/*.icc", 5)}
BARE = "-nodict"  # such a target's name may end so
MANIFEST = "carol-build.json"
GRACE = 120  # seconds that Carol may need beyond its budget
FIELDS = ["name", "options", "rival", "cores", "seconds", "target", "trial", "side", "cpus", "seed_edges", "edges",
          "gain", "area", "inputs", "execs", "cpu_s", "load", "curve", "version", "host"]
NUMBERS = {**dict.fromkeys(["cores", "seconds", "trial", "seed_edges", "edges", "gain", "inputs", "execs"], int),
           **dict.fromkeys(["area", "cpu_s", "load"], float)}


class Missing(Exception):
    """Something that cannot be had here."""


def call(*words, **more):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(str(w) for w in words[:4])}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


# ---- targets ----

def build(a, name):
    """(build directory, seeds) of a target, made once."""
    if name.endswith(BARE):
        return without_dictionary(a, name)
    src, out, seeds = a.output / f"{name}-src", a.output / name, a.output / f"{name}-seeds"
    families = ["afl", "laf", "hfuzz", "neutral", "cmplog"]
    have = out / MANIFEST
    if have.exists() and set(families) <= set(json.loads(have.read_text())["families"]) and seeds.is_dir():
        return out, seeds
    if not (src / "build.sh").exists():
        code = subprocess.run([ROOT / "bench/targets/fetch.sh", name, src], check=False).returncode
        if code:
            raise Missing(f"the sources of {name}")
    print(f"{name}: building, some minutes", flush=True)
    call(a.carol, "build", "-o", out, "--families", ",".join(families), "--src", src, "--", src / "build.sh")
    choose_seeds(name, src, seeds)
    return out, seeds


def without_dictionary(a, name):
    """The same target, but nobody is given the dictionary that its build script leaves."""
    out, seeds = build(a, name.removesuffix(BARE))
    plain, made = a.output / name, out / MANIFEST
    m = json.loads(made.read_text())
    if not all(target.get("words") for target in m["targets"]):
        raise Missing(f"words of the target in {out}: an older Carol built it; remove it, and it is built again")
    if not (plain / MANIFEST).exists() or (plain / MANIFEST).stat().st_mtime < made.stat().st_mtime:
        shutil.rmtree(plain, ignore_errors=True)
        shutil.copytree(out, plain, ignore=shutil.ignore_patterns(MANIFEST))
        for target in [m, *m["targets"]]:
            target["dict"] = None
        (plain / MANIFEST).write_text(json.dumps(m, indent=2))
    return plain, seeds


def choose_seeds(name, src, seeds):
    where, most = TARGETS[name]
    found = sorted(src.glob(where), key=lambda p: (p.stat().st_size, p.name))[:most]
    if not found:
        raise Missing(f"seeds of {name}")
    shutil.rmtree(seeds, ignore_errors=True)
    new = seeds.with_name(seeds.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for p in found:
        shutil.copy(p, new / p.name)
    new.rename(seeds)


def family(out, name):
    m = json.loads((out / MANIFEST).read_text())
    return out / m["families"][name]["binary"], m["families"][name].get("map_size", 0), m


# ---- the two sides ----

def confine(cpus):
    def inside():
        os.setsid()
        os.sched_setaffinity(0, cpus)
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    return inside


class Side:
    """A contender that runs: its process, and where it writes."""

    def __init__(self, dir_, cpus, command, env=None):
        self.dir, self.cpus = dir_, cpus
        dir_.mkdir(parents=True)
        self.log = open(dir_ / "log", "wb")
        self.process = subprocess.Popen([str(w) for w in command], cwd=dir_, env={**os.environ, **(env or {})},
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        preexec_fn=confine(cpus))

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.wait()
        self.log.close()


class Carol(Side):
    def __init__(self, a, dir_, cpus, out, seeds, trial):
        program, options = self.what(a)
        super().__init__(dir_, cpus, [program, "fuzz", "--no-triage", "-b", out, "-i", seeds, "-o", dir_ / "out", "-j", len(cpus),
                                      "-d", f"{a.seconds}s", "--seed", trial, "-q", *options])
        self.out = out

    @staticmethod
    def what(a):
        return a.carol, a.options

    def finish(self, limit):
        code = self.process.wait(limit + GRACE)
        if code:
            raise RuntimeError(f"carol fuzz: exit {code}, see {self.dir}/log")

    def kept(self, to):
        """Writes what it kept to files; [(seconds, file)]"""
        base = sqlite3.connect(f"file:{self.dir}/out/carol.db?mode=ro", uri=True)
        found = []
        for n, at, data, hash_ in base.execute("SELECT id, found_ns, data, hash FROM seeds WHERE status IN (1, 2)"):
            path = to / str(n)
            if data is None:
                data = (self.dir / "out/blobs" / (hash_.hex() if isinstance(hash_, bytes) else hash_)).read_bytes()
            path.write_bytes(data)
            found.append((at / 1e9, path))
        execs = base.execute("SELECT coalesce(sum(execs), 0) FROM turns").fetchone()[0]
        base.close()
        return found, execs


class OtherCarol(Carol):
    """Of another version, or with other options: what one of them brings."""

    @staticmethod
    def what(a):
        return a.other, a.rival_options


class Afl(Side):
    """afl-fuzz as its manual says, with its own time limit: alone, or -M and -S, one instance per core."""
    ENV = {"AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_NO_CRASH_README": "1",
           "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_FORKSRV_INIT_TMOUT": "30000"}

    def __init__(self, a, dir_, cpus, out, seeds, _trial):
        program, size, m = family(out, "afl")
        words = [a.engines / "afl/afl-fuzz", "-i", seeds, "-o", dir_ / "out", "-m", "2048"]
        dict_ = m.get("dict")
        if dict_:
            shutil.copy(out / dict_, dir_.parent / "dict")
            words += ["-x", dir_.parent / "dict"]
        env = {**self.ENV, "AFL_MAP_SIZE": str(max(size, 65536))}
        if a.rival == "cmplog":
            words += ["-c", family(out, "cmplog")[0]]
        cores, self.more = sorted(cpus), []
        first = ["-M", "m0"] if len(cores) > 1 else []
        super().__init__(dir_, {cores[0]}, [*words, *first, "--", program], env)
        for i, core in enumerate(cores[1:], 1):
            self.more.append(Side(dir_ / f"s{i}", {core}, [*words, "-S", f"s{i}", "--", program], env))

    def finish(self, limit):
        until = time.monotonic() + limit
        sides = [self, *self.more]
        while time.monotonic() < until:
            for s in sides:
                if s.process.poll() is not None:
                    raise RuntimeError(f"afl-fuzz ended, see {s.dir}/log")
            time.sleep(min(0.2, max(0, until - time.monotonic())))
        for s in sides:
            s.process.send_signal(signal.SIGINT)
        for s in sides:
            s.process.wait(60)

    def kill(self):
        for s in self.more:
            s.kill()
        super().kill()

    def kept(self, _to):
        found, execs = [], 0
        for q in sorted((self.dir / "out").glob("*/queue")):
            for p in sorted(q.glob("id:*")):
                at = re.search(r",time:(\d+)", p.name)
                found.append((int(at[1]) / 1000 if at else 0.0, p))
            execs += int(re.search(r"execs_done\s*: (\d+)", (q.parent / "fuzzer_stats").read_text())[1])
        return found, execs


# ---- measuring ----

def new_edges(a, out, files):
    """For each of these files the neutral edges that none before it covers."""
    if not files:
        return []
    with tempfile.TemporaryDirectory(dir=a.output) as tmp:
        for i, f in enumerate(files):
            os.symlink(f, Path(tmp) / f"{i:06d}")
        done = subprocess.run([str(a.carol), "cover", "-b", str(out), "-j", "2", "--json", tmp + "/"], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise RuntimeError(f"carol cover: exit {done.returncode}\n{done.stderr[-2000:]}")
    return [i["new"] for i in json.loads(done.stdout)["inputs"]]


def curve(a, out, found):
    """Edges at each moment of [(seconds, file)]."""
    found = sorted(found, key=lambda f: f[0])
    new = new_edges(a, out, [p for _, p in found])
    return [sum(n for (at, _), n in zip(found, new) if at <= a.seconds * i / MOMENTS or i == MOMENTS)
            for i in range(1, MOMENTS + 1)]


def area(seed_edges, points):
    """Mean gain: straight lines from the seeds through the points."""
    gains = [0] + [p - seed_edges for p in points]
    return sum((x + y) / 2 for x, y in zip(gains, gains[1:])) / len(points)


def children_cpu():
    t = os.times()
    return t.children_user + t.children_system


def run_sides(a, dir_, sides, out, seeds, trial):
    """Both at once, or one after the other; {side: (object, cpu seconds or None)}"""
    done, running = {}, []
    try:
        for name, kind, cpus in sides:
            before = children_cpu()
            running.append((name, kind(a, dir_ / name, cpus, out, seeds, trial)))
            if a.cores > 1:
                running[-1][1].finish(a.seconds)
                running[-1][1].kill()
                done[name] = (running[-1][1], children_cpu() - before)
        if a.cores == 1:
            for name, s in sorted(running, key=lambda r: isinstance(r[1], Carol)):
                before = children_cpu()
                s.finish(a.seconds)
                s.kill()
                done[name] = (s, children_cpu() - before)
    finally:
        for _, s in running:
            s.kill()
    return done


def plan_sides(a, trial):
    kinds = [("carol", Carol), (a.rival.split()[0], OtherCarol if a.other else Afl)]
    if trial % 2 == 0:
        kinds.reverse()
    if a.cores > 1:
        return [(n, k, set(a.cpus)) for n, k in kinds]
    return [(n, k, {a.cpus[i]}) for i, (n, k) in enumerate(kinds)]


def pair(a, target, out, seeds, trial):
    """One trial: its rows, one a side."""
    dir_ = a.output / a.name / f"{target}.{trial}"
    shutil.rmtree(dir_, ignore_errors=True)
    dir_.mkdir(parents=True)
    sides, load, rows = plan_sides(a, trial), os.getloadavg()[0], []
    done = run_sides(a, dir_, sides, out, seeds, trial)
    seed_edges = sum(new_edges(a, out, sorted(seeds.iterdir())))
    for name, _, cpus in sides:
        side, used = done[name]
        with tempfile.TemporaryDirectory(dir=a.output) as tmp:
            found, execs = side.kept(Path(tmp))
            points = curve(a, out, found)
        rows.append({"name": a.name, **comparison(a), "target": target, "trial": trial, "side": name,
                     "cpus": " ".join(map(str, sorted(cpus))), "seed_edges": seed_edges, "edges": points[-1],
                     "gain": points[-1] - seed_edges, "area": round(area(seed_edges, points), 1),
                     "inputs": len(found), "execs": execs, "cpu_s": round(used, 1), "load": load,
                     "curve": " ".join(map(str, points)), "version": a.version, "host": HOST})
    if not a.keep:
        shutil.rmtree(dir_)
    return rows


# ---- tables ----

def ratio(carol, rival, key):
    return carol[key] / rival[key] if rival[key] > 0 else math.nan


def comparison(a):
    return {"options": " ".join(a.options), "rival": a.rival, "cores": a.cores, "seconds": a.seconds}


def read_csv(a):
    """The rows of pairs that were run before, on this machine or another."""
    file = a.output / f"{a.name}.csv"
    if not file.exists():
        return []
    with file.open(newline="", encoding="utf-8") as f:
        rows = [{k: NUMBERS.get(k, str)(v) for k, v in r.items()} for r in csv.DictReader(f, restval="")]
    for r in rows:
        if other := {k: r[k] for k, v in comparison(a).items() if r[k] != v}:
            raise ValueError(f"{file} was begun with {other}: give the same again, or another --name")
    return rows


def write_csv(a, rows):
    new = a.output / f"{a.name}.csv.new"
    with new.open("w", newline="", encoding="utf-8") as f:
        out = csv.DictWriter(f, FIELDS, restval="", lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    new.rename(a.output / f"{a.name}.csv")


def geometric(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values and min(values) > 0 else math.nan


def table(a, rows):
    print(f"\n{a.name}: carol fuzz -j {a.cores} {' '.join(a.options)}  against  {a.rival}, {a.seconds} s")
    print(f"{'target':8} {'trial':>5} {'seeds':>7} {'carol':>8} {'rival':>8} {'gain':>6} {'area':>6} "
          f"{'execs':>6}")
    medians = {"gain": {}, "area": {}}
    for target in dict.fromkeys(r["target"] for r in rows):
        pairs = {}
        for r in rows:
            if r["target"] == target:
                pairs.setdefault(r["trial"], {})["carol" if r["side"] == "carol" else "rival"] = r
        for trial, p in pairs.items():
            c, b = p["carol"], p["rival"]
            print(f"{target:8} {trial:5} {c['seed_edges']:7} {c['edges']:8} {b['edges']:8} "
                  f"{ratio(c, b, 'gain'):6.3f} {ratio(c, b, 'area'):6.3f} {ratio(c, b, 'execs'):6.2f}")
        middle = {k: statistics.median(ratio(p["carol"], p["rival"], k) for p in pairs.values()) for k in medians}
        print(f"{target:8} {'median':>5} {'':23} {middle['gain']:8.3f} {middle['area']:6.3f}")
        for k, v in middle.items():
            medians[k][target] = v
    if len({(r.get("version"), r.get("host")) for r in rows}) > 1:
        print("these pairs are of different versions of Carol or different processors (columns version and host)")
    if len(medians["gain"]) > 1:
        print(f"{'geometric mean of medians':38} {geometric(medians['gain'].values()):8.3f} {geometric(medians['area'].values()):6.3f}")
    return medians


def judge(a, medians):
    """True unless a median or their geometric mean is below what --least and --mean ask for."""
    short = [f"{k} on {t} {v:.3f}" for k, of in medians.items() for t, v in of.items() if a.least and not v >= a.least]
    short += [f"mean {k} {geometric(of.values()):.3f}" for k, of in medians.items() if a.mean and not geometric(of.values()) >= a.mean]
    if a.least or a.mean:
        wanted = [f"{what} {v:g}" for what, v in (("each", a.least), ("mean", a.mean)) if v]
        print(f"asked for: {', '.join(wanted)}: {'too little: ' + ', '.join(short) if short else 'held'}")
    return not short


def version(carol):
    """Of a program and the fuzzers beside it, which a line in engines/changes.txt makes other ones."""
    if not carol.exists():
        return "none"
    engines = carol.resolve().parent / "engines"
    return hashlib.sha256(carol.resolve().read_bytes() + engines.resolve().name.encode()).hexdigest()[:16]


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                usage="versus.py [options] [-- OPTIONS of carol fuzz]")
    p.add_argument("-o", "--output", type=Path, default=ROOT / "build/versus")
    p.add_argument("-n", "--name", default="default", help="of this comparison; its results are NAME.csv")
    p.add_argument("--targets", default="xml,png", help=f"some of {', '.join(TARGETS)} (default: %(default)s)")
    p.add_argument("--trials", type=int, default=3)
    p.add_argument("--seconds", type=int, default=600)
    p.add_argument("--cores", type=int, default=1)
    p.add_argument("--rival", default="bare", help="bare, cmplog, or the path of a carol (default: %(default)s)")
    p.add_argument("--rival-options", help="those of a rival that is a carol (default: the same)")
    p.add_argument("--least", type=float, help="exit 1 when the median of a target, in gain or area, is below this")
    p.add_argument("--mean", type=float, help="the same for the geometric mean over the targets")
    p.add_argument("--keep", action="store_true", help="keep the directories of the campaigns")
    p.add_argument("--carol", type=Path, default=Path(os.environ.get("CAROL", ROOT / "carol")))
    own = sys.argv[1:]
    at = own.index("--") if "--" in own else len(own)
    a = p.parse_args(own[:at])
    a.options = own[at + 1:]
    a.output, a.carol = a.output.resolve(), a.carol.absolute()
    a.cpus = sorted(os.sched_getaffinity(0))
    a.version = version(a.carol)
    a.other = None if a.rival in ("bare", "cmplog") else Path(a.rival).absolute()
    if a.other and not os.access(a.other, os.X_OK):
        p.error(f"the rival is bare, cmplog or the path of a carol, and {a.rival} is none of these")
    a.rival_options = a.options if a.rival_options is None else shlex.split(a.rival_options)
    if a.other:
        a.rival = " ".join([f"carol-{version(a.other)}", *a.rival_options])
    a.engines = Path(os.environ.get("CAROL_ENGINES", a.carol.resolve().parent / "engines"))
    if len(a.cpus) < 2 or a.cores > len(a.cpus):
        p.error("two cores are needed, and as many as --cores says")
    if unknown := {n.removesuffix(BARE) for n in a.targets.split(",")} - set(TARGETS):
        p.error(f"no such target: {', '.join(sorted(unknown))}")
    if not re.fullmatch(r"[A-Za-z0-9._+-]+", a.name) or min(a.trials, a.seconds, a.cores) < 1:
        p.error("a name is made of letters, digits and ._+-; trials, seconds and cores are positive")
    return a


def main():
    a = arguments()
    a.output.mkdir(parents=True, exist_ok=True)
    try:
        names, rows = a.targets.split(","), read_csv(a)
        done = {(r["target"], r["trial"]) for r in rows}
        todo = [(n, trial) for trial in range(1, a.trials + 1) for n in names if (n, trial) not in done]
        built = {n: build(a, n) for n in dict.fromkeys(n for n, _ in todo)}
        for n, trial in todo:
            print(f"{time.strftime('%H:%M:%S')} {n} {trial}/{a.trials}", flush=True)
            rows += pair(a, n, *built[n], trial)
            write_csv(a, rows)
        medians = table(a, sorted(rows, key=lambda r: (r["target"], r["trial"])))
        return 0 if judge(a, medians) else 1
    except Missing as e:
        print(f"versus: {e} cannot be had here", file=sys.stderr)
        return 3
    except ValueError as e:
        print(f"versus: {e}", file=sys.stderr)
        return 2
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as e:
        print(f"versus: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nversus: stopped; the same command goes on where it was", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
