#!/usr/bin/env python3
"""Fetches, verifies, changes and builds the fuzzers, once, into a cache; links BUILD/engines to it.

The sources come as two crates pinned by engines/Cargo.lock.  What is built depends on the lock, on
our changes, on these scripts and on the compiler; a hash of them names the cache entry

    ${XDG_CACHE_HOME:-~/.cache}/carol/engines/KEY/
        afl/        afl-fuzz afl-showmap afl-cc afl-clang-fast(++) *.so *.o libAFLDriver.a include/
        honggfuzz/  honggfuzz libhfuzz.a libhfuzz-probe.a libhfcommon.a wrap-full.txt wrap-probe.txt
        radamsa/    libradamsa.so
        engines.json

which appears by one rename when all of it is there, or not at all.  Runs at the same time wait for
one another.  Exit 0: BUILD/engines is complete.  Exit 3: it is not, the reason and the fix were
printed; everything of Carol that needs no fuzzer still works.
"""
import argparse
import concurrent.futures
import fcntl
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG = "clang-19"
LLVM_CONFIG = "llvm-config-19"
CRATES = ("cargo-afl-common", "honggfuzz")
CARGO_AT_LEAST = (1, 85)  # the pinned crates are of edition 2024
AFL_PROGRAMS = ["afl-fuzz", "afl-showmap"]
AFL_COMPILER = ["./afl-cc", "./afl-compiler-rt.o", "./afl-compiler-rt-64.o",
                "./SanitizerCoveragePCGUARD.so", "./split-compares-pass.so",
                "./split-switches-pass.so", "./compare-transform-pass.so",
                "./cmplog-routines-pass.so", "./cmplog-instructions-pass.so",
                "./cmplog-switches-pass.so", "./afl-llvm-dict2file.so"]
AFL_FILES = ["utils/aflpp_driver/libAFLDriver.a", "dynamic_list.txt", "LICENSE"]
# What a link without the engine may wrap: libc's own, so that a configure probe for a function that
# libc lacks does not find honggfuzz's weak one.
WRAP_PROBE = ("strcmp strcasecmp strncmp strncasecmp strstr strcasestr memcmp bcmp memmem strcpy "
              "strcat strncat strspn strcspn strpbrk").split()


class Failed(Exception):
    """A reason and its fix, for a person."""


say_lock = threading.Lock()


def say(text):
    with say_lock:
        print(f"engines: {text}", flush=True)


def load_changes_module():
    spec = importlib.util.spec_from_file_location("apply_changes", ROOT / "tools/apply-changes.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def clean_env():
    """Ours without what would steer the engines' makefiles (a surrounding make, compiler flags)."""
    drop = ("MAKE", "MFLAGS", "AFL_", "HFUZZ_", "CARGO_BUILD", "LLVM_")
    flags = {"CC", "CXX", "CPP", "LD", "AR", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "DESTDIR",
             "PREFIX", "BUILD", "SAN", "DEBUG", "STATIC", "PERFORMANCE", "PROFILING", "OS", "ARCH"}
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop) and k not in flags}
    env["CCACHE_DISABLE"] = "1"
    env.setdefault("CARGO_NET_RETRY", "1")  # a machine without network should not wait for minutes
    env.setdefault("CARGO_HTTP_TIMEOUT", "20")
    return env


