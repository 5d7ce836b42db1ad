#!/usr/bin/env python3
"""Writes contextual.txt, the vectors that tests/unit/contextual.c compares the contextual scheduler with.

    tests/vectors/contextual.py [FILE]     (default: contextual.txt beside this file)

Written from the paper's Method II, not from the C code.  Nothing is incremental: at every decision the
standardisers, the sums and the solutions are computed afresh from the whole history, in decimal numbers of
60 digits, and a forgetting factor is a weight by age.  The world (signals, rewards, which turn completes
when) comes from a generator that the test runs too, so that the file holds only what must come out.
Python 3 standard library only; about half a minute.
"""
import math
import pathlib
import sys
from decimal import Decimal, getcontext
from fractions import Fraction

from oracle import Stream, drawn_order, num

getcontext().prec = 60
SIGNALS, COLUMNS = 15, 16


def inverse(a):
    """Gauss and Jordan, with pivoting."""
    n = len(a)
    m = [row[:] + [Decimal(i == j) for j in range(n)] for i, row in enumerate(a)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(m[r][c]))
        m[c], m[p] = m[p], m[c]
        m[c] = [v / m[c][c] for v in m[c]]
        for r in range(n):
            if r != c and m[r][c]:
                f = m[r][c]
                m[r] = [x - f * y for x, y in zip(m[r], m[c])]
    return [row[n:] for row in m]


def ridge(rows, lam):
    """A^-1 and theta of [(weight, phi, reward)]."""
    n = COLUMNS + 1
    a = [[lam * (i == j) for j in range(n)] for i in range(n)]
    b = [Decimal(0)] * n
    for weight, phi, reward in rows:
        for i in range(n):
            wp = weight * phi[i]
            if wp:
                for j in range(n):
                    a[i][j] += wp * phi[j]
                b[i] += wp * reward
    inv = inverse(a)
    return inv, [sum(x * y for x, y in zip(row, b)) for row in inv]


def top_directions(s, count):
    """Eigenvectors of the largest eigenvalues: high powers of the matrix, then deflation."""
    n, found = len(s), []
    for _ in range(count):
        p = [row[:] for row in s]
        for _ in range(70):
            top = max(abs(v) for row in p for v in row)
            p = [[v / top for v in row] for row in p]
            p = [[sum(p[i][k] * p[k][j] for k in range(n)) for j in range(n)] for i in range(n)]
        v = max((list(c) for c in zip(*p)), key=lambda c: sum(x * x for x in c))
        size = sum(x * x for x in v).sqrt()
        v = [x / size for x in v]
        if max(v, key=abs) < 0:
            v = [-x for x in v]
        value = sum(v[i] * s[i][j] * v[j] for i in range(n) for j in range(n))
        s = [[s[i][j] - value * v[i] * v[j] for j in range(n)] for i in range(n)]
        found.append(v)
    return found


