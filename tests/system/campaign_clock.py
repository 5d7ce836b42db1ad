"""The wall clock is set while a campaign runs."""
import signal
import time
from pathlib import Path

from campaign_frame import CAROL, TEMP, TOTE, accounting_adds_up, carol, log_of, nothing_left, ok, tote, whole
from campaign_kit import Stalls, Witness, engines_of, go_on_until, rows, segments, turns_done, wait_until
from wall_clock import HOUR, WallClock


def set_clocks(p, out, wall, witness, steps):
    """Moves the clock by each step in mid-campaign; the turns done at each of them."""
    at = []
    for by in steps:
        more = turns_done(out) + 4
        wait_until(lambda: witness.look() or turns_done(out) >= more)  # pylint: disable=cell-var-from-loop
        wall.step(by)
        at.append(turns_done(out))
        loaded = p.poll() is None and str(wall.library) in Path(f"/proc/{p.pid}/maps").read_text()
        ok(loaded and wall.works(), f"the clock is set by {by / HOUR:+.0f} h in mid-campaign",
           f"{loaded} {p.poll()} {log_of('clock')}")
    return at


def execs_after(out, turn):
    """Executions in turns after that one, by fuzzer."""
    return dict(rows(out, "SELECT i.fuzzer, sum(t.execs) FROM turns t JOIN instances i ON i.id = t.instance"
                          " WHERE t.id > ? AND t.execs > 0 GROUP BY 1", turn))


def both_took(out):
    return len(rows(out, "SELECT arm FROM turns WHERE taken > 0 GROUP BY 1")) == 2


def hangs_after(out, done):
    """Those of turns that ran on when so many turns were done, and of later ones."""
    return rows(out, "SELECT c.name, t.id FROM crashes c JOIN turns t ON t.id = c.turn WHERE c.hang"
                     " AND t.parked_ns > (SELECT end_ns FROM turns WHERE round = ?)", done)


def ages(out):
    """Milliseconds after its own start at which afl-fuzz found each entry, as it says."""
    names = [f.name for f in (out / "fuzzers").glob("*/out/default/*/id:*")]
    return [int(n.split(",time:")[1].split(",")[0]) for n in names if ",time:" in n]


def clock():
    out, before = TEMP / "clock", segments()
    wall, w, stalls = WallClock(TEMP / "wall"), Witness(out), Stalls()
    env = {**wall.env, "LD_PRELOAD": str(wall.library), "CAROL_ENGINES": str(wall.engines(engines_of(CAROL)))}
    builds = tote()
    wall.step(HOUR // 2)  # wrong from the start, so that each program's first look shows which clock it reads
    began = time.monotonic()
    p = carol.start("fuzz", "-b", builds, "-i", TOTE / "seeds", "-o", out, "-j", 2, "-d", "10m",
                    "--turn", "1s", "-s", "equal", "-f", "aflpp,honggfuzz", log=TEMP / "clock.log", env=env)
    wait_until(lambda: w.look() or turns_done(out))
    first = time.monotonic()
    at = set_clocks(p, out, wall, w, (-HOUR, 2 * HOUR))
    wait_until(lambda: w.look() or (len(execs_after(out, at[-1])) == 2 and both_took(out)) or p.poll() is not None)
    least = time.monotonic() - first
    p.send_signal(signal.SIGINT)
    wait_until(lambda: w.look() or p.poll() is not None)
    took = time.monotonic() - began
    read = {name: wall.seen(name) for name in ("carol", "afl-fuzz", "honggfuzz")}
    ok(all(HOUR // 2 in x for x in read.values()), "Carol and the fuzzers read that clock", read)
    ok(p.poll() == 0, "it goes on to its end", f"{p.poll()}\n{log_of('clock')}")
    s = carol.json("status", out, "--json")
    ok(not w.backwards and least <= s["elapsed_s"] <= took, "elapsed time is the true one",
       f"{w.backwards} {least} {s['elapsed_s']} {took}")
    late = execs_after(out, at[-1])
    ok(late.keys() == {"aflpp", "honggfuzz"}, "both go on after each", late)
    made_up = hangs_after(out, at[0] - 1)  # a turn may have ended between the first step and the count
    ok(len(made_up) <= stalls.count, "no hang is made up", f"the machine stood still {stalls.count} times\n{made_up}\n{s}")
    ok(ages(out) and max(ages(out)) <= 1000 * took, "no find is hours old", ages(out))
    ok(all(a["taken"] > 0 for a in s["fuzzers"].values()), "imports are taken", s["fuzzers"])
    ok(not accounting_adds_up(s), "starting + fuzzing + measuring + idle = wall", s["slots"])
    whole("clock", out, w)
    wall.step(-3 * HOUR)
    code, text = go_on_until(lambda: turns_done(out) > s["turns"], out, carol, env=env)
    ok(code == 0 and turns_done(out) > s["turns"], "set back once more, it is resumed", f"{code}\n{text}")
    whole("clock, resumed", out, w)
    nothing_left("clock", before)
