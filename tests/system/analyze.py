#!/usr/bin/env python3
"""carol analyze: every analysis against tests/oracle/analyses.py on the same journals, against planted truth both ways,
and what it says of campaigns that cannot answer.

    analyze.py CAROL RECORDS      (RECORDS: the program of tests/unit/records.c)
"""
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from campaign_kit import Carol, Tap

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import analyses  # noqa: E402
import triggers  # noqa: E402
from planted import Planter  # noqa: E402
from record import SIGNALS  # noqa: E402

CAROL, TAP = Carol(sys.argv[1]), Tap()
TEMP = Path(tempfile.mkdtemp(prefix="carol-analyze-"))
NAMES = ["predict", "features", "rank", "forget", "form", "influence", "transfer", "decay", "ranking", "drift", "plateau",
         "arrival", "allocation", "regret"]
ARMS = 4
AT = {name: i for i, name in enumerate(SIGNALS)}


def ask(name, *outs):
    """{table: [rows]}, or what was said instead."""
    code, text = CAROL.run("analyze", name, *outs, "--json", limit=300)
    if code:
        return {"code": code, "text": text}
    bad = [w for w in ("NaN", "Infinity", " nan") if w in text]
    TAP.ok(not bad, f"{name}: every number is one", f"{bad} in\n{text[:2000]}") if bad else None
    answer = json.loads(text)
    return {**{t["name"]: t["rows"] for t in answer["tables"]}, "notes": answer["notes"], "answer": answer}


def simulate(home, scheduler, n, seed, target, arms=ARMS, turns=180):
    code, text = CAROL.run("sim", "ensemble", "-k", arms, "-j", 3, "--turns", turns, "--edges", 1200, "-s", scheduler,
                           "--campaigns", n, "--seed", seed, "-o", home, limit=300)
    assert code == 0, text
    outs = sorted(p.parent for p in Path(home).glob("*/carol.db")) or [Path(home)]
    for out in outs if target != "simulated" else []:
        db = sqlite3.connect(out / "carol.db")
        db.execute("UPDATE settings SET value = ? WHERE key = 'target'", (target,))
        db.commit()
        db.close()
    return outs


def near(a, b, tolerance):
    if a is None or b is None:
        return a is b
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b)) if not isinstance(b, str) else a == b


def agrees(what, rows, keys, want, tolerance=1e-9, some=False):
    """Every wanted column of every row; some: of the wanted rows."""
    got = {tuple(r[k] for k in keys): r for r in rows}
    more = [] if some else [f"{key}: not in the oracle's table" for key in got if key not in want]
    wrong = [f"{key} {column}: {got.get(key, {}).get(column, 'missing')!r}, by the oracle {value!r}"
             for key, row in want.items() for column, value in row.items()
             if key not in got or not near(got[key].get(column), value, tolerance)]
    TAP.ok(want and not wrong and not more, f"{what}: {sum(len(r) for r in want.values())} cells as the oracle has them",
           "\n".join((wrong + more)[:20]) or "nothing to compare")


def by_oracle(a, b):
    outs = [*a, *b]
    camps = [analyses.read(o) for o in outs]
    model = ["target", "model"]
    for name in ("predict", "features", "forget"):
        got, want = ask(name, *outs), getattr(analyses, name)(camps)
        agrees(name, got[name], model, want)
        agrees(f"{name}, summary", got[f"{name}_summary"], ["model"], want.summary)
    agrees("forget, next turn", ask("forget", *a[:2])["next_turn"], model, analyses.next_turn(camps[:2]))
    got, ranks = ask("rank", *a), analyses.rank(camps[:len(a)])
    agrees("rank", got["rank"], model, ranks[0])
    agrees("rank, ridge chosen", got["rank_ridge"], model, ranks[1])
    form = ["target", "form", "updates"]
    agrees("form", ask("form", *outs)["form"], form, analyses.form(camps))
    table, differ = analyses.transfer(camps)
    got = ask("transfer", *outs)
    agrees("transfer", got["transfer"], model, table)
    agrees("transfer, decisions", got["decisions"], ["target"], differ)
    agrees("decay", ask("decay", *outs)["decay"], ["target"], analyses.decay(camps))
    one, two = analyses.ranking(camps)
    got = ask("ranking", *outs)
    agrees("ranking", got["ranking"], ["target", "windows"], one)
    agrees("ranking, leaders", got["leaders"], ["target", "windows"], two)
    got = ask("drift", *outs)
    agrees("drift", got["campaigns"], ["campaign"], analyses.drift(camps[:1]), some=True)
    agrees("drift, targets", got["drift"], ["target"], analyses.drift_targets(got["campaigns"]))
    agrees("allocation", ask("allocation", *outs)["allocation"], ["target", "contender"], analyses.allocation(camps))
    few = simulate(TEMP / "few", "random", 3, 5, "simulated", turns=60)
    agrees("regret", ask("regret", *few)["regret"], ["target", "policy"], analyses.regret([analyses.read(o) for o in few]),
           some=True)
    few = [*camps[:len(a)], camps[-1]]
    got = ask("influence", *(c.out for c in few))
    campaigns, signals, stable = analyses.influence(few)
    agrees("influence of campaigns", got["campaigns"], ["campaign", "signal"], campaigns)
    agrees("influence of signals", got["influence"], ["target", "signal"], signals)
    agrees("influence, stability", got["stability"], ["target"], stable)


