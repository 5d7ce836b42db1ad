"""Campaigns as a user runs them: all six together, how they end, what they start from."""
import json
import os
import shutil
import signal
import subprocess
import time
import zipfile

from campaign_frame import (TEMP, TOTE, accounting_adds_up, carol, log_of, nothing_left, ok, replays, short,
                            tote, unfinished)
from campaign_kit import (COMMITTED, LATE, built_on_others, go_on_until, record, rows, segments, turns_done,
                          twice_imported, unharvested, wait_until)

STATUS_NAMES = {"schema", "state", "elapsed_s", "budget_s", "turns", "edges", "seeds", "crashes",
                "execs", "fuzzers", "slots"}
FUZZER_NAMES = {"turns", "active_s", "share", "first_edges", "last_reward", "offered", "taken",
                "exports", "crashes"}


def given_by_others(out):
    """How many finds of other fuzzers each was given."""
    return dict(rows(out, "SELECT i.fuzzer, count(*) FROM imports m JOIN seeds s ON s.id = m.seed JOIN"
                          " instances i ON i.id = m.instance WHERE s.instance IS NOT NULL GROUP BY 1"))


def exchanged(out):
    """All six ran, took imports and were given finds of others, on which somebody built."""
    ran = rows(out, "SELECT arm FROM turns WHERE id > 0 GROUP BY arm HAVING sum(execs) > 0 AND sum(taken) > 0")
    return len(ran) == len(given_by_others(out)) == 6 and built_on_others(out)


def ensemble():
    out, before = TEMP / "ensemble", segments()
    budget = 24
    p = carol.start("fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", f"{budget}s",
                    "--turn", "2s", "--seed", 1, "-s", "equal", log=TEMP / "ensemble.log")
    began = time.monotonic()
    wait_until(lambda: turns_done(out) >= 2)
    reader = record(out)
    reader.execute("BEGIN")
    frozen = reader.execute("SELECT count(*) FROM turns").fetchone()[0]
    live = carol.json("status", out, "--json")
    ok(live.get("state") == "running" and live.get("turns", 0) >= 2,
       "status works while it runs and says so", live)
    code, text = carol.run("status", out)
    ok(code == 0 and "running" in text, "status in words, while it runs", text)
    ok(wait_until(lambda: turns_done(out) >= frozen + 4), "a reader's long transaction stops nobody")
    ok(reader.execute("SELECT count(*) FROM turns").fetchone()[0] == frozen,
       "and that reader sees its moment unchanged")
    reader.close()
    try:
        code = p.wait(timeout=budget + 120)
    except subprocess.TimeoutExpired:
        code = "no end"
    took = time.monotonic() - began
    ok(code == 0, f"the campaign ends by itself with 0 ({took:.0f} s)", f"{code}\n{log_of('ensemble')}")
    s = carol.json("status", out, "--json")
    ok(s.get("state") == "ended" and s.get("schema") == 1 and STATUS_NAMES <= s.keys(),
       "status has the names of METHOD §18", s)
    code, text = go_on_until(lambda: exchanged(out), out, carol, 12)
    ok(code == 0, "where all six needed more time, it is resumed", f"{code}\n{text}")
    s = carol.json("status", out, "--json")
    arms = s["fuzzers"]
    ok(all(FUZZER_NAMES <= a.keys() for a in arms.values()), "and so has every fuzzer in it", arms)
    ok(len(arms) == 6, "all six take part", f"{sorted(arms)}\n{log_of('ensemble')}")
    ok(all(a["turns"] > 0 and a["execs"] > 0 for a in arms.values()), "every fuzzer gets turns", arms)
    ok(all(a["taken"] > 0 for a in arms.values()), "every fuzzer takes imports", arms)
    given = given_by_others(out)
    ok(given.keys() == arms.keys(), "and is given finds of others", given)
    heirs = built_on_others(out)
    ok(heirs, f"{len(heirs)} seeds are built on a seed of another fuzzer")
    ok(abs(sum(a["share"] for a in arms.values()) - 1) < 1e-6, "shares sum to one", arms)
    wrong = accounting_adds_up(s)
    ok(len(s["slots"]) == 2 and not wrong, "starting + fuzzing + measuring + idle = wall on both slots", s["slots"])
    ok(not unfinished(out), "every turn is committed", unfinished(out))
    ok(not twice_imported(out), "no instance imports a seed twice, or its own", twice_imported(out))
    left = unharvested(out)
    ok(not left, "every file the fuzzers kept is in the store", "\n".join(left))
    replays("ensemble", out)
    nothing_left("ensemble", before)


