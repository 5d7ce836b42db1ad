#!/usr/bin/env python3
"""Writes shares.txt: whole cores, and campaigns under autofz and legion, for tests/unit/shares.c.

    tests/vectors/shares.py [DIR]     (default: the directory of this file)

Written from METHOD §13, §14 and R47, not from the C code: at every decision the phases or rounds are
worked out afresh from the whole history of dispatches and completions; shares are exact fractions as
far as they can be.  Python 3 standard library only; the vectors are committed.
"""
import heapq
import math
import pathlib
import random
import sys
from fractions import Fraction

from oracle import drawn_order, num

S = 10 ** 9


def whole(weights, slots, order):
    """Largest remainder; ties: the larger share, then the first in the order."""
    total = sum(weights)
    exact = [Fraction(w) * slots / total for w in weights]
    cores = [math.floor(x) for x in exact]
    up = sorted(order, key=lambda i: (cores[i] - exact[i], -exact[i]))
    for i in up[:slots - sum(cores)]:
        cores[i] += 1
    return cores


def dealt(weights, slots, dropped, order):
    """(cores, slots) among those that can run; slots None: one each."""
    able = [i for i in range(len(weights)) if i not in dropped]
    slots = slots or len(able)
    w = [0 if i in dropped else x for i, x in enumerate(weights)]
    if not any(w):
        w = [0 if i in dropped else 1 for i in range(len(weights))]
    return whole(w, slots, order), slots, [Fraction(x) / sum(w) for x in w]


class Turn:
    def __init__(self, begin, dropped):
        self.begin, self.dropped, self.arm, self.end = begin, dropped, None, None
        self.edges = self.crashes = 0
        self.inputs = []


class Campaign:
    """Turns in dispatch order, and completed ones in completion order."""

    def __init__(self, seed, k, w, turn, opts):
        self.k, self.w, self.turn, self.opts = k, w, turn, opts
        self.turns, self.done, self.order = [], [], drawn_order(seed, k)

    def mask_before(self, when):
        """Who could not run, as last heard before a moment."""
        heard = [t.dropped for t in self.turns if t.begin < when]
        return heard[-1] if heard else frozenset()

    def place(self, since, dropped):
        """How many decisions the assignment made since a moment has served to this set of arms."""
        n = 0
        for t in reversed(self.turns):
            if t.begin < since or t.dropped != dropped:
                break
            n += 1
        return n

    def choose(self, weights, slots, since, dropped):
        cores, slots, share = dealt(weights, slots, dropped, self.order)
        at = self.place(since, dropped) % slots
        slot = [a for a in self.order for _ in range(cores[a])]
        return slot[at], [Fraction(c * self.w, slots) for c in cores], share


