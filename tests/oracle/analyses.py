"""The analyses of `carol analyze` once more, from the definitions in docs/ANALYSES.md, row by row and in plain Python.

Shares nothing with the C code but the record.  Every function takes campaigns (read) and gives {key: {column: value}}
for the table of that name; the test compares what is there.
"""
import math
import sqlite3
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vectors"))
from oracle import Stream  # noqa: E402
import replays  # noqa: E402
from record import COMMITTED, SIGNALS, decision  # noqa: E402

HISTORY = {"win_mean", "win_var", "slope", "mk_z", "horizon_ratio", "horizon2_ratio", "horizon8_ratio", "cov_velocity"}
LAMBDA = 10.0


# --- reading -------------------------------------------------------------------------------------------------

def standardised(raw, past):
    """past: earlier values of each signal."""
    x = []
    for k, v in enumerate(raw):
        seen = [p[k] for p in past]
        n = len(seen)
        mean = math.fsum(seen) / n if n else 0
        var = math.fsum((s - mean) ** 2 for s in seen) / (n - 1) if n > 1 else 0
        x.append(max(-5.0, min(5.0, (v - mean) / math.sqrt(var))) if var >= 1e-12 else 0.0)
    return x


def read(out):
    db = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True)
    s = dict(db.execute("SELECT key, value FROM settings"))
    decisions = {t: decision(d) for t, d in db.execute("SELECT turn, data FROM decisions")}
    names = [c[0] for c in db.execute("SELECT * FROM turns LIMIT 1").description]
    turns = [SimpleNamespace(**dict(zip(names, r))) for r in db.execute("SELECT * FROM turns ORDER BY id")]
    elapsed = db.execute("SELECT elapsed_ns FROM clock").fetchone()[0]
    db.close()
    c = SimpleNamespace(out=str(out), target=s.get("target") or "unknown", scheduler=s["scheduler"], contender=s["scheduler"], seed=int(s["seed"]),
                        arms=len(s["fuzzers"].split(",")), fuzzers=s["fuzzers"].split(","), turns=[], decisions=[],
                        elapsed=elapsed, turn_ns=int(s["turn_ns"]), grams={})
    done = sorted((t for t in turns if t.round > 0), key=lambda t: t.round)
    past, at = [[] for _ in range(c.arms)], 0
    by_id = {}

    def complete(t):
        if t.state != COMMITTED:
            return
        d = by_id[t.id]
        past[t.arm].append(d.signals[t.arm])
        c.turns.append(SimpleNamespace(arm=t.arm, x=d.x[t.arm], reward=t.reward, raw=t.raw, end=t.end_ns, d=d,
                                       cost=t.end_ns - t.start_ns, new_edges=t.new_edges, died=t.died,
                                       able=[a for a in range(c.arms) if a not in d.dropped]))

    for t in sorted(decisions):
        while at < len(done) and done[at].at_decision < t:
            complete(done[at])
            at += 1
        d = decisions[t]
        d.x = [standardised(d.signals[a], past[a]) for a in range(c.arms)]
        d.completed = len(c.turns)
        by_id[t] = d
        c.decisions.append(d)
    for t in done[at:]:
        complete(t)
    c.length = max(elapsed, c.turns[-1].end if c.turns else 0)
    return c


# --- arithmetic ----------------------------------------------------------------------------------------------

def solve(a, b):
    """Gauss with pivots."""
    n = len(b)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            if f:
                m[r] = [v - f * w for v, w in zip(m[r], m[i])]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return x


def products(rows):
    """rows: (phi, reward, weight) -> sums of phi phi' and of phi r"""
    n = len(rows[0][0])
    a, b = [[0.0] * n for _ in range(n)], [0.0] * n
    for phi, r, w in rows:
        for i, p in enumerate(phi):
            if p:
                wp = w * p
                a[i] = [v + wp * q for v, q in zip(a[i], phi)]
                b[i] += wp * r
    return a, b


def ridge(rows, lam=LAMBDA):
    """rows: (phi, reward, weight) -> weights."""
    if not rows:
        return None
    a, b = products(rows)
    for i, row in enumerate(a):
        row[i] += lam
    return solve(a, b)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b)) if a else 0.0


def median(v):
    v = sorted(v)
    n = len(v)
    return None if not n else (v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2)


def mean(v):
    v = [x for x in v if x is not None]
    return math.fsum(v) / len(v) if v else None


