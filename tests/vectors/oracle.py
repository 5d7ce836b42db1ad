#!/usr/bin/env python3
"""Writes the vectors that tests/unit compares the ledger, the context and the schedulers with.

    tests/vectors/oracle.py [DIR]     (default: the directory of this file)

Written from the definitions (what an edge, a reward, a signal is), not from the C code: nothing here
is incremental.  Every value is computed afresh from the whole history, sums are exact fractions, and
only the last step is floating point.  Python 3 standard library only; the vectors are committed.
"""
import math
import pathlib
import random
import struct
import sys
from fractions import Fraction

WINDOW = 84


def num(x):
    return repr(float(x))


# --- ledger: first covers, hit counts, three rewards ------------------------------------------------

class Campaign:
    """Everything that happened, as lists; questions are answered by looking through them."""

    def __init__(self, blocks):
        self.blocks = blocks  # [{succ, mem, memw, preds}]
        self.rounds = {0: ("seeds", [])}  # round -> (fuzzer, [set of edges per input])
        self.calls = []
        self.orphans = 0

    def discovered(self, edge):
        """The round in which an edge was first seen, or None."""
        found = [r for r, (_, inputs) in self.rounds.items() if any(edge in i for i in inputs)]
        return min(found) if found else None

    def hits(self, edge):
        return sum(edge in i for _, inputs in self.rounds.values() for i in inputs)

    def predecessors(self, edge):
        return set(self.blocks[edge]["preds"]) | {a for a, b in self.calls if b == edge}

    def gain(self, turn):
        inputs = self.rounds[turn][1]
        touched = sorted(set().union(*inputs)) if inputs else []
        fresh = [e for e in touched if self.discovered(e) == turn]
        interval = frontier = 0
        for e in fresh:
            known = {p: self.discovered(p) for p in self.predecessors(e)}
            known = {p: r for p, r in known.items() if r is not None}
            if not known:
                self.orphans += 1
                continue
            first = min(known.values())
            interval += turn - first
            sources = [p for p, r in known.items() if r == first]
            if first < turn and any(self.blocks[p]["succ"] >= 2 for p in sources):
                frontier += 1

        def rarity(edges):
            return math.fsum(1 / math.log(2 + self.hits(e)) for e in edges) / len(edges) if edges else 0

        calls = Fraction(sum(self.blocks[e]["mem"] + self.blocks[e]["memw"] for e in fresh))
        sec = 1 - math.exp(-float(calls / len(fresh))) if fresh else 0
        return fresh, touched, [interval, frontier, rarity(touched), rarity(fresh), sec]


def some_blocks(rng, n):
    blocks = []
    for i in range(n):
        k = rng.choice([0, 1, 1, 1, 2, 3]) if i else 0
        near = [rng.randrange(max(0, i - 6), min(n, i + 3)) for _ in range(k)]
        blocks.append({"succ": rng.choice([0, 1, 1, 2, 3]), "mem": rng.choice([0, 0, 0, 1, 4]),
                       "memw": rng.choice([0, 0, 2]), "preds": near})
    return blocks


def some_input(rng, n, reach):
    return {rng.randrange(min(n, reach)) for _ in range(rng.randrange(0, 12))}