class Scheduler:
    def __init__(self, seed, arms, opts):
        self.arms, self.o = arms, dict(ridge="10", explore="1", context="full", form="rff", rank="0",
                                       models="own", gamma="1", features="16", sigma="4", clamp="5",
                                       warmup="1", **{"icpt.width": "own"})
        self.o.update(opts)
        self.lam, self.gamma = Decimal(self.o["ridge"]), Decimal(self.o["gamma"])
        self.noise = Stream(seed, "contextual.noise")
        self.map = self.draw_map(Stream(seed, "contextual.features"), SIGNALS)
        self.rank = int(self.o["rank"])
        self.rank_map = self.draw_map(Stream(seed, "contextual.rank"), self.rank)
        self.order = drawn_order(seed, arms)
        self.dispatched = [0] * arms
        self.done = []  # (arm, raw signals and x at dispatch, reward), in the order of completion
        self.cache = {}

    def draw_map(self, rng, inputs):
        columns = []
        for _ in range(int(self.o["features"])):
            omega = [rng.normal() / float(self.o["sigma"]) for _ in range(inputs)]
            columns.append((omega, 2 * math.pi * rng.unit()))
        return columns

    def cached(self, key, make):
        if key not in self.cache:
            self.cache[key] = make()
        return self.cache[key]

    # --- from signals to phi
    def moments(self, arm):
        raw = [[Fraction(v) for v in r] for a, r, _, _ in self.done if a == arm]
        if len(raw) < 2:
            return None
        out = []
        for k in range(SIGNALS):
            mean = sum(r[k] for r in raw) / len(raw)
            var = sum((r[k] - mean) ** 2 for r in raw) / (len(raw) - 1)
            out.append((mean, None if var < Fraction(1, 10 ** 12) else
                        (Decimal(var.numerator) / Decimal(var.denominator)).sqrt()))
        return out

    def standardise(self, arm, raw):
        count = sum(a == arm for a, *_ in self.done)
        moments = self.cached(("moments", arm, count), lambda: self.moments(arm))
        clamp, x = float(self.o["clamp"]), []
        for k in range(SIGNALS):
            if not moments or moments[k][1] is None:
                x.append(0.0)
                continue
            off = Fraction(raw[k]) - moments[k][0]
            value = float(Decimal(off.numerator) / Decimal(off.denominator) / moments[k][1])
            x.append(max(-clamp, min(clamp, value)))
        return x

    def directions(self):
        turns = 32
        while turns * 2 <= len(self.done):
            turns *= 2
        return self.cached(("directions", turns), lambda: self.fit(self.done[:turns]))

    def fit(self, done):
        s = [[Decimal(0)] * SIGNALS for _ in range(SIGNALS)]
        for arm in range(self.arms):
            rows = [(Decimal(1), [Decimal(v) for v in x + [0, 1]], Decimal(r))
                    for a, _, x, r in done if a == arm]
            theta = ridge(rows, self.lam)[1]
            for i in range(SIGNALS):
                for j in range(SIGNALS):
                    s[i][j] += theta[i] * theta[j]
        return top_directions(s, self.rank)

    def phi(self, x):
        if self.o["context"] == "intercept":
            return [Decimal(0)] * COLUMNS + [Decimal(1)]
        z, columns = [Decimal(v) for v in x], self.map
        if self.rank and len(self.done) >= 32:
            z = [sum(d * v for d, v in zip(direction, z)) for direction in self.directions()]
            columns = self.rank_map
        if self.o["form"] == "linear":
            out = z
        else:
            scale = math.sqrt(2 / len(columns))
            out = [Decimal(scale * math.cos(sum(Decimal(w) * v for w, v in zip(omega, z)) + Decimal(b)))
                   for omega, b in columns]
        return out + [Decimal(0)] * (COLUMNS - len(out)) + [Decimal(1)]

    # --- prediction
    def model(self, arm):
        if self.o["models"] == "shared":
            arm = None
        rows = [(age, x, r) for age, (a, _, x, r) in enumerate(reversed(self.done)) if arm in (None, a)]
        key = ("model", arm, len(rows), len(self.done) if self.gamma != 1 or self.rank else 0)
        return self.cached(key, lambda: ridge(
            [(self.gamma ** age, self.cached_phi(x), Decimal(r)) for age, x, r in rows], self.lam))

    def cached_phi(self, x):
        fitted = len(self.done).bit_length() if self.rank and len(self.done) >= 32 else 0
        return self.cached(("phi", tuple(x), fitted), lambda: self.phi(x))

    def predict(self, arm, x):
        inv, theta = self.model(arm)
        phi = self.phi(x)
        mean = sum(t * p for t, p in zip(theta, phi))
        width = sum(p * sum(v * q for v, q in zip(row, phi)) for p, row in zip(phi, inv)).sqrt()
        if self.o["context"] == "intercept" and self.o["icpt.width"] == "common":
            width = 1 / (self.lam + Decimal(len(self.done)) / self.arms).sqrt()
        return mean, width

    def pick(self, signals, dropped):
        able = [a for a in range(self.arms) if not dropped >> a & 1]
        xs = [self.standardise(a, signals[a]) for a in range(self.arms)]
        scores = [self.predict(a, xs[a]) for a in range(self.arms)]
        due = [a for a in self.order if a in able and self.dispatched[a] < int(self.o["warmup"])]
        noise, draws = [0.0] * self.arms, [Decimal(0)] * self.arms
        if due:
            choice = min(due, key=lambda a: self.dispatched[a])
        else:
            noise = [self.noise.normal() for _ in range(self.arms)]
            draws = [m + Decimal(self.o["explore"]) * Decimal(e) * u for (m, u), e in zip(scores, noise)]
            choice = max(able, key=lambda a: draws[a]) if able else -1
        if choice >= 0:
            self.dispatched[choice] += 1
        return choice, xs, [(m, u, e, d) for (m, u), e, d in zip(scores, noise, draws)]