def wilcoxon(differences):
    """Two-sided p: exact without ties up to 50, else normal with tie and continuity corrections."""
    d = [x for x in differences if x]
    n = len(d)
    if not n:
        return 1.0
    size = sorted(abs(x) for x in d)
    rank = {v: mean([i + 1 for i, s in enumerate(size) if s == v]) for v in set(size)}
    plus = sum(rank[abs(x)] for x in d if x > 0)
    if len(rank) == n and n <= 50:
        ways = {0: 1}
        for r in range(1, n + 1):
            for s, w in list(ways.items()):
                ways[s + r] = ways.get(s + r, 0) + w
        far = abs(plus - n * (n + 1) / 4)
        return min(1.0, sum(w for s, w in ways.items() if abs(s - n * (n + 1) / 4) >= far - 1e-9) / 2 ** n)
    ties = sum(k ** 3 - k for k in (size.count(v) for v in set(size)))
    sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    z = max(0.0, abs(plus - n * (n + 1) / 4) - 0.5) / sd
    return math.erfc(z / math.sqrt(2))


def holm(p):
    known = sorted((v, i) for i, v in enumerate(p) if v is not None)
    out, least = [None] * len(p), 0.0
    for k, (v, i) in enumerate(known):
        least = max(least, min(1.0, (len(known) - k) * v))
        out[i] = least
    return out


def kendall(x, y):
    s = tx = ty = 0
    for i, j in product(range(len(x)), repeat=2):
        if i < j:
            a, b = (x[i] > x[j]) - (x[i] < x[j]), (y[i] > y[j]) - (y[i] < y[j])
            s += a * b
            tx += a != 0
            ty += b != 0
    return s / math.sqrt(tx * ty) if tx and ty else None


def quantile(v, q):
    v = sorted(v)
    at = q * (len(v) - 1)
    i = int(at)
    return v[i] + (at - i) * (v[min(i + 1, len(v) - 1)] - v[i])


def shuffled(rng, v):
    v = list(v)
    for i in range(len(v) - 1, 0, -1):
        k = rng.below(i + 1)
        v[i], v[k] = v[k], v[i]
    return v


DRAWS = {}  # by the number of values: the same for all


def bootstrap(v, resamples=10000):
    n = len(v)
    if n not in DRAWS:
        rng = Stream(1, "bootstrap")
        DRAWS[n] = [[rng.below(n) for _ in range(n)] for _ in range(resamples)]
    means = []
    for draw in DRAWS[n]:
        total = 0.0
        for i in draw:
            total += v[i]
        means.append(total / n)
    return quantile(means, 0.025), quantile(means, 0.975)


# --- held-out prediction ---------------------------------------------------------------------------------------

def phi(x, keep=None):
    return [v if keep is None or name in keep else 0.0 for name, v in zip(SIGNALS, x)] + [1.0]


def gram(c, arm, gamma):
    """Of all turns of a fuzzer in a campaign; computed once."""
    if (arm, gamma) not in c.grams:
        n = len(c.turns)
        rows = [(phi(t.x), t.reward, gamma ** (n - 1 - i)) for i, t in enumerate(c.turns) if t.arm == arm]
        c.grams[arm, gamma] = products(rows) if rows else None
    return c.grams[arm, gamma]


def fit(camps, arm, keep=None, gamma=1.0):
    """A signal that is not kept has no row and no column; its weight is 0."""
    cells = [g for g in (gram(c, arm, gamma) for c in camps) if g]
    if not cells:
        return None
    at = [i for i in range(len(SIGNALS) + 1) if keep is None or i == len(SIGNALS) or SIGNALS[i] in keep]
    a = [[LAMBDA * (i == j) + math.fsum(g[0][i][j] for g in cells) for j in at] for i in at]
    found = dict(zip(at, solve(a, [math.fsum(g[1][i] for g in cells) for i in at])))
    return [found.get(i, 0.0) for i in range(len(SIGNALS) + 1)]


def error(c, weights, keep=None):
    return math.fsum((t.reward - dot(weights[t.arm], phi(t.x, keep))) ** 2 for t in c.turns) / len(c.turns)


def targets_of(camps):
    return list(dict.fromkeys(c.target for c in camps))