def ledger_scenario(out, seed, n, turns):
    rng = random.Random(seed)
    c = Campaign(some_blocks(rng, n))
    out.append(f"table {n}")
    for b in c.blocks:
        out.append(f"block {b['succ']} {b['mem']} {b['memw']} {len(b['preds'])} "
                   + " ".join(map(str, b["preds"])))

    def write_inputs(inputs):
        for i in inputs:
            out.append(f"input {len(i)} " + " ".join(map(str, sorted(i))))

    c.rounds[0] = ("seeds", [some_input(rng, n, 8) for _ in range(rng.randrange(0, 4))])
    out.append(f"seeds {len(c.rounds[0][1])}")
    write_inputs(c.rounds[0][1])
    raws = [[0.0], [0.0], [0.0]]
    for t in range(1, turns + 1):
        for _ in range(rng.choice([0, 0, 1, 2])):
            call = (rng.randrange(n), rng.randrange(n))
            new = call not in c.calls and call[0] not in c.blocks[call[1]]["preds"]
            c.calls.append(call)
            out.append(f"call {call[0]} {call[1]} {int(new)}")
        fuzzer = rng.randrange(4)
        c.rounds[t] = (fuzzer, [some_input(rng, n, 8 + 3 * t) for _ in range(rng.randrange(0, 5))])
        out.append(f"turn {t} {fuzzer} {len(c.rounds[t][1])}")
        write_inputs(c.rounds[t][1])
        fresh, touched, values = c.gain(t)
        out.append(f"fresh {len(fresh)} " + " ".join(map(str, fresh)))
        out.append(f"touched {len(touched)} " + " ".join(map(str, touched)))
        out.append("gain " + " ".join(map(num, values)))
        rewards = []
        for seen, raw in zip(raws, values[:3]):
            seen.append(raw)
            lo, hi = min(seen), max(seen)
            rewards.append((raw - lo) / (hi - lo) if hi > lo else 0)
        out.append("reward " + " ".join(map(num, rewards)))
    covered = 0
    for e in range(n):
        r = c.discovered(e)
        covered += r is not None
        who = -1 if r is None or r == 0 else c.rounds[r][0]
        out.append(f"edge {-1 if r is None else r} {who} {c.hits(e)}")
    out.append(f"end {covered} {c.orphans}")


# --- context: fifteen signals -------------------------------------------------------------------------

def mean(v):
    return sum(map(Fraction, v)) / len(v) if v else Fraction(0)


def mann_kendall(v):
    n = len(v)
    s = sum((v[j] > v[i]) - (v[j] < v[i]) for i in range(n) for j in range(i + 1, n))
    groups = [v.count(x) for x in set(v)]
    var = Fraction(n * (n - 1) * (2 * n + 5) - sum(g * (g - 1) * (2 * g + 5) for g in groups), 18)
    if s == 0 or var == 0:
        return 0.0
    return (s - (1 if s > 0 else -1)) / math.sqrt(var)


def slope(v):
    n = len(v)
    if n < 2:
        return Fraction(0)
    xs, ys = [Fraction(i) for i in range(n)], [Fraction(y) for y in v]
    sx, sy = sum(xs), sum(ys)
    return ((n * sum(x * y for x, y in zip(xs, ys)) - sx * sy)
            / (n * sum(x * x for x in xs) - sx * sx))


def variance(v):
    if len(v) < 2:
        return Fraction(0)
    m = mean(v)
    return sum((Fraction(x) - m) ** 2 for x in v) / (len(v) - 1)


def ema(xs):
    """0.3 of the latest, 0.3*0.7 of the one before, ...: the closed form of the recurrence from 0."""
    return sum(Fraction(3, 10) * Fraction(7, 10) ** k * Fraction(x) for k, x in enumerate(reversed(xs)))


def signals(history, now, budget, span):
    """history: ('d', t) dispatched, ('v',) void, ('c', {...}) completed, in order, of one arm."""
    done = [h[1] for h in history if h[0] == "c"]
    running = sum(1 if h[0] == "d" else -1 for h in history)
    rewards = [o["reward"] for o in done][-WINDOW:]
    m = mean(rewards)
    last = done[-1]["end"] if done else 0

    def ratio(h):
        return float(mean(rewards[-h:]) / m) if m else 0.0

    edges = sum(o["edges"] for o in done if last - span < o["end"] <= last)
    seconds = max(1.0, min(span, last) / 1e9)
    quiet = 0
    for o in reversed(done):
        if o["edges"]:
            break
        quiet += 1
    if running > 0:
        waited = 0.0
    elif not done or now == 0:
        waited = 1.0
    else:
        waited = float(Fraction(now - last, now))
    return [
        float(m), float(variance(rewards)),
        1 - math.exp(-edges / seconds) if done else 0.0,
        float(slope(rewards)), math.tanh(mann_kendall(rewards)),
        ratio(4), ratio(2), ratio(8),
        quiet / WINDOW, waited, min(1.0, now / budget),
        float(ema([o["rarity"] if o["edges"] else 0 for o in done])),
        float(ema([o["sec"] if o["edges"] else 0 for o in done])),
        float(ema([1 - math.exp(-o["crashes"]) for o in done])),
        1 / math.sqrt(1 + len(done)),
    ]