def compiler_version():
    try:
        out = subprocess.run([CLANG, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed(f"{CLANG} does not run; install it with tools/setup.sh, then make") from error
    return out.stdout.splitlines()[0]


def make_key():
    digest = hashlib.sha256()
    for name in ("engines/Cargo.toml", "engines/Cargo.lock", "engines/changes.txt",
                 "runtime/lane/lane.h", "tools/apply-changes.py", "tools/engines.py"):
        digest.update((ROOT / name).read_bytes() + b"\0")
    digest.update(compiler_version().encode())
    return digest.hexdigest()[:16]


def cache_dir():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(base, "carol", "engines")


def is_complete(entry):
    return (entry / "engines.json").is_file()


# ---- sources ----

def find_cargo():
    """The first cargo that can read the lock; Debian's cargo-web installs /usr/bin/cargo."""
    seen = []
    for path in [shutil.which("cargo"), "/usr/bin/cargo", *sorted(
            map(str, pathlib.Path("/usr/bin").glob("cargo-1.[0-9]*")), reverse=True)]:
        if not path or not os.access(path, os.X_OK):
            continue
        out = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
        try:
            version = tuple(int(x) for x in out.split()[1].split(".")[:2])
        except (IndexError, ValueError):
            continue
        if version >= CARGO_AT_LEAST:
            return path
        seen.append(out.strip())
    have = f" (found only {', '.join(seen)})" if seen else ""
    raise Failed(f"no cargo of version {CARGO_AT_LEAST[0]}.{CARGO_AT_LEAST[1]} or later{have}; "
                 "install one with tools/setup.sh, then make")


def vendor(work, cargo):
    """cargo downloads what the lock names and checks every archive against it."""
    manifest = work / "manifest"
    manifest.mkdir()
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / "engines" / name, manifest)
    (manifest / "lib.rs").touch()
    command = [cargo, "vendor", "--locked", "--quiet", "--manifest-path",
               str(manifest / "Cargo.toml"), str(work / "vendor")]
    tail = ""
    for extra in ([], ["--offline"]):
        try:
            run = subprocess.run(command + extra, capture_output=True, text=True, env=clean_env(),
                                 stdin=subprocess.DEVNULL, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            tail = "no answer within five minutes"
            continue
        if run.returncode == 0:
            return work / "vendor"
        tail = tail or "\n  ".join(run.stderr.strip().splitlines()[-4:])
    raise Failed(f"the fuzzers' sources could not be fetched:\n  {tail}\n"
                 "  Check the network or cargo's registry settings, then make again.")


def verify(sources):
    """The crates are those of the lock, and every file in them is the one that was published."""
    locked = tomllib.loads((ROOT / "engines/Cargo.lock").read_text(encoding="utf-8"))["package"]
    sums = {p["name"]: p.get("checksum") for p in locked}
    for crate in CRATES:
        listing = json.loads((sources / crate / ".cargo-checksum.json").read_text(encoding="utf-8"))
        if listing.get("package") != sums[crate]:
            raise Failed(f"the crate {crate} is not the one of engines/Cargo.lock; nothing was built")
        for name, wanted in listing["files"].items():
            if hashlib.sha256((sources / crate / name).read_bytes()).hexdigest() != wanted:
                raise Failed(f"{crate}/{name} is not what was published; nothing was built")
    return {crate: sums[crate] for crate in CRATES}


# ---- building ----

class Builder:
    def __init__(self, sources, stage, logs):
        self.afl_source = sources / "cargo-afl-common/AFLplusplus"
        self.hf_source = sources / "honggfuzz/honggfuzz"
        self.stage, self.logs = stage, logs
        self.jobs = f"-j{max(1, min(os.cpu_count() or 1, 8))}"

    def run(self, name, *command, cwd):
        log = self.logs / f"{name}.log"
        with open(log, "ab") as out:
            out.write(("+ " + " ".join(command) + "\n").encode())
            out.flush()
            code = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=out, env=clean_env(), check=False).returncode
        if code != 0:
            tail = log.read_text(errors="replace").splitlines()[-15:]
            raise Failed(f"{name} did not build:\n  " + "\n  ".join(tail) + f"\n  (all of it: {log})")

    def install(self, names, source, into):
        target = self.stage / into
        target.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy2(source / name, target / pathlib.Path(name).name)

    def afl(self):
        make = ["make", self.jobs, f"CC={CLANG}", f"CXX=clang++-{CLANG[6:]}",
                f"LLVM_CONFIG={LLVM_CONFIG}", "NO_PYTHON=1", "NO_NYX=1"]
        src = self.afl_source
        self.run("afl", *make, *AFL_PROGRAMS, cwd=src)
        self.run("afl", *make, "-f", "GNUmakefile.llvm", *AFL_COMPILER, cwd=src)
        self.run("afl", *make, "libAFLDriver.a", cwd=src / "utils/aflpp_driver")
        self.install(AFL_PROGRAMS + AFL_COMPILER + AFL_FILES, src, "afl")
        shutil.copytree(src / "include", self.stage / "afl/include")
        for link in ("afl-clang-fast", "afl-clang-fast++", "afl-c++"):
            (self.stage / "afl" / link).symlink_to("afl-cc")
        self.check_afl(self.stage / "afl")

    def check_afl(self, afl):
        """What was installed works away from its sources: one harness, compiled, linked and run."""
        src = self.afl_source
        (src / "check.c").write_text("int LLVMFuzzerTestOneInput(const unsigned char *p, "
                                     "unsigned long n) { return n > 1 && *p == 'x' ? -1 : 0; }\n")
        env = ["env", f"AFL_PATH={afl}", "AFL_QUIET=1", "AFL_LLVM_LAF_SPLIT_COMPARES=1",
               "AFL_LLVM_LAF_SPLIT_SWITCHES=1"]
        self.run("afl", *env, str(afl / "afl-clang-fast"), "check.c", str(afl / "libAFLDriver.a"),
                 "-o", "check", cwd=src)
        self.run("afl", "sh", "-c", "AFL_DUMP_MAP_SIZE=1 ./check | grep -qx '[1-9][0-9]*'", cwd=src)

    def honggfuzz(self):
        src = self.hf_source
        libs = [src / "libhfuzz/libhfuzz.a", src / "libhfcommon/libhfcommon.a"]
        goals = [str(x) for x in [src / "honggfuzz", *libs]]  # absolute, as its makefile names them
        self.run("honggfuzz", "make", self.jobs, f"CC={CLANG}", *goals, cwd=src)
        self.install(["honggfuzz", "libhfuzz/libhfuzz.a", "libhfcommon/libhfcommon.a", "COPYING"], src,
                     "honggfuzz")
        self.probe_archive(self.stage / "honggfuzz")
        self.run("honggfuzz", str(self.stage / "honggfuzz/honggfuzz"), "--version", cwd=src)

    def probe_archive(self, out):
        """libhfuzz-probe.a: the same with its replacements of other libraries' functions hidden."""
        def nm(kind):
            text = subprocess.run(["nm", str(out / "libhfuzz.a")], capture_output=True, text=True,
                                  check=True).stdout
            rows = [line.split() for line in text.splitlines()]
            return sorted({r[2] for r in rows if len(r) == 3 and r[1] == kind})
        full = [n[len("__wrap_"):] for n in nm("T") if n.startswith("__wrap_")]
        hide = sorted(set(full) & set(nm("W")))
        if not set(WRAP_PROBE) <= set(full) or len(hide) < 50:
            raise Failed("libhfuzz.a does not hold the functions expected; nothing was installed")
        (out / "wrap-full.txt").write_text("\n".join(full) + "\n")
        (out / "wrap-probe.txt").write_text("\n".join(WRAP_PROBE) + "\n")
        shutil.copy(out / "libhfuzz.a", out / "libhfuzz-probe.a")
        self.run("honggfuzz", "ar", "x", "libhfuzz.a", "memorycmp.o", cwd=out)
        self.run("honggfuzz", "objcopy", *(f"--localize-symbol={n}" for n in hide), "memorycmp.o",
                 cwd=out)
        self.run("honggfuzz", "ar", "r", "libhfuzz-probe.a", "memorycmp.o", cwd=out)
        (out / "memorycmp.o").unlink()

    def radamsa(self):
        src = self.afl_source / "custom_mutators/radamsa"
        self.run("radamsa", CLANG, "-O1", "-w", "-fPIC", "-shared", "-I.", "libradamsa.c", "-o",
                 "libradamsa.so", cwd=src)  # -O3 takes eight times as long and runs no faster
        self.install(["libradamsa.so", "LICENSE"], src, "radamsa")


def build_all(builder):
    """Both cores: AFL++ on one side, honggfuzz and radamsa on the other."""
    def timed(name, step):
        began = time.monotonic()
        say(f"building {name} ...")
        step()
        say(f"{name} built in {time.monotonic() - began:.0f} s")

    def others():
        timed("honggfuzz 2.6", builder.honggfuzz)
        timed("radamsa", builder.radamsa)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        steps = [pool.submit(timed, "AFL++ 4.40c (the longest, one to two minutes)", builder.afl),
                 pool.submit(others)]
        began, waiting = time.monotonic(), steps
        while waiting:
            _, waiting = concurrent.futures.wait(waiting, timeout=20)
            if waiting and time.monotonic() - began > 15:
                say(f"... {time.monotonic() - began:.0f} s")
        for step in steps:
            step.result()


def seal(stage, facts):
    """Everything on disk first, the file that says so last."""
    for path in stage.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
    with open(stage / "engines.json", "w", encoding="utf-8") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


def fsync_dir(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def make_entry(cache, entry, key):
    cargo = find_cargo()
    for stale in cache.glob(".work-*"):  # of a run that was killed: we hold the lock
        shutil.rmtree(stale, ignore_errors=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix=".work-", dir=cache))
    logs = cache / "logs"
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    try:
        began = time.monotonic()
        say("fetching the sources ...")
        sources = vendor(work, cargo)
        sums = verify(sources)
        module = load_changes_module()
        try:
            changes = module.parse((ROOT / "engines/changes.txt").read_text(encoding="utf-8"))
            module.apply(changes, sources)
        except module.Refused as error:
            raise Failed(f"our changes do not fit: {error}") from error
        say(f"sources verified, {len(changes)} changes made, {time.monotonic() - began:.0f} s")
        stage = work / "stage"
        stage.mkdir()
        build_all(Builder(sources, stage, logs))
        seal(stage, {
            "schema": 1, "key": key, "compiler": compiler_version(),
            "afl": {"version": "4.40c", "crate": "cargo-afl-common 0.18.2",
                    "sha256": sums["cargo-afl-common"]},
            "honggfuzz": {"version": "2.6 cf8b66a4", "crate": "honggfuzz 0.5.62",
                          "sha256": sums["honggfuzz"]},
            "radamsa": {"version": "libradamsa of AFL++ 4.40c", "crate": "cargo-afl-common 0.18.2",
                        "sha256": sums["cargo-afl-common"]},
            "changes": [{k: c[k] for k in ("name", "why", "file")} for c in changes]})
        os.rename(stage, entry)
        fsync_dir(cache)
        say(f"all built in {time.monotonic() - began:.0f} s: {entry}")
    finally:
        shutil.rmtree(work, ignore_errors=True)


def link(build, entry):
    """Atomically: a running carol always finds one or the other."""
    build.mkdir(parents=True, exist_ok=True)
    target = build / "engines"
    if target.is_symlink() and os.readlink(target) == str(entry):
        return
    if target.exists() and not target.is_symlink():
        raise Failed(f"{target} is not a link of ours; move it away, then make again")
    temporary = build / f".engines-{os.getpid()}"
    temporary.symlink_to(entry)
    os.rename(temporary, target)


def stand_in(build):
    """Debian's afl++ where nothing better can be had: a directory of links in the same layout."""
    ours = build / "engines-debian"
    linked = os.path.realpath(build / "engines")
    if linked == os.path.realpath(ours) and (ours / "afl/afl-fuzz").exists():
        return True
    if not os.access("/usr/bin/afl-fuzz", os.X_OK) or os.path.exists(linked):
        return False
    afl = ours / "afl"
    shutil.rmtree(ours, ignore_errors=True)
    afl.mkdir(parents=True)
    for path in [*pathlib.Path("/usr/bin").glob("afl-*"), *pathlib.Path("/usr/lib/afl").glob("*")]:
        (afl / path.name).symlink_to(path)
    link(build, ours.resolve())
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build"), help="where to put the link")
    parser.add_argument("--print-key", action="store_true", help="only print the cache key")
    args = parser.parse_args()
    build = pathlib.Path(args.build).absolute()
    try:
        key = make_key()
        if args.print_key:
            print(key)
            return 0
        cache = cache_dir()
        entry = cache / key
        if not is_complete(entry):
            cache.mkdir(parents=True, exist_ok=True)
            with open(cache / "lock", "w", encoding="utf-8") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not is_complete(entry):
                    shutil.rmtree(entry, ignore_errors=True)
                    make_entry(cache, entry, key)
        link(build, entry)
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        say(str(error))
        if stand_in(build):
            say("Debian's afl++ stands in: aflpp, mopt, lafintel and darwin can run, honggfuzz and "
                "radamsa cannot")
        elif (build / "engines/afl/afl-fuzz").exists():
            say(f"the fuzzers built before stay in use: {os.path.realpath(build / 'engines')}")
        else:
            say("Carol builds, but none of its six fuzzers can run until then (carol doctor)")
        return 3
    except KeyboardInterrupt:
        say("interrupted; nothing was installed")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
