#!/usr/bin/env python3
"""Writes rate.txt, which tests/unit/rate.c compares the scheduler rate with.

    tests/vectors/rate.py [DIR]     (default: the directory of this file)

Written from METHOD §21.  Nothing is incremental: every sum runs over the whole history with weights by age, the best
rate is a maximum over all turns of the campaign, and the regression on the signals is solved afresh from every
completed turn, in decimal numbers of 60 digits.
"""
import math
import pathlib
import random
import sys
from decimal import Decimal

import oracle
from contextual import inverse
from oracle import Stream

SIGNALS = 15
DEFAULTS = {"half": 4, "evidence": 20, "slowest": 0.05, "noise": 0.5, "idle": 0.005, "cap": 3, "prior": 1.5, "spread": 1, "fade": 0.3, "explore": 1,
            "context": "none", "ridge": 10, "clamp": 5}


class Turn:
    """A completed one."""

    def __init__(self, arm, signals, edges, seconds):
        self.arm, self.signals, self.edges, self.seconds = arm, signals, edges, seconds


class Rate:
    def __init__(self, seed, arms, turn_s, opts):
        self.o = {**DEFAULTS, **opts}
        self.arms, self.turn_s, self.noise = arms, turn_s, Stream(seed, "rate")
        self.done = []   # turns in the order of completion
        self.flight = {}  # worker: (decision, arm)
        self.rows = []   # (x, y) of the regression, one per completed turn

    # --- sums by age
    def aged(self, arm, upto):
        own = [t for t in self.done[:upto] if t.arm == arm]
        ages = [0.0] * len(own)  # in full turns
        for last, t in enumerate(own):
            found = t.edges + math.fsum(self.weight(a) * u.edges for a, u in zip(ages, own[:last]))
            pace = min(8, max(self.o["slowest"], found / self.o["evidence"])) if self.o["evidence"] else 1
            ages[:last] = [a + pace for a in ages[:last]]
        return [(self.weight(a), t) for a, t in zip(ages, own)]

    def weight(self, age):
        return 2 ** (-age / self.o["half"])

    def log_rate(self, edges, seconds):
        return math.log((edges + 0.5 * min(1, seconds / self.turn_s)) / seconds)

    def level(self, arm, upto):
        aged = self.aged(arm, upto)
        return self.log_rate(math.fsum(w * t.edges for w, t in aged), math.fsum(w * t.seconds for w, t in aged))

    def mean_of(self, arm, upto, value):
        aged = self.aged(arm, upto)
        return math.fsum(w * value(t) for w, t in aged) / math.fsum(w for w, _ in aged)

    def assumed(self):
        nothing = math.log(0.5 / self.turn_s)
        if not self.done:
            return nothing
        n, tried = len(self.done), len({t.arm for t in self.done})
        best = max(self.level(t.arm, i + 1) - self.o["fade"] * (n - 1 - i) for i, t in enumerate(self.done))
        return max(nothing, best - self.o["prior"] * math.log(1 + tried))

    # --- signals
    def deviations(self, arm, signals, before, seen):
        """From the arm's mean before turn number `before`, by the standard deviation of the first `seen` turns."""
        x = []
        for k in range(SIGNALS):
            values = [t.signals[k] for t in self.done[:seen]]
            if len(values) < 2:
                x.append(0.0)
                continue
            mean = math.fsum(values) / len(values)
            variance = math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1)
            off = signals[k] - self.mean_of(arm, before, lambda t, k=k: t.signals[k])
            bound = self.o["clamp"]
            x.append(max(-bound, min(bound, off / math.sqrt(variance))) if variance >= 1e-12 else 0.0)
        return x

    def regress(self):
        a = [[Decimal(self.o["ridge"]) * (i == j) for j in range(SIGNALS)] for i in range(SIGNALS)]
        b = [Decimal(0)] * SIGNALS
        for weight, x, y in self.rows:
            xs = [Decimal(v) for v in x]
            for i in range(SIGNALS):
                for j in range(SIGNALS):
                    a[i][j] += Decimal(weight) * xs[i] * xs[j]
                b[i] += Decimal(weight) * xs[i] * Decimal(y)
        inv = inverse(a)
        return inv, [sum(v * w for v, w in zip(row, b)) for row in inv]

    def factor(self, x, solved):
        inv, theta = solved
        xs = [Decimal(v) for v in x]
        spread = sum(xs[i] * inv[i][j] * xs[j] for i in range(SIGNALS) for j in range(SIGNALS))
        return float(sum(v * w for v, w in zip(theta, xs))), float(spread)

    # --- decisions and completions
    def pick(self, t, worker, dropped, signals):
        full = self.o["context"] == "full"
        solved = self.regress() if full else None
        flying = [a for w, (_, a) in self.flight.items() if w != worker]
        noises = [self.noise.normal() for _ in range(self.arms + 1)]
        out = []
        for arm in range(self.arms):
            own = [i for i, turn in enumerate(self.done) if turn.arm == arm]
            up = flying.count(arm)
            idle = 0 if up else len(self.done) - (own[-1] + 1 if own else 0)
            n = math.fsum(w for w, _ in self.aged(arm, len(self.done)))
            level = self.level(arm, len(self.done)) if own else self.assumed()
            variance = (self.o["noise"] ** 2 / (n + up) if own else
                        1 / (1 / self.o["spread"] ** 2 + up / self.o["noise"] ** 2)) + self.o["idle"] * idle
            shift = 0.0
            if full and own:
                x = self.deviations(arm, signals[arm], len(self.done), len(self.done))
                shift, spread = self.factor(x, solved)
                variance += self.o["noise"] ** 2 * spread
            width, noise = min(self.o["cap"], math.sqrt(variance)), noises[arm if own else self.arms]
            out.append([level + shift, width, noise, level + shift + self.o["explore"] * noise * width, level, n, up,
                        idle, shift])
        able = sorted((a for a in range(self.arms) if not dropped >> a & 1), key=lambda a: out[a][3])
        tied = [a for a in sorted(able) if out[a][3] == out[able[-1]][3]]
        assert len(able) == len(tied) or out[able[-1]][3] - out[able[-len(tied) - 1]][3] > 1e-9, "too close to call"
        choice = tied[0] if tied else -1
        self.flight.pop(worker, None)
        if able:
            self.flight[worker] = (t, choice)
        return choice, out

    def learn(self, t, worker, arm, signals, edges, cost_ns, died):
        if self.flight.get(worker, (0, 0))[0] == t:
            del self.flight[worker]
        seconds = max(cost_ns, 1e6) / 1e9
        before = len(self.done)
        turn = Turn(arm, signals, edges, max(seconds, self.turn_s) if died else seconds)
        self.done.append(turn)
        if self.o["context"] == "full" and self.aged(arm, before):
            n = math.fsum(w for w, _ in self.aged(arm, before))
            x = self.deviations(arm, signals, before, before + 1)
            off = self.log_rate(edges, turn.seconds) - self.mean_of(
                arm, before, lambda t: self.log_rate(t.edges, t.seconds))
            self.rows.append((n / (n + 1), x, off))