def by_odd_records():
    """With void and late turns, deaths, dropped fuzzers and turns that complete out of order."""
    home = TEMP / "records"
    home.mkdir()
    subprocess.run([sys.argv[2], str(home), "late", "deaths"], check=True, stdout=subprocess.DEVNULL, timeout=200)
    for name in ("late", "deaths"):
        camp = analyses.read(home / name / "out")
        agrees(f"drift of {name}", ask("drift", camp.out)["campaigns"], ["campaign"], analyses.drift([camp]))
        agrees(f"allocation of {name}", ask("allocation", camp.out)["allocation"], ["target", "contender"],
               analyses.allocation([camp]))


def by_a_long_campaign(plant):
    """Long enough for 240 turns of a fuzzer, and for twelfths."""
    out, = plant.campaigns(TEMP / "long", 1, 1100, along("mk_z", 0.2))
    camp = [analyses.read(out)]
    agrees("form, long", ask("form", out)["form"], ["target", "form", "updates"], analyses.form(camp))
    one, two = analyses.ranking(camp)
    got = ask("ranking", out)
    agrees("ranking, long", got["ranking"], ["target", "windows"], one)
    agrees("leaders, long", got["leaders"], ["target", "windows"], two)
    TAP.ok({r["updates"] for r in ask("form", out)["form"]} == {12, 25, 40, 100, 240}
           and {r["windows"] for r in got["ranking"]} == {"halves", "quarters", "twelfths"}, "all volumes, all widths", got)


def by_explain(outs):
    """Influence is what `carol explain` says, which replays the whole journal with the target's table."""
    want = {}
    for out in outs:
        code, text = CAROL.run("explain", out, "--json")
        if code:
            TAP.ok(False, "carol explain", text)
            return
        want.update({(str(out), s["signal"]): {"influence_pct": 100 * s["share"]} for s in json.loads(text)["influence"]})
    agrees("influence", ask("influence", *outs)["campaigns"], ["campaign", "signal"], want)


# --- planted truth -------------------------------------------------------------------------------------------------

def noise(rng, part, arm, x):
    return 0.4 + 0.1 * rng.gauss(0, 1)


def along(signal, weight=0.15):
    return lambda rng, part, arm, x: noise(rng, part, arm, x) + weight * x[AT[signal]]


def says(table, **keys):
    return [r["says"] for r in table if all(r[k] == v for k, v in keys.items())]


def planted_prediction(plant):
    seen = ask("predict", *plant.campaigns(TEMP / "seen", 10, 240, along("rounds_since_improve")))["predict"]
    blind = ask("predict", *plant.campaigns(TEMP / "blind", 10, 240, noise))["predict"]
    TAP.ok(all(says(seen, model=m) == ["worse"] for m in ("history", "ctx_unc", "intercept")),
           "predict: a signal outside the history predicts, so less context is worse", seen)
    TAP.ok(len(blind) == 3 and not any(r["says"] == "worse" for r in blind),
           "predict: where nothing predicts, no model is worse than the full one", blind)
    alone = ask("features", TEMP / "seen")["features"]
    TAP.ok({r["model"] for r in alone if r["says"] == "worse"} == {"rounds_since_improve"},
           "features: the one signal that predicts, and no other", alone)
    seven = ask("features", *sorted((TEMP / "seen").iterdir())[:7])["features"]
    TAP.ok({r["says"] for r in seven} == {"too few"}, "features: of seven campaigns no result survives the correction", seven)
    none = ask("features", TEMP / "blind")["features"]
    TAP.ok(len(none) == 15 and not any(r["says"] == "worse" for r in none), "features: none, where none predicts", none)


def own_direction(rng, part, arm, x):
    return noise(rng, part, arm, x) + 0.15 * x[arm]


def planted_rank(plant):
    one = ask("rank", TEMP / "seen")["rank"]
    TAP.ok(says(one, model="rank 1") and says(one, model="rank 1") != ["worse"],
           "rank: one direction is enough where all fuzzers follow one", one)
    many = ask("rank", *plant.campaigns(TEMP / "many", 8, 240, own_direction))["rank"]
    TAP.ok(says(many, model="rank 1") == ["worse"] and says(many, model="rank 4") != ["worse"],
           "rank: one is not where each follows its own, four are", many)


def turning(rng, part, arm, x):
    """The weight changes its sign at every third."""
    return 0.5 + 0.05 * rng.gauss(0, 1) + (-0.2, 0.2)[int(3 * part) % 2] * x[3]


