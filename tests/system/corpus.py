#!/usr/bin/env python3
"""Inputs out of real campaigns and into them: `carol corpus`.  The minimal set is computed a second time here, from
the record and the definition in src/corpus/selection.h, and run by `carol cover`.

usage: corpus.py CAROL ROOT     prints TAP
"""
import hashlib
import shutil
import statistics
import sys
import time
from itertools import accumulate

from stage import Stage
from campaign_kit import go_on_until, rows, turns_done, wait_until

stage = Stage("corpus")
import fold

carol, ok, TOTE, TEMP = stage.carol, stage.ok, stage.tote, stage.temp
OUT, TWO, OTHER = TEMP / "out", TEMP / "two", TEMP / "other"
RAN, EXITED = 1, 2


def build():
    for name, flags in (("tote", []), ("wrapv", ["--", "-fstack-protector-all"])):
        stage.build("--families", "afl,hfuzz,neutral", name=name, flags=flags)


def fuzz(out, target, turns, running=lambda: None):
    p = carol.start("fuzz", "-b", TEMP / target, "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", "1h", "--turn", "0.4s",
                    "-f", "aflpp,honggfuzz", "--seed", 3, log=TEMP / "log")
    wait_until(lambda: turns_done(out) >= turns)
    running()
    p.terminate()
    p.wait()
    ok(turns_done(out) >= turns, f"a campaign runs ({out.name})", (TEMP / "log").read_text())


def while_it_runs():
    code, text = carol.run("corpus", OUT, "export", TEMP / "early")
    files = list((TEMP / "early").iterdir())
    ok(code == 0 and len(files) >= 3, "inputs are exported while the campaign runs", text)
    code, text = carol.run("corpus", OUT, "import", TOTE / "crashes")
    ok(code == 2 and "in use" in text, "nothing is imported while it runs", f"{code} {text}")


# --- the record, and the minimal set by its definition ---------------------------------------------------------------

def edges(blob):
    """LEB128 of the differences."""
    numbers, value, shift = [], 0, 0
    for byte in blob or b"":
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(value)
            value = shift = 0
    return set(accumulate(numbers))


def seeds(out, good=True):
    found = rows(out, "SELECT id, data, size, cpu_us, edges, status, turn, found_ns FROM seeds WHERE state = 2 ORDER BY id")
    return [s for s in found if s[5] in (RAN, EXITED) or not good]


def minimal(list_of):
    """Greedy by cost per new edge, then the dearest that are needless are dropped."""
    size, cpu = (max(1, statistics.median(s[k] for s in list_of)) for k in (2, 3))
    cost = {s[0]: 1 + s[2] / size + s[3] / cpu for s in list_of}
    sets = {s[0]: edges(s[4]) for s in list_of}
    covered, chosen = set(), []
    while True:
        price = {i: cost[i] / len(new) for i in sets if (new := sets[i] - covered)}
        if not price:
            break
        chosen.append(min(price, key=lambda i: (price[i], i)))
        covered |= sets[chosen[-1]]
    for i in sorted(chosen, key=lambda i: (-cost[i], -chosen.index(i))):
        if set().union(*(sets[k] for k in chosen if k != i)) == covered:
            chosen.remove(i)
    return chosen, covered


def covered_by(build, *dirs):
    return carol.json("cover", "-b", TEMP / build, "--json", *dirs).get("edges_covered")


def content_is_right(folder, datas):
    return {f.name: f.read_bytes() for f in folder.iterdir()} == {hashlib.sha1(d).hexdigest(): d for d in datas}


# --- checks ------------------------------------------------------------------------------------------------------------

def export():
    good, everything = seeds(OUT), rows(OUT, "SELECT data FROM seeds")
    code, text = carol.run("corpus", OUT, "export", TEMP / "all")
    ok(code == 0 and content_is_right(TEMP / "all", [s[1] for s in good]),
       "all that run through are exported, named by their SHA-1", text)
    code, text = carol.run("corpus", OUT, "export", TEMP / "any", "--any")
    ok(code == 0 and content_is_right(TEMP / "any", [s[0] for s in everything]) and len(everything) > len(good),
       "--any exports those that crash, too", text)
    r = carol.json("corpus", OUT, "export", TEMP / "half", "--since", "1s", "--json")
    late = [s for s in good if s[7] >= 10 ** 9]
    ok(content_is_right(TEMP / "half", [s[1] for s in late]) and 0 < len(late) < len(good)
       and r["left_out"]["not_asked_for"] > 0, "--since takes what was found later", r)
    arms = dict(rows(OUT, "SELECT id, arm FROM turns"))
    for name, arm in (("aflpp", 0), ("honggfuzz", 1), ("seeds", None)):
        mine = [s[1] for s in good if (arms.get(s[6]) if s[6] else None) == arm]
        r = carol.json("corpus", OUT, "export", TEMP / name, "-f", name, "--json")
        ok(mine and content_is_right(TEMP / name, mine) and {i["fuzzer"] for i in r["inputs"]} == {name},
           f"--fuzzer {name} takes what that one found", r)


