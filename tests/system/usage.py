#!/usr/bin/env python3
"""Wrong words on the command line: the exit code says usage, one message names the word and what to type
instead, and nothing is left on disk.  And the help of every verb.

    usage.py CAROL SOURCE_ROOT
"""
import fcntl
import os
import pty
import re
import resource
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from campaign_kit import Carol, Tap

CAROL, ROOT = Carol(sys.argv[1]), Path(sys.argv[2])
TEMP = Path(tempfile.mkdtemp(prefix="carol-usage-"))
TAP = Tap()
VERBS = ["doctor", "build", "cover", "fuzz", "status", "triage", "explain", "replay", "sim", "stats", "bench", "engine"]
BELOW = {"sim": ["ensemble", "known", "prop1"], "bench": ["run", "table"], "engine": ["run", "selftest"]}
FUNCTION = "#include <stddef.h>\nint LLVMFuzzerTestOneInput(const unsigned char *p, size_t n) {return n > 2 && *p;}"
PROGRAM = "#include <stdio.h>\nint main(int n, char **v) {return n > 1 && fopen(v[1], \"r\") == NULL;}"


def refused(what, *args, has=()):
    code, text = CAROL.run(*args, cwd=TEMP, limit=90)
    lines = text.splitlines()
    TAP.ok(code == 2 and 0 < len(lines) <= 2 and all(x.startswith("carol: ") for x in lines) and
           all(word in text for word in has), what, f"{code}\n{text}")


def words_of(verb):
    return [[verb, sub] for sub in BELOW.get(verb, [])] or [[verb]]


def helps():
    code, text = CAROL.run("--help")
    TAP.ok(code == 0 and all(f"\n  {v} " in text for v in VERBS), "carol --help names every verb", text)
    for words in [w for v in VERBS for w in [[v]] + (words_of(v) if v in BELOW else [])]:
        code, text = CAROL.run(*words, "--help")
        wide = [x for x in text.splitlines() if len(x) > 100]
        TAP.ok(code == 0 and text.startswith("usage: carol ") and not wide,
               f"carol {' '.join(words)} --help fits a page", "\n".join(wide) or text)


def help_of_a_verb():
    same = CAROL.run("help", "fuzz") == CAROL.run("fuzz", "--help")
    TAP.ok(same, "carol help VERB is carol VERB --help")
    refused("help of no verb", "help", "fuz", has=["'fuz'", *VERBS])


def misspelt():
    refused("a verb there is not: all that are", "fuz", has=["'fuz'", *VERBS])
    for words in [w for v in VERBS for w in words_of(v)]:
        refused(f"carol {' '.join(words)}: a misspelt option is named", *words, "--jsno",
                has=["--jsno", f"carol {words[0]}"])


def missing():
    refused("fuzz without -o", "fuzz", has=["-o"])
    refused("fuzz without -b", "fuzz", "-o", "x", has=["-b", "carol build"])
    refused("fuzz with no fuzzer", "fuzz", "-b", "nowhere", "-o", "x", "-f", ",", has=["-f", "no fuzzer"])
    refused("fuzz on no build", "fuzz", "-b", "nowhere", "-o", "x", has=["nowhere", "carol build -o"])
    for verb in ("status", "explain", "replay"):
        refused(f"{verb} of nothing", verb, has=[f"carol {verb} OUT"])
        refused(f"{verb} of no campaign", verb, "nowhere", has=["nowhere", "carol fuzz -o"])
    refused("resuming no campaign", "fuzz", "--resume", "nowhere", has=["nowhere", "carol fuzz -o"])


def numbers():
    for option, value in (("-d", "5x"), ("-d", "-5"), ("-j", "0"), ("-T", "0"), ("-m", "2"), ("--turn", "0"),
                          ("--seed", "x"), ("--reward", "x"), ("-x", "no")):
        refused(f"fuzz {option} {value}", "fuzz", "-b", "function", "-i", "seed", "-o", "x", option, value,
                has=[option])
    for verb in BELOW["sim"][1:]:  # virtual time is nanoseconds in 64 bits
        refused(f"sim {verb} of too many turns", "sim", verb, "--turns", "100000000", has=["--turns"])


