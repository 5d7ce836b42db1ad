"""Targets, fuzzers, users and disks as nobody wants them: the campaign goes on, or ends with a clear message."""
import os
import shutil
import subprocess
import time
from pathlib import Path

from campaign_frame import CAROL, TEMP, TOTE, build, carol, log_of, nothing_left, ok, replays, short, tap, tote
from campaign_kit import Carol, Witness, engines_of, go_on_until, rows, segments, turns_done, wait_until

HARNESS = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n" \
          "#include <string.h>\n#include <unistd.h>\n#include <sys/wait.h>\n" \
          "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n)\n{\n%s\n}\n"
NASTY = {
    "always": "if (n > 3 && d[0] == 'a') puts(\"a\");\nabort();",
    "leaky": "char *p = malloc(1 << 20);\nif (p) memset(p, 1, 1 << 20);\n"
             "return n > 3 && d[0] == 'a' && d[1] == 'b' && p ? p[0] == 2 : 0;",
    # says a lot, forks a child per input that outlives it, spins for ever on one input, never crashes
    "forks": "printf(\"%zu bytes\\n\", n); fflush(stdout);\n"
             "if (n == 8 && memcmp(d, \"HANGHANG\", 8) == 0) for (volatile int i = 0;; i++);\n"
             "if (fork() == 0) { usleep(20000); _exit(0); }\n"
             "while (waitpid(-1, 0, WNOHANG) > 0);\n"
             "return n > 2 && d[0] == 'x' ? 0 : 0;",
}


def nasty_target(name, families):
    source = TEMP / f"{name}.c"
    source.write_text(HARNESS % NASTY[name])
    return build(name, [source], families)


def turns_of(out):
    """How many turns each fuzzer finished."""
    return dict(rows(out, "SELECT i.fuzzer, count(*) FROM turns t JOIN instances i ON i.id = t.instance WHERE"
                          " t.state = 3 AND NOT t.died GROUP BY 1"))


def end_of(out):
    """Why its last run ended."""
    return rows(out, "SELECT text FROM events WHERE kind = 'end' ORDER BY id DESC LIMIT 1")


def nasty():
    before = segments()
    seed = TEMP / "one-seed"
    seed.mkdir()
    (seed / "hello").write_text("hello")
    (seed / "spin").write_text("HANGHANG")

    out, code, text = short("always-out", nasty_target("always", "afl,neutral"), "-i", seed / "hello",
                            "-d", "20s")
    ok(code not in (0, "no end") and "crashes" in text and "seed" in text,
       "a target that crashes on every input: ends with a clear message", f"{code}\n{text}")
    ok(len(list((out / "crashes").glob("*"))) == 1, "and the crashing seed is kept")
    code, text = carol.run("fuzz", "--resume", out)
    ok(code == 2 and "seed" in text and "-o" in text, "resumed it says so again, and what to do", f"{code}\n{text}")

    out, code, text = short("leaky-out", nasty_target("leaky", "afl,hfuzz,neutral"), "-i", seed / "hello",
                            "-d", "6s", "-m", "512M", "-f", "aflpp,honggfuzz", "-s", "equal")
    if code == 0:
        code, more = go_on_until(lambda: len(turns_of(out)) == 2, out, carol)
        text += more
    s = carol.json("status", out, "--json")
    ok(code == 0 and min(a["turns"] for a in s["fuzzers"].values()) > 0
       and not any(a["dropped"] for a in s["fuzzers"].values()),
       "a target that leaks 1 MB per input: the campaign goes on", f"{code}\n{text}\n{s}")
    code, text = carol.run("fuzz", "--resume", out)
    ok(code == 0 and "obeys" not in text and "-d" in text,
       "resumed without a new budget it says so, and tests no fuzzer for that", f"{code}\n{text}")

    out, code, text = short("forks-out", nasty_target("forks", "afl,neutral"), "-i", seed, "-f", "aflpp",
                            "--stop-on-plateau", "4s", "-d", "100s")
    s = carol.json("status", out, "--json")
    ok(code == 0 and s.get("turns", 0) > 0 and end_of(out) == [("plateau",)],
       "a target that forks, talks and never crashes; --stop-on-plateau ends it", f"{code}\n{text}\n{s}")
    ok(s.get("crashes") == 0, "and nothing is called a crash", s)
    ok("spin is set aside" in text and any((out / "hangs").glob("*")) and s.get("hangs", 0) >= 1,
       "its seed that hangs is set aside", f"{text}\n{os.listdir(out)}")
    nothing_left("nasty targets", before)

    engines = TEMP / "engines"
    shutil.copytree(engines_of(CAROL), engines)
    fake = engines / "honggfuzz" / "honggfuzz"
    fake.write_text("#!/bin/sh\necho 'no such luck' >&2\nexit 3\n")
    fake.chmod(0o755)
    out = TEMP / "dying"
    broken = {"CAROL_ENGINES": str(engines)}
    code, text = carol.run("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s",
                           "-f", "aflpp,honggfuzz", "-d", "7s", "-s", "equal", env=broken)
    if code == 0:
        code, more = go_on_until(lambda: turns_of(out).get("aflpp", 0) > 2, out, carol, env=broken)
        text += more
    s = carol.json("status", out, "--json")
    arms = s.get("fuzzers", {})
    ok(code == 0 and arms.get("honggfuzz", {}).get("dropped") and arms["honggfuzz"].get("why")
       and "honggfuzz is dropped" in text, "a fuzzer that dies every time is dropped with the reason",
       f"{code}\n{text}\n{arms}")
    ok(arms.get("aflpp", {}).get("turns", 0) > 2 and arms["honggfuzz"]["turns"] <= 3,
       "after three tries at most; the others go on", arms)
    replays("with a dropped fuzzer", out)
    out = TEMP / "dying-all"
    code, text = carol.run("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "--turn", "1s",
                           "-f", "honggfuzz", "-d", "20s", env=broken)
    ok(code not in (0, "no end") and "honggfuzz" in text and "dropped" in text,
       "when no fuzzer is left it ends with the reason", f"{code}\n{text}")
    nothing_left("dying fuzzers", before)