def planted_forget(plant):
    still = ask("forget", TEMP / "seen")["next_turn"]
    TAP.ok([r["says"] for r in still] == ["worse", "worse"], "forget: costs where nothing changes", still)
    moving = ask("forget", *plant.campaigns(TEMP / "turning", 8, 1500, turning))["next_turn"]
    TAP.ok(says(moving, model="0.995") == ["better"], "forget: helps where the relation turns", moving)


def planted_form(plant):
    line = ask("form", *plant.campaigns(TEMP / "line", 8, 1100, along("mk_z", 0.2)))["form"]
    TAP.ok(says(line, form="linear", updates=240) == ["better"], "form: linear wins where the truth is linear", line)
    flat = ask("form", TEMP / "blind")["form"]
    TAP.ok(says(flat, form="linear", updates=12) == ["worse"],
           "form: it loses where there is only noise to fit, with few turns", flat)


def planted_transfer(plant):
    def world(home, second):
        a = plant.campaigns(TEMP / home, 7, 240, along("g_sec"), target="first")
        b = plant.campaigns(TEMP / home, 7, 240, second, target="second", first=50)
        return ask("transfer", *a, *b)
    works = world("same", along("g_sec"))
    fails = world("opposite", along("g_sec", -0.15))
    TAP.ok([r["says"] for r in works["transfer"]].count("worse") == 0 and all(r["differ_pct"] < 25 for r in works["decisions"]),
           "transfer: works between targets with the same weights", works)
    TAP.ok([r["says"] for r in fails["transfer"]] == ["worse"] * 2 and all(r["differ_pct"] > 60 for r in fails["decisions"]),
           "transfer: fails between targets with opposite weights", fails)


def planted_course(plant):
    falls = plant.campaigns(TEMP / "falls", 7, 240, lambda rng, part, arm, x: (1 - part) * rng.random())
    rises = plant.campaigns(TEMP / "rises", 7, 240, lambda rng, part, arm, x: part * rng.random())
    fell, rose = ask("decay", *falls)["decay"][0], ask("decay", *rises)["decay"][0]
    TAP.ok(fell["falls_pct"] == 100 and 25 < fell["retained_pct"] < 42 and fell["p"] < 0.05, "decay: rewards that fall", fell)
    TAP.ok(rose["falls_pct"] == 0 and rose["retained_pct"] > 200, "decay: rewards that rise", rose)
    flips = plant.campaigns(TEMP / "flips", 8, 240, lambda rng, part, arm, x: noise(rng, part, arm, x)
                            + (0.2 if part < 0.5 else -0.2) * x[4])
    drifts, stays = ask("drift", *flips)["drift"][0], ask("drift", TEMP / "seen")["drift"][0]
    TAP.ok(drifts["fails"] >= 7 and drifts["p_holm"] < 1e-6, "drift: weights that turn round at half time", drifts)
    TAP.ok(stays["fails"] <= 2 and stays["p"] > 0.05, "drift: none where none was planted", stays)


def planted_order(plant):
    def level(rng, arm):
        return rng.random() * (arm + 1)
    same = ask("ranking", *plant.campaigns(TEMP / "order", 8, 480, lambda rng, part, arm, x: level(rng, arm)))["ranking"]
    turned = ask("ranking", *plant.campaigns(TEMP / "reversed", 8, 480, lambda rng, part, arm, x:
                                             level(rng, arm if part < 0.5 else ARMS - 1 - arm)))["ranking"]
    one, two = same[0], turned[0]
    TAP.ok(one["windows"] == "halves" and one["adjacent"] > 0.8 and abs(one["difference"]) < 0.1 and one["corrected"] > 0.9,
           "ranking: an order that stays", one)
    TAP.ok(two["adjacent"] < -0.5 and two["within"] > 0.8 and two["low"] > 1 and two["p_holm"] < 0.05,
           "ranking: an order that turns round at half time", two)


