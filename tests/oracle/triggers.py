"""`carol analyze arrival` and `plateau` once more, from the definitions in docs/ANALYSES.md, in plain Python.

Shares nothing with the C code but the files: result.json of `carol bench run`, and records (analyses.read).
"""
import json
import math
from fractions import Fraction
from pathlib import Path

from analyses import holm, median, quantile, wilcoxon
from record import SIGNALS


# --- arrival ---------------------------------------------------------------------------------------------------------

def results(home):
    """In the order of the tables: by target, then ours before baselines before singles before rivals, then by name."""
    roles = ["ours", "ablation", "reward", "baseline", "single", "rival"]
    got = [json.loads(p.read_text()) for p in Path(home).glob("campaigns/*/result.json")]
    return sorted(got, key=lambda r: (r["target"], roles.index(r["role"]), r["contender"], r["trial"]))


def km_median(times):
    """times: (seconds, happened).  The first at which the product of the survivors is at most a half."""
    alive = 1.0
    for t in sorted({s for s, happened in times if happened}):
        risk = sum(s >= t for s, _ in times)
        alive *= 1 - sum(s == t and happened for s, happened in times) / risk
        if alive <= 0.5 + 1e-12:
            return t
    return None


def logrank(x, y):
    seen = variance = 0.0
    for t in sorted({s for s, happened in x + y if happened}):
        n, m = sum(s >= t for s, _ in x), sum(s >= t for s, _ in y)
        d = sum(s == t and happened for s, happened in x + y)
        seen += sum(s == t and happened for s, happened in x) - d * n / (n + m)
        if n + m > 1:
            variance += d * n * m * (n + m - d) / ((n + m) ** 2 * (n + m - 1))
    return math.erfc(abs(seen) / math.sqrt(2 * variance)) if variance > 0 else 1.0


def arrival(home, only=None):
    """(table, early and late) of a directory of `carol bench run`; only: these contenders, the first being the reference"""
    runs = [r for r in results(home) if not only or r["contender"] in only]
    contenders = only or list(dict.fromkeys(r["contender"] for r in runs))
    reference = contenders[0] if only or "contextual" not in contenders else "contextual"
    rows, kinds = {}, {}
    for target in dict.fromkeys(r["target"] for r in runs):
        bugs = sorted({b["id"] for r in runs for b in r["bugs"] if r["target"] == target and b["triggered"]})
        times = {(bug, who): [(b["triggered"]["cpu_s"], True) if b["triggered"] else (r["budget_s"], False)
                              for r in runs if (r["target"], r["contender"]) == (target, who)
                              for b in r["bugs"] if b["id"] == bug] for bug in bugs for who in contenders}
        for who in contenders:
            p = []
            for bug in bugs:
                x, y = times[bug, who], times[bug, reference]
                possible = x and y and 2 / math.comb(len(x) + len(y), len(x)) < 0.05
                p.append(logrank(y, x) if possible and who != reference else None)
            for bug, one, corrected in zip(bugs, p, holm(p)):
                x = times[bug, who]
                if not x:
                    continue
                at = km_median(x)
                budget = max(r["budget_s"] for r in runs if (r["target"], r["contender"]) == (target, who))
                rows[target, bug, who] = {"campaigns": len(x), "triggered": sum(h for _, h in x), "median_s": at,
                                          "campaign_pct": None if at is None else 100 * at / budget, "p": one,
                                          "p_holm": corrected}
        for bug in bugs:
            share = {w: Fraction(sum(h for _, h in times[bug, w]), len(times[bug, w])) for w in contenders if times[bug, w]}
            more = reference in share and all(share[reference] > v for w, v in share.items() if w != reference)
            kinds[target, bug] = "everywhere" if min(share.values()) == 1 else "more often" if more else "other"
            for who in contenders:
                if (target, bug, who) in rows:
                    rows[target, bug, who]["kind"] = kinds[target, bug]
    early = {}
    for kind in ("everywhere", "more often", "other"):
        for who in contenders:
            mine = [r["campaign_pct"] for (_, _, w), r in rows.items() if w == who and r["kind"] == kind]
            at = [v for v in mine if v is not None]
            early[kind, who] = {"bugs": len(mine), "medians": len(at), "earliest_pct": min(at, default=None),
                                "middle_pct": median(at), "latest_pct": max(at, default=None),
                                "after_first_quarter": sum(v > 25 for v in at), "in_last_quarter": sum(v > 75 for v in at)}
    return rows, early


# --- plateau ---------------------------------------------------------------------------------------------------------

def before(c, at_ns):
    """The last decision at or before a moment, or None."""
    found = [d for d in c.decisions if d.now <= at_ns]
    return found[-1] if found else None


def change(c, at_ns):
    """(moved, change, level) per signal over the sixteenth of the campaign before a moment, means over fuzzers; None: the
    campaign has no such stretch."""
    a, b = before(c, at_ns - c.elapsed // 16), before(c, at_ns)
    if a is None or b is a or at_ns > c.elapsed:
        return None
    rows = []
    for k in range(len(SIGNALS)):
        moved, step, level = [], [], []
        for arm in range(c.arms):
            values = [d.signals[arm][k] for d in c.decisions]
            mean = math.fsum(values) / len(values)
            sd = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
            off = (b.signals[arm][k] - a.signals[arm][k]) / sd if sd > 1e-6 else 0.0
            moved.append(abs(off) > 1)
            step.append(off)
            level.append((b.signals[arm][k] - mean) / sd if sd > 1e-6 else 0.0)
        rows.append([sum(v) / c.arms for v in (moved, step, level)])
    return rows


def plateau(camps, triggers):
    """triggers: per campaign {bug: seconds}."""
    def at(c, bug):
        return int(triggers[c.out][bug] * 1e9)
    cache = {}

    def seen(c, at_ns):
        if (c.out, at_ns) not in cache:
            cache[c.out, at_ns] = change(c, at_ns)
        return cache[c.out, at_ns]
    table = {}
    for name in ("all", "not in every campaign"):
        own, base = [], []
        for c in camps:
            mates = [o for o in camps if o.target == c.target]
            for bug in triggers[c.out]:
                if name != "all" and all(bug in triggers[o.out] for o in mates):
                    continue
                when = at(c, bug)
                mine = seen(c, when)
                if mine is None:
                    continue
                others = [seen(o, when) for o in mates if o is not c and not (
                    bug in triggers[o.out] and when - o.elapsed // 16 < at(o, bug) <= when)]
                others = [o for o in others if o is not None]
                own.append(mine)
                base.append([[sum(o[k][i] for o in others) / len(others) for i in range(3)] for k in range(len(SIGNALS))]
                            if others else None)
        if not own:
            continue
        p = []
        for k, signal in enumerate(SIGNALS):
            matched = [(o[k], b[k]) for o, b in zip(own, base) if b]
            p.append(wilcoxon([o[0] - b[0] for o, b in matched]) if matched else None)
            table[name, signal] = {
                "triggers": len(own), "moved_pct": 100 * math.fsum(o[k][0] for o in own) / len(own),
                "change": math.fsum(o[k][1] for o in own) / len(own), "level": math.fsum(o[k][2] for o in own) / len(own),
                "matched": len(matched),
                "base_moved_pct": 100 * math.fsum(b[0] for _, b in matched) / len(matched) if matched else None,
                "base_change": math.fsum(b[1] for _, b in matched) / len(matched) if matched else None}
        for signal, one, corrected in zip(SIGNALS, p, holm(p)):
            table[name, signal].update(p=one, p_holm=corrected)
    return table
