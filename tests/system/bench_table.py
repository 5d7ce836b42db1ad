#!/usr/bin/env python3
"""carol bench table: planted results whose figures are computed here a second time, in every form.  bench_table.py CAROL
SOURCE_ROOT.  Nothing runs.  TAP on stdout."""
import csv
import io
import json
import math
import random
import sys
import tempfile
from fractions import Fraction
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
from analyses import holm  # noqa: E402
from triggers import km_median  # noqa: E402

carol, ROOT, TAP = Carol(sys.argv[1]), Path(sys.argv[2]).resolve(), Tap()
check = TAP.ok
BUDGET, BUGS, TRIALS = 100.0, 6, 5
# Contender: role, how good it is; one is not run on the last target.
WHO = {"contextual": ("ours", 0.6), "phase": ("ours", 0.4), "no-context": ("ablation", 0.3), "no-words": ("ablation", 0.35),
       "ridge-1": ("ablation", 0.3), "ridge-10": ("ablation", 0.4), "frontier": ("reward", 0.5),
       "bandfuzz": ("baseline", 0.3), "legion": ("baseline", 0.35), "single:aflpp": ("single", 0.5),
       "single:mopt": ("single", 0.2), "bare": ("rival", 0.55)}
TARGETS = ["alpha", "beta", "gamma"]
# How the table knows whose ablation it is.
OPTIONS = {"contextual": "--scheduler contextual --paper", "phase": "--scheduler phase --paper",
           "no-context": "--scheduler contextual --paper --sched-opt context=intercept",
           "no-words": "--words none --scheduler phase --paper",
           "ridge-1": "--scheduler contextual --paper --sched-opt ridge=1",
           "ridge-10": "--scheduler contextual --paper --sched-opt ridge=10",
           "frontier": "--scheduler contextual --paper --reward frontier_branch"}


# --- results ---------------------------------------------------------------------------------------------------------

def write(home, target, contender, role, trial, bugs, edges, shares):
    """bugs: {id: (reached at, triggered at)}, None: never"""
    def first(at):
        return None if at is None else {"exec": 1 + int(10 * at), "cpu_s": at, "wall_s": at * 1.2}
    place = Path(home) / "campaigns" / f"{target},{contender.replace(':', '+')},{trial}"
    place.mkdir(parents=True)
    (place / "result.json").write_text(json.dumps({
        "schema": 1, "target": target, "contender": contender, "role": role, "trial": trial, "seed": trial, "cores": 1,
        "definition": f"carol fuzz {OPTIONS.get(contender, contender)}; planted", "budget_s": BUDGET, "cpu_s": BUDGET, "wall_s": 120.0, "ratio": 0.8, "attempts": 1,
        "first_ratio": 0.0, "execs": 1000 + trial, "inputs": 10, "edges_total": 500, "edges": edges,
        "wall_at_s": [6.0 * i for i in range(21)], "top_share": shares, "command": "none", "version": "v", "began": "b",
        "host": "h", "bugs": [{"id": k, "reached": first(r), "triggered": first(t)} for k, (r, t) in bugs.items()]}))


def plant(home):
    """{(target, contender): [campaign]} with campaign = {"bugs", "edges", "shares"}"""
    rng, all_of = random.Random(3), {}
    for target in TARGETS:
        for contender, (role, skill) in WHO.items():
            if (target, contender) == ("gamma", "bare"):
                continue
            for trial in range(1, TRIALS + 1):
                bugs = {}
                for b in range(BUGS):
                    reached = round(rng.uniform(1, 99), 2) if rng.random() < 0.9 - 0.1 * b else None
                    hit = reached is not None and rng.random() < skill + 0.4 - 0.12 * b
                    bugs[f"{target[0].upper()}{b + 1}"] = (reached, min(99.9, reached + rng.randrange(9)) if hit else None)
                edges = sorted(rng.randrange(50, 400) for _ in range(21))
                shares = [None] * 4 if role == "rival" else [round(rng.uniform(0.2, 1), 3) for _ in range(4)]
                write(home, target, contender, role, trial, bugs, edges, shares)
                all_of.setdefault((target, contender), []).append({"bugs": bugs, "edges": edges, "shares": shares})
    return all_of


# --- the figures, from their definitions -----------------------------------------------------------------------------

