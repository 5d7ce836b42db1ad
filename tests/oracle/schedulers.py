"""Every scheduler once more, beside a record: what it should have said at each decision.

The definitions are those of tests/vectors, which the schedulers' own tests compare with; here they are fed with what
a campaign did, so that a campaign that asks, tells or ticks wrongly shows.
"""
import math

import bandfuzz
import contextual
import phase
import rate
import shares
from oracle import Xoshiro, drawn_order
from record import COMMITTED


def nanoseconds(text):
    whole, _, part = text.rstrip("s").partition(".")
    return int(whole) * 10 ** 9 + int((part + "0" * 9)[:9])


def inverse(a):
    """Gauss and Jordan; a is symmetric and far from singular."""
    n = len(a)
    m = [row[:] + [float(i == j) for j in range(n)] for i, row in enumerate(a)]
    for c in range(n):
        p = m[c][c]
        m[c] = pivot = [v / p for v in m[c]]
        for r in range(n):
            f = m[r][c]
            if r != c and f:
                m[r] = [x - f * y for x, y in zip(m[r], pivot)]
    return [row[n:] for row in m]


class Model:
    """Knows nothing of the scheduler but that it chooses a fuzzer that can run."""

    def __init__(self, record, report):
        self.r, self.report = record, report
        self.arms = len(record.fuzzers)
        self.number = int(record.settings["seed"])
        self.order = drawn_order(self.number, self.arms)  # of first turns
        self.opts = dict(x.split("=", 1) for x in record.settings.get("params", "").split(",") if "=" in x)

    def seeds(self, sets):
        pass

    def decide(self, d):
        pass

    def complete(self, turn, d, sets):
        pass

    def able(self, d):
        return [a for a in range(self.arms) if a not in d.dropped]

    def choice(self, d, right):
        self.report.same("choice", f"decision {d.t}", d.choice, right)

    def number_of(self, what, d, arm, logged, computed):
        self.report.close(what, f"decision {d.t}, {self.r.fuzzers[arm]}", logged, computed)

    def length(self, d, right):
        self.report.same("length of the turn", f"decision {d.t}", d.turn_ns, right)


class Equal(Model):
    """Round robin over those that can run, in the drawn order."""

    def __init__(self, record, report):
        super().__init__(record, report)
        self.ring = self.order[:]

    def decide(self, d):
        self.choice(d, next(a for a in self.ring if a not in d.dropped))
        after = self.ring.index(d.choice) + 1
        self.ring = self.ring[after:] + self.ring[:after]


class Random(Model):
    def __init__(self, record, report):
        super().__init__(record, report)
        self.stream = Xoshiro(self.number)

    def decide(self, d):
        able = self.able(d)
        self.choice(d, able[self.stream.below(len(able))])


class Single(Model):
    def decide(self, d):
        self.choice(d, self.r.fuzzers.index(self.r.settings["scheduler"].split(":")[1]))


class Drawing(Model):
    """Those that warm up and then take the largest draw."""

    def __init__(self, record, report):
        super().__init__(record, report)
        self.dispatched = [0] * self.arms

    def largest(self, d, warmup):
        """Checks the choice; True: it was one of the warm-up."""
        able = self.able(d)
        due = [a for a in self.order if a in able and self.dispatched[a] < warmup]
        right = [min(due, key=lambda a: self.dispatched[a])] if due else \
                [a for a in able if d.draw[a] == max(d.draw[b] for b in able)]
        self.report.check("choice", d.choice in right, f"decision {d.t}: logged {d.choice}, computed {right} of"
                          f" {d.draw}")
        self.dispatched[d.choice] += 1
        return bool(due)


