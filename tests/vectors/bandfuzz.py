#!/usr/bin/env python3
"""Writes bandfuzz.txt, which tests/unit/bandfuzz.c compares the scheduler bandfuzz with.

    tests/vectors/bandfuzz.py [DIR]     (default: the directory of this file)

Written from METHOD §12: a posterior is the sum over the rewards that arrived since the last multiple
of the reset time, computed afresh for every draw.
"""
import math
import pathlib
import random
import sys
from fractions import Fraction

import oracle
from oracle import Stream


def gamma(stream, shape):
    """Marsaglia and Tsang, shape >= 1."""
    d = shape - 1 / 3
    while True:
        x = stream.normal()
        v = (1 + x / math.sqrt(9 * d)) ** 3
        u = 1 - stream.unit()
        if v <= 0:
            continue
        bound = 0.5 * x * x + d - d * v + d * math.log(v)
        assert abs(math.log(u) - bound) > 1e-9, "too close to call for two computations"
        if math.log(u) < bound:
            return d * v


def scenario(out, seed, arms, steps, reset, update):
    rng, stream, coins = random.Random(seed), Stream(seed, "bandfuzz"), Stream(seed, "bandfuzz coins")
    arrived, flying, now = [], [], 0
    out.append(f"bandfuzz {arms} {seed} reset={reset}s,update={update}")
    for t in range(1, steps + 1):
        now += rng.randrange(100)
        gone = {a for a in range(arms) if rng.random() < 0.15}
        able = [a for a in range(arms) if a not in gone]
        rows = []
        for a in range(arms):
            mine = [r for (b, at, r) in arrived if b == a and at // reset == now // reset]
            alpha, beta = 1 + sum(mine), 1 + sum(1 - r for r in mine)
            mean = alpha / (alpha + beta)
            sd = math.sqrt(alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1)))
            x, y = gamma(stream, float(alpha)), gamma(stream, float(beta))
            rows.append([mean, sd, x / (x + y), alpha, beta])
        choice = max(able, key=lambda a: rows[a][2]) if able else -1
        out.append(f"pick {t} {now} {sum(1 << a for a in gone)} {choice}")
        for a, row in enumerate(rows):
            out.append(f"row {a} " + " ".join(oracle.num(x) for x in row))
        if choice >= 0:
            flying.append(choice)
        while flying and (len(flying) > 5 or rng.random() < 0.5):
            now += rng.randrange(40)
            a = flying.pop(rng.randrange(len(flying)))
            x = rng.choice([0.0, 0.0, 0.5, 1.0, rng.random()])
            counted = Fraction(x) if update == "fractional" else Fraction(int(coins.unit() < x))
            arrived.append((a, now, counted))
            out.append(f"learn {a} {now} {oracle.num(x)}")


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    where = where if where.is_dir() else where.parent
    out = []
    scenario(out, 1, 6, 150, 1800, "fractional")
    scenario(out, 2, 3, 150, 900, "bernoulli")
    scenario(out, 3, 1, 40, 7200, "fractional")
    scenario(out, 4, 64, 12, 300, "bernoulli")
    (where / "bandfuzz.txt").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