def mean(v):
    return math.fsum(v) / len(v)


def sd(v):
    return math.sqrt(math.fsum((x - mean(v)) ** 2 for x in v) / (len(v) - 1))


def triggered(c):
    return sum(t is not None for _, t in c["bugs"].values())


def a12(x, y):
    return sum((a > b) + 0.5 * (a == b) for a in x for b in y) / (len(x) * len(y))


def mwu(x, y):
    """Two-sided, normal, with tie and continuity corrections."""
    n, m = len(x), len(y)
    pool = x + y
    ties = sum(c ** 3 - c for c in (pool.count(v) for v in set(pool)))
    var = n * m / 12 * ((n + m + 1) - ties / ((n + m) * (n + m - 1)))
    if var <= 0:
        return 1.0
    off = max(0.0, abs(a12(x, y) * n * m - n * m / 2) - 0.5)
    return math.erfc(off / math.sqrt(2 * var))


def resolution(x, y):
    pool, n = x + y, len(x)
    gaps = [abs(Fraction(sum(pool[i] for i in pick), n) -
                Fraction(sum(pool) - sum(pool[i] for i in pick), len(y))) for pick in combinations(range(len(pool)), n)]
    good = [g for g in set(gaps) if sum(o >= g for o in gaps) <= Fraction(1, 20) * len(gaps)]
    return float(min(good)) if good else None


def sign(deltas):
    wins, losses = sum(d > 0 for d in deltas), sum(d < 0 for d in deltas)
    n = wins + losses
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(wins, losses) + 1)) / 2 ** n)


def shown(v, digits):
    return "-" if v is None else f"{v:.{digits}f}"


# --- what was printed ------------------------------------------------------------------------------------------------

def tables_of(text):
    """{title: [row: {heading: cell}]} of --csv-tables"""
    out = {}
    for block in text.strip().split("\n\n"):
        rows = list(csv.reader(io.StringIO(block)))
        out[rows[1][0]] = [dict(zip(rows[0][1:], r[1:])) for r in rows[1:]]
    return out


class Page(HTMLParser):
    """Titles, and the cells of every table."""

    def __init__(self):
        super().__init__()
        self.tables, self.titles, self.cell, self.heading, self.svg = [], [], None, None, 0

    def handle_starttag(self, tag, attrs):
        self.svg += tag == "svg"
        if tag == "table":
            self.tables.append([])
        elif tag in ("td", "th"):
            self.cell = ""
        elif tag == "h2":
            self.heading = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data
        if self.heading is not None:
            self.heading += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1].append(self.cell)
            self.cell = None
        elif tag == "h2":
            self.titles.append(self.heading)
            self.heading = None


def same(what, got, want):
    check(got == want, what, f"printed {got}\ncomputed {want}")


# --- tests -----------------------------------------------------------------------------------------------------------