def scenario(out, seed, arms, workers, steps, turn_ns, text):
    opts = dict(p.split("=") for p in text.split(",") if p)
    opts = {k: v if k == "context" else float(v) for k, v in opts.items()}
    rng, rate, now = random.Random(seed), Rate(seed, arms, turn_ns / 1e9, opts), 0
    full = rate.o["context"] == "full"
    out.append(f"rate {arms} {seed} {workers} {turn_ns} {text or 'half=4'}")
    running = {}  # worker: what the outcome needs
    worth = [10 ** rng.uniform(-1, 2.5) for _ in range(arms)]
    for t in range(1, steps + 1):
        now += rng.randrange(10 ** 9)
        worker = rng.randrange(workers)
        if worker in running and rng.random() < 0.9:  # else it was voided
            arm, signals, began = running.pop(worker)
            cost = rng.choice([0, turn_ns // 50, turn_ns, turn_ns + rng.randrange(turn_ns)])
            died, edges = rng.random() < 0.1, int(rng.choice([0, 1, 1]) * worth[arm] * rng.expovariate(1))
            worth[arm] *= 0.9
            rate.learn(began, worker, arm, signals, edges, cost, died)
            out.append(f"learn {began} {cost} {edges} {int(died)}")
        dropped = sum(1 << a for a in range(arms) if rng.random() < 0.1)
        signals = [[rng.randrange(17) / 16 if k else 0.25 for k in range(SIGNALS)] for _ in range(arms)]
        choice, rows = rate.pick(t, worker, dropped, signals)
        out.append(f"pick {t} {worker} {now} {dropped} {choice}")
        for a in range(arms if full else 0):
            out.append(f"signals {a} " + " ".join(oracle.num(v) for v in signals[a]))
        for a, row in enumerate(rows):
            out.append(f"row {a} " + " ".join(oracle.num(v) for v in row))
        running.pop(worker, None)
        if choice >= 0:
            running[worker] = (choice, signals[choice], t)


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    where = where if where.is_dir() else where.parent
    out = []
    scenario(out, 1, 6, 1, 150, 5 * 10 ** 9, "")
    scenario(out, 2, 6, 4, 150, 120 * 10 ** 9, "half=3,noise=1.2,idle=0.3,cap=1.5,prior=0.5,spread=2,fade=0.2,explore=0.5,evidence=0")
    scenario(out, 3, 2, 2, 60, 2 * 10 ** 9, "fade=0,slowest=0.3")
    scenario(out, 4, 64, 16, 12, 5 * 10 ** 9, "")
    scenario(out, 5, 3, 2, 70, 5 * 10 ** 9, "context=full,ridge=2,clamp=1.5,evidence=5")
    (where / "rate.txt").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