def contrast(base, other):
    more = [100 * (o / b - 1) for b, o in zip(base, other) if b > 0]
    gap = [o - b if abs(o - b) > 1e-9 * max(o, b) else 0.0 for b, o in zip(base, other)]
    return {"campaigns": len(base), "base_error": median(base), "error": median(other), "more_error_pct": median(more),
            "worse_pct": 100 * sum(g > 0 for g in gap) / len(base), "p": wilcoxon(gap), "up": upward(gap)}


def upward(gap):
    """Do the larger differences point up?"""
    d = sorted((g for g in gap if g), key=abs)
    size = [abs(g) for g in d]
    rank = {v: mean([i + 1 for i, s in enumerate(size) if s == v]) for v in set(size)}
    return sum(rank[abs(g)] * math.copysign(1, g) for g in d) > 0


def judge(rows):
    """Adds p_holm and says to the rows of one family of tests: {campaigns, p, up}"""
    most = max((r["campaigns"] for r in rows), default=0)
    for r, p in zip(rows, holm([r["p"] for r in rows])):
        few = 2.0 ** (1 - most) * len(rows) >= 0.05 or 2.0 ** (1 - r["campaigns"]) >= 0.05
        up = r.pop("up")
        r["p_holm"] = p
        r["says"] = "too few" if few else "open" if p >= 0.05 else "worse" if up else "better"


class Table(dict):
    """Its rows; summary: those of the table over all targets."""
    summary = None


def versus(camps, models, errors, within):
    """errors(target's campaigns, one left out, model) -> error; the first model is the base."""
    table, targets, every = Table(), targets_of(camps), {m: [] for m in models}
    for target in targets:
        mine = [c for c in camps if c.target == target]
        e = {m: [errors(mine, c, m) for c in mine] for m in models}
        for m in models:
            every[m] += e[m]
        for m in models[1:]:
            table[target, m] = contrast(e[models[0]], e[m])
    groups = [[(t, m) for m in models[1:]] for t in targets] if within else [[(t, m) for t in targets] for m in models[1:]]
    for keys in groups:
        judge([table[k] for k in keys])
    table.summary = {}
    for m in models[1:]:
        said, over = [table[t, m]["says"] for t in targets], contrast(every[models[0]], every[m])
        table.summary[m,] = {"targets": len(targets), "worse": said.count("worse"), "better": said.count("better"),
                             **{k: over[k] for k in ("campaigns", "more_error_pct", "worse_pct")}}
    return table


def predict(camps):
    see = {"full": None, "history": HISTORY, "ctx_unc": {"ctx_unc"}, "intercept": set()}

    def errors(mine, left, m):
        rest = [c for c in mine if c is not left]
        return error(left, [fit(rest, a, see[m]) for a in range(left.arms)], see[m])
    return versus(camps, list(see), errors, False)


def features(camps):
    def errors(mine, left, m):
        keep = None if m == "all" else set(SIGNALS) - {m}
        rest = [c for c in mine if c is not left]
        return error(left, [fit(rest, a, keep) for a in range(left.arms)], keep)
    return versus(camps, ["all", *SIGNALS], errors, True)


def forget(camps):
    def errors(mine, left, m):
        rest = [c for c in mine if c is not left]
        return error(left, [fit(rest, a, None, float(m)) for a in range(left.arms)])
    return versus(camps, ["1", "0.995", "0.99"], errors, False)


def next_turn(camps):
    def errors(mine, c, m):
        gamma, off = float(m), 0.0
        dim = len(SIGNALS) + 1
        a = [[[LAMBDA * (i == j) for j in range(dim)] for i in range(dim)] for _ in range(c.arms)]
        b = [[0.0] * dim for _ in range(c.arms)]
        for t in c.turns:
            f = phi(t.x)
            off += (t.reward - dot(solve(a[t.arm], b[t.arm]), f)) ** 2
            if gamma < 1:
                for k in range(c.arms):
                    a[k] = [[gamma * v + (1 - gamma) * LAMBDA * (i == j) for j, v in enumerate(row)]
                            for i, row in enumerate(a[k])]
                    b[k] = [gamma * v for v in b[k]]
            for i, p in enumerate(f):
                a[t.arm][i] = [v + p * q for v, q in zip(a[t.arm][i], f)]
                b[t.arm][i] += t.reward * p
        return off / len(c.turns)
    return versus(camps, ["1", "0.995", "0.99"], errors, False)