class Contextual(Drawing):
    """Method II.  Standardisers and sums from everything that completed, with the phi of the dispatch."""

    def __init__(self, record, report):
        super().__init__(record, report)
        o = self.opts
        self.noise = contextual.Stream(self.number, "contextual.noise")
        self.columns = contextual.Scheduler(self.number, 1, {"features": o["features"], "sigma": o["sigma"]}).map
        self.plain = o["rank"] == "0" and o["models"] == "own" and float(o["gamma"]) == 1 and o["form"] == "rff" \
            and o["context"] == "full"
        n = len(self.columns) + 1
        self.moments = [[] for _ in range(self.arms)]  # per fuzzer the raw signals at the dispatch of completed turns
        self.sums = [([[float(o["ridge"]) * (i == j) for j in range(n)] for i in range(n)], [0.0] * n)
                     for _ in range(self.arms)]
        self.solved = [self.solve(a) for a in range(self.arms)]
        self.scale = [None] * self.arms

    def solve(self, arm):
        """A^-1 and A^-1 b"""
        a, b = self.sums[arm]
        inv = inverse(a)
        return inv, [sum(x * y for x, y in zip(row, b)) for row in inv]

    def standard(self, arm):
        """(mean, variance) of every signal, None: nothing to say yet."""
        rows = self.moments[arm]
        if len(rows) < 2:
            return None
        out = []
        for column in zip(*rows):
            m = math.fsum(column) / len(column)
            out.append((m, math.fsum((x - m) ** 2 for x in column) / (len(column) - 1)))
        return out

    def decide(self, d):
        for a in range(self.arms):
            self.standardised(d, a)
            if self.plain:
                self.predicted(d, a)
        if not self.largest(d, int(self.opts["warmup"])):
            for a in range(self.arms):
                self.number_of("noise", d, a, d.noise[a], self.noise.normal())
                self.number_of("draw", d, a, d.draw[a],
                               d.mean[a] + float(self.opts["explore"]) * d.noise[a] * d.width[a])

    def standardised(self, d, a):
        clamp = float(self.opts["clamp"])
        for k, raw in enumerate(d.signals[a]):
            m, v = self.scale[a][k] if self.scale[a] else (0, 0)
            x = max(-clamp, min(clamp, (raw - m) / math.sqrt(v))) if v >= 1e-12 else 0.0
            slack = 1e-9 + (1e-14 * (1 + m * m) / v if v else 0)  # where all are nearly the same, rounding is all
            near = abs(d.standardised[a][k] - x) <= slack * (1 + abs(x)) or abs(v - 1e-12) < 1e-13
            self.report.check("standardised", near, f"decision {d.t}, {self.r.fuzzers[a]}, signal {k}: logged"
                              f" {d.standardised[a][k]!r}, computed {x!r}")

    def predicted(self, d, a):
        root = math.sqrt(2 / len(self.columns))
        for k, (omega, b) in enumerate(self.columns):
            angle = math.fsum(w * x for w, x in zip(omega, d.standardised[a])) + b
            self.number_of("features", d, a, d.phi[a][k], root * math.cos(angle))
        inv, theta = self.solved[a]
        phi = d.phi[a][:len(self.columns)] + [1.0]
        self.number_of("prediction", d, a, d.mean[a], math.fsum(t * p for t, p in zip(theta, phi)))
        self.number_of("width", d, a, d.width[a], math.sqrt(math.fsum(
            p * math.fsum(v * q for v, q in zip(row, phi)) for p, row in zip(phi, inv))))

    def complete(self, turn, d, sets):
        if turn.state != COMMITTED:
            return
        arm = turn.arm
        self.moments[arm].append(d.signals[arm])
        self.scale[arm] = self.standard(arm)
        if self.plain:
            a, b = self.sums[arm]
            phi = d.phi[arm][:len(self.columns)] + [1.0]
            for i, p in enumerate(phi):
                a[i] = [x + p * q for x, q in zip(a[i], phi)]
                b[i] += turn.reward * p
            self.solved[arm] = self.solve(arm)


class Phase(Drawing):
    """Method I."""

    def __init__(self, record, report):
        super().__init__(record, report)
        self.stream = phase.Stream(self.number, "phase")
        self.pool = [phase.Fuzzer(int(self.opts["window"]), float(self.opts["tau"])) for _ in range(self.arms)]

    def decide(self, d):
        alpha = float(self.opts["alpha"])
        for a, f in enumerate(self.pool):
            index, _, _, width, *_ = f.index(d.t, alpha)
            self.number_of("index", d, a, d.mean[a], index)
            self.number_of("width", d, a, d.width[a], width)
            self.number_of("noise", d, a, d.noise[a], self.stream.normal())
            self.number_of("draw", d, a, d.draw[a], d.mean[a] + alpha * d.noise[a] * d.width[a])
        warm = self.largest(d, int(self.opts["warmup"]))
        top = [a for a in self.able(d) if d.draw[a] == max(d.draw[b] for b in self.able(d))]
        if not warm and len(top) > 1:
            self.stream.below(len(top))

    def complete(self, turn, d, sets):
        if turn.state == COMMITTED:
            self.pool[turn.arm].rewards.append(phase.Fraction(turn.reward))


