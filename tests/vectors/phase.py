#!/usr/bin/env python3
"""Writes phase.txt, which tests/unit/phase.c compares Method I with.

    tests/vectors/phase.py [DIR]     (default: the directory of this file)

Written from the paper's algorithm and its definitions, not from the C code: every index is computed
afresh from all rewards of the fuzzer, in exact fractions up to the roots.
"""
import math
import pathlib
import random
import sys
from fractions import Fraction

import oracle
from oracle import Stream, drawn_order

TWELFTH = Fraction(1, 12)


def median(values):
    values = sorted(values)
    n = len(values)
    return values[n // 2] if n % 2 else (values[n // 2 - 1] + values[n // 2]) / 2


def mean(values):
    return sum(values) / Fraction(len(values))


def kendall(r):
    n = len(r)
    s = sum((r[j] > r[i]) - (r[j] < r[i]) for i in range(n) for j in range(i + 1, n))
    var = Fraction(n * (n - 1) * (2 * n + 5), 18)
    for v in set(r):
        k = r.count(v)
        var -= Fraction(k * (k - 1) * (2 * k + 5), 18)
    if s == 0 or var == 0:
        return 0.0
    return (s - (1 if s > 0 else -1)) / math.sqrt(var)


def trend(r):
    """The Theil-Sen slope and its variance."""
    m = len(r)
    slope = median([(r[j] - r[i]) / (j - i) for i in range(m) for j in range(i + 1, m)]) if m > 1 \
        else Fraction(0)
    spread = TWELFTH
    if m >= 3:
        left = [x - slope * i for i, x in enumerate(r)]
        middle = median(left)
        spread = sum((x - middle) ** 2 for x in left) / (m - 2)
    return slope, spread / max(Fraction(1, 2), Fraction(m * (m * m - 1), 12))


class Fuzzer:
    def __init__(self, window, tau):
        self.rewards, self.window, self.tau = [], window, tau
        self.known = {}

    def facts(self):
        """Everything that does not depend on t; remembered per number of rewards."""
        count = len(self.rewards)
        if count not in self.known:
            r = self.rewards[-self.window:]
            full = len(r) == self.window
            z = kendall(r) if full else 0.0
            rotting = full and not z > self.tau
            seen = TWELFTH
            if len(r) > 1:
                middle = mean(r)
                seen = sum((x - middle) ** 2 for x in r) / (len(r) - 1) / len(r)
            width = math.sqrt(seen + TWELFTH / max(1, count))
            self.known = {count: (r, z, full, rotting, width, None if rotting else trend(r))}
        return self.known[count]

    def index(self, t, alpha):
        r, z, full, rotting, width, line = self.facts()
        if rotting:
            ladder = {self.window}
            h = 2
            while h < self.window:
                ladder.add(h)
                h *= 2
            best = max(sorted(ladder),
                       key=lambda h: float(mean(r[-h:])) + alpha * math.sqrt(math.log(t) / h))
            bonus = alpha * math.sqrt(math.log(t) / best)
            return float(mean(r[-best:])) + bonus, best, bonus, width, z, full, rotting
        slope, variance = line
        bonus = alpha * math.sqrt(math.log(t) * variance)
        level = mean(r) if r else Fraction(1, 2)
        return float(level + slope) + bonus, float(slope), bonus, width, z, full, rotting


def scenario(out, seed, arms, steps, window, tau, alpha, warmup, reward, drop=0.15):
    rng, stream = random.Random(seed), Stream(seed, "phase")
    pool = [Fuzzer(window, tau) for _ in range(arms)]
    sent, flying, order = [0] * arms, [], drawn_order(seed, arms)
    out.append(f"phase {arms} {seed} window={window},tau={tau},alpha={alpha},warmup={warmup}")
    for t in range(1, steps + 1):
        gone = {a for a in range(arms) if rng.random() < drop}
        able = [a for a in range(arms) if a not in gone]
        rows, draws = [], []
        for f in pool:
            v, which, bonus, width, z, full, rotting = f.index(t, alpha)
            noise = stream.normal()
            draws.append(v + alpha * noise * width)
            rows.append([v, width, noise, draws[-1], rotting, which, bonus, z, full])
        due = [a for a in order if a in able and sent[a] < warmup]
        if due:
            choice = min(due, key=lambda a: sent[a])
        elif able:
            top = max(draws[a] for a in able)
            best = [a for a in able if draws[a] == top]
            close = [a for a in able if top - 1e-9 < draws[a] < top]
            assert not close, "too close to call for two computations"
            choice = best[stream.below(len(best))] if len(best) > 1 else best[0]
        else:
            choice = -1
        out.append(f"pick {t} {sum(1 << a for a in gone)} {choice} {int(bool(due))}")
        if t % 7 == 0 or t < 12:
            for a, row in enumerate(rows):
                out.append(f"row {a} " + " ".join(oracle.num(x) for x in row))
        if choice >= 0:
            sent[choice] += 1
            flying.append(choice)
        while flying and (len(flying) > 5 or rng.random() < 0.5):
            a = flying.pop(rng.randrange(len(flying)))
            x = reward(rng, a, len(pool[a].rewards))
            pool[a].rewards.append(Fraction(x))
            out.append(f"learn {a} {oracle.num(x)}")


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    where = where if where.is_dir() else where.parent
    out = []

    def rising_and_rotting(rng, a, n):
        return min(1.0, max(0.0, (0.01 * n if a % 2 else 0.8 - 0.02 * n) + 0.1 * rng.random()))

    def sparse(rng, a, _):
        return rng.random() if rng.random() < 0.05 * (a + 1) else 0.0

    scenario(out, 1, 3, 420, 84, 3.5, 1.0, 1, rising_and_rotting)
    scenario(out, 2, 6, 400, 12, 1.5, 0.25, 1, sparse)
    scenario(out, 3, 2, 260, 84, 3.5, 1.0, 1, lambda *_: 0.0, drop=0)
    scenario(out, 4, 1, 30, 2, 0.0, 1.0, 3, sparse)
    scenario(out, 5, 5, 200, 8, 0.5, 0.0, 0, lambda *_: 0.0, drop=0.1)
    scenario(out, 6, 4, 300, 20, 2.0, 2.0, 2, rising_and_rotting)
    scenario(out, 7, 64, 90, 33, 3.5, 1.0, 1, sparse)
    (where / "phase.txt").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
