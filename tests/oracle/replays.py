"""Schedulers asked along a journal: what each would have chosen at every decision, learning from what ran.

For the analyses (docs/ANALYSES.md): `regret` asks four of them, `influence` asks contextual.  Written from METHOD, with the
constants that are the defaults; the definitions of phase, bandfuzz and rate are those of tests/vectors.  A campaign is what
analyses.read gives.
"""
import math

import bandfuzz
import phase
import rate
from oracle import Stream, drawn_order
from schedulers import inverse

COLUMNS, SIGMA, RIDGE = 16, 4.0, 10.0


def along(c, s):
    """(decision, what s says) in order; s.learn hears of every turn that completed before."""
    done = 0
    for d in c.decisions:
        for t in c.turns[done:d.completed]:
            s.learn(t)
        done = d.completed
        yield d, s.pick(d)


def able(d):
    return [a for a in range(len(d.x)) if a not in d.dropped]


class Warm:
    """Gives everybody a first turn, in the drawn order."""

    def __init__(self, c):
        self.order, self.sent = drawn_order(c.seed, c.arms), [0] * c.arms

    def due(self, d):
        first = [a for a in self.order if a in able(d) and not self.sent[a]]
        return first[0] if first else None


class Contextual(Warm):
    def __init__(self, c):
        super().__init__(c)
        rng = Stream(c.seed, "contextual.features")
        self.columns = []
        for _ in range(COLUMNS):
            omega = [rng.normal() / SIGMA for _ in range(15)]
            self.columns.append((omega, 2 * math.pi * rng.unit()))
        self.noise = Stream(c.seed, "contextual.noise")
        n = COLUMNS + 1
        self.a = [[[RIDGE * (i == j) for j in range(n)] for i in range(n)] for _ in range(c.arms)]
        self.b = [[0.0] * n for _ in range(c.arms)]
        self.solved = [self.solve(k) for k in range(c.arms)]
        self.warm, self.drawn, self.seen = False, [], [0] * c.arms

    def solve(self, arm):
        inv = inverse(self.a[arm])
        return inv, [sum(v * w for v, w in zip(row, self.b[arm])) for row in inv]

    def phi(self, x):
        root = math.sqrt(2 / COLUMNS)
        return [root * math.cos(sum(w * v for w, v in zip(omega, x)) + b) for omega, b in self.columns] + [1.0]

    def draw(self, arm, x):
        inv, theta = self.solved[arm]
        f = self.phi(x)
        width = math.sqrt(sum(p * sum(v * q for v, q in zip(row, f)) for p, row in zip(f, inv)))
        return sum(t * p for t, p in zip(theta, f)) + self.drawn[arm] * width

    def pick(self, d):
        first = self.due(d)
        self.warm = first is not None
        if not self.warm:
            self.drawn = [self.noise.normal() for _ in d.x]
        choice = first if self.warm else max(able(d), key=lambda a: self.draw(a, d.x[a]))
        self.sent[choice] += 1
        return choice

    def without(self, d, k):
        """The same with signal k at its mean."""
        return max(able(d), key=lambda a: self.draw(a, d.x[a][:k] + [0.0] + d.x[a][k + 1:]))

    def learn(self, t):
        self.seen[t.arm] += 1
        self.sent[t.arm] = max(self.sent[t.arm], self.seen[t.arm])  # what completed needs no first turn
        f = self.phi(t.x)
        a = self.a[t.arm]
        for i, p in enumerate(f):
            a[i] = [v + p * q for v, q in zip(a[i], f)]
            self.b[t.arm][i] += t.reward * p
        self.solved[t.arm] = self.solve(t.arm)


class Phase(Warm):
    def __init__(self, c):
        super().__init__(c)
        self.stream = Stream(c.seed, "phase")
        self.pool = [phase.Fuzzer(84, 3.5) for _ in range(c.arms)]

    def pick(self, d):
        draws = []
        for f in self.pool:
            index, _, _, width, *_ = f.index(d.t, 1.0)
            draws.append(index + self.stream.normal() * width)
        choice = self.due(d)
        if choice is None:
            top = [a for a in able(d) if draws[a] == max(draws[b] for b in able(d))]
            choice = top[self.stream.below(len(top))] if len(top) > 1 else top[0]
        self.sent[choice] += 1
        return choice

    def learn(self, t):
        self.pool[t.arm].rewards.append(phase.Fraction(t.reward))


class Bandfuzz:
    RESET = 7200 * 10 ** 9

    def __init__(self, c):
        self.stream, self.arrived = Stream(c.seed, "bandfuzz"), []

    def pick(self, d):
        draws = []
        for a in range(len(d.x)):
            mine = [r for b, at, r in self.arrived if b == a and at // self.RESET == d.now // self.RESET]
            x = bandfuzz.gamma(self.stream, 1 + math.fsum(mine))
            y = bandfuzz.gamma(self.stream, 1 + math.fsum(1 - r for r in mine))
            draws.append(x / (x + y))
        return max(able(d), key=lambda a: draws[a])

    def learn(self, t):
        self.arrived.append((t.arm, t.end, t.reward))


class Rate:
    def __init__(self, c):
        self.world = rate.Rate(c.seed, c.arms, c.turn_ns / 1e9, {})

    def pick(self, d):
        return self.world.pick(d.t, d.worker, sum(1 << a for a in d.dropped), d.signals)[0]

    def learn(self, t):
        self.world.learn(t.d.t, t.d.worker, t.arm, t.d.signals[t.arm], t.new_edges, t.cost, t.died)


POLICIES = {"contextual": Contextual, "phase": Phase, "bandfuzz": Bandfuzz, "rate": Rate}


def influence(c):
    """{signal number: (decisions after the warm-up, those whose choice changes)} of contextual, by half of the decisions."""
    s, halves = Contextual(c), [[0, [0] * 15], [0, [0] * 15]]
    for i, (d, choice) in enumerate(along(c, s)):
        if s.warm:
            continue
        half = halves[2 * i >= len(c.decisions)]
        half[0] += 1
        for k in range(15):
            half[1][k] += s.without(d, k) != choice
    return halves