def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(b"\0" * 65536)
        except OSError:
            pass
        try:
            while True:
                f.write(b"\0")
        except OSError:
            pass


def full_disk():
    disk = TEMP / "disk"
    disk.mkdir()
    what = "disk full"
    mounted = os.geteuid() == 0 and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "none", disk], stderr=subprocess.DEVNULL,
        check=False).returncode == 0
    if not mounted:
        tap.skip(what, "mounting a small tmpfs needs root")
        return
    try:
        full_disk_on(disk, what)
    finally:
        carol.kill_all()
        time.sleep(0.2)
        subprocess.run(["umount", "-l", disk], check=False)


def full_disk_on(disk, what):
    out, before = disk / "out", segments()
    p = carol.start("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s", "-f",
                    "aflpp,honggfuzz", "-d", "1h", log=TEMP / "disk.log")
    wait_until(lambda: turns_done(out) >= 3)
    w = Witness(out)
    w.look()
    fill(disk / "filler")
    wait_until(lambda: w.look() or p.poll() is not None, every=0.1)
    code, text = p.poll(), log_of("disk")
    ok(code not in (0, None) and ("full" in text or "space" in text), f"{what}: ends with a clear message",
       f"{code}\n{text}")
    if code is None:
        p.kill()
        p.wait()
    nothing_left(what, before)
    (disk / "filler").unlink()
    lost = w.missing()
    ok(not lost, f"{what}: nothing acknowledged is lost", "\n".join(lost))
    was = turns_done(out)
    code, text = go_on_until(lambda: turns_done(out) > was, out, carol)
    arms = carol.json("status", out, "--json").get("fuzzers", {})
    ok(code == 0 and turns_done(out) > was and not w.missing(), f"{what}: with room again it goes on",
       f"{code}\n{text}\n{arms}")
    replays(what, out)


def ordinary_user():
    what = "an ordinary user"
    if os.geteuid() != 0:
        tap.skip(what, "we are one: everything above ran as one")
        return
    home, out = TEMP / "nobody", TEMP / "nobody" / "out"
    home.mkdir()
    own = shutil.copy(CAROL, home / "carol")  # where Carol and its engines are, only root may look
    shutil.copytree(Path(CAROL).parent / "runtime", home / "runtime",
                    ignore=shutil.ignore_patterns("*.p", "*.symbols"))
    shutil.copytree(engines_of(CAROL), home / "engines")
    seeds_of = shutil.copytree(TOTE / "seeds", home / "seeds")
    os.chown(home, 65534, 65534)
    user = Carol(own, HOME=str(home), CAROL_ENGINES=str(home / "engines"))
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    code, text = user.run("fuzz", "-b", tote(), "-i", seeds_of, "-o", out, "-j", 2, "--turn", "1s", "-d", "8s",
                          **nobody)
    if code == 0:
        code, more = go_on_until(lambda: len(turns_of(out)) == 6, out, user, **nobody)
        text += more
    s = carol.json("status", out, "--json")
    ok(code == 0 and len(s.get("fuzzers", {})) == 6
       and all(a["turns"] > 0 and not a["dropped"] for a in s["fuzzers"].values()),
       f"{what} runs all six", f"{code}\n{text}\n{s}")
    left = user.survivors()
    ok(not left, f"{what}: no process is left", left)
    user.kill_all()


def places():
    ordinary_user()
    full_disk()
