#!/usr/bin/env python3
"""Small mistakes put into the C code one at a time: do the tests see them?

    tools/mutants.py [-n N] [--seed S] [--only PREFIX,...] [--system TEST,...] [--tests TEST,...] [-j N] [--dir DIR]
                     [--list]

Works in a copy of the tree (DIR, default build-mutants), built without optimisation.  One run of every test with
coverage says which tests execute which line; a mutant is then compiled (one object, one link per test) and run through
those tests, quickest first, until one fails.  A mutant is

    caught        a test failed, crashed or did not end
    survived      none did; printed as a diff.  A line that no test executes is one, too
    not compiled  the compiler refused it; counts for nothing
    equivalent    listed in tools/mutants.ignore with the reason why it changes nothing that a test could see

DIR/log.jsonl has one line per mutant.  A mutant that was caught is not tried again while its file is the same, one that
survived not while the tests are the same, too: add tests, then run it again.  Delete the log when tests were removed.
Exit 0: at least 90 % of the others are caught; 1: fewer.  Minutes to hours, not part of `make test`.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import gzip
import hashlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ("src/campaign/", "src/journal/", "src/store/", "src/fuzzer/")
WANTED = 0.9
PATIENCE = 30  # seconds that a test may need beyond four times what it needs without a mutant


# --- what can be wrong ---------------------------------------------------------------------------------

SWAPS = {"<": ["<="], "<=": ["<"], ">": [">="], ">=": [">"], "==": ["!="], "!=": ["=="], "&&": ["||"], "||": ["&&"],
         "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "+=": ["-="], "-=": ["+="], "++": ["--"], "--": ["++"],
         "|=": ["="], "&": ["|"], "true": ["false"], "false": ["true"]}
TOKEN = re.compile(r"""(?P<skip>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|//.*|/\*.*?(?:\*/|$))
                     |(?P<word>[A-Za-z_]\w*)|(?P<number>\b\d\w*)
                     |(?P<op>->|\+\+|--|\+=|-=|\|=|&=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/<>!&|?:=])""", re.VERBOSE)
NO_STATEMENT = re.compile(r"^(return|goto|break|continue|case|default|else|if|for|while|do|switch|static|const|struct"
                          r"|enum|int|bool|char|void|double|unsigned|size_t|u?int\d+_t|CAROL_\w+)\b")
DECLARES = re.compile(r"^\s*((static|const|struct \w+|enum \w+|u?int\d*(_t)?|char|void|bool|double) )+\**\w+\(")
# what is said to people, and what only leaks (make test SAN=1 sees that)
NO_MATTER = re.compile(r"^(log_\w+|free|close|\w+_free|\w+_fini|va_end|BUG|BUG_ON|\(void\))\s*\(?")
TEXT = re.compile(r"\b(log_\w+|err_\w+|BUG|BUG_ON|campaign_note|snprintf|str_fmt|buf_printf|assert\w*)\s*\(")

SAME = re.compile(r"\b(\w+) < 0( \? \1 : 0)")  # of 0 and less itself: <= 0 and < 1 say the same

Mutant = collections.namedtuple("Mutant", "file line old new what")


def mutants_of(path, name):
    """Every mutant of one file."""
    lines = path.read_text().splitlines()
    comment, text_call = False, 0
    for n, line in enumerate(lines, 1):
        bare = line.strip()
        if comment or bare.startswith("/*"):
            comment = "*/" not in line
            continue
        if not bare or bare.startswith(("#", "}", "//", "extern")) or bare.endswith("\\"):
            continue
        if text_call or TEXT.search(line):  # the words of a message, over as many lines as it has
            text_call += line.count("(") - line.count(")")
            if text_call < 0 or line.rstrip().endswith(";"):
                text_call = 0
            continue
        yield from token_mutants(name, n, line)
        yield from statement_mutants(name, n, line)


def token_mutants(name, n, line):
    declares = DECLARES.match(line)
    for m in TOKEN.finditer(line):
        kind, text = m.lastgroup, m.group()
        replace = []
        if kind == "op" and not declares:
            before, after = line[:m.start()].rstrip()[-1:], line[m.end():][:1]
            binary = before and (before.isalnum() or before in ")]_") and line[m.end() - len(text) - 1] == " "
            if text == "!" and after != "=":
                replace = [""]
            elif text in ("++", "--") or text in SWAPS and binary and after == " ":
                replace = SWAPS[text]
        elif kind == "word" and text in SWAPS:
            replace = SWAPS[text]
        elif kind == "number" and text.isdigit() and not re.search(r"\[$", line[:m.start()]):
            replace = ["1"] if text == "0" else ["0", "2"] if text == "1" else [str(int(text) + 1)]
        same = SAME.search(line)
        if same and same.start() <= m.start() < same.start(2) and text in "<0":
            replace = []
        for r in replace:
            yield Mutant(name, n, line, line[:m.start()] + r + line[m.end():], f"{text} -> {r or 'nothing'}")


def statement_mutants(name, n, line):
    bare, indent = line.strip(), line[:len(line) - len(line.lstrip())]
    if indent and bare.endswith(";") and bare.count("(") == bare.count(")") and not NO_STATEMENT.match(bare) \
            and not NO_MATTER.match(bare) and re.match(r"^[*(\w]", bare) and ("(" in bare or "=" in bare) \
            and not re.match(r"^[\w ]+\**\b\w+( = .*)?;$", bare.split("=")[0].strip() + ";" if " " in
                             bare.split("=")[0].strip() else "x x"):
        yield Mutant(name, n, line, indent + ";", "statement dropped")
    m = re.match(r"^(if|else if|while) \((\w[^&|<>=!()]*)\)", bare)
    if m:
        yield Mutant(name, n, line, indent + bare.replace(f"({m[2]})", f"(!({m[2]}))", 1), "condition turned")
    m = re.match(r"^(.*\b\w+\()(\w[\w.>-]*), (\w[\w.>-]*)([,)].*)$", bare)
    if m and m[2] != m[3] and not m[1].startswith(("static", "int ", "void ")):
        yield Mutant(name, n, line, f"{indent}{m[1]}{m[3]}, {m[2]}{m[4]}", "operands swapped")
    m = re.match(r"^return (.+) \? (.+) : (.+);$", bare)
    if m:
        yield Mutant(name, n, line, f"{indent}return {m[1]} ? {m[3]} : {m[2]};", "choices swapped")


# --- the copy, its builds and its tests ----------------------------------------------------------------------

def run(args, cwd, seconds=None, env=None):
    """Exit code and output; a time-out is exit code None."""
    p = subprocess.Popen(args, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace", env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        out, _ = p.communicate(timeout=seconds)
        return p.returncode, out
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(p.pid, signal.SIGKILL)
        p.communicate()
        return None, ""


def box():
    """Own processes, own /dev/shm: what a mutant leaves behind is gone with it.  [] where that is not permitted."""
    words = ["unshare", "-mpf", "--kill-child", "--mount-proc", "sh", "-c",
             'mount -t tmpfs tmpfs /dev/shm && exec "$@"', "sh"]
    return words if run(words + ["true"], "/")[0] == 0 else []


class Lab:
    def __init__(self, directory, system, only):
        self.dir, self.tree = directory, directory / "tree"
        self.build, self.counted = directory / "build", directory / "counted"
        self.system, self.only = system, only
        self.box = box()
        self.tests = {}  # name -> (command, seconds)
        self.copy()

    def copy(self):
        """The tree as it is now; files that are the same keep their times, so that nothing is built twice."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                                text=True, check=True).stdout.splitlines()
        wanted = {f for f in listed if (ROOT / f).is_file()}
        for f in wanted:
            to = self.tree / f
            if not to.exists() or to.read_bytes() != (ROOT / f).read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / f, to)
        for f in [p for p in self.tree.rglob("*") if p.is_file()]:
            if str(f.relative_to(self.tree)) not in wanted and "__pycache__" not in f.parts:
                f.unlink()
        engines = ROOT / "build" / "engines"
        for b in (self.build, self.counted):
            if not (b / "build.ninja").exists():
                extra = ["-Db_coverage=true"] if b == self.counted else []
                flags = "-O0 -Werror=incompatible-pointer-types -Werror=int-conversion"
                code, out = run(["meson", "setup", str(b), str(self.tree), "-Dbuildtype=plain", "-Dwerror=false",
                                 f"-Dc_args={flags}", *extra], self.dir)
                if code:
                    sys.exit(f"mutants: the copy cannot be set up:\n{out}")
            if engines.exists() and not (b / "engines").exists():
                (b / "engines").symlink_to(engines.resolve())

    def ninja(self, build, *targets):
        return run(["ninja", "-C", str(build), *targets], self.dir)

    def listed(self, build):
        """[(name, command, targets)] of the tests that are asked for."""
        _, targets = run(["meson", "introspect", "--targets", str(build)], self.dir)
        files = {os.path.relpath(f, build) for t in json.loads(targets) for f in t["filename"]}
        _, out = run(["meson", "introspect", "--tests", str(build)], self.dir)
        found = []
        for t in json.loads(out):
            unit = any(s.split(":")[-1] == "unit" for s in t["suite"])
            if unit and (not self.only or t["name"] in self.only) or not unit and t["name"] in self.system:
                more = self.system[t["name"]] if not unit else ["-x"] if t["name"] == "oracle" else []
                command = t["cmd"] + more
                made = [f for f in (os.path.relpath(build / w, build) for w in t["cmd"]) if f in files]
                found.append((t["name"] if unit else f"system {t['name']}", command, made))
        return found

    def measure(self):
        """Which tests execute which line, and how long each takes; remembered while nothing changes."""
        memory, key = self.dir / "executed.json", fingerprint(self.tree, "") + str((sorted(self.system.items()), sorted(self.only)))
        known = json.loads(memory.read_text()) if memory.exists() else {}
        if known.get("key") == key:
            self.tests = known["tests"]
            return {f: {int(n): t for n, t in lines.items()} for f, lines in known["executed"].items()}
        executed = self.measured()
        memory.write_text(json.dumps({"key": key, "tests": self.tests, "executed": executed}))
        return executed

    def measured(self):
        for b in (self.counted, self.build):
            targets = {target for _, _, made in self.listed(b) for target in made}
            code, out = self.ninja(b, *([] if self.system else targets))  # system tests need the runtimes, too
            if code:
                sys.exit(f"mutants: the copy cannot be built:\n{out[-3000:]}")
        if self.system:  # targets are linked with the runtimes, and know nothing of counting
            shutil.copytree(self.build / "runtime", self.counted / "runtime", dirs_exist_ok=True)
        executed = collections.defaultdict(lambda: collections.defaultdict(set))  # file -> line -> tests
        for name, command, made in self.listed(self.counted):
            for f in self.counted.rglob("*.gcda"):
                f.unlink()
            began = time.monotonic()
            code, out = run(self.box + command, self.counted, 900)
            if code:
                print(f"# {name} fails without any mutant and is left out:\n{out[-600:]}", flush=True)
                continue
            self.lines_of(name, executed)
            print(f"# {name}: {time.monotonic() - began:.1f} s", flush=True)
        for name, command, made in self.listed(self.build):
            began = time.monotonic()
            code, out = run(self.box + command, self.build, 900)
            if code == 0:
                self.tests[name] = (command, made, time.monotonic() - began)
        return {f: {line: sorted(t) for line, t in lines.items()} for f, lines in executed.items()}

    def lines_of(self, test, executed):
        notes = [f for f in self.counted.rglob("*.gcda") if any(m.replace("/", "_") in f.name for m in MODULES)]
        if not notes:
            return
        code, _ = run(["gcov", "--json-format", *map(str, notes)], self.dir / "gcov")
        for f in (self.dir / "gcov").glob("*.gcov.json.gz"):
            for source in json.loads(gzip.decompress(f.read_bytes()))["files"]:
                path = (self.counted / source["file"]).resolve()
                if not path.is_relative_to(self.tree):
                    continue
                lines = executed[str(path.relative_to(self.tree))]
                for line in source["lines"]:
                    known = lines[line["line_number"]]
                    if line["count"]:
                        known.add(test)
            f.unlink()

    def relevant(self, executed, mutant):
        """The tests that execute it, quickest first.  A line without code of its own belongs to the one before; tables
        and macros to all that use the file."""
        lines = executed.get(mutant.file, {})
        near = [n for n in range(mutant.line, max(0, mutant.line - 8), -1) if n in lines]
        names = set(lines[near[0]]) if near else {t for tests in lines.values() for t in tests}
        return sorted((n for n in names if n in self.tests), key=lambda n: self.tests[n][2])

    def places(self, n):
        """So many copies of tree and build, to work in at the same time; the first is the one we have."""
        yield self.dir
        for i in range(1, n):
            place = self.dir / f"place-{i}"
            shutil.rmtree(place, ignore_errors=True)
            for d in (self.tree, self.build):
                shutil.copytree(d, place / d.name, symlinks=True)
            yield place

    def attempt(self, place, mutant, tests):
        """('caught', by) or ('survived', '') or ('not compiled', '')"""
        path, build = place / "tree" / mutant.file, place / "build"
        was = path.read_text()
        lines = was.splitlines()
        lines[mutant.line - 1] = mutant.new
        path.write_text("\n".join(lines) + "\n")
        try:
            for name in tests:
                command, made, seconds = self.tests[name]
                code, out = self.ninja(build, *made)
                if code:
                    return "not compiled", out[-500:]
                command = [w.replace(str(self.dir / "build"), str(build)).replace(str(self.tree), str(place / "tree"))
                           for w in command]
                tries = 2 if name.startswith("system ") else 1  # a busy machine may fail one once
                if all(run(self.box + command, build, 4 * seconds + PATIENCE)[0] != 0 for _ in range(tries)):
                    return "caught", name
            return "survived", ""
        finally:
            path.write_text(was)