def interrupt(p, times=1, limit=90, pause=0.15):
    """Ctrl-C so many times, or until it is gone."""
    for i in range(times):
        if i:
            time.sleep(pause)
        if p.poll() is not None:
            break
        p.send_signal(signal.SIGINT)
    try:
        return p.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        p.kill()
        return "no end"


def ends():
    out, before = TEMP / "ends", segments()
    new = ["fuzz", "-b", tote(), "-i", TOTE / "seeds", "-o", out, "-j", 2, "--turn", "1s"]
    p = carol.start(*new, "-f", "aflpp,honggfuzz", log=TEMP / "ends.log")
    wait_until(lambda: turns_done(out) >= 2)
    for args in (new, ["fuzz", "--resume", out]):
        code, text = carol.run(*args, "-d", "2s")
        ok(code == 2 and ("running" in text or "already" in text or "in use" in text),
           f"a second '{' '.join(map(str, args[:2]))}' on it is refused", f"{code}\n{text}")
    code = interrupt(p)
    ok(code == 0, "Ctrl-C once ends it with 0", f"{code}\n{log_of('ends')}")
    nothing_left("Ctrl-C", before)
    ok(not rows(out, "SELECT id, state FROM turns WHERE state NOT IN (?, ?)", COMMITTED, LATE),
       "every turn of it is committed")
    was = carol.json("status", out, "--json")
    ok(was.get("state") == "interrupted", "status says interrupted", was)
    p = carol.start("fuzz", "--resume", out, "-d", "1h", log=TEMP / "ends.log")
    wait_until(lambda: turns_done(out) >= was["turns"] + 2)
    code = interrupt(p, 2)
    ok(code == 0, "Ctrl-C twice ends it", f"{code}\n{log_of('ends')}")
    nothing_left("Ctrl-C twice", before)
    was = carol.json("status", out, "--json")
    p = carol.start("fuzz", "--resume", out, "-d", "1h", log=TEMP / "ends.log")
    wait_until(lambda: turns_done(out) >= was["turns"] + 2)
    code = interrupt(p, 100000, pause=0.0002)
    ok(code == 0, "Ctrl-C to the very end ends it with 0, too", f"{code}\n{log_of('ends')}")
    now = carol.json("status", out, "--json")
    ok(now["elapsed_s"] > was["elapsed_s"] and now["turns"] > was["turns"]
       and now["execs"] > was["execs"] and now["edges"] >= was["edges"]
       and now["seeds"] >= was["seeds"], "clock and counters went on", f"{was}\n{now}")
    code, text = carol.run("fuzz", "--resume", out, "-d", f"{int(now['elapsed_s']) + 3}s")
    ok(code == 0 and not unfinished(out), "resumed after that, it finishes what was cut",
       f"{code}\n{text}")
    replays("ends", out)
    code, text = carol.run(*new[:6], TEMP / "crash-stop", "--turn", "1s", "-f", "honggfuzz",
                           "--stop-on-crash", "-d", "100s")
    ok(code == 1 and any((TEMP / "crash-stop" / "crashes").iterdir()),
       "--stop-on-crash ends with 1 and keeps the input", f"{code}\n{text}")
    for args in (["--resume", TEMP / "nowhere"], ["-b", tote(), "-i", TEMP / "none", "-o", TEMP / "n"],
                 ["-b", TEMP, "-o", TEMP / "n2"], ["-b", tote(), "-o", TEMP / "n3", "-f", "afl++"],
                 ["-b", tote()], ["-b", tote(), "-o", TEMP / "n4", "-j", "0"],
                 ["-b", tote(), "-o", TEMP / "n5", "-s", "best"]):
        code, text = carol.run("fuzz", *args, "-d", "2s")
        ok(code == 2 and text.strip(), f"wrong usage is 2 with a reason: fuzz {' '.join(map(str, args))}"
           .replace(str(TEMP), "TEMP"), f"{code}\n{text}")
    dictionaries()


