#!/usr/bin/env python3
"""carol stats on the command line: how groups are given, the fields of --json, and what is refused.

The figures themselves are checked in tests/unit/stats.c.

    stats.py CAROL
"""
import json
import random
import string
import subprocess
import sys
import tempfile
from pathlib import Path

from campaign_kit import Carol, Tap

CAROL, TAP = Carol(sys.argv[1]), Tap()
TEMP = Path(tempfile.mkdtemp(prefix="carol-stats-"))
TESTS = ["mwu", "a12", "holm", "sign", "resolution", "wilcoxon", "kendall", "mann-kendall", "theil-sen", "km",
         "friedman", "bootstrap"]


def ask(*args):
    code, text = CAROL.run("stats", *args, "--json", cwd=TEMP)
    return json.loads(text) if code == 0 else {"code": code, "text": text}


def gives(what, args, **want):
    got = ask(*args)
    wrong = {k: got.get(k, "missing") for k, v in want.items() if k not in got or not same(got[k], v)}
    head = got.get("schema") == 1 and got.get("test") == args[0] and {"statistic", "p", "n"} <= set(got)
    TAP.ok(head and not wrong, what, f"{wrong}\n{got}")


def same(a, b):
    if isinstance(b, float) and isinstance(a, (int, float)):
        return abs(a - b) <= 1e-9 * abs(b)
    if isinstance(b, list):
        return isinstance(a, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def refused(what, *args, has=()):
    code, text = CAROL.run("stats", *args, cwd=TEMP)
    TAP.ok(code == 2 and text.startswith("carol: ") and text.count("\n") <= 2 and all(w in text for w in has), what,
           f"{code}\n{text}")


def answers():
    gives("mwu", ["mwu", "1,2,3", "4,5,6"], statistic=0.0, p=0.080855598370052, p_exact=0.1, a12=0.0, n=6, sizes=[3, 3])
    gives("mwu of equal values", ["mwu", "4,4", "4"], statistic=1.0, p=1.0, p_exact=1.0, a12=0.5)
    gives("a12", ["a12", "1,2,3", "2,3,4"], a12=2 / 9, p=None, effect="large")
    gives("holm in the order given", ["holm", "0.04,0.01,0.5"], adjusted=[0.08, 0.03, 0.5], p=0.03, n=3)
    gives("sign", ["sign", "6", "0"], p=0.03125, statistic=6.0, n=6)
    gives("sign of nothing", ["sign", "0", "0"], p=1.0, n=0)
    gives("resolution", ["resolution", "5,5,5,5,5,5,5,5,5,5", "4,4,4,4,4,4,4,4,4,4"], resolution=0.6, resolved=True)
    gives("no resolution", ["resolution", "2,2", "1,2"], resolution=None, resolved=False)
    gives("resolution at another level", ["resolution", "--alpha", "0.35", "1,2", "3,4"], resolution=2.0)
    gives("wilcoxon of pairs is that of differences", ["wilcoxon", "5,7,9,3", "4,5,6,7"], **{
        k: ask("wilcoxon", "1,2,3,-4")[k] for k in ("statistic", "p", "p_exact", "n")})
    gives("kendall", ["kendall", "1,2,3,4", "1,3,2,4"], tau=2 / 3, p=1 / 3, exact=True)
    gives("kendall of equal values", ["kendall", "1,1,1", "1,3,2"], tau=None, p=None)
    gives("mann-kendall", ["mann-kendall", "1,2,3,4,7"], statistic=2.2045407685048604, slope=1.0)
    gives("mann-kendall of equal values", ["mann-kendall", "2,2,2"], statistic=0.0, p=1.0)
    gives("theil-sen over places", ["theil-sen", "1,3,5,100"], slope=17.5, p=None)
    gives("theil-sen over X", ["theil-sen", "0,10,20", "1,3,5"], slope=0.2, intercept=1.0)
    gives("friedman", ["friedman", "1,2,3", "2,3,4", "5,6,7"], statistic=6.0, ranks=[3.0, 2.0, 1.0], n=3)
    gives("bootstrap repeats", ["bootstrap", "1,2,3,9"], **{k: ask("bootstrap", "1,2,3,9", "--seed", "1")[k]
                                                          for k in ("low", "high", "statistic")})
    gives("km", ["km", "5,7+,9", "3,4,8"], medians=[9.0, 4.0], rmst=[7.0, 5.0], events=[2, 3], n=6)
    gives("km of censored times only", ["km", "5+,7+"], medians=[None], rmst=[7.0], until=7.0, p=None)
    curve = ask("km", "5,7+,9")["curves"][0]
    TAP.ok([(s["time"], s["at_risk"], s["events"], s["censored"]) for s in curve] ==
           [(5, 3, 1, 0), (7, 2, 0, 1), (9, 1, 1, 0)], "km: the curve", curve)


def inputs():
    (TEMP / "lines").write_text("4\n5\n\n 6 \r\n")
    (TEMP / "commas").write_text("1, 2,3\n")
    (TEMP / "odd:name").write_text("1,2,3")
    (TEMP / "runs.csv").write_text('target,"bugs, a",b\r\n"x ""y""",1,4\r\nz,2,5\r\nw,3,6\r\n')
    (TEMP / "bare.csv").write_text("1,4\n2,5\n3,6\n")
    (TEMP / "mark.csv").write_text("\ufeffa,b\n1,4\n2,5\n3,6")
    want = {k: ask("mwu", "1,2,3", "4,5,6")[k] for k in ("statistic", "p", "n")}
    for x, y in (("@commas", "@lines"), ("@odd:name", "4,5,6"), ("@runs.csv:bugs, a", "@runs.csv:b"),
                 ("@runs.csv:2", "@runs.csv:3"), ("@bare.csv:1", "@bare.csv:2"), ("@mark.csv:a", "@mark.csv:b"),
                 (" 1,2 , 3", "4e0,5.0,+6")):
        gives(f"groups {x} and {y}", ["mwu", x, y], **want)
    gives("a group that begins with a minus is no option", ["a12", "-1,-.5", "-2"], a12=1.0)
    gives("options may stand anywhere", ["theil-sen", "--json", "1,2"], slope=1.0)
    code, text = CAROL.run("stats", "mwu", "1,2,3", "4,5,6", cwd=TEMP)
    TAP.ok(code == 0 and "p_exact" in text and "0.1" in text and "Mann-Whitney" in text, "words for people", text)
    code, text = CAROL.run("stats", "--help")
    TAP.ok(code == 0 and all(f"\n  {t} " in text for t in TESTS), "--help names every test", text)


def wrong():
    (TEMP / "empty").write_text("\n")
    (TEMP / "words").write_text("bugs\n1\n")
    (TEMP / "binary").write_bytes(b"1\0002")
    (TEMP / "short.csv").write_text("a,b\n1,2\n3\n")
    (TEMP / "comma.csv").write_text("a,b\n1,2\n3,")
    refused("no test", has=["carol stats", "mwu"])
    refused("a test there is not", "mvu", "1", has=["'mvu'", *TESTS])
    refused("too few groups", "mwu", "1,2", has=["carol stats mwu X Y"])
    refused("too many groups", "holm", "1", "1", has=["carol stats holm P"])
    refused("an empty group", "mwu", "", "1", has=["no numbers"])
    refused("an empty file", "mwu", "@empty", "1", has=["@empty"])
    for bad in ("nan", "inf", "-inf,1", "1e999", "1,,2", "1,", "x", "1;2", "0.5.1", "5+"):
        refused(f"mwu of {bad}", "mwu", *(["--"] if bad[0] == "-" else []), bad, "1")
    refused("a file with words", "mwu", "@words", "1", has=["words, line 1", "'bugs'", "@FILE:COLUMN"])
    refused("a file that is no text", "mwu", "@binary", "1", has=["binary"])
    refused("no file", "mwu", "@nowhere", "1", has=["nowhere"])
    refused("a directory", "mwu", "@.", "1")
    refused("no column", "mwu", "@short.csv:c", "1", has=["'c'", "a, b"])
    refused("a column that ends early", "mwu", "@short.csv:b", "1", has=["record 3"])
    refused("a file that ends with a comma", "mwu", "@comma.csv:b", "1", has=["record 3"])
    refused("a p-value above 1", "holm", "0.1,1.5", has=["1.5"])
    refused("a count below 0", "sign", "--", "-1", "2", has=["'-1'"])
    refused("half a count", "sign", "1.5", "2", has=["'1.5'"])
    refused("pairs of different lengths", "kendall", "1,2,3", "1,2", has=["3", "2"])
    refused("one value is no series", "mann-kendall", "1", has=["at least 2"])
    refused("too long for all pairs", "mann-kendall", ",".join(["1"] * 10001), has=["10000"])
    refused("a time before the start", "km", "--", "-5", has=["before"])
    refused("beyond the last time", "km", "5,9", "--until", "10", has=["--until", "9"])
    refused("an option of another test", "mwu", "1", "2", "--seed", "3", has=["--seed"])
    refused("too many sums", "resolution", *(",".join(str(random.random()) for _ in range(20)) for _ in "xy"),
            has=["round"])


def garbage():
    """Whatever is typed: an answer or exit 2 with a message, nothing else."""
    rng = random.Random(5)
    odd = []
    for _ in range(150):
        words = [rng.choice([rng.choice(TESTS), "".join(rng.choices(string.printable[:95], k=rng.randrange(12))),
                             ",".join(rng.choice(("1", "-2", "1e99", "3+", "", "nan", "0")) for _ in range(rng.randrange(6))),
                             rng.choice(["--json", "--alpha=0.2", "--until", "--seed", "--", "@lines", "@runs.csv:b", "@:"])])
                 for _ in range(rng.randrange(6))]
        p = subprocess.run([CAROL.binary, "stats", *words], cwd=TEMP, capture_output=True, text=True, errors="replace",
                           timeout=60, check=False)
        if p.returncode not in (0, 2) or (p.returncode == 2) != bool(p.stderr) or (p.returncode == 0) != bool(p.stdout):
            odd.append((words, p.returncode, p.stderr[-300:]))
    TAP.ok(not odd, "150 command lines of garbage", odd)


def main():
    answers()
    inputs()
    wrong()
    garbage()
    TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