def directions(theta):
    """Right singular vectors, largest first: rows are turned in pairs until all are orthogonal (Hestenes)."""
    rows = [r[:] for r in theta]
    for _ in range(60):
        off = 0.0
        for i in range(len(rows)):
            for j in range(i):
                p, q, pq = dot(rows[i], rows[i]), dot(rows[j], rows[j]), dot(rows[i], rows[j])
                off = max(off, abs(pq) / math.sqrt(p * q))
                if pq:
                    tau = (q - p) / (2 * pq)
                    t = math.copysign(1, tau) / (abs(tau) + math.sqrt(1 + tau * tau))
                    c = 1 / math.sqrt(1 + t * t)
                    rows[i], rows[j] = ([c * x - c * t * y for x, y in zip(rows[i], rows[j])],
                                        [c * t * x + c * y for x, y in zip(rows[i], rows[j])])
        if off < 1e-15:
            break
    rows.sort(key=lambda r: -dot(r, r))
    return [[v / math.sqrt(dot(r, r)) for v in r] for r in rows]


def rank(camps):
    """(ridge 10, ridge chosen from 10, 1, 3 by leaving out the other campaigns in turn)"""
    memo = {}

    def turned(c, v, r):
        """Its turns in the directions, and their products by fuzzer"""
        rows = [(t.arm, [dot(u, t.x) for u in v[:r]] + [1.0], t.reward) for t in c.turns]
        mine = [[(f, y, 1.0) for k, f, y in rows if k == arm] for arm in range(c.arms)]
        return rows, [products(m) if m else None for m in mine]

    def off(train, held, lam, arms):
        w = []
        for arm in range(arms):
            cells = [t[1][arm] for t in train if t[1][arm]]
            n = range(len(held[0][0][1]))
            w.append(solve([[lam * (i == j) + math.fsum(a[i][j] for a, _ in cells) for j in n] for i in n],
                           [math.fsum(b[i] for _, b in cells) for i in n]))
        return math.fsum((y - dot(w[a], f)) ** 2 for a, f, y in held[0])

    def model(mine, left, m, choose):
        rest = [c for c in mine if c is not left]
        if id(left) not in memo:
            full = [fit(rest, a) for a in range(left.arms)]
            memo[id(left)] = full, directions([w[:-1] for w in full])
        full, v = memo[id(left)]
        if m == "all":
            return error(left, full)
        rows = {id(c): turned(c, v, int(m.split()[1])) for c in mine}
        lam = LAMBDA
        if choose:
            lam = min((10.0, 1.0, 3.0), key=lambda x: sum(
                off([rows[id(o)] for o in rest if o is not c], rows[id(c)], x, left.arms) for c in rest))
        return off([rows[id(c)] for c in rest], rows[id(left)], lam, left.arms) / len(left.turns)
    names = ["all", *(f"rank {r}" for r in range(1, min(6, camps[0].arms) + 1))]
    return tuple(versus(camps, names, lambda mine, left, m, choose=choose: model(mine, left, m, choose), True)
                 for choose in (False, True))


def transfer(camps):
    """(table, decisions that differ)"""
    weights = {}

    def errors(mine, left, m):
        train = ([c for c in mine if c is not left] if m == "within" else [c for c in camps if c.target != left.target])
        w = weights[left.out, m] = [fit(train, a) for a in range(left.arms)]
        return error(left, w)

    def first(d, w):
        able = [a for a in range(len(d.x)) if a not in d.dropped]
        return max(able, key=lambda a: (dot(w[a], phi(d.x[a])), -a))
    table = versus(camps, ["within", "transferred"], errors, False)
    differ = {}
    for c in camps:
        n = [first(d, weights[c.out, "within"]) != first(d, weights[c.out, "transferred"]) for d in c.decisions]
        row = differ.setdefault((c.target,), {"decisions": 0, "differ": 0})
        row["decisions"] += len(n)
        row["differ"] += sum(n)
    return table, differ