def dictionaries():
    """One that no fuzzer can read: refused where the user gave it, left out where the build did."""
    own, bad, half = TEMP / "own-dict", TEMP / "bad.dict", TEMP / "half.zip"
    bad.write_text("a-b is no entry\n")
    half.write_bytes(b"PK\3\4 and no more")  # what is refused after it
    code, text = carol.run("fuzz", "-b", tote(), "-x", bad, "-i", half, "-o", TEMP / "n6")
    ok(code == 2 and "bad.dict" in text and "half.zip" not in text, "a dictionary without an entry is refused", text)
    shutil.copytree(tote(), own)
    manifest = json.loads((own / "carol-build.json").read_text())
    manifest["targets"][0]["dict"] = shutil.copy(bad, own / "own.dict").name
    (own / "carol-build.json").write_text(json.dumps(manifest))
    code, text = carol.run("fuzz", "-b", own, "-i", half, "-o", TEMP / "n7")
    ok(code == 2 and "without the build's own dictionary" in text and "half.zip" in text,
       "the build's own, which nobody asked for, is left out", f"{code}\n{text}")


def seeds():
    empty = TEMP / "empty"
    empty.mkdir()
    out, code, text = short("empty-out", tote(), "-i", empty, "-d", "2s", "-f", "aflpp")
    ok(code == 0 and "trivial" in text and turns_done(out) > 0,
       "an empty seed directory: one trivial seed and a warning", f"{code}\n{text}")
    with zipfile.ZipFile(TEMP / "tote_seed_corpus.zip", "w") as z:
        for f in sorted((TOTE / "seeds").iterdir()):
            z.write(f, f"corpus/{f.name}")
    afl = TEMP / "aflout" / "default" / "queue"
    (afl / ".state").mkdir(parents=True)
    (afl / ".state" / "not-a-seed").write_text("bookkeeping")
    (afl.parent / "fuzzer_setup").write_text("# environment variables:\n")
    (afl / "id:000000,time:0,execs:0,orig:a").write_text("from a queue")
    crashing = sorted((TOTE / "crashes").iterdir())[0]
    out, code, text = short("many-out", tote(), "-i", TEMP / "tote_seed_corpus.zip", "-i",
                            TEMP / "aflout", "-i", crashing, "-d", "2s", "-f", "aflpp")
    names = {os.path.basename(r[0]) for r in rows(out, "SELECT name FROM seeds WHERE turn IS NULL")}
    ok(code == 0 and {f.name for f in (TOTE / "seeds").iterdir()} <= names, "seeds from a zip",
       f"{names}\n{text}")
    ok("id:000000,time:0,execs:0,orig:a" in names and "not-a-seed" not in names and
       "fuzzer_setup" not in names, "seeds from an AFL output directory", names)
    ok(f"{crashing.name} is set aside" in text and any((out / "crashes").iterdir()),
       "a crashing seed is set aside and kept", text)
    given = rows(out, "SELECT s.name FROM imports m JOIN seeds s ON s.id = m.seed WHERE s.status NOT IN "
                      "(SELECT status FROM seeds WHERE name = 'extended' OR name LIKE '%/extended')"
                      " AND s.turn IS NULL")
    ok(not given, "and given to no fuzzer", given)