def planted_choices(plant):
    def half(rng, part):
        return 0 if part < 0.5 or rng.random() < 0.0 else rng.randrange(ARMS)
    row = ask("allocation", *plant.campaigns(TEMP / "shares", 6, 400, noise, choose=half))["allocation"][0]
    TAP.ok(row["q1_pct"] == row["q2_pct"] == 100 and row["q4_pct"] < 45 and row["p"] < 0.05, "allocation: from one fuzzer to all", row)
    def narrowing(rng, part):
        return 0 if part > 0.5 else rng.randrange(ARMS)
    other = ask("allocation", *plant.campaigns(TEMP / "narrow", 6, 400, noise, choose=narrowing))["allocation"][0]
    TAP.ok(other["q4_pct"] == 100 and other["q1_pct"] < 45 and other["change"] > 50 and other["p"] < 0.05,
           "allocation: from all to one fuzzer", other)
    still = ask("allocation", TEMP / "blind")["allocation"][0]
    TAP.ok(abs(still["change"]) < 5, "allocation: none that changes", still)
    rows = {r["policy"]: r for r in ask("regret", TEMP / "seen")["regret"]}
    best, alone = rows["highest prediction"], rows["single:" + next(p for p in rows if p.startswith("single:"))[7:]]
    TAP.ok(best["dr_low"] > rows["random, as it ran"]["dr_high"] and abs(alone["gain"]) < 0.03,
           "regret: following the signal that predicts would have earned more, one fuzzer alone not", rows)
    blind = {r["policy"]: r for r in ask("regret", TEMP / "blind")["regret"]}
    TAP.ok(abs(blind["highest prediction"]["gain"]) < 0.02, "regret: nothing to gain where nothing predicts", blind)
    arms = plant.campaigns(TEMP / "arms", 8, 400, lambda rng, part, arm, x: 0.2 * arm + 0.1 * rng.random())
    values = [r for r in ask("regret", *arms)["regret"] if r["policy"].startswith("single:")]
    TAP.ok(all(abs(r["dr"] - (0.2 * i + 0.05)) < 0.01 and r["dr_low"] - 0.01 < 0.2 * i + 0.05 < r["dr_high"] + 0.01
               for i, r in enumerate(values)), "regret: the worth of each fuzzer alone", values)
    told = ask("influence", *plant.campaigns(TEMP / "moves", 6, 240, along("slope", 0.25), signals=lambda rng, part, arm: [
        rng.gauss(0, 1) if i == AT["slope"] else 0.5 for i in range(15)]))["influence"]
    TAP.ok(told[0]["signal"] == "slope" and told[0]["influence_pct"] > 5 and all(r["influence_pct"] == 0 for r in told[1:]),
           "influence: of the one signal that moves, and none of the others", told)


# --- bugs ----------------------------------------------------------------------------------------------------------

def result(home, target, contender, trial, bugs, budget=1000.0, wall=24000.0):
    """home/campaigns/...: what `carol bench run` leaves; bugs: {id: seconds of CPU time, or None}"""
    place = Path(home) / "campaigns" / f"{target},{contender},{trial}"
    place.mkdir(parents=True, exist_ok=True)
    first = {k: v and {"exec": 1 + int(v), "cpu_s": float(v), "wall_s": float(v) * wall / budget} for k, v in bugs.items()}
    (place / "result.json").write_text(json.dumps({
        "schema": 1, "target": target, "contender": contender, "role": "ours" if contender == "contextual" else "baseline",
        "trial": trial, "seed": trial, "cores": 1, "attempts": 1, "first_ratio": 1.0, "definition": "planted",
        "budget_s": budget, "cpu_s": budget, "wall_s": wall, "ratio": 1.0, "execs": 1000, "inputs": 10, "edges_total": 100,
        "edges": [10] * 21, "wall_at_s": [wall * i / 20 for i in range(21)], "top_share": [0.5] * 4, "triggered": 1,
        "reached": 1, "area": 0.5, "bugs": [{"id": k, "reached": v, "triggered": v} for k, v in first.items()],
        "command": "none", "version": "0", "began": "2026-01-01T00:00:00Z", "host": "none"}))
    return place