def form(camps, volumes=(12, 25, 40, 100, 240)):
    table = {}

    def mapped(c, kind):
        if kind == "rff":
            rng, columns = Stream(c.seed, "contextual.features"), []
            for _ in range(16):
                omega = [rng.normal() / 4 for _ in SIGNALS]
                columns.append((omega, 2 * math.pi * rng.unit()))
            return lambda x: [math.sqrt(2 / 16) * math.cos(dot(o, x) + b) for o, b in columns] + [1.0]
        scale = math.sqrt(15) if kind == "linear, scaled" else 1.0
        return lambda x: [v / scale for v in x] + [1.0]

    def off(rows, n):
        w = ridge([(f, r, 1.0) for f, r in rows[:n]])
        return mean([(r - dot(w, f)) ** 2 for f, r in rows[n:n + 25]])
    for target in targets_of(camps):
        for kind in ("linear", "linear, scaled"):
            keys = []
            for n in volumes:
                base, other, pairs = [], [], 0
                sums = [0.0, 0.0]
                for c in (c for c in camps if c.target == target):
                    e = {"rff": [], kind: []}
                    for k in e:
                        f = mapped(c, k)
                        for a in range(c.arms):
                            mine = [t for t in c.turns if t.arm == a]
                            if len(mine) >= n + 25:
                                e[k].append(off([(f(t.x), t.reward) for t in mine[:n + 25]], n))
                    if e[kind]:
                        pairs += len(e[kind])
                        sums[0] += math.fsum(e["rff"])
                        sums[1] += math.fsum(e[kind])
                        base.append(mean(e["rff"]))
                        other.append(mean(e[kind]))
                if pairs:
                    keys.append((target, kind, n))
                    table[keys[-1]] = {"pairs": pairs, "rff_error": sums[0] / pairs, "error": sums[1] / pairs,
                                       "rff_lower_pct": 100 * (1 - sums[0] / sums[1]), "campaigns": len(base),
                                       "p": wilcoxon([o - b for b, o in zip(base, other)]),
                                       "up": upward([o - b for b, o in zip(base, other)])}
            judge([table[k] for k in keys])
    return table


# --- what happened in a campaign ---------------------------------------------------------------------------------

def window(c, at, n):
    return min(n - 1, int(at / c.length * n))


def admitted(c, n, a, b):
    counts = [[sum(t.arm == k and window(c, t.end, n) == w for t in c.turns) for w in (a, b)] for k in range(c.arms)]
    arms = [k for k in range(c.arms) if min(counts[k]) >= 4]
    return arms if len(arms) >= min(4, c.arms) else []


def rate(turns):
    return sum(t.raw for t in turns) / len(turns)


def decay(camps):
    table, targets = {}, targets_of(camps)
    for target in targets + (["all"] if len(targets) > 1 else []):
        falls = rises = fresh = empty = wins = losses = admits = 0
        kept, late = [], []
        for c in (c for c in camps if target in (c.target, "all")):
            up = down = 0
            arms = admitted(c, 2, 0, 1)
            admits += bool(arms)
            for a in arms:
                one, two = (rate([t for t in c.turns if t.arm == a and window(c, t.end, 2) == w]) for w in (0, 1))
                down += two < one
                up += two > one
                fresh += one == 0 < two
                empty += one == two == 0
                if one > 0:
                    kept.append(100 * two / one)
            late += [t.reward > 0 for t in c.turns if window(c, t.end, 2) == 1]
            falls += down
            rises += up
            wins += down > up
            losses += down < up
        n, few = wins + losses, min(wins, losses)
        pairs = len(kept) + fresh
        table[target,] = {"campaigns": admits, "pairs": pairs, "falls_pct": 100 * falls / pairs, "retained_pct": median(kept),
                          "rises": rises, "from_nothing": fresh, "empty": empty, "earning_pct": 100 * sum(late) / len(late),
                          "p": min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) / 2 ** n)}
    for target, p in zip(targets, holm([table[t,]["p"] for t in targets])):
        table[target,]["p_holm"] = p
    return table


def leaders(x, y):
    a = {i for i, v in enumerate(x) if v == max(x)}
    b = {i for i, v in enumerate(y) if v == max(y)}
    return 1 - len(a & b) / (len(a) * len(b))