class Autofz(Campaign):
    def found(self, since, before):
        u = [0] * self.k
        for t in self.done:
            if t.begin >= since and t.end < before:
                u[t.arm] += t.edges
        return u

    def state(self, now):
        """(phase, round, theta, u, weights, since, end of round, winner)"""
        o, theta, begin, number = self.opts, self.opts["theta"], 0, 0
        while True:
            checks = []
            at = every = o["check"] * -(-self.k // self.w)  # until all have had a core for so long
            while at < o["prep"]:
                checks.append(begin + at)
                at += every
            checks.append(begin + o["prep"])
            end = begin + o["prep"] + o["focus"]
            for c in checks:
                if now < c:
                    return 0, number, theta, self.found(begin, now + 1), None, begin, end, False
                u = self.found(begin, c)
                gone = self.mask_before(c)
                able = [u[i] for i in range(self.k) if i not in gone]
                winner = max(able) - min(able) > theta
                if winner or c == checks[-1]:
                    break
            theta = theta + o["theta"] if winner else theta * 0.5
            weights = [int(x == max(able)) for x in u] if winner else u
            if now < end:
                return 1, number, theta, u, weights, c, end, winner
            begin, number = end, number + 1

    def ask(self, now, dropped):
        phase, number, theta, u, weights, since, end, winner = self.state(now)
        if phase == 0:
            weights, slots, length = [1] * self.k, None, self.opts["check"]
        else:
            slots, length = self.w, max(self.opts["check"], min(self.turn, end - now))
        arm, cores, share = self.choose(weights, slots, since, dropped)
        rows = [f"{u[i]} {num(share[i])} 0.0 {num(cores[i])}" for i in range(self.k)]
        return arm, length, f"{phase} {num(theta)} {number} {int(winner)}", rows


class Legion(Campaign):
    def __init__(self, seed, k, w, turn, opts, depths, func, seeds):
        super().__init__(seed, k, w, turn, opts)
        known = [d for d in depths if d != 65535]
        limit = int(1.5 * (sum(known) // len(known)))
        self.deep = {e for e, f in enumerate(func) if depths[f] != 65535 and depths[f] > limit}
        self.seeds = seeds

    def rare(self, before):
        h = {}
        for s in self.seeds + [i for t in self.done if t.end < before for i in t.inputs]:
            for e in s:
                h[e] = h.get(e, 0) + 1
        mean = Fraction(sum(h.values()), len(h))
        return {e for e, n in h.items() if n < mean / 2}

    def counts(self, begin, before):
        """The five counts of each arm, from turns evaluated in [begin, before)."""
        rare, c = self.rare(begin), [[0] * 5 for _ in range(self.k)]
        hit = [set() for _ in range(self.k)]
        known = {frozenset(s) for s in self.seeds}
        for t in self.done:
            if t.end >= before:
                break
            fresh = {frozenset(i) for i in t.inputs if i} - known
            known |= fresh
            if t.end >= begin:
                c[t.arm][0] += t.edges
                c[t.arm][1] += len(fresh)
                c[t.arm][2] += t.crashes
                hit[t.arm] |= set().union(*t.inputs) if t.inputs else set()
        for a in range(self.k):
            c[a][3], c[a][4] = len(hit[a] & self.deep), len(hit[a] & rare)
        return c

    def spent(self, weights, slots, begin, end):
        """Cores of each arm by time, in parts of a round, under one assignment."""
        units = [Fraction(0)] * self.k
        cuts = [t.begin for t in self.turns if begin <= t.begin < end] + [end]
        mask, at = self.mask_before(begin), begin
        for cut in cuts:
            cores, n, _ = dealt(weights, slots, mask, self.order)
            for a in range(self.k):
                units[a] += Fraction(cores[a] * self.w * (cut - at), n * self.opts["round"])
            at = cut
            mask = self.mask_before(cut + 1)
        return units

    def shares(self, reward, units, total, gone):
        """(q, u) of every arm, and the softmax over those that can run."""
        score = []
        for r, n in zip(reward, units):
            q = r / (r + n) if n else 0
            u = math.sqrt(2 * math.log(total) / n) if total > 1 and n else 1
            score.append((float(q), u))
        e = [0 if a in gone else math.exp(q + u) for a, (q, u) in enumerate(score)]
        return score, [x / math.fsum(e) for x in e]

    def close(self, c, ran, reward):
        sd = []
        for k in range(5):
            x = [c[a][k] for a in ran]
            mean = Fraction(sum(x), len(x))
            sd.append(math.sqrt(sum((v - mean) ** 2 for v in x) / len(x)))
        w = [s / math.fsum(sd) if any(sd) else 0.2 for s in sd]
        return [reward[a] + math.fsum(w[k] * c[a][k] for k in range(5)) for a in range(self.k)]

    def state(self, now):
        """(round, R, n, N, weights, slots, since, begin of the round)"""
        o, length = self.opts, self.opts["round"]
        begin, number = 0, 0
        reward, units, total = [0.0] * self.k, [Fraction(0)] * self.k, Fraction(0)
        weights, slots = [1] * self.k, None
        while True:
            since, spent, seen = begin, [Fraction(0)] * self.k, [0] * self.k
            looks = range(begin + length // 2, begin + length, o["check"]) if o["monitor"] else []
            for at in list(looks) + [begin + length]:
                if now < at:
                    return number, reward, units, total, weights, slots, since, begin
                c = self.counts(begin, at)
                sums = [sum(x) for x in c]
                scored = [a for a in range(self.k) if sums[a] > seen[a]]
                seen = sums
                if at == begin + length or not scored:
                    break
                gone = self.mask_before(at)
                cores, n, _ = dealt(weights, slots, gone, self.order)
                best = max((a for a in self.order if a not in gone), key=lambda a: sums[a])
                keep = [cores[a] if a == best or a in scored else 0 for a in range(self.k)]
                if keep != cores:
                    spent = [x + y for x, y in zip(spent, self.spent(weights, slots, since, at))]
                    keep[best] += n - sum(keep)
                    weights, slots, since = keep, n, at
            spent = [x + y for x, y in zip(spent, self.spent(weights, slots, since, at))]
            ran = {t.arm for t in self.done if begin <= t.end < at}
            ran = sorted(ran | {a for a in range(self.k) if spent[a]})
            reward = self.close(c, ran, reward)
            for a in range(self.k):
                if spent[a]:
                    units[a] = spent[a] if o["last"] else units[a] + spent[a]
            total += sum(spent)
            weights, slots = self.shares(reward, units, total, ())[1], self.w
            begin, number = at, number + 1

    def ask(self, now, dropped):
        number, reward, units, total, weights, slots, since, begin = self.state(now)
        length = self.turn
        if self.opts["monitor"]:
            half = begin + self.opts["round"] // 2 - now
            length = min(self.turn, max(half, self.opts["check"]))
        arm, cores, _ = self.choose(weights, slots, since, dropped)
        score, share = self.shares(reward, units, total, dropped)
        rows = [f"{num(score[i][0])} {num(score[i][1])} {num(share[i])} {num(cores[i])}"
                for i in range(self.k)]
        facts = f"{number} {num(reward[arm])} {num(units[arm])}"
        return arm, length, facts, rows


# --- campaigns ---------------------------------------------------------------------------------------

def sets_text(sets):
    return " ".join([str(len(sets))] + [" ".join(map(str, [len(s)] + sorted(s))) for s in sets])


def run(out, c, rng, until, harvest, drops):
    """W workers, each asking anew when its turn is evaluated; turns last their length and a bit."""
    ends, before = [(0, w, None) for w in range(c.w)], None
    while ends:
        now, worker, turn = heapq.heappop(ends)
        if now >= until:
            break
        if turn is not None:
            t = c.turns[turn]
            t.end = now
            harvest(t)
            c.done.append(t)
            out.append(f"done {turn} {now} {t.edges} {t.crashes} {sets_text(t.inputs)}")
        dropped = drops(now)
        arm, length, facts, rows = c.ask(now, dropped)
        t = Turn(now, dropped)
        t.arm = arm
        mask = sum(1 << a for a in dropped)
        rows = "rows " + " ".join(rows)
        out.append(f"pick {now} {mask} {arm} {length} {facts} {'same' if rows == before else rows}")
        before = rows
        c.turns.append(t)
        late = rng.choice([0, 1, 7, rng.randrange(S), rng.randrange(20 * S)])
        heapq.heappush(ends, (now + length + late, worker, len(c.turns) - 1))


def autofz(out, seed, k, w, rounds, level, drops=lambda now: frozenset(), scale=Fraction(1)):
    rng = random.Random(seed)
    o = {"prep": int(300 * S * scale), "focus": int(300 * S * scale), "check": int(30 * S * scale),
         "theta": 100.0}
    c = Autofz(seed, k, w, int(120 * S * scale), o)
    skill = [rng.uniform(0, level) for _ in range(k)]

    def harvest(t):
        t.edges = int(rng.expovariate(1) * skill[t.arm]) if rng.random() < 0.7 else 0

    out.append(f"autofz {seed} {k} {w} {c.turn} -")
    run(out, c, rng, int(600 * S * scale) * rounds, harvest, drops)


def legion(out, seed, k, w, rounds, opts, drops=lambda now: frozenset(), lazy=0.2):
    rng = random.Random(seed)
    depths = [rng.choice([0, 1, 2, 3, 5, 8, 65535]) for _ in range(12)]
    depths[0] = 0
    func = sorted(rng.randrange(12) for _ in range(80))
    seeds = [{0, 1, 2}, {0, 1, 5}]
    c = Legion(seed, k, w, 120 * S, {"round": 600 * S, "check": 30 * S, "monitor": "monitor=on" in opts,
                               "last": "units=last" in opts}, depths, func, seeds)
    covered = set().union(*seeds)

    def harvest(t):
        far = [10 + 70 * len(c.done) // 300, 4 + t.arm * 10]
        for _ in range(rng.randrange(4) if rng.random() > lazy else 0):
            start = rng.randrange(min(80, max(far)))
            t.inputs.append({min(79, start + rng.randrange(6)) for _ in range(rng.randrange(6))})
        touched = set().union(*t.inputs) if t.inputs else set()
        t.edges = len(touched - covered)
        covered.update(touched)
        t.crashes = int(rng.random() < 0.1)

    out.append(f"legion {seed} {k} {w} {c.turn} {opts}")
    out.append(f"table 12 {' '.join(map(str, depths))} 80 {' '.join(map(str, func))}")
    out.append(f"seeds {sets_text(seeds)}")
    run(out, c, rng, 600 * S * rounds, harvest, drops)


def off_and_on(arms, period):
    return lambda now: frozenset(arms) if now // (period * S) % 2 else frozenset()


def whole_line(out, seed, w, slots):
    cores = whole(w, slots, drawn_order(seed, len(w)))
    out.append(f"whole {seed} {slots} {len(w)} {' '.join(map(str, w + cores))}")


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    where = where if where.is_dir() else where.parent
    out, rng = [], random.Random(5)
    for w, slots in (([5, 3, 2, 0, 0, 0], 6), ([1] * 6, 6), ([41, 19, 14, 12, 8, 6], 6),
                     ([1, 4], 7), ([1, 1, 4], 4), ([2, 1, 1], 2), ([0, 0, 7], 256)):
        whole_line(out, 1, w, slots)
    for seed in range(300):
        w = [rng.choice([0, 1, 2, 3, rng.randrange(10 ** rng.randrange(1, 12))])
             for _ in range(rng.randrange(1, 65))]
        w[rng.randrange(len(w))] += 1
        slots = rng.randrange(1, 257)
        whole_line(out, seed, w, slots)
    autofz(out, 1, 6, 6, 8, 30)
    autofz(out, 2, 3, 8, 3, 90)
    autofz(out, 3, 7, 2, 4, 60)
    autofz(out, 4, 5, 4, 4, 40, off_and_on([0, 3], 410))
    autofz(out, 5, 1, 2, 2, 200)
    autofz(out, 6, 4, 4, 3, 0)
    autofz(out, 7, 6, 6, 2, 60, scale=Fraction(1, 24))
    legion(out, 1, 6, 6, 8, "-")
    legion(out, 2, 4, 9, 4, "units=last")
    legion(out, 3, 9, 3, 7, "-")
    legion(out, 4, 5, 4, 6, "-", off_and_on([1, 4], 770))
    legion(out, 5, 6, 6, 3, "monitor=on")
    legion(out, 6, 4, 3, 6, "monitor=on", off_and_on([2], 500), 0.75)
    legion(out, 7, 1, 1, 4, "-")
    (where / "shares.txt").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