def minimise():
    for more, good, what in (([], True, "those that run through"), (["--any"], False, "all")):
        chosen, covered = minimal(seeds(OUT, good))
        r = carol.json("corpus", OUT, "minimise", "--json", *more)
        ok([i["seed"] for i in r["inputs"]] == chosen and r["edges"] == len(covered),
           f"the minimal set of {what} is that of the definition, in its order", (chosen, r))
        dest = TEMP / f"min{len(more)}"
        code, text = carol.run("corpus", OUT, "export", dest, "--minimise", *more)
        measured = covered_by("tote", dest)
        ok(code == 0 and len(list(dest.iterdir())) == len(chosen) and measured == len(covered),
           f"it covers the same, by carol cover ({what})", f"{text}\n{measured} {len(covered)}")
    ok(measured == carol.json("status", "--json", OUT)["edges"], "with --any that is all the campaign has", measured)


def again():
    """Cut off, damaged and repeated: in the end each file is whole, and nothing else is touched."""
    folder, good = TEMP / "again", [s[1] for s in seeds(OUT)]
    for wait in (0.001, 0.004, 0.008, 0.012):
        p = carol.start("corpus", OUT, "export", folder)
        time.sleep(wait)
        p.kill()
        p.wait()
    for f in folder.glob("*.tmp-*"):
        f.unlink()
    whole = {hashlib.sha1(d).hexdigest(): d for d in good}
    there = {f.name: f.read_bytes() for f in folder.iterdir()} if folder.exists() else {}
    ok(all(whole.get(name) == data for name, data in there.items()), "an export killed with -9 leaves whole files only")
    folder.mkdir(exist_ok=True)
    first = next(iter(whole))
    (folder / first).write_bytes(b"torn")
    (folder / "own").write_bytes(b"mine")
    r = carol.json("corpus", OUT, "export", folder, "--json")
    ok(r["written"] + r["present"] == len(good) and r["written"] >= 1 and (folder / "own").read_bytes() == b"mine",
       "the next one writes what is missing or torn and leaves other files", {k: r[k] for k in ("written", "present")})
    (folder / "own").unlink()
    ok(content_is_right(folder, good), "then all of it is there")
    r = carol.json("corpus", OUT, "export", folder, "--json")
    ok((r["written"], r["present"]) == (0, len(good)), "repeated, it writes nothing", r["written"])


def bring():
    """Inputs into a copy of the campaign, one known, one twice, one that crashes, one too large."""
    shutil.copytree(OUT, TWO)
    give = TEMP / "give"
    give.mkdir()
    (give / "known").write_bytes((TOTE / "seeds" / "texts").read_bytes())
    (give / "one").write_bytes(b"TOTE imported")
    (give / "twin").write_bytes(b"TOTE imported")
    (give / "bug").write_bytes((TOTE / "crashes" / "bug3-ten-layers").read_bytes() + b"x")
    (give / "large").write_bytes(bytes(1 << 21))
    before = rows(TWO, "SELECT count(*) FROM seeds")[0][0]
    r = carol.json("corpus", TWO, "import", give, "--json")
    ok((r["inputs"], r["added"], r["too_large"]) == (4, 2, 1), "what is new is imported, once", r)
    ok(rows(TWO, "SELECT count(*) FROM seeds")[0][0] == before + 2, "it is in the record")
    r = carol.json("corpus", TWO, "import", give, "--json")
    ok(r["added"] == 0, "imported again, nothing is new", r)
    done = turns_done(TWO)
    code, text = go_on_until(lambda: turns_done(TWO) >= done + 4, TWO, carol, 4)
    ok(code == 0 and "1 of 2 imported inputs run through" in text, "--resume measures them", text)
    got = rows(TWO, "SELECT s.name, s.status, s.share IS NOT NULL, (SELECT count(*) FROM imports i WHERE i.seed = s.id),"
                    " t.arm, t.state, t.round > 0 FROM seeds s JOIN turns t ON t.id = s.turn WHERE s.instance IS NULL")
    status = {name: (code, shared) for name, code, shared, *_ in got}
    ok(status == {"one": (RAN, 1), "bug": (3, 0)} and all(g[4:] == (-1, 5, 1) for g in got),
       "they are nobody's, measured, and the good one is shared", got)
    ok(all(g[3] >= 1 for g in got if g[0] == "one"), "the fuzzers are given it", got)
    r = carol.json("replay", TWO, "--json")
    ok(r["decisions"] == r["matched"] and r["state_equal"], "every decision replays bit for bit", r)
    report = fold.judge(TWO, carol=stage.path)
    ok(not report.wrong and report.looks.get("imports by the user are nobody's"), "the oracle computes the same",
       report.text())
    code, text = carol.run("corpus", TWO, "export", TEMP / "imported", "-f", "imported")
    ok(code == 0 and content_is_right(TEMP / "imported", [b"TOTE imported"]), "--fuzzer imported takes them", text)