def means(t, data):
    rows = {r["target"]: r for r in t["bugs triggered"]}
    same("mean ± sd", [[rows[x][c] for c in WHO] for x in TARGETS],
         [["-" if (x, c) not in data else f"{mean([triggered(r) for r in data[x, c]]):.2f} "
           f"±{sd([triggered(r) for r in data[x, c]]):.2f}" for c in WHO] for x in TARGETS])
    rows = {r["target"]: r for r in t["bugs reached"]}
    same("reached", [rows[x]["phase"] for x in TARGETS],
         [f"{mean(v):.2f} ±{sd(v):.2f}" for v in ([sum(r is not None for r, _ in c["bugs"].values()) for c in data[x, "phase"]]
                                                  for x in TARGETS)])
    area = t["bugs triggered, mean over the budget (area under the curve)"]
    same("area under the bug curve", [r["legion"] for r in area][:3], [f"{mean(v):.2f} ±{sd(v):.2f}" for v in (
        [sum(1 - at / BUDGET for _, at in c["bugs"].values() if at is not None) for c in data[x, "legion"]] for x in TARGETS)])
    rows = {(r["target"], r["contender"]): r for r in t["neutral edges of what was kept, mean, by CPU seconds used"]}
    same("edges at fixed times", [[rows[k][str(at)] for at in (0, 5, 25, 50, 75, 100)] for k in sorted(data)],
         [[shown(mean([c["edges"][at // 5] for c in data[k]]), 0) for at in (0, 5, 25, 50, 75, 100)] for k in sorted(data)])
    rows = {r["contender"]: r for r in t["largest share of one fuzzer, percent, by quarter of the campaign"]}
    same("largest share by quarter", [[rows[c][f"Q{q}"] for q in (1, 2, 3, 4)] for c in WHO if c != "bare"],
         [[shown(100 * mean([r["shares"][q] for x in TARGETS for r in data[x, c]]), 1) for q in range(4)]
          for c in WHO if c != "bare"])


def opponent(data, target, name):
    """The contender behind a name: itself, or the best of a role, the first on a tie."""
    role = {"strongest baseline": "baseline", "best single": "single", "best rival": "rival"}.get(name)
    if not role:
        return name if (target, name) in data else None
    able = [c for c in WHO if WHO[c][0] == role and (target, c) in data]
    return max(able, key=lambda c: mean([triggered(r) for r in data[target, c]])) if able else None


def duels(t, data):
    names = ["strongest baseline", "best single", "best rival", *(c for c in WHO if c != "contextual")]
    rows = {(r["against"], r["target"]): r for r in t["contextual against each, bugs"]}
    sums = {r["against"]: r for r in t["contextual over all targets, bugs"]}
    got, want, whole = [], [], []
    for name in names:
        met = [(x, opponent(data, x, name)) for x in TARGETS if opponent(data, x, name)]
        pairs = [([triggered(r) for r in data[x, "contextual"]], [triggered(r) for r in data[x, o]]) for x, o in met]
        ps = [mwu(a, b) for a, b in pairs]
        for (x, o), (a, b), p, h in zip(met, pairs, ps, holm(ps)):
            r, delta, least = rows[name, x], mean(a) - mean(b), resolution(a, b)
            told = h < 0.05 and least is not None and abs(delta) >= least
            got.append([r[k] for k in ("n", "mean", "other", "delta", "A12", "p", "p Holm", "resolution", "verdict")])
            want.append([f"{TRIALS}/{TRIALS}", shown(mean(a), 2), shown(mean(b), 2), f"{delta:+.2f}", shown(a12(a, b), 2),
                         shown(p, 4), shown(h, 4), shown(least, 2),
                         "resolved" if told else "equal" if delta == 0 else "direction only"])
        d = [mean(a) - mean(b) for a, b in pairs]
        ours, theirs = math.fsum(mean(a) for a, _ in pairs), math.fsum(mean(b) for _, b in pairs)
        whole.append(([sums[name][k] for k in ("targets", "sum", "other", "delta", "percent", "wins", "losses", "ties", "p sign")],
                      [str(len(met)), shown(ours, 2), shown(theirs, 2), f"{ours - theirs:+.2f}",
                       shown(100 * (ours / theirs - 1), 1), str(sum(v > 0 for v in d)), str(sum(v < 0 for v in d)),
                       str(sum(v == 0 for v in d)), shown(sign(d), 4)]))
    same("composites, delta, A12, Mann-Whitney with Holm, resolution, verdict", got, want)
    same("sums, gains and sign tests", [g for g, _ in whole], [w for _, w in whole])
    check("resolved" in [r[-1] for r in got] and "direction only" in [r[-1] for r in got], "some are resolved, some are not",
          [r[-1] for r in got])


SINGLES = ["single:aflpp", "single:mopt"]


def groups(t, data, reference, ablations, rewards):
    """The reference's own ablations and rewards, and every fuzzer alone."""
    for title, who in (("ablations", ablations), ("reward sweep", rewards), ("each fuzzer alone", SINGLES)):
        rows = t.get(f"{title}, bugs", [])
        ours = math.fsum(mean([triggered(r) for r in data[x, reference]]) for x in TARGETS)
        own = {c: math.fsum(mean([triggered(r) for r in data[x, c]]) for x in TARGETS) for c in who}
        same(f"{title} of {reference}", [[r[k] for k in ("contender", "sum", "delta", "percent")] for r in rows],
             [[c, shown(own[c], 2), f"{own[c] - ours:+.2f}", shown(100 * (own[c] / ours - 1), 1)] for c in who])


def bugs(t, data):
    got, want = [], []
    for x in TARGETS:
        for r in t[f"bugs of {x}: campaigns that triggered it, median CPU s"]:
            for c in WHO:
                got.append((r["bug"], c, r[c]))
                runs = [k["bugs"][r["bug"]] for k in data.get((x, c), [])]
                hit, near = sum(at is not None for _, at in runs), sum(at is not None for at, _ in runs)
                middle = km_median([(BUDGET, False) if at is None else (at, True) for _, at in runs])
                tail = f" {middle:.1f}" if middle is not None else f" r{near}" if near > hit else ""
                want.append((r["bug"], c, f"{hit}/{len(runs)}{tail}" if runs else "-"))
    same("per bug: campaigns, Kaplan-Meier medians, reached", got, want)


def ranks(t, data):
    whole = [x for x in TARGETS if all((x, c) in data for c in WHO)]
    rank = {c: 0.0 for c in WHO}
    for x in whole:
        v = {c: mean([triggered(r) for r in data[x, c]]) for c in WHO}
        for c in WHO:
            rank[c] += (sum(o > v[c] for o in v.values()) + (sum(o == v[c] for o in v.values()) + 1) / 2) / len(whole)
    rows = t[f"mean rank over {len(whole)} targets, bugs"]
    same("mean ranks of the critical-difference diagram", [(r["contender"], r["rank"]) for r in rows],
         [(c, shown(rank[c], 2)) for c in WHO])


def forms(home, t, text):
    code, plain = carol.run("bench", "table", home)
    check(code == 0 and all(f"{title}\n" in plain for title in t), "every table is in the text", plain[:600])
    code, said = carol.run("bench", "table", home, "--html", home / "page.html")
    page = Page()
    page.feed((home / "page.html").read_text())
    cells = [[c for r in csv.reader(io.StringIO(block)) for c in r[1:]] for block in text.strip().split("\n\n")]
    check(code == 0 and page.tables == cells, "every table is on the page, cell by cell", said)
    check(all(title in page.titles for title in t), "with its title", page.titles)
    same("figures: bugs, ranks, edges, and what is not triggered yet per target", page.svg, 3 + len(TARGETS))


def raw(home, data):
    code, text = carol.run("bench", "table", home, "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    same("a line per campaign", sorted((r["target"], r["contender"], int(r["bugs"]), int(r["edges"]), int(r["edges_q2"])) for r in rows),
         sorted((x, c, triggered(k), k["edges"][20], k["edges"][10]) for (x, c), v in data.items() for k in v))
    code, text = carol.run("bench", "table", home, "--csv-bugs")
    rows = list(csv.DictReader(io.StringIO(text)))
    same("a line per campaign and bug", sorted(float(r["triggered_cpu_s"]) for r in rows if r["triggered_cpu_s"]),
         sorted(round(at, 3) for v in data.values() for k in v for _, at in k["bugs"].values() if at is not None))


def listed(home, data):
    """--bugs: the others are as if nobody had looked for them, and a target may have none."""
    count, file = {"A2", "A5", "B1", "B3", "B6"}, home / "list.csv"
    file.write_text("id,target,grade\n" + "".join(f"{b},x,easy\n" for b in sorted(count | {"Q7"})))
    cells = carol.json("bench", "table", home, "--json", "--bugs", file)["cells"]
    got = {(c["target"], c["contender"]): (c["bugs"]["values"], c["reached"]["values"]) for c in cells if c["bugs"]["values"]}
    same("only the bugs of a list", got,
         {k: ([float(sum(t is not None and b in count for b, (_, t) in c["bugs"].items())) for c in v],
              [float(sum(r is not None and b in count for b, (r, _) in c["bugs"].items())) for c in v]) for k, v in data.items()})
    for form in ("--csv-tables", "--csv-bugs"):
        code, text = carol.run("bench", "table", home, form, "--bugs", file)
        there = {w for line in text.splitlines() for w in line.split(",") if len(w) == 2 and w[0] in "ABG" and w[1].isdigit()}
        check(code == 0 and there == count, f"{form} names no other", there)
    code, said = carol.run("bench", "table", home, "--html", home / "few.html", "--bugs", file)
    check(code == 0, "nor does the page need them", said)
    file.write_text("id\nQ7\n")
    code, said = carol.run("bench", "table", home, "--bugs", file)
    check(code == 2 and "list.csv" in said, "a list of another suite is refused", said)
    code, said = carol.run("bench", "table", home, "--bugs", home / "none.csv")
    check(code == 2 and "none.csv" in said, "and one that is not there", said)


# The paper's Table of edges: Method II above the strongest baseline on 5 targets, equal on 1, below on 3.
EDGES = {"ctx": [1469, 2496, 3889, 8954, 5126, 8500, 3945, 22242, 13101],
         "band": [1465, 2509, 3729, 8810, 5118, 8468, 3945, 22132, 12272],
         "autofz": [1467, 2462, 3714, 9210, 5127, 8469, 3944, 22089, 11597],
         "legion": [1463, 2439, 3669, 8276, 5144, 8452, 3944, 22201, 11236]}
# Its Table of bugs: campaigns of ten that trigger each; their sums are its means.
PERBUG = {"libpng": {"band": [10, 10, 10, 4], "autofz": [10, 10, 10, 2], "legion": [10, 10, 10, 6], "ctx": [10, 10, 10, 10]},
          "libtiff": {"band": [10, 10, 10, 4, 2, 1], "autofz": [10, 10, 10, 10, 0, 0], "legion": [10, 10, 10, 6, 0, 0],
                      "ctx": [10, 10, 10, 9, 8, 3]},
          "sqlite3": {"band": [10, 10, 10, 3, 1, 0, 0], "autofz": [10, 10, 10, 0, 0, 0, 0],
                      "legion": [10, 10, 10, 0, 0, 0, 0], "ctx": [10, 10, 10, 5, 3, 3, 1]}}


def the_papers(home):
    for who, edges in EDGES.items():
        for i, n in enumerate(edges):
            write(home / "edges", f"t{i}", who, "ours" if who == "ctx" else "baseline", 1, {"B": (1.0, None)}, [n] * 21, [1.0] * 4)
    t = carol.json("bench", "table", home / "edges", "--json", "--of", "ctx", "--measure", "edges")
    d = next(d for d in t["against"] if d["against"] == "strongest baseline")
    same("the paper's edges: above the strongest baseline, equal, below", (d["wins"], d["ties"], d["losses"]), (5, 1, 3))
    for target, rows in PERBUG.items():
        for who, hits in rows.items():
            for trial in range(1, 11):
                write(home / "bugs", target, who, "ours" if who == "ctx" else "baseline", trial,
                      {f"B{i}": (1.0, 2.0 if trial <= n else None) for i, n in enumerate(hits)}, [1] * 21, [1.0] * 4)
    cells = carol.json("bench", "table", home / "bugs", "--json", "--of", "ctx")["cells"]
    got = {(c["target"], c["contender"]): f"{c['bugs']['mean']:.1f}" for c in cells}
    same("the paper's counts per bug give its means", [got[k, w] for k in PERBUG for w in ("ctx", "band", "autofz", "legion")],
         ["4.0", "3.4", "3.2", "3.6", "5.0", "3.7", "4.0", "3.6", "4.2", "3.4", "3.0", "3.0"])
    _, text = carol.run("bench", "table", home / "bugs", "--of", "ctx", "--csv-tables")
    row = tables_of(text)["bugs of libtiff: campaigns that triggered it, median CPU s"][4]
    same("and come out as they went in", [row[w].split("/")[0] for w in ("ctx", "band", "autofz", "legion")], ["8", "2", "0", "0"])


def main():
    home = Path(tempfile.mkdtemp(prefix="carol-bench-table-"))
    data = plant(home / "planted")
    code, text = carol.run("bench", "table", home / "planted", "--csv-tables")
    if check(code == 0, "the tables as CSV", text):
        t = tables_of(text)
        means(t, data)
        duels(t, data)
        groups(t, data, "contextual", ["no-context", "ridge-1", "ridge-10"], ["frontier"])
        for reference, ablations in (("phase", ["no-words"]), ("ridge-1", [])):
            _, other = carol.run("bench", "table", home / "planted", "--csv-tables", "--of", reference)
            groups(tables_of(other), data, reference, ablations, [])
        bugs(t, data)
        ranks(t, data)
        forms(home / "planted", t, text)
        raw(home / "planted", data)
        listed(home / "planted", data)
    the_papers(home)
    TAP.tidy(home)
    return TAP.done()


sys.exit(main())