def ranking(camps, splits=50):
    """(agreement, leaders) of every target"""
    one, two = {}, {}
    names = {2: "halves", 4: "quarters", 12: "twelfths"}
    seen = {}
    for c in camps:
        rng = Stream(c.seed, "analyze.ranking")
        for n in names:
            got = [seen.setdefault((name, n), []) for name in (c.target, "all")]
            rows = []
            for w in range(n - 1):
                arms = admitted(c, n, w, w + 1)
                if len(arms) < 2:
                    continue
                turns = [[[t for t in c.turns if t.arm == a and window(c, t.end, n) == v] for a in arms] for v in (w, w + 1)]
                whole = [[rate(t) for t in turns[v]] for v in (0, 1)]
                row = {"whole": kendall(*whole), "whole_leads": leaders(*whole), "chance": 1 - 1 / len(arms)}
                taus = {k: [] for k in ("adjacent", "within", "leads", "leads_within")}
                for _ in range(splits):
                    half = []
                    for v in (0, 1):
                        both = [[], []]
                        for i, mine in enumerate(turns[v]):
                            mine = turns[v][i] = shuffled(rng, mine)
                            m = len(mine) // 2
                            both[0].append(rate(mine[:m]))
                            both[1].append(rate(mine[m:2 * m]))
                        half.append(both)
                    for h in (0, 1):
                        taus["adjacent"].append(kendall(half[0][h], half[1][h]))
                        taus["within"].append(kendall(half[h][0], half[h][1]))
                        taus["leads"].append(leaders(half[0][h], half[1][h]))
                        taus["leads_within"].append(leaders(half[h][0], half[h][1]))
                row.update({k: mean(v) for k, v in taus.items()})
                rows.append(row)
            good = [r for r in rows if r["adjacent"] is not None and r["within"] is not None]
            for to in got:
                to.append({"pairs": len(good), "all_pairs": len(rows),
                           **{k: mean([r[k] for r in good]) for k in ("adjacent", "within", "leads", "leads_within")},
                           **{k: mean([r[k] for r in rows]) for k in ("whole", "whole_leads", "chance")}})
    if len(targets_of(camps)) == 1:
        seen = {k: v for k, v in seen.items() if k[0] != "all"}
    for (target, n), rows in seen.items():
        d = [r["within"] - r["adjacent"] for r in rows if r["pairs"]]
        if d:
            adjacent, within = mean([r["adjacent"] for r in rows]), mean([r["within"] for r in rows])
            one[target, names[n]] = {"campaigns": len(d), "pairs": sum(r["pairs"] for r in rows), "adjacent": adjacent,
                                     "within": within, "difference": within - adjacent,
                                     "p": wilcoxon(d) if len(d) > 1 else None,
                                     "corrected": adjacent / within if within > 0 else None}
            if len(d) > 1:
                one[target, names[n]]["low"], one[target, names[n]]["high"] = bootstrap(d)
        if not sum(r["all_pairs"] for r in rows):
            continue
        two[target, names[n]] = {"all_pairs": sum(r["all_pairs"] for r in rows),
                                 "whole_windows_tau": mean([r["whole"] for r in rows])}
        for column, key in (("adjacent_differ_pct", "leads"), ("within_differ_pct", "leads_within"),
                            ("whole_windows_differ_pct", "whole_leads"), ("chance_pct", "chance")):
            value = mean([r[key] for r in rows])
            two[target, names[n]][column] = None if value is None else 100 * value
    for target in [*targets_of(camps), "all"]:
        keys = [k for k in one if k[0] == target]
        for key, p in zip(keys, holm([one[k]["p"] for k in keys])):
            one[key]["p_holm"] = p
    return one, two


def drift(camps, splits=200):
    """by campaign"""
    table = {}
    for c in camps:
        def split(order):
            half = len(order) // 2
            w = [ridge([(phi(t.x), t.reward, 1.0) for t in order[:half] if t.arm == a]) for a in range(c.arms)]
            return mean([(t.reward - dot(w[t.arm], phi(t.x))) ** 2 for t in order[half:]])
        rng, order, errors = Stream(c.seed, "analyze.drift"), c.turns, []
        ordered = split(order)
        for _ in range(splits):
            order = shuffled(rng, order)
            errors.append(split(order))
        table[c.out,] = {"ordered_error": ordered, "random_error": quantile(errors, 0.5), "limit": quantile(errors, 0.95)}
    return table


def drift_targets(camps):
    """The summary of such a table: [{target, ordered_error, random_error, limit}]"""
    table = {}
    for target in dict.fromkeys(c["target"] for c in camps):
        mine = [c for c in camps if c["target"] == target]
        n, fails = len(mine), sum(c["ordered_error"] > c["limit"] for c in mine)
        p = math.fsum(math.comb(n, k) * 0.05 ** k * 0.95 ** (n - k) for k in range(fails, n + 1))
        table[target,] = {"campaigns": n, "fails": fails, "fails_pct": 100 * fails / n, "p": min(1.0, p),
                          "error_ratio": median([c["ordered_error"] / c["random_error"] for c in mine])}
    for key, p in zip(list(table), holm([r["p"] for r in table.values()])):
        table[key]["p_holm"] = p
    return table