# --- the account ------------------------------------------------------------------------------------------------

def excused():
    """{(file, old line, new line, line after it or None for any): reason} of tools/mutants.ignore."""
    known, block = {}, []
    path = ROOT / "tools" / "mutants.ignore"
    for line in (path.read_text().splitlines() if path.exists() else []) + [""]:
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line)
        elif block:
            name, old, new, *reason = block
            after = reason.pop(0)[1:].strip() if reason and reason[0].startswith("=") else None
            known[name.strip(), old[1:].strip(), new[1:].strip(), after] = " ".join(r.strip() for r in reason)
            block = []
    return known


def diff(m):
    return f"--- {m.file}:{m.line}  ({m.what})\n-{m.old}\n+{m.new}"


def summary(results):
    """Per file and in all; True: enough are caught."""
    files = collections.defaultdict(collections.Counter)
    for m, verdict, _ in results:
        files[m.file][verdict] += 1
    total = collections.Counter()
    print(f"\n{'file':36} {'caught':>7} {'survived':>9} {'equivalent':>11} {'not compiled':>13}")
    for name, c in sorted(files.items()):
        total += c
        print(f"{name:36} {c['caught']:7} {c['survived']:9} {c['equivalent']:11} {c['not compiled']:13}")
    counted = total["caught"] + total["survived"]
    share = total["caught"] / counted if counted else 1
    print(f"{'all':36} {total['caught']:7} {total['survived']:9} {total['equivalent']:11} {total['not compiled']:13}")
    print(f"{100 * share:.1f} % of {counted} mutants are caught")
    return share >= WANTED


