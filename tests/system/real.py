#!/usr/bin/env python3
"""examples/real: every folder has its form, two small programs build in every family, and nothing of a defect but its class is told.

usage: real.py CAROL ROOT          prints TAP
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
from cases import Skipped, check, run, run_all, test

CAROL, ROOT = os.path.abspath(sys.argv[1]), Path(sys.argv[2]).resolve()
REAL = ROOT / "examples/real"
FOLDERS = sorted(p.parent for p in REAL.glob("*/source"))
SMALL = ["cjson", "tinyxml2"]  # one of C, one of C++
FAMILIES = {"afl", "laf", "hfuzz", "neutral", "asan", "plain", "cmplog"}
ENTRIES = {"LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize"}


def driver(tmp, *words):
    return run(sys.executable, REAL / "real.py", *words, "-o", tmp / "real", "--carol", CAROL, timeout=400)


def harness(folder):
    found = [f for f in folder.iterdir() if f.suffix in (".c", ".cc")]
    check(len(found) == 1, f"{folder.name} has {len(found)} harnesses")
    return found[0].read_text()


@test
def every_folder_has_its_files(_):
    check(len(FOLDERS) >= 11, f"only {len(FOLDERS)} folders")
    for folder in FOLDERS:
        for name in ("build.sh", "seeds.py"):
            check(os.access(folder / name, os.X_OK), f"{folder.name}/{name} is no program")
        lines = (folder / "README.md").read_text().splitlines()
        check(lines[0] == f"# {folder.name}" and 8 <= len(lines) <= 14, f"{folder.name}/README.md has {len(lines)} lines")
        check(f"`{folder.name}`" in (REAL / "README.md").read_text(), f"README.md does not name {folder.name}")


@test
def every_source_is_pinned_and_names_no_host(_):
    for folder in FOLDERS:
        for line in (folder / "source").read_text().splitlines():
            words = line.split()
            check(len(words) >= 5 and words[1] in ("debian", "pypi", "crate", "npm"), f"{folder.name}: {line}")
            check(re.fullmatch("[0-9a-f]{64}", words[4]), f"{folder.name}: {words[4]} is no SHA-256")
        for file in folder.iterdir():
            check("://" not in file.read_text(), f"{file} names a host")


@test
def every_harness_defines_only_its_entry_point(_):
    for folder in FOLDERS:
        text = harness(folder)
        defined = re.findall(r"^(?!static|enum|struct)[\w\" *]*?(\w+)\([^;]*\)\n\{", text, re.M)
        check("LLVMFuzzerTestOneInput" in defined and set(defined) <= ENTRIES, f"{folder.name}: {defined}")


@test
def every_seed_is_small_and_made_the_same_each_time(tmp):
    for folder in FOLDERS:
        made = []
        for turn in "ab":
            to = tmp / f"seeds-{folder.name}-{turn}"
            to.mkdir()
            subprocess.run([sys.executable, folder / "seeds.py", to], check=True)
            made.append({f.name: f.read_bytes() for f in to.iterdir()})
        check(len(made[0]) >= 3 and all(0 < len(b) <= 4096 for b in made[0].values()), f"{folder.name}: {sorted(made[0])}")
        check(made[0] == made[1], f"{folder.name}: other seeds the second time")


@test
def campaigns_inside_the_tree_are_refused(_):
    p = run(sys.executable, REAL / "real.py", "fuzz", "cjson", "-o", ROOT / "examples/real/out")
    check(p.returncode == 2 and "inside of this tree" in p.stderr, p.stderr)
    check(not (ROOT / "examples/real/out").exists(), "it was made all the same")


@test
def a_source_that_is_not_the_pinned_one_is_refused(tmp):
    cache = {"XDG_CACHE_HOME": str(tmp / "cache")}
    p = run(ROOT / "tools/source.sh", "debian", "cjson", "1.7.15-1+deb12u4", "0" * 64, env=cache)
    check(p.returncode == 3, "it was accepted")
    if "is not the pinned one" not in p.stderr:
        raise Skipped(p.stderr.strip().splitlines()[-1] if p.stderr else "no answer")
    check(p.returncode == 3 and not list((tmp / "cache").glob("carol/sources/cjson*")), "it was kept")
    p = run(ROOT / "tools/source.sh", "debian", "no-such-package", "1", env=cache)
    check(p.returncode == 3 and "no-such-package 1 is skipped" in p.stderr, p.stderr)


@test
def a_small_c_and_a_small_cxx_program_build_in_every_family(tmp):
    p = driver(tmp, "build", *SMALL)
    if p.returncode == 3:
        raise Skipped(p.stderr.strip().splitlines()[-1])
    check(p.returncode == 0, p.stdout + p.stderr)
    for name in SMALL:
        build = tmp / "real" / name / "build"
        m = json.loads((build / "carol-build.json").read_text())
        check(set(m["families"]) == FAMILIES and m["kind"] == "libfuzzer", m)
        said = run(CAROL, "cover", "--json", "-b", build, *sorted((tmp / "real" / name / "seeds").iterdir()))
        seen = json.loads(said.stdout)
        check(all(i["status"] == "ok" for i in seen["inputs"]) and seen["edges_covered"] > 100, said.stdout)
        for family, f in m["families"].items():
            for seed in (tmp / "real" / name / "seeds").iterdir():
                q = run(build / f["binary"], seed, env={"ASAN_OPTIONS": "detect_leaks=1"})
                check(q.returncode == 0, f"{name}, {family}, {seed.name}: exit {q.returncode}\n{q.stderr[-500:]}")


@test
def the_table_counts_defects_and_tells_nothing_else_of_them(tmp):
    top = tmp / "real/cjson"  # a campaign with defects, in the place of one on cJSON
    top.mkdir(parents=True, exist_ok=True)
    p = run(CAROL, "build", "-o", tmp / "tote", "--families", "afl,neutral,asan,plain", *ROOT.glob("examples/tote/*.c"))
    check(p.returncode == 0, p.stderr)
    p = run(CAROL, "fuzz", "-b", tmp / "tote", "-i", ROOT / "examples/tote/crashes", "-i", ROOT / "examples/tote/seeds", "-o", top / "out",
            "-f", "aflpp", "-j", 1, "-d", "3s")
    check(p.returncode == 0, p.stderr)
    found = json.loads((top / "out/triage/defects.json").read_text())["defects"]
    check(len(found) >= 2, f"the campaign has {len(found)} defects")
    p = driver(tmp, "table", "cjson")
    check(p.returncode == 0, p.stderr)
    cells = [c.strip() for c in p.stdout.splitlines()[2].split("|")[1:-1]]
    check(cells[0] == "cjson" and cells[6] == str(len(found)), p.stdout)
    told = {k: int(n) for k, n in (c.rsplit(" ", 1) for c in cells[7].split(", "))}
    names = [f"{d['class']} {d['cwe']} by {d['found_by']}" for d in found]
    want = {k: names.count(k) for k in names}
    check(told == want, f"{told} instead of {want}")
    secret = {str(d[k]) for d in found for k in ("id", "function", "file", "entry")}
    check(not [s for s in secret if s in p.stdout], p.stdout)
    rows_are_kept(tmp, p.stdout, secret)


def rows_are_kept(tmp, table, secret):
    """The row of a campaign that had its time stands for it where the campaign is not."""
    rows, elsewhere = ("--rows", tmp / "rows"), tmp / "elsewhere"
    check(not driver(tmp, "fuzz", "cjson", "-d", "2s", *rows).returncode, "no row was kept")
    kept = (tmp / "rows/cjson.json").read_text()
    check(not [s for s in secret if s in kept], kept)
    (tmp / "real").rename(elsewhere)
    p = driver(tmp, "fuzz", "cjson", "-d", "2s", *rows)
    check(p.returncode == 0 and "rows/cjson.json" in p.stdout and not (tmp / "real").exists(), p.stdout + p.stderr)
    p = driver(tmp, "table", "cjson", *rows)
    check(p.stdout == table, f"{p.stdout} instead of {table}")
    shutil.rmtree(tmp / "real", ignore_errors=True)
    elsewhere.rename(tmp / "real")


@test
def a_ctrl_c_lets_the_campaign_end_first(tmp):
    slow = tmp / "slow"  # in the place of carol: builds at once, and takes a second to end when it is told to
    slow.write_text("#!/bin/sh\n[ $1 = build ] && exit 0\ntouch began\ntrap 'sleep 1; touch ended; exit 0' INT\n"
                    "while :; do sleep 0.1; done\n")
    slow.chmod(0o755)
    p = subprocess.Popen([sys.executable, REAL / "real.py", "fuzz", "cjson", "-o", tmp / "stopped", "--carol", slow], cwd=tmp,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    for _ in range(1200):  # the source may have to be fetched
        if (tmp / "began").exists() or p.poll() is not None:
            break
        time.sleep(0.1)
    if not (tmp / "began").exists():
        p.kill()
        said = p.communicate()[0]
        check(p.returncode == 3, said)
        raise Skipped(said.strip().splitlines()[-1])
    os.killpg(p.pid, signal.SIGINT)
    said = p.communicate(timeout=60)[0]
    check((tmp / "ended").exists() and p.returncode == 130 and "goes on" in said and "Traceback" not in said, said)


sys.exit(run_all("carol-real-"))
