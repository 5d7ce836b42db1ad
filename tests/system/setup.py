#!/usr/bin/env python3
"""The set-up, without network and without building: carol doctor, tools/setup.sh with a pretended
package system, the changes to the engines, the engine cache with a pretended cargo, the counting
of tests, the order of modules, references in the documents.   setup.py CAROL SOURCE_ROOT   (TAP)"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from cases import Skipped, check, run, run_all, test

CAROL = os.path.abspath(sys.argv[1])
ROOT = pathlib.Path(sys.argv[2]).absolute()
FUZZERS = {"aflpp", "darwin", "honggfuzz", "mopt", "lafintel", "radamsa", "cmplog", "libfuzzer"}
FAMILIES = {"afl", "laf", "hfuzz", "neutral", "asan", "plain", "cmplog"}


def script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def doctor(*args):
    out = run(CAROL, "doctor", "--json", *args)
    return out.returncode, json.loads(out.stdout)


@test
def doctor_answers_with_the_names_of_the_specification(_):
    code, answer = doctor()
    check(answer["schema"] == 1, "schema")
    check(FUZZERS <= set(answer["fuzzers"]), f"fuzzers: {sorted(answer['fuzzers'])}")
    check(FAMILIES <= set(answer["families"]), f"families: {sorted(answer['families'])}")
    for name, state in answer["fuzzers"].items():
        check({"ok", "version", "why", "fix"} <= set(state), f"fields of {name}")
    check({"ok", "version", "why", "fix"} <= set(answer["triage"]["llvm-symbolizer"]), "what triage uses")
    for item in answer["host"]:
        check({"id", "ok", "what", "fix"} <= set(item), f"fields of {item}")
        check(item["ok"] or item["fix"], f"{item['id']} hurts and has no fix")
    check({"core_pattern", "cpu_governor", "aslr", "shm", "namespaces", "disk"} <=
          {item["id"] for item in answer["host"]}, "host checks")
    check((code == 3) == (not any(f["ok"] for f in answer["fuzzers"].values())), f"exit {code}")


@test
def doctor_finds_them_all_when_the_engines_are_built(_):
    engines = os.environ.get("CAROL_ENGINES") or os.path.join(os.path.dirname(CAROL), "engines")
    if not os.path.exists(os.path.join(engines, "engines.json")):
        raise Skipped("the engines are not built")
    code, answer = doctor()
    for kind in ("fuzzers", "families"):
        for name, state in answer[kind].items():
            check(state["ok"] and state["version"] and not state["why"], f"{name}: {state}")
    check(code == 0 and answer["fuzzers"]["aflpp"]["version"] == "4.40c", f"exit {code}")


@test
def doctor_without_engines_exits_3_and_names_each_fix(tmp):
    code, answer = doctor("--engines", str(tmp))
    check(code == 3, f"exit {code}")
    check(answer["fuzzers"].pop("libfuzzer")["ok"] == answer["families"]["libfuzzer"]["ok"], "libfuzzer needs no engine")
    for name, state in answer["fuzzers"].items():
        check(not state["ok"] and str(tmp) in state["why"] and state["fix"], f"{name}: {state}")
    for name in ("afl", "laf", "hfuzz"):
        check(not answer["families"][name]["ok"] and answer["families"][name]["fix"], name)
    check(answer["families"]["plain"]["ok"], "plain needs no engine")


@test
def doctor_sees_a_fuzzer_that_does_not_start(tmp):
    (tmp / "afl").mkdir()
    script(tmp / "afl/afl-fuzz", "exit 127\n")
    _, answer = doctor("--engines", str(tmp))
    check("does not start" in answer["fuzzers"]["aflpp"]["why"], str(answer["fuzzers"]["aflpp"]))


@test
def doctor_names_the_fix_for_a_missing_symboliser(_):
    out = run(CAROL, "doctor", "--json", env={**os.environ, "ASAN_SYMBOLIZER_PATH": "/nowhere"})
    state = json.loads(out.stdout)["triage"]["llvm-symbolizer"]
    check(not state["ok"] and "carol triage" in state["why"] and "llvm-19" in state["fix"], str(state))
    if shutil.which("llvm-symbolizer-19"):
        state = doctor()[1]["triage"]["llvm-symbolizer"]
        check(state["ok"] and state["version"].startswith("19"), str(state))


@test
def doctor_refuses_what_it_does_not_know(_):
    for wrong in (["--no-such-option"], ["argument"]):
        check(run(CAROL, "doctor", *wrong).returncode == 2, str(wrong))


def pretended_packages(tmp, installed, root):
    """A PATH in front of ours on which dpkg, apt, id and sudo are pretended."""
    script(tmp / "dpkg-query", "shift 2; for p in \"$@\"; do echo \"" +
           ("installed" if installed else "not-installed") + "=$p\"; done\n")
    script(tmp / "apt-get", f"echo \"$@\" >>'{tmp}/apt.calls'\n")
    script(tmp / "apt-cache", "echo '  Candidate: 1:1.99.0-1'\n")
    script(tmp / "id", f"echo {0 if root else 1000}\n")
    script(tmp / "sudo", "exit 1\n")
    script(tmp / "cargo", "echo cargo 1.99.0\n")
    return {"PATH": f"{tmp}:{os.environ['PATH']}"}


@test
def setup_does_nothing_when_nothing_is_missing(tmp):
    out = run(ROOT / "tools/setup.sh", "lint", env=pretended_packages(tmp, True, True))
    check(out.returncode == 0 and out.stdout + out.stderr == "", out.stdout + out.stderr)
    check(not (tmp / "apt.calls").exists(), "apt was called")


@test
def setup_installs_what_is_missing_without_asking(tmp):
    out = run(ROOT / "tools/setup.sh", env=pretended_packages(tmp, False, True))
    calls = (tmp / "apt.calls").read_text().splitlines()
    check(out.returncode == 0 and calls[0].startswith("update"), str(calls))
    check(calls[1].startswith("install -y") and " clang-19 " in calls[1] and " meson " in calls[1],
          calls[1])


@test
def setup_prints_the_command_when_it_may_not(tmp):
    out = run(ROOT / "tools/setup.sh", env=pretended_packages(tmp, False, False))
    check(out.returncode == 3, f"exit {out.returncode}")
    check("sudo apt-get install" in out.stderr and "clang-19" in out.stderr, out.stderr)
    check(not (tmp / "apt.calls").exists(), "apt was called")


@test
def changes_refuse_a_text_that_is_not_there_exactly_once(tmp):
    (tmp / "changes").write_text("change a: x\nfile f\nfind\none\nput\ntwo\nend\n"
                                 "change b: y\nfile g\nfind\nthree\nput\nfour\nend\n")
    apply = ROOT / "tools/apply-changes.py"
    (tmp / "f").write_text("one\n")
    for wrong in ("nothing\n", "three\nthree\n"):
        (tmp / "g").write_text(wrong)
        out = run(apply, tmp / "changes", tmp)
        check(out.returncode != 0 and "not once" in out.stderr, out.stderr)
        check((tmp / "f").read_text() == "one\n", "the other file was changed all the same")
    (tmp / "g").write_text("three\n")
    check(run(apply, tmp / "changes", tmp).returncode == 0, "refused a text that is there once")
    check((tmp / "f").read_text() + (tmp / "g").read_text() == "two\nfour\n", "not changed")


@test
def changes_add_a_file_of_ours_and_replace_none(tmp):
    (tmp / "changes").write_text("change a: x\nfile new.h\nfrom runtime/lane/lane.h\n")
    apply = ROOT / "tools/apply-changes.py"
    check(run(apply, tmp / "changes", tmp).returncode == 0, "the file was not added")
    check((tmp / "new.h").read_text() == (ROOT / "runtime/lane/lane.h").read_text(), "another file")
    out = run(apply, tmp / "changes", tmp)
    check(out.returncode != 0 and "is there already" in out.stderr, out.stderr)


class Engines:
    """tools/engines.py with a cache of its own and a cargo that does what the test says."""

    def __init__(self, tmp, cargo):
        self.build, self.cache = tmp / "build", tmp / "cache/carol/engines"
        self.bin = tmp / "bin"
        self.bin.mkdir(exist_ok=True)
        script(self.bin / "cargo", f"[ \"$1\" = --version ] && echo cargo 1.99.0 && exit\n{cargo}\n")
        self.env = {**os.environ, "PATH": f"{self.bin}:{os.environ['PATH']}",
                    "XDG_CACHE_HOME": str(tmp / "cache")}
        self.command = [str(ROOT / "tools/engines.py"), "--build", str(self.build)]

    def run(self, *more):
        return run(*self.command, *more, env=self.env)

    def entries(self):
        return [p.name for p in self.cache.glob("*") if p.name not in ("lock", "logs")]


@test
def engines_without_registry_say_so_and_leave_nothing(tmp):
    engines = Engines(tmp, "echo no answer from there >&2; exit 101")
    out = engines.run()
    check(out.returncode == 3, f"exit {out.returncode}")
    check("could not be fetched" in out.stdout and "no answer from there" in out.stdout, out.stdout)
    check(engines.entries() == [], str(engines.entries()))


@test
def engines_of_other_checksums_are_not_built(tmp):
    engines = Engines(tmp, 'for last; do :; done; for c in cargo-afl-common honggfuzz; do '
                           'mkdir -p "$last/$c"; '
                           'echo \'{"files":{},"package":"00"}\' >"$last/$c/.cargo-checksum.json"; done')
    out = engines.run()
    check(out.returncode == 3 and "not the one of engines/Cargo.lock" in out.stdout, out.stdout)
    check(engines.entries() == [], str(engines.entries()))


@test
def engines_killed_half_way_leave_no_entry(tmp):
    engines = Engines(tmp, f"touch '{tmp}/started'; sleep 30")
    with subprocess.Popen(engines.command, env=engines.env, start_new_session=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        deadline = time.monotonic() + 90
        while not (tmp / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
    check([n for n in engines.entries() if not n.startswith(".work-")] == [], "an entry is there")
    check(any(n.startswith(".work-") for n in engines.entries()), "it was not killed half way")
    Engines(tmp, "exit 1").run()
    check(engines.entries() == [], f"left behind: {engines.entries()}")


@test
def engines_in_the_cache_are_linked_without_cargo(tmp):
    engines = Engines(tmp, f"touch '{tmp}/called'; exit 1")
    key = engines.run("--print-key").stdout.strip()
    (engines.cache / key).mkdir(parents=True)
    (engines.cache / key / "engines.json").write_text("{}")
    out = engines.run()
    check(out.returncode == 0 and not (tmp / "called").exists(), out.stdout)
    check(os.readlink(engines.build / "engines") == str(engines.cache / key), "the link")


@test
def counting_sees_tests_that_never_ran(tmp):
    log = tmp / "log.json"
    rows = [{"name": "a", "result": "OK", "stdout": "1..2\nok 1 - x\nok 2 - y # SKIP z\n"},
            {"name": "b", "result": "OK", "stdout": "no tap"}]
    log.write_text("\n".join(json.dumps(r) for r in rows))
    out = run(ROOT / "tools/count-tests.py", log)
    check((out.returncode, out.stdout) == (0, "2 passed, 0 failed, 1 skipped\n"), out.stdout)
    rows.append({"name": "c", "result": "ERROR", "stdout": "1..3\nok 1\n"})
    log.write_text("\n".join(json.dumps(r) for r in rows))
    out = run(ROOT / "tools/count-tests.py", log)
    check(out.returncode == 1 and out.stdout.endswith("\n3 passed, 2 failed, 1 skipped\n"), out.stdout)


@test
def failures_are_told_with_their_reasons_at_the_end(tmp):
    said = "ok 1 - x\n# a remark\nnot ok 2 - y\n# it was 5\n# not 6\nok 3 - z\n# another remark\n"
    rows = [{"name": "good", "result": "OK", "stdout": "ok 1 - g\n1..1\n", "stderr": "chatter"},
            {"name": "bad", "result": "ERROR", "returncode": 1, "duration": 2.4, "stdout": said + "1..3\n"},
            {"name": "hung", "result": "TIMEOUT", "returncode": -15, "stdout": "ok 1 - first\n# begins the second\n"},
            {"name": "died", "result": "ERROR", "returncode": 1, "stdout": "ok 1 - f\n",
             "stderr": "Traceback\nKeyError"}]
    (tmp / "log.json").write_text("\n".join(json.dumps(r) for r in rows))
    out = run(ROOT / "tools/count-tests.py", tmp / "log.json").stdout
    check("FAILED bad: error, exit code 1, 2 s\nnot ok 2 - y\n# it was 5\n# not 6\n\n" in out, out)
    check("FAILED hung: timeout" in out and "# begins the second" in out and "\nTraceback\nKeyError\n" in out, out)
    check("remark" not in out and "good" not in out and out.splitlines()[-1] == "3 passed, 3 failed, 0 skipped", out)


@test
def layers_refuse_an_include_upwards(tmp):
    for name in ("base", "proc"):
        (tmp / "src" / name).mkdir(parents=True)
    (tmp / "runtime").mkdir()
    (tmp / "meson.build").write_text("foreach module : ['base', 'proc']\n")
    (tmp / "src/proc/a.c").write_text('#include "base/b.h"\n')
    (tmp / "src/base/b.h").write_text("")
    check(run(ROOT / "tools/lint-layers", tmp).returncode == 0, "refused a right one")
    (tmp / "src/base/b.h").write_text('#include "proc/a.h"\n')
    out = run(ROOT / "tools/lint-layers", tmp)
    check(out.returncode == 1 and "base may not use proc" in out.stdout, out.stdout)


@test
def docs_refuse_references_to_nothing(tmp):
    def lint():
        run("git", "-C", tmp, "add", "-A")
        return run(ROOT / "tools/lint-docs", tmp)
    (tmp / "docs").mkdir()
    (tmp / "docs/METHOD.md").write_text("# M\n\n## §1 One\n\n- **R1. First.** Yes.\n- **R2. Second.** No.\n")
    (tmp / "README.md").write_text("[one](docs/METHOD.md#1-one), `docs/METHOD.md`\n")
    (tmp / "a.c").write_text("/* METHOD §1, R1 and\n * R2 */\n")
    run("git", "init", "-q", tmp)
    check(lint().returncode == 0, "refused what is right: " + lint().stdout)
    gone = "docs/GONE" + ".md"  # in two parts: lint-docs reads this file too
    for name, text in (("README.md", f"[x]({gone})"), ("README.md", "[x](docs/METHOD.md#2-two)"),
                       ("README.md", "see `src/none.c`"), ("a.c", f"/* {gone} */"), ("a.c", "/* METHOD §2 */"),
                       ("a.c", "/* METHOD R1,\n * R3 */"), ("a.c", "/* " + "SPEC" + " 3 */")):
        was = (tmp / name).read_text()
        (tmp / name).write_text(text)
        out = lint()
        check(out.returncode == 1 and out.stdout.startswith(f"{name}:1: "), f"{text!r}: {out.stdout}")
        (tmp / name).write_text(was)
    (tmp / "docs/METHOD.md").write_text("## §1 One\n\n- **R2. Second.** No.\n")
    check(lint().returncode == 1, "took readings that are out of order")


sys.exit(run_all("carol-setup-", own=True))