def context_scenario(out, seed, arms, steps, span, budget, values):
    rng = random.Random(seed)
    hist = [[] for _ in range(arms)]
    flying = []
    now = 0
    out.append(f"context {arms} {budget} {span}")
    for step in range(steps):
        now += rng.choice([0, 1, 500_000_000, 3_000_000_000, 40_000_000_000]) if step else 0
        arm = rng.randrange(arms if step > 6 else 1)
        what = rng.random()
        if what < 0.45 or not flying:
            hist[arm].append(("d",))
            flying.append(arm)
            out.append(f"dispatch {arm} {now}")
        elif what < 0.48:
            arm = flying.pop(rng.randrange(len(flying)))
            hist[arm].append(("v",))
            out.append(f"void {arm}")
        else:
            arm = flying.pop(rng.randrange(len(flying)))
            o = {"end": now, "reward": rng.choice(values), "edges": rng.choice([0, 0, 1, 7, 300]),
                 "rarity": rng.random(), "sec": rng.random(), "crashes": rng.choice([0, 0, 0, 1, 5])}
            hist[arm].append(("c", o))
            out.append(f"complete {arm} {now} {num(o['reward'])} {o['edges']} {num(o['rarity'])} "
                       f"{num(o['sec'])} {o['crashes']}")
        if rng.random() < 0.3 or step < 12:
            arm = rng.randrange(arms)
            at = now + rng.choice([0, 1_000_000_000])
            out.append(f"read {arm} {at} "
                       + " ".join(map(num, signals(hist[arm], at, budget, span))))


def series_vectors(out):
    rng = random.Random(9)
    for n in list(range(0, 8)) + [20, 83, 84]:
        for kind in ("real", "tied", "rising", "falling", "flat"):
            v = {"real": [rng.random() for _ in range(n)],
                 "tied": [rng.choice([0.0, 0.0, 0.25, 1.0]) for _ in range(n)],
                 "rising": [i / 100 for i in range(n)],
                 "falling": [1 - i / 100 for i in range(n)],
                 "flat": [0.125] * n}[kind]
            out.append(f"series {n} " + " ".join(map(num, v)))
            out.append("stats " + " ".join(map(num, [mean(v), variance(v), slope(v),
                                                     mann_kendall(v)])))


# --- schedulers: the random stream and the journal's form ---------------------------------------------

class Xoshiro:
    MASK = (1 << 64) - 1

    def __init__(self, seed):
        self.s = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & self.MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & self.MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & self.MASK
            self.s.append(z ^ (z >> 31))

    def rot(self, x, k):
        return ((x << k) | (x >> (64 - k))) & self.MASK

    def next(self):
        a, b, c, d = self.s
        result = (self.rot((b * 5) & self.MASK, 7) * 9) & self.MASK
        c2, d2 = c ^ a, d ^ b
        self.s = [a ^ d2, b ^ c2, c2 ^ ((b << 17) & self.MASK), self.rot(d2, 45)]
        return result

    def below(self, n):
        limit = self.MASK - self.MASK % n
        while True:
            x = self.next()
            if x < limit:
                return x % n


class Stream(Xoshiro):
    """The generator of one purpose: the seed is mixed with the name, letter by letter."""

    def __init__(self, seed, purpose):
        for letter in purpose.encode():
            seed = Xoshiro(seed).s[0] ^ letter
        super().__init__(Xoshiro(seed).s[0])

    def unit(self):
        return (self.next() >> 11) / 2 ** 53

    def normal(self):
        u = 1 - self.unit()
        return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * self.unit())