class Bandfuzz(Drawing):
    def __init__(self, record, report):
        super().__init__(record, report)
        self.stream = bandfuzz.Stream(self.number, "bandfuzz")
        self.coins = bandfuzz.Stream(self.number, "bandfuzz coins")
        self.reset = nanoseconds(self.opts["reset"])
        self.arrived = []

    def decide(self, d):
        for a in range(self.arms):
            mine = [r for b, at, r in self.arrived if b == a and at // self.reset == d.now // self.reset]
            alpha, beta = 1 + math.fsum(mine), 1 + math.fsum(1 - r for r in mine)
            self.number_of("posterior mean", d, a, d.mean[a], alpha / (alpha + beta))
            self.number_of("width", d, a, d.width[a],
                           math.sqrt(alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))))
            x, y = bandfuzz.gamma(self.stream, alpha), bandfuzz.gamma(self.stream, beta)
            self.number_of("draw", d, a, d.draw[a], x / (x + y))
        self.largest(d, 0)

    def complete(self, turn, d, sets):
        if turn.state == COMMITTED:
            r = turn.reward
            if self.opts["update"] == "bernoulli":
                r = float(self.coins.unit() < r)
            self.arrived.append((turn.arm, turn.end_ns, r))


class Rate(Model):
    """The one that wants edges quickly: sums over all that completed, by age."""

    def __init__(self, record, report):
        super().__init__(record, report)
        opts = {k: v if k == "context" else float(v) for k, v in self.opts.items()}
        self.world = rate.Rate(self.number, self.arms, record.turn_ns / 1e9, opts)

    def decide(self, d):
        choice, rows = self.world.pick(d.t, d.worker, sum(1 << a for a in d.dropped), d.signals)
        for a, row in enumerate(rows):
            for what, logged, computed in zip(("level", "width", "noise", "draw"),
                                              (d.mean[a], d.width[a], d.noise[a], d.draw[a]), row):
                self.number_of(what, d, a, logged, computed)
        self.choice(d, choice)

    def complete(self, turn, d, sets):
        if turn.state == COMMITTED:
            self.world.learn(turn.id, turn.slot, turn.arm, d.signals[turn.arm], turn.new_edges,
                             turn.end_ns - turn.start_ns, turn.died)


class Shares(Model):
    """autofz and legion: cores by shares, phases and rounds by the clock."""

    def __init__(self, record, report):
        super().__init__(record, report)
        self.world, self.turn = None, {}

    def decide(self, d):
        arm, length, _, rows = self.world.ask(d.now, frozenset(d.dropped))
        self.choice(d, arm)
        self.length(d, length)
        for a, row in enumerate(rows):
            for what, logged, computed in zip(("first column", "second column", "third column", "cores"),
                                              (d.mean[a], d.width[a], d.noise[a], d.draw[a]), map(float, row.split())):
                self.number_of(what, d, a, logged, computed)
        t = self.turn[d.t] = shares.Turn(d.now, frozenset(d.dropped))
        t.arm = d.choice
        self.world.turns.append(t)

    def complete(self, turn, d, sets):
        if turn.state == COMMITTED:
            t = self.turn[turn.id]
            t.end, t.edges, t.crashes = turn.end_ns, turn.new_edges, turn.crashes
            t.inputs = [set(s) for s in sets]
            self.world.done.append(t)


class Autofz(Shares):
    def __init__(self, record, report):
        super().__init__(record, report)
        o = {k: nanoseconds(self.opts[k]) for k in ("prep", "focus", "check")}
        self.world = shares.Autofz(self.number, self.arms, record.workers, record.turn_ns,
                                   {**o, "theta": float(self.opts["theta"])})


class Legion(Shares):
    def seeds(self, sets):
        o = {"round": nanoseconds(self.opts["round"]), "check": nanoseconds(self.opts["check"]),
             "monitor": self.opts["monitor"] == "on", "last": self.opts["units"] == "last"}
        t = self.r.table
        self.world = shares.Legion(self.number, self.arms, self.r.workers, self.r.turn_ns, o, t.depths, t.function,
                                   [set(s) for s in sets])


def model(record, report):
    """The one of a record; of a scheduler that is not known here nothing is checked but that it chooses."""
    name = record.settings["scheduler"].split(":")[0]
    if name == "legion" and any(t.round and t.state != COMMITTED for t in record.turns):
        return Model(record, report)  # what it makes of inputs of void and late turns is written nowhere
    return {"equal": Equal, "random": Random, "single": Single, "contextual": Contextual, "phase": Phase,
            "bandfuzz": Bandfuzz, "rate": Rate, "autofz": Autofz, "legion": Legion}.get(name, Model)(record, report)