def arrivals():
    home = TEMP / "bench"
    for who, late in (("contextual", 300), ("bandfuzz", 900)):
        for i in range(10):
            bugs = {"T001": 10 + i, "T002": late + 20 * i if late + 20 * i < 1000 else None, "T003": None}
            result(home, "tote", who, i + 1, bugs)
    for i in range(5):  # and one that only two of three ran, with ties
        for who, at in (("contextual", 100), ("equal", 120)):
            result(home, "other", who, i + 1, {"O1": at * (1 + i // 2), "O2": 700 if i > (who == "equal") else None, "O3": 5 + i})
    got = ask("arrival", home)
    if "arrival" not in got:
        TAP.ok(False, "arrival", got)
        return
    table, sums = triggers.arrival(home)
    agrees("arrival", got["arrival"], ["target", "bug", "contender"], table)
    TAP.ok(len(got["arrival"]) == len(table), "arrival: no other rows", got["arrival"])
    agrees("arrival, early and late", got["early_late"], ["kind", "contender"], sums)
    rows = {(r["bug"], r["contender"]): r for r in got["arrival"]}
    early = {(r["kind"], r["contender"]): r for r in got["early_late"]}
    TAP.ok(rows["T001", "contextual"]["median_s"] == 14 and rows["T001", "bandfuzz"]["p"] == 1.0
           and rows["T001", "contextual"]["kind"] == "everywhere", "arrival: an early bug that all trigger", rows)
    late = rows["T002", "bandfuzz"]
    TAP.ok(rows["T002", "contextual"]["median_s"] == 380 and late["triggered"] == 5 and late["median_s"] == 980
           and late["p_holm"] < 0.01 and ("T003", "bandfuzz") not in rows, "arrival: a late one that one triggers earlier", rows)
    TAP.ok(early["more often", "contextual"]["after_first_quarter"] == 2 and early["more often", "bandfuzz"]["in_last_quarter"] == 1
           and early["everywhere", "bandfuzz"]["latest_pct"] == 1.4, "arrival: early and late", early)
    two = ask("arrival", home, "--of", "equal,contextual")
    table, sums = triggers.arrival(home, ["equal", "contextual"])
    agrees("arrival of two, the first being the reference", two["arrival"], ["target", "bug", "contender"], table)
    agrees("arrival of two, early and late", two["early_late"], ["kind", "contender"], sums)
    TAP.ok(len(two["arrival"]) == len(table) and two["answer"]["campaigns"] == 20, "arrival of two: nobody else's", two["answer"])
    answer = got["answer"]
    TAP.ok(answer["campaigns"] == 30 and sorted(answer["targets"]) == ["other", "tote"], "arrival: of how many campaigns", answer)
    for who in ("contextual", "equal"):
        for i in range(3):
            result(TEMP / "three", "tote", who, i + 1, {"T001": 10 + i if who == "equal" else None})
    few = ask("arrival", TEMP / "three")["arrival"]
    TAP.ok(all(r["p"] is None for r in few), "arrival: no p of three campaigns against three", few)
    code, text = CAROL.run("analyze", "arrival", TEMP / "seen")
    TAP.ok(code == 2 and "does not know which bug" in text, "arrival: a campaign alone has no first triggers", text)


def looked_at(out, defects):
    """The record as after carol triage: {defect: seconds of campaign time}"""
    db = sqlite3.connect(out / "carol.db")
    db.execute("INSERT OR REPLACE INTO settings VALUES ('triage.build', 'b')")
    for i, (name, at) in enumerate(defects.items(), 1):
        db.execute("INSERT INTO crashes VALUES (?, 0, ?, 1, NULL, 1, NULL, 0, 11, 'x', ?, 0, x'00')",
                   (i, bytes([i]) * 32, int(at * 1e9)))
        db.execute("INSERT INTO triage VALUES (?, 'b', 1, ?, 'f', 'f.c', 1, 'x', 'e', '', 0, '', 0, 0, 1, 1, 5, 5, 11, 0, '', '')",
                   (i, name))
    db.commit()
    db.close()


def defects(plant):
    outs = plant.campaigns(TEMP / "triaged", 4, 400, noise, target="triaged", scheduler="contextual")
    outs += plant.campaigns(TEMP / "triaged", 4, 400, noise, target="triaged", scheduler="equal", first=20)
    for i, out in enumerate(outs):
        looked_at(out, {"a" * 16: 6000 + 60 * i, **({"b" * 16: 12000} if i < 3 else {})})
    rows = {(r["bug"][0], r["contender"]): r for r in ask("arrival", TEMP / "triaged")["arrival"]}
    TAP.ok(rows["a", "equal"]["median_s"] == 6300 and rows["b", "contextual"]["median_s"] == 12000
           and rows["b", "equal"]["triggered"] == 0 and rows["b", "equal"]["kind"] == "more often"
           and rows["b", "contextual"]["campaign_pct"] == 50, "arrival: of the defects that triage found", rows)
    got = ask("plateau", TEMP / "triaged")
    TAP.ok([r["triggers"] for r in got["plateau"] if r["signal"] == "mk_z"] == [11, 3], "plateau: of these defects", got)
    unknown = plant.campaigns(TEMP / "triaged", 4, 400, noise, target="triaged", scheduler="phase", first=40)
    for out in unknown:
        looked_at(out, {"a" * 16: 6000})
        db = sqlite3.connect(out / "carol.db")
        db.execute("DELETE FROM triage")
        db.commit()
        db.close()
    again = ask("plateau", TEMP / "triaged")
    TAP.ok(again["plateau"] == got["plateau"] and any("4 of 12" in n for n in again["notes"]),
           "plateau: campaigns that nobody looked at say nothing", again)


def the_papers_arrivals():
    """Its Table of times to trigger, all 16 rows: campaigns out of ten that trigger a bug, and the median in hours.  The text
    says: seven medians from 5.6 to 22.1 hours, median 13.6, five after the first quarter, one in the last."""
    bugs = {"SQL013": (3, 0, 0), "PDF021": (1, 0, 0), "SQL015": (1, 0, 0), "TIF001": (3, 0, 1), "SQL012": (3, 0, 1),
            "PDF008": (0, 0, 1), "TIF008": (8, 11.6, 2), "XML001": (5, 22.1, 2), "LUA001": (3, 0, 2), "LUA003": (3, 0, 2),
            "SQL020": (5, 15.1, 3), "XML009": (6, 13.7, 4), "PNG001": (10, 5.8, 6), "PDF012": (8, 5.6, 6),
            "PDF018": (10, 13.6, 8), "TIF002": (9, 10.1, 10)}
    for i in range(10):
        for who, column in (("contextual", 0), ("bandfuzz", 2)):
            result(TEMP / "paper", "magma", who, i + 1,
                   {b: (v[1] or 20) + 0.01 * (i - 4) if i < v[column] else None for b, v in bugs.items()}, budget=24.0)
    rows = {(r["kind"], r["contender"]): r for r in ask("arrival", TEMP / "paper")["early_late"]}
    row = rows["more often", "contextual"]
    TAP.ok(row["bugs"] == 14 and row["medians"] == 7 and row["after_first_quarter"] == 5 and row["in_last_quarter"] == 1
           and all(near(row[k], 100 * h / 24, 1e-9) for k, h in (("earliest_pct", 5.6), ("middle_pct", 13.6), ("latest_pct", 22.1))),
           "arrival: the paper's own table gives the paper's own words", row)
    TAP.ok(rows["other", "contextual"]["bugs"] == 2 and rows["everywhere", "contextual"]["bugs"] == 0,
           "arrival: and two that the baseline triggers more often", rows)


def told(out):
    """{bug: seconds by the clock} of the result beside a campaign"""
    bugs = json.loads((Path(out).parent / "result.json").read_text())["bugs"]
    return {b["id"]: b["triggered"]["wall_s"] for b in bugs if b["triggered"]}


def plateaus(plant):
    """400 turns of 60 s.  One signal jumps before a trigger, one at half time in every campaign, triggered or not."""
    home = TEMP / "bench-kept"

    def jumping(at):
        def signals(rng, part, arm):
            x = [0.1 * rng.gauss(0, 1) for _ in range(15)]
            x[AT["mk_z"]] += part > at - 0.02
            x[AT["g_bug"]] += part > 0.48
            return x
        return signals
    for i in range(18):
        triggered = i < 14
        at = 0.5 + 0.05 * (i % 3) if triggered else 2.0
        bugs = {"T001": 1000 * at if triggered else None, "T002": 640 + 10 * i, "T003": 30 if i % 2 else None}
        place = result(home, "tote", "random", i + 1, bugs)
        plant.campaign(place / "out", i + 1, 400, noise, signals=jumping(at), target="tote")
    got = ask("plateau", home)
    if "plateau" not in got:
        TAP.ok(False, "plateau", got)
        return
    camps = [analyses.read(p.resolve()) for p in sorted(home.glob("campaigns/*/out"))]
    plant.campaign(home / "campaigns/tote,random,99/out", 99, 50, noise, target="tote")
    TAP.ok(ask("decay", home)["answer"]["campaigns"] == 18, "a campaign of a benchmark that has no result is left out")
    agrees("plateau", got["plateau"], ["bugs", "signal"], triggers.plateau(camps, {c.out: told(c.out) for c in camps}))
    rows = {r["signal"]: r for r in got["plateau"] if r["bugs"] == "not in every campaign"}
    jump, clock, still = rows["mk_z"], rows["g_bug"], rows["slope"]
    TAP.ok(jump["triggers"] == 14 and jump["moved_pct"] == 100 and jump["base_moved_pct"] < 35 and jump["p_holm"] < 0.05
           and jump["change"] > 1, "plateau: a signal that jumps before triggers", jump)
    TAP.ok(clock["moved_pct"] > 30 and abs(clock["moved_pct"] - clock["base_moved_pct"]) < 15 and clock["p_holm"] > 0.05,
           "plateau: one that jumps at that time anyway is none", clock)
    TAP.ok(still["moved_pct"] > 0 and abs(still["moved_pct"] - still["base_moved_pct"]) < 30, "plateau: one that does nothing", still)
    code, text = CAROL.run("analyze", "plateau", TEMP / "seen")
    TAP.ok(code == 2 and "bench run --keep" in text, "plateau: a campaign without triggers says what it lacks", text)


# --- what cannot be answered --------------------------------------------------------------------------------------

def refused(what, *args, has=()):
    code, text = CAROL.run("analyze", *args)
    TAP.ok(code == 2 and text.startswith("carol: ") and all(w in text for w in has), what, f"{code}\n{text}")


def wrong(plant, a):
    refused("no analysis", has=["which analysis"])
    refused("an analysis there is not", "perdict", TEMP / "seen", has=["'perdict'", *NAMES])
    refused("no campaign", "predict", has=["carol analyze predict OUT"])
    refused("two forms", "predict", TEMP / "seen", "--json", "--csv", has=["give one"])
    refused("a directory without campaigns", "predict", TEMP / "bench", has=["no campaign", "--keep"])
    refused("no directory", "predict", TEMP / "nowhere", has=["nowhere"])
    refused("a campaign given twice", "predict", a[0], a[0], has=["twice"])
    refused("different rosters", "predict", TEMP / "seen", *plant.campaigns(
        TEMP / "roster", 1, 50, noise, settings=[("fuzzers", "f2,f1,f3,f4")]), has=["different fuzzers"])
    refused("builds of one target with different edges", "predict", TEMP / "seen", *plant.campaigns(
        TEMP / "grown", 1, 50, noise, build="other", settings=[("edges_total", "7")]), has=["different builds", "'planted'", " 7 edges"])
    code, text = CAROL.run("analyze", "predict", TEMP / "seen", *plant.campaigns(TEMP / "rebuilt", 1, 50, noise, build="other"))
    TAP.ok(code == 0 and "1 of" in text and "another build of their target" in text, "a target that was built again is noted",
           f"{code}\n{text}")
    refused("different rewards", "decay", TEMP / "seen", *plant.campaigns(
        TEMP / "other-reward", 1, 50, noise, settings=[("reward", "2")]), has=["rewarded in different ways"])
    mixed = ask("decay", TEMP / "a", "--of", "random")
    TAP.ok("decay" in mixed and mixed["answer"]["campaigns"] == 3, "--of takes the campaigns of a scheduler", mixed)
    refused("--of nobody", "decay", TEMP / "a", "--of", "nobody", has=["none of these 6 campaigns", "nobody", "random"])
    refused("--of with a slip", "decay", TEMP / "a", "--of", "random,contextuall", has=["'contextuall'", "contextual, random"])
    refused("--of nothing", "decay", TEMP / "a", "--of", ",", has=["--of takes names"])
    refused("two benchmarks", "arrival", TEMP / "bench", TEMP / "paper", has=["give that one alone"])
    refused("--of nobody, for arrival", "arrival", TEMP / "bench", "--of", "contextual,nobody", has=["'nobody'", "bandfuzz"])
    one = next((TEMP / "seen").iterdir())
    for name in ("predict", "features", "rank", "forget"):
        refused(f"{name} of one campaign", name, one, has=["one campaign only"])
    refused("transfer within one target", "transfer", TEMP / "seen", has=["'planted'", "two or more"])
    refused("regret without random campaigns", "regret", *plant.campaigns(TEMP / "notrandom", 2, 50, noise, scheduler="equal"),
            has=["random"])
    zero = plant.campaigns(TEMP / "zero", 3, 120, lambda *_: 0.0)
    for name in ("predict", "features", "rank", "forget", "decay", "ranking", "drift"):
        refused(f"{name} of rewards that are all 0", name, *zero)
    for name in ("form", "influence", "allocation"):
        got = ask(name, *zero)
        TAP.ok(name in got, f"{name} of rewards that are all 0 has an answer", got)
    dumb = plant.campaigns(TEMP / "dumb", 2, 60, noise, signals=lambda *_: [0.0] * 15)
    refused("a journal without contexts", "predict", *dumb, has=["no contexts"])
    short = plant.campaigns(TEMP / "short", 3, 9, noise)
    for name in ("form", "decay", "ranking", "drift"):
        refused(f"{name} of nine turns", name, *short, has=["too little data"])
    single = ask("regret", one)
    TAP.ok("regret" in single and all(r["ips_low"] is None and r["dr"] is None for r in single["regret"][1:]),
           "regret of one campaign: no interval, no model", single)
    few = ask("predict", *sorted((TEMP / "seen").iterdir())[:4])["predict"]
    TAP.ok([r["says"] for r in few] == ["too few"] * 3, "four campaigns are too few", few)
    newer, = plant.campaigns(TEMP / "newer", 1, 20, noise)
    db = sqlite3.connect(newer / "carol.db")
    db.execute("PRAGMA user_version = 99")
    db.close()
    refused("records of two versions", "decay", TEMP / "seen", newer, has=["newer", "version"])
    odd = plant.campaigns(TEMP / "odd", 3, 60, noise)
    for out, sql in zip(odd, ("UPDATE decisions SET data = x'09' || substr(data, 2) WHERE turn = 7",
                              "UPDATE turns SET reward = 9e999 WHERE id = 7",
                              "INSERT OR REPLACE INTO settings VALUES ('version.carol', '0.0.0')")):
        db = sqlite3.connect(out / "carol.db")
        db.execute(sql)
        db.commit()
        db.close()
    refused("a decision of another format", "decay", odd[0], has=[str(odd[0]), "turn 7", "leave this campaign out"])
    refused("a reward that is no number", "decay", odd[1], has=["turn 7", "no number"])
    mixed = ask("allocation", TEMP / "seen", odd[2])
    TAP.ok(any("another version of Carol" in n for n in mixed["notes"]), "campaigns of two versions of Carol: a note", mixed["notes"])
    mixed = ask("allocation", *plant.campaigns(TEMP / "options", 1, 60, noise, scheduler="contextual", settings=[("params", "explore=0")]),
                *plant.campaigns(TEMP / "options", 1, 60, noise, scheduler="contextual", first=9,
                                 settings=[("params", "explore=1"), ("jobs", "6"), ("budget_ns", "7")]))
    TAP.ok(any("different options" in n for n in mixed["notes"])
           and any("lengths and numbers of workers" in n for n in mixed["notes"]), "other options, lengths, workers: a note", mixed["notes"])
    two = [*plant.campaigns(TEMP / "apart", 1, 60, noise), *plant.campaigns(TEMP / "apart", 1, 60, noise, target="second")]
    never_nan({"one campaign": [one], "no rewards": zero, "no contexts": dumb, "nine turns": short, "two targets": two})
    mixed = ask("allocation", *a, TEMP / "shares")
    TAP.ok({r["target"] for r in mixed["allocation"]} == {"simulated", "planted"}, "targets are kept apart", mixed)


def never_nan(worlds):
    """Whatever cannot be answered is said, or is a dash."""
    wrong = []
    for what, outs in worlds.items():
        for name in NAMES:
            for form in ([], ["--json"], ["--csv"], ["--html"]):
                code, text = CAROL.run("analyze", name, *outs, *form)
                told = code == 2 and text.startswith("carol: ") and len(text) > 40
                if not told and (code or re.search(r"\b(nan|inf|infinity)\b", text, re.I)):
                    wrong.append(f"{name} {form}, {what}: {code}\n{text}")
    TAP.ok(not wrong, f"{len(worlds)} kinds of campaigns that say little: an answer or a reason, and no NaN", "\n".join(wrong))


def the_papers_tests():
    """Nine targets and six fuzzers: 135 tests of features, 54 of ranks, and Holm over as many as the paper says."""
    made = simulate(TEMP / "six", "random", 1, 3, "simulated", arms=6)
    plant, home = Planter(made[0], 6), TEMP / "nine"
    for t in range(9):
        plant.campaigns(home, 2, 60, along("slope", 0.05 * t), target=f"t{t}", first=10 * t + 1)
    features, ranks = ask("features", home)["features"], ask("rank", home)["rank"]
    TAP.ok(len(features) == 135 and len(ranks) == 54, "as many tests as the paper makes", (len(features), len(ranks)))
    for rows, what in ((features, "the 15 signals"), (ranks, "the six ranks")):
        wrong = [t for t in {r["target"] for r in rows}
                 if not all(near(r["p_holm"], h, 1e-9) for r, h in zip(
                     [r for r in rows if r["target"] == t], analyses.holm([r["p"] for r in rows if r["target"] == t])))]
        TAP.ok(not wrong, f"Holm over {what} of a target", wrong)


def forms():
    code, text = CAROL.run("analyze", "predict", TEMP / "seen")
    TAP.ok(code == 0 and "Wilcoxon" in text and "Holm over the targets" in text and "simulated" in text, "words for people", text)
    code, text = CAROL.run("analyze", "features", TEMP / "seen", "--csv")
    lines = [line for line in text.splitlines() if line.startswith(("table,target", "features,"))]
    TAP.ok(code == 0 and lines[0].startswith("table,target,model,campaigns,") and len(lines) == 16
           and all(line.count(",") == lines[0].count(",") for line in lines), "--csv", text)
    p = subprocess.run([CAROL.binary, "analyze", "features", TEMP / "seen", "--csv"], capture_output=True, text=True, check=False)
    TAP.ok("Wilcoxon" in p.stderr and "Holm over" in p.stderr and "Wilcoxon" not in p.stdout,
           "--csv: the tests and corrections are told beside the table", p.stderr)
    code, text = CAROL.run("analyze", "drift", TEMP / "seen", "--html")
    TAP.ok(code == 0 and text.startswith("<!DOCTYPE html>") and "<table>" in text
           and not re.search(r"src=|https?:(?!//www\.w3\.org/)|<link(?! rel=\"icon\" href=\"data:)|@import|url\(", text), "--html", text)
    code, text = CAROL.run("analyze", "--help")
    TAP.ok(code == 0 and all(f"\n  {n} " in text for n in NAMES), "--help names every analysis", text)
    one, two = (CAROL.run("analyze", "drift", TEMP / "seen", "--json", "-p", n) for n in (1, 2))
    TAP.ok(one == two and one[0] == 0, "the same answer on one core and on two", one[1][:300])


def main():
    a = simulate(TEMP / "a", "contextual,random", 3, 1, "simulated")
    b = simulate(TEMP / "b", "random", 4, 2, "two")
    plant = Planter(a[0], ARMS)
    by_oracle(a, b)
    by_odd_records()
    by_a_long_campaign(plant)
    by_explain([o for o in a if "contextual" in o.name])
    planted_prediction(plant)
    planted_rank(plant)
    planted_forget(plant)
    planted_form(plant)
    planted_transfer(plant)
    planted_course(plant)
    planted_order(plant)
    planted_choices(plant)
    arrivals()
    the_papers_arrivals()
    defects(plant)
    plateaus(plant)
    the_papers_tests()
    wrong(plant, a)
    forms()
    TAP.tidy(TEMP)
    return TAP.done()


if __name__ == "__main__":
    sys.exit(main())