def arguments():
    """What follows -- must fit how the target is called: the fuzzers would run it otherwise than the judge."""
    refused("a function takes no arguments", "fuzz", "-b", "function", "-i", "seed", "-o", "x", "--", "-f", "@@",
            has=["is a function"])
    refused("a program that reads a file needs @@", "fuzz", "-b", "program", "-i", "seed", "-o", "x", "--", "-f",
            has=["@@"])
    refused("also alone", "engine", "run", "aflpp", "-b", "program", "-i", "seed", "--", "-f", has=["@@"])


def few_descriptors():
    """A limit too low: the message says which and what to type, before anything is begun."""
    for limit in (8, 16, 64):
        for words in (["fuzz", "-b", "function", "-i", "seed", "-o", "x"], ["cover", "-b", "function", "seed"],
                      ["engine", "selftest"], ["build", "-o", "x", "function.c"]):
            if limit < 64 or words[0] != "build":
                code, text = CAROL.run(*words, cwd=TEMP, limit=30, preexec_fn=lambda n=limit: resource.setrlimit(
                    resource.RLIMIT_NOFILE, (n, n)))
                TAP.ok(code == 3 and f"only {limit} files" in text and "ulimit -n" in text and
                       "carol build" not in text and text.count("\n") == 1,
                       f"{limit} descriptors are too few for {words[0]}", f"{code}\n{text}")
    code, text = CAROL.run("fuzz", "-b", "function", "-i", "seed", "-o", "x", "-j", "200", cwd=TEMP, limit=30,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096)))
    TAP.ok(code == 3 and "ulimit -n 5056" in text and "-j" in text, "200 workers need more than is usual", text)
    code, text = CAROL.run("cover", "-b", "function", "seed", cwd=TEMP, limit=30,
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096)))
    TAP.ok(code == 0, "a soft limit is raised", f"{code}\n{text}")


def schedulers_of_sim():
    for verb in BELOW["sim"]:
        refused(f"sim {verb}: a scheduler there is not, before any figure", "sim", verb, "-s", "equal,x",
                has=["scheduler x", "contextual"])


def on_a_terminal(words, columns, **env):
    """Exit code and what a terminal of that width is sent."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    p = subprocess.Popen([CAROL.binary, *words], cwd=TEMP, env={**CAROL.env, "CAROL_ENGINES": "/none", **env},
                         stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = b""
    try:
        while chunk := os.read(ours, 65536):
            sent += chunk
    except OSError:  # the other side is closed
        pass
    os.close(ours)
    return p.wait(), sent.decode()


def terminals():
    """Families whose engines are missing are listed with long reasons: a line that wraps would tear the picture."""
    words = ["build", "-o", "function", "function.c"]
    code, sent = on_a_terminal(words, 40, TERM="xterm")
    lines = re.sub(r"\033\[\d*[A-Z]", "", sent).replace("\r", "").split("\n")
    drawn = [x for x in lines if x.startswith("  ")]
    TAP.ok(code == 0 and len(drawn) > 4 and max(map(len, drawn)) < 40, "40 columns: no line of a picture wraps", sent)
    code, sent = on_a_terminal(words, 40, TERM="dumb")
    TAP.ok(code == 0 and "\033" not in sent, "TERM=dumb: no control sequences", repr(sent))


def main():
    (TEMP / "seed").write_text("abc")
    for name, source, more in (("function", FUNCTION, []), ("program", PROGRAM, ["--kind", "file"])):
        (TEMP / f"{name}.c").write_text(source)
        code, text = CAROL.run("build", "-o", name, "--families", "neutral", *more, f"{name}.c", cwd=TEMP)
        TAP.ok(code == 0, f"the {name} is built", text)
    helps()
    help_of_a_verb()
    misspelt()
    missing()
    numbers()
    arguments()
    few_descriptors()
    schedulers_of_sim()
    terminals()
    left = sorted(p.name for p in TEMP.iterdir())
    TAP.ok(left == ["function", "function.c", "program", "program.c", "seed"], "nothing was left on disk", left)
    TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