def fingerprint(tree, part):
    """Of the files of a part of the tree."""
    h = hashlib.sha256()
    for f in sorted((tree / part).rglob("*")):
        if f.is_file() and "__pycache__" not in f.parts:
            h.update(str(f.relative_to(tree)).encode() + f.read_bytes())
    return h.hexdigest()[:12]


def excuse(excuses, tree, m):
    lines = (tree / m.file).read_text().splitlines()
    after = lines[m.line].strip() if m.line < len(lines) else ""
    key = (m.file, m.old.strip(), m.new.strip())
    return excuses.get((*key, after)) or excuses.get((*key, None))


def chosen(args):
    prefixes = tuple(args.only.split(",")) if args.only else MODULES
    found = []
    for f in sorted((ROOT / "src").rglob("*.c")):
        name = str(f.relative_to(ROOT))
        if name.startswith(prefixes):
            found += mutants_of(f, name)
    excuses = excused()
    random.Random(args.seed).shuffle(found)
    return found[:args.n] if args.n else found, len(found), excuses


def sections(text):
    """{test: its arguments} of "engine,campaign:ensemble"."""
    return {t.split(":")[0]: t.split(":")[1:] for t in text.split(",") if t}


class Work:
    """One mutant after the other, at several places at a time; what is known is remembered in the log."""

    def __init__(self, lab, executed, excuses, tests, jobs):
        self.lab, self.executed, self.excuses, self.tests = lab, executed, excuses, tests
        self.log, self.known, self.free = lab.dir / "log.jsonl", {}, queue.SimpleQueue()
        for line in self.log.read_text().splitlines() if self.log.exists() else []:
            r = json.loads(line)
            if r["verdict"] != "survived" or r["tests"] == tests:
                self.known[r["key"]] = (r["verdict"], r["by"])
        for place in lab.places(jobs):
            self.free.put(place)

    def one(self, m):
        began = time.monotonic()
        return (m, *self.verdict(m), time.monotonic() - began)

    def verdict(self, m):
        reason = excuse(self.excuses, ROOT, m)
        if reason:
            return "equivalent", reason
        source = hashlib.sha256((ROOT / m.file).read_bytes()).hexdigest()[:12]
        key = f"{m.file}:{m.line}:{m.new.strip()}:{source}"
        if key in self.known:
            return self.known[key]
        relevant = self.lab.relevant(self.executed, m)
        place = self.free.get()
        verdict, by = self.lab.attempt(place, m, relevant)
        self.free.put(place)
        by = by if relevant else "no test executes it"
        with self.log.open("a") as out:
            out.write(json.dumps({"key": key, "tests": self.tests, "verdict": verdict, "by": by, "diff": diff(m)})
                      + "\n")
        return verdict, by


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("-n", type=int, default=200, help="how many, drawn at random; 0: all")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", help="files whose path begins so, instead of campaign, journal, store and fuzzer")
    p.add_argument("--system", default="", help="system tests to run, too, or sections of them: engine,campaign:ensemble")
    p.add_argument("--tests", default="", help="only these unit tests")
    p.add_argument("-j", dest="jobs", type=int, default=1, help="how many at a time")
    p.add_argument("--dir", default=str(ROOT / "build-mutants"))
    p.add_argument("--list", action="store_true", help="print them and do nothing")
    args = p.parse_args()
    todo, total, excuses = chosen(args)
    if args.list:
        print("\n".join(map(diff, todo)))
        return 0
    directory = Path(args.dir).resolve()
    if directory.is_relative_to("/dev/shm"):
        sys.exit("mutants: every test gets a /dev/shm of its own; give another --dir")
    (directory / "gcov").mkdir(parents=True, exist_ok=True)
    lab = Lab(directory, sections(args.system), set(filter(None, args.tests.split(","))))
    print(f"# {len(todo)} of {total} mutants, seed {args.seed}; first every test once, with coverage", flush=True)
    executed = lab.measure()
    idle = sum(not lab.relevant(executed, m) for m in todo)
    print(f"# {idle} of them are on lines that no test executes", flush=True)
    work = Work(lab, executed, excuses, f"{fingerprint(lab.tree, 'tests')}:{args.system}:{args.tests}", args.jobs)
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for n, (m, verdict, by, seconds) in enumerate(pool.map(work.one, todo), 1):
            results.append((m, verdict, by))
            print(f"{n}/{len(todo)} {verdict} {m.file}:{m.line} {m.what} {by if verdict != 'not compiled' else ''}"
                  f" ({seconds:.1f} s)", flush=True)
            if verdict == "survived":
                print(diff(m), flush=True)
    return 0 if summary(results) else 1


if __name__ == "__main__":
    sys.exit(main())