def drawn_order(seed, arms):
    """In which order fuzzers have their first turns: the last place is drawn first, from all, then the one
    before it from the rest; who is drawn leaves his own place to the last of those left."""
    rng, left, order = Stream(seed, "order"), list(range(arms)), []
    while len(left) > 1:
        i = rng.below(len(left))
        order.append(left[i])
        left[i] = left[-1]
        left.pop()
    return (order + left)[::-1]


def sched_vectors(out):
    for seed in (0, 1, 42, 2 ** 63 + 5):
        for arms in (1, 2, 3, 6, 17, 64):
            out.append(f"order {seed} {arms} " + " ".join(map(str, drawn_order(seed, arms))))
    for seed, arms in ((0, 4), (9, 6), (2 ** 63 + 5, 64), (7, 1)):
        ring, gone = drawn_order(seed, arms), random.Random(seed)
        out.append(f"equal {seed} {arms}")
        for _ in range(40):
            dropped = {a for a in range(arms) if gone.random() < 0.2}
            able = [a for a in ring if a not in dropped]
            choice = able[0] if able else -1
            if able:
                after = ring.index(choice) + 1
                ring = ring[after:] + ring[:after]
            out.append(f"pick {sum(1 << a for a in dropped)} {choice}")
    for seed, arms in ((1, 6), (42, 3), (2 ** 63 + 5, 16), (7, 1)):
        rng, gone = Xoshiro(seed), random.Random(seed)
        out.append(f"random {seed} {arms}")
        for _ in range(40):
            dropped = {a for a in range(arms) if gone.random() < 0.2}
            able = [a for a in range(arms) if a not in dropped]
            choice = able[rng.below(len(able))] if able else -1
            out.append(f"pick {sum(1 << a for a in dropped)} {choice}")
    rng = random.Random(3)
    for arms, full in ((1, True), (6, True), (6, False), (64, True)):
        def row(width, on=True):
            return [[rng.gauss(0, 1) if on else 0.0 for _ in range(width)] for _ in range(arms)]
        t, worker, choice, now = rng.randrange(1, 9999), rng.randrange(6), rng.randrange(arms), 10 ** 14 + 1
        dropped = 1 if arms > 1 and choice else 0
        blocks = [row(15), row(15, full), row(17, full)] + [row(1, full) for _ in range(4)]
        raw = struct.pack("<5BQqqqQq", 2, arms, 15, 17, 127 if full else 1, t, worker, choice, now,
                          dropped, 30 * 10 ** 9 if full else 0)
        for b in blocks if full else blocks[:1]:
            for r in b:
                raw += struct.pack(f"<{len(r)}d", *r)
        out.append(f"decision {t} {worker} {choice} {now} {arms} {dropped} {num(blocks[0][arms - 1][14])} "
                   f"{num(blocks[2][arms - 1][16])} {num(blocks[6][arms - 1][0])} {raw.hex()}")


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    where = where if where.is_dir() else where.parent
    ledger, context, sched = [], [], []
    for seed, n, turns in ((1, 12, 6), (2, 40, 30), (3, 90, 40), (4, 1, 4)):
        ledger_scenario(ledger, seed, n, turns)
    series_vectors(context)
    day = 86_400_000_000_000
    context_scenario(context, 1, 3, 300, 120_000_000_000, day, [0.0, 0.5, 1.0, 1 / 3])
    context_scenario(context, 2, 1, 400, 2_000_000_000, 100_000_000_000, [0.0] * 9 + [1.0])
    context_scenario(context, 3, 6, 500, 120_000_000_000, day, [0.0])
    context_scenario(context, 4, 2, 500, 120_000_000_000, day, [i / 997 for i in range(997)])
    sched_vectors(sched)
    for name, lines in (("ledger", ledger), ("context", context), ("sched", sched)):
        (where / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