def some_signals(rng, t, turns):
    """Ordinary ones, a large one, one that never changes, a tiny one, one with outliers, a clock."""
    v = [rng.unit() for _ in range(SIGNALS - 1)]
    square = v[13] * v[13]
    v[10], v[11], v[12] = v[10] * 1000, 7.0, v[12] * 1e-7
    v[13] = (square * square) * (square * square)
    return v + [t / turns]


def scenario(out, seed, arms, turns, every, opts):
    text = ",".join(f"{k}={v}" for k, v in opts.items()) or "-"
    out.append(f"campaign {seed} {arms} {turns} {text}")
    world, s, flying = Stream(seed, "world"), Scheduler(seed, arms, opts), []
    for t in range(1, turns + 1):
        signals = [some_signals(world, t, turns) for _ in range(arms)]
        dropped = 1 << world.below(arms) if world.below(5) == 0 else 0
        choice, xs, scores = s.pick(signals, dropped)
        line = [str(choice)]
        if t % every == 0 or t == turns:
            line.append("scores")
            for x, score in zip(xs, scores):
                line += [num(x[13])] + [num(v) for v in score]
        out.append(" ".join(line))
        if choice >= 0:
            flying.append((choice, signals[choice], xs[choice]))
        while len(flying) > 6 or (flying and world.below(2)):
            arm, raw, x = flying.pop(world.below(len(flying)))
            reward = world.unit() if world.below(2) else 0.0
            s.done.append((arm, raw, x, reward))


def main():
    here = pathlib.Path(__file__).parent
    out = []
    scenario(out, 1, 6, 400, 9, {})
    scenario(out, 2, 1, 60, 9, {})
    scenario(out, 3, 2, 120, 9, {})
    scenario(out, 4, 17, 150, 15, {})
    scenario(out, 5, 64, 200, 40, {})
    scenario(out, 6, 6, 120, 9, {"explore": "0"})
    scenario(out, 7, 6, 120, 9, {"context": "intercept"})
    scenario(out, 8, 6, 120, 9, {"context": "intercept", "icpt.width": "common"})
    scenario(out, 9, 6, 120, 9, {"form": "linear"})
    scenario(out, 10, 6, 140, 9, {"rank": "3"})
    scenario(out, 11, 6, 120, 9, {"models": "shared"})
    scenario(out, 12, 6, 120, 9, {"ridge": "100"})
    scenario(out, 13, 6, 120, 9, {"gamma": "0.995"})
    scenario(out, 14, 4, 120, 9, {"gamma": "0.9", "models": "shared", "features": "5", "sigma": "1.5"})
    scenario(out, 15, 5, 120, 9, {"rank": "2", "form": "linear", "gamma": "0.99"})
    scenario(out, 16, 3, 80, 9, {"warmup": "4", "clamp": "1", "explore": "2.5"})
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here / "contextual.txt"
    target.write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