def allocation(camps):
    table = {}
    cells = {}
    for c in camps:
        cells.setdefault((c.target, c.contender), []).append(c)
    for key, mine in cells.items():
        tops = []
        for c in mine:
            top = []
            for q in range(4):
                chosen = [d.choice for d in c.decisions if window(c, d.now, 4) == q]
                top.append(100 * max(chosen.count(a) for a in range(c.arms)) / len(chosen) if chosen else None)
            tops.append(top)
        change = [t[3] - t[0] for t in tops if None not in (t[0], t[3])]
        table[key] = {"campaigns": len(mine), "decisions": sum(len(c.decisions) for c in mine), **{f"q{q + 1}_pct": mean([t[q] for t in tops]) for q in range(4)}, "change": mean(change),
                      "p": wilcoxon(change)}
    for key, p in zip(list(table), holm([r["p"] for r in table.values()])):
        table[key]["p_holm"] = p
    return table


def regret(camps):
    """Each fuzzer alone, the highest prediction, and what each scheduler would have chosen."""
    camps = [c for c in camps if c.scheduler == "random"]
    table = {}
    asked = {c.out: {name: {d.t: would for d, would in replays.along(c, make(c))}
                     for name, make in replays.POLICIES.items()} for c in camps}
    for target in targets_of(camps):
        mine = [c for c in camps if c.target == target]
        weights = {c.out: [fit([o for o in mine if o is not c], a) for a in range(c.arms)] for c in mine}
        for k in [*range(mine[0].arms), "highest prediction", *replays.POLICIES]:
            ips, dr, counted = [], [], []
            for c in mine:
                one, two = [], []
                for t in c.turns:
                    mu = [dot(weights[c.out][a], phi(t.d.x[a])) for a in range(c.arms)]
                    if k == "highest prediction":
                        would = max(t.able, key=lambda a: (mu[a], -a))
                    else:
                        would = asked[c.out][k][t.d.t] if isinstance(k, str) else k
                    if would not in t.able:
                        continue
                    weight = len(t.able) if would == t.arm else 0
                    counted.append(weight)
                    one.append(weight * t.reward)
                    two.append(mu[would] + weight * (t.reward - mu[t.arm]))
                ips.append(math.fsum(one) / len(c.turns))
                dr.append(math.fsum(two) / len(c.turns))
            name = k if isinstance(k, str) else f"single:{mine[0].fuzzers[k]}"
            earned = mean([mean([t.reward for t in c.turns]) for c in mine])
            table[target, name] = {"ips": mean(ips), "dr": mean(dr), "gain": mean(dr) - earned,
                                   "effective": sum(counted) ** 2 / sum(w * w for w in counted)}
            table[target, name]["ips_low"], table[target, name]["ips_high"] = bootstrap(ips)
            table[target, name]["dr_low"], table[target, name]["dr_high"] = bootstrap(dr)
    return table


def influence(camps):
    """(by campaign and signal, by target and signal, stability) of contextual"""
    one, two, three = {}, {}, {}
    for target in targets_of(camps):
        mine = [c for c in camps if c.target == target]
        halves = [replays.influence(c) for c in mine]

        def share(pair, k):
            n = sum(h[0] for h in pair)
            return 100 * sum(h[1][k] for h in pair) / n
        for c, pair in zip(mine, halves):
            for k, signal in enumerate(SIGNALS):
                one[c.out, signal] = {"decisions": sum(h[0] for h in pair), "changed": sum(h[1][k] for h in pair),
                                      "influence_pct": share(pair, k)}
        for k, signal in enumerate(SIGNALS):
            two[target, signal] = {"influence_pct": mean([share(p, k) for p in halves]),
                                   "first_half_pct": mean([share(p[:1], k) for p in halves]),
                                   "second_half_pct": mean([share(p[1:], k) for p in halves])}
        every = range(len(SIGNALS))
        taus = [kendall([share(p[:1], k) for k in every], [share(p[1:], k) for k in every]) for p in halves]
        three[target,] = {"tau_halves": mean(taus), "halves": sum(t is not None for t in taus)}
        if len(mine) > 1:
            three[target,]["tau_campaigns"] = kendall(*([mean([share(p, k) for p in part]) for k in every]
                                                        for part in (halves[::2], halves[1::2])))
    return one, two, three