def merge():
    both = {s[1]: s for s in seeds(TWO)} | {s[1]: s for s in seeds(OUT)}
    r = carol.json("corpus", OUT, TWO, "export", TEMP / "both", "--json")
    ok(content_is_right(TEMP / "both", both) and r["left_out"]["same_content"] == len(seeds(OUT)),
       "two campaigns are merged, each content once", r["left_out"])
    union = set().union(*(edges(s[4]) for s in both.values()))
    r = carol.json("corpus", OUT, TWO, "minimise", TEMP / "few", "--json")
    ok(r["edges"] == len(union) == covered_by("tote", TEMP / "few"), "their minimal set covers what both cover",
       (r["edges"], len(union)))
    fuzz(OTHER, "wrapv", 2)
    code, text = carol.run("corpus", OUT, OTHER, "minimise")
    ok(code == 2 and "different neutral builds" in text and "-b DIR" in text,
       "campaigns of different builds are not compared", f"{code} {text}")
    code, text = carol.run("corpus", OUT, OTHER, "export", TEMP / "mixed")
    want = {s[1] for s in seeds(OUT)} | {s[1] for s in seeds(OTHER)}
    ok(code == 0 and content_is_right(TEMP / "mixed", want), "but exported together", text)
    code, text = carol.run("corpus", OUT, OTHER, "minimise", TEMP / "mixed-min", "-b", TEMP / "wrapv")
    ok(code == 0 and covered_by("wrapv", TEMP / "mixed-min") == covered_by("wrapv", TEMP / "mixed"),
       "measured again with -b their minimal set covers the same", text)


def mistakes():
    (TEMP / "file").write_text("x")
    (TEMP / "empty").mkdir()
    cases = [(["corpus"], 2, "which campaign"),
             (["corpus", OUT], 2, "which campaign"),
             (["corpus", OUT, "export"], 2, "where to"),
             (["corpus", TEMP / "empty", "export", TEMP / "x"], 2, "holds no campaign"),
             (["corpus", OUT, "export", TEMP / "file"], 2, "cannot export"),
             (["corpus", OUT, "export", TEMP / "x", "-f", "nobody"], 2, "aflpp, honggfuzz, seeds, imported"),
             (["corpus", OUT, "export", TEMP / "x", "--since", "soon"], 2, "--since"),
             (["corpus", OUT, "minimise", "-b", TEMP / "empty"], 2, "holds no build"),
             (["corpus", OUT, "import"], 2, "import what"),
             (["corpus", OUT, "import", TEMP / "nowhere"], 2, "nothing was imported"),
             (["corpus", OUT, TWO, "import", TOTE / "seeds"], 2, "one campaign")]
    for args, want, says in cases:
        code, text = carol.run(*args)
        ok(code == want and says in text, f"said: {' '.join(str(a) for a in args[1:]).replace(str(TEMP), '')}",
           f"{code} {text}")
    ok(not (TEMP / "x").exists(), "what is refused leaves nothing behind")


def main():
    build()
    fuzz(OUT, "tote", 10, while_it_runs)
    for check in (export, minimise, again, bring, merge, mistakes):
        check()


if __name__ == "__main__":
    sys.exit(stage.play(main))
