#!/usr/bin/env python3
"""An oracle for the fold: recomputes a campaign from its record alone and says what differs from what is logged.

    tests/oracle/fold.py [--fakes] [--carol CAROL] OUT [TABLE]

OUT is a campaign directory, TABLE its neutral table (default: that of the build it was begun with).  --fakes: the
record was made by tests/unit/records.c, on virtual time, where times can be checked to the nanosecond.  --carol: ask
that carol for the status, too.  Exit 0: nothing differs; 1: something does, one line each.

Written from the rules (docs/METHOD.md, docs/FILES.md), not from the C code.  A campaign and its
replay share their code, so they agree on their own mistakes; this shares none.  Values are computed afresh from lists
of everything that happened, wherever that is quick enough.  Python 3 standard library only.
"""
import math
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "vectors")]
import rules
import schedulers
from oracle import mann_kendall
from record import COMMITTED, EXITED, LATE, MEASURED, RAN, SIGNALS, Record
from report import Report

WINDOW = 84
FEW_CYCLES = 10  # with fewer of them a turn ends by time
OWED_TURNS = 8   # neither side of a fuzzer's account grows beyond so many turns
DAY = 86_400_000_000_000


# --- ledger and reward ---------------------------------------------------------------------------------

class Ledger:
    """Who covered each edge first, when, and how often it was hit."""

    def __init__(self, table):
        self.table = table
        self.first = {}  # edge -> (round, fuzzer)
        self.hits = {}
        self.callers = {}  # entry of a function -> blocks seen to call it
        self.orphans = 0

    def learn_call(self, caller, callee):
        self.callers.setdefault(callee, set()).add(caller)

    def add(self, rnd, fuzzer, sets):
        """(newly covered edges, all edges) of a round's inputs."""
        touched = set().union(*sets) if sets else set()
        fresh = sorted(touched - self.first.keys())
        for edges in sets:
            for e in edges:
                self.hits[e] = self.hits.get(e, 0) + 1
        for e in fresh:
            self.first[e] = (rnd, fuzzer)
        return fresh, sorted(touched)

    def sources(self, edge):
        """[(round of first cover, block)] of its covered predecessors."""
        known = self.table.preds[edge] | self.callers.get(edge, set())
        return [(self.first[p][0], p) for p in known if p in self.first]

    def rarity(self, edges):
        return math.fsum(1 / math.log(2 + self.hits[e]) for e in edges) / len(edges) if edges else 0.0

    def worth(self, kind, rnd, fresh, touched):
        """The raw reward of the round, and how many of its new edges come from nowhere."""
        interval = frontier = orphans = 0
        for e in fresh:
            sources = self.sources(e)
            if not sources:
                orphans += 1
                continue
            earliest = min(sources)[0]
            interval += rnd - earliest
            frontier += earliest < rnd and any(self.table.successors[p] >= 2 for r, p in sources if r == earliest)
        raw = {"coverage_interval": interval, "frontier_branch": frontier, "rarity_density": self.rarity(touched)}
        return raw[kind], orphans

    def sec(self, fresh):
        if not fresh:
            return 0.0
        return 1 - math.exp(-sum(self.table.memory_calls[e] for e in fresh) / len(fresh))


# --- the fifteen signals ----------------------------------------------------------------------------------

def mean(v):
    return math.fsum(v) / len(v) if v else 0.0


def variance(v):
    m = mean(v)
    return math.fsum((x - m) ** 2 for x in v) / (len(v) - 1) if len(v) > 1 else 0.0


def slope(v):
    if len(v) < 2:
        return 0.0
    middle, m = (len(v) - 1) / 2, mean(v)
    spread = math.fsum((i - middle) ** 2 for i in range(len(v)))
    return math.fsum((i - middle) * (y - m) for i, y in enumerate(v)) / spread


def ema(xs):
    """0.3 of the latest, 0.3 * 0.7 of the one before, ...: the closed form of the recurrence from 0."""
    return math.fsum(0.3 * 0.7 ** k * x for k, x in enumerate(reversed(xs)))


class Fuzzer:
    """The turns of one fuzzer: those that completed, and how many run."""

    def __init__(self, span):
        self.span, self.done, self.running = span, [], 0
        self.latched = self.signals()

    def completed(self, turn):
        self.done.append(turn)
        self.latched = self.signals()

    def signals(self):
        """Everything but the clocks, from all its completed turns."""
        rewards = [t.reward for t in self.done][-WINDOW:]
        m = mean(rewards)
        last = self.done[-1].end_ns if self.done else 0
        edges = sum(t.new_edges for t in self.done if last - self.span < t.end_ns <= last)
        seconds = max(1.0, min(self.span, last) / 1e9)
        improved = [i for i, t in enumerate(self.done) if t.new_edges]
        quiet = len(self.done) - 1 - improved[-1] if improved else len(self.done)

        def ratio(h):
            return mean(rewards[-h:]) / m if m else 0.0

        return {"win_mean": m, "win_var": variance(rewards),
                "cov_velocity": 1 - math.exp(-edges / seconds) if self.done else 0.0,
                "slope": slope(rewards), "mk_z": math.tanh(mann_kendall(rewards)),
                "horizon_ratio": ratio(4), "horizon2_ratio": ratio(2), "horizon8_ratio": ratio(8),
                "rounds_since_improve": quiet / WINDOW,
                "g_rarity": ema([t.rarity if t.new_edges else 0.0 for t in self.done]),
                "g_sec": ema([t.sec if t.new_edges else 0.0 for t in self.done]),
                "g_bug": ema([1 - math.exp(-t.crashes) for t in self.done]),
                "ctx_unc": 1 / math.sqrt(1 + len(self.done))}

    def context(self, now, budget):
        if self.running:
            waited = 0.0
        elif not self.done or now == 0:
            waited = 1.0
        else:
            waited = (now - self.done[-1].end_ns) / now
        return {**self.latched, "time_since_run": waited, "elapsed_frac": min(1.0, now / (budget or DAY))}


# --- the fold -------------------------------------------------------------------------------------------------

class Fold:
    def __init__(self, record, report):
        self.r, self.report = record, report
        self.ledger = Ledger(record.table)
        self.fuzzers = [Fuzzer(record.turn_ns) for _ in record.fuzzers]
        self.raws = [0.0]
        self.scheduler = schedulers.model(record, report)
        self.cycles = [[] for _ in record.fuzzers]  # per fuzzer (time, number) of the completed cycles of its turns
        self.owed = [0] * len(record.fuzzers)       # what its turns were shorter than asked, in all
        self.calls = {}
        for c in record.calls:
            self.calls.setdefault(c.round, []).append(c)

    def run(self):
        self.learn_calls(0)
        seeds = [self.r.edges[s.id] for s in self.r.found_in.get(None, [])]
        self.ledger.add(0, -1, seeds)
        self.scheduler.seeds(seeds)
        if "seeds_done" in self.r.settings:
            self.report.same("seed edges", "round 0", int(self.r.settings["seed_edges"]), len(self.ledger.first))
        for what, decision, turn in self.r.story():
            if what == "decide":
                self.decide(decision, turn)
            else:
                self.complete(turn)
        if any(t.round for t in self.r.turns):
            self.report.same("edges without a predecessor", "all", int(self.r.settings["no_predecessor"]),
                             self.ledger.orphans)

    def learn_calls(self, rnd):
        for c in self.calls.get(rnd, []):
            known = self.r.table.preds[c.callee] | self.ledger.callers.get(c.callee, set())
            self.report.check("learned calls are new", c.caller not in known,
                              f"call {c.caller} -> {c.callee} of round {rnd} was known")
            self.ledger.learn_call(c.caller, c.callee)

    def decide(self, d, turn):
        budget = self.r.budget(d.t)
        for a, f in enumerate(self.fuzzers):
            computed = f.context(d.now, budget)
            for k, name in enumerate(SIGNALS):
                self.report.close(f"signal {name}", f"decision {d.t}, {self.r.fuzzers[a]}", d.signals[a][k],
                                  computed[name])
        self.scheduler.decide(d)
        self.quota(d, turn)
        if d.choice >= 0:
            self.fuzzers[d.choice].running += 1

    def quota(self, d, turn):
        """How long the turn may be (METHOD R10 to R16).  T_I and the fuzzer's account, in cycles if at least ten fit
        into T_I, else by time."""
        time, cycles = (sum(column) for column in zip((0, 0), *self.cycles[turn.arm]))
        length = d.turn_ns or self.r.turn_ns
        due = length + self.owed[turn.arm]
        quarter = length // 4
        def within(ns):
            return min(max(ns, length - quarter), length + quarter)
        cap, least = within(due), 0
        may = {0}
        if cycles and time and length * cycles >= FEW_CYCLES * time:
            exact = due * cycles / time
            may = {max(1, math.floor(exact * f)) for f in (1 - 1e-12, 1, 1 + 1e-12)}
            cap, least = within(due + length // 8), within(due - length // 8)
        self.report.check("cycles allowed", turn.quota_cycles in may,
                          f"turn {turn.id}: logged {turn.quota_cycles}, computed {sorted(may)} of {cycles} cycles in"
                          f" {time} ns, {length} ns a turn, {self.owed[turn.arm]} ns owed")
        budget = self.r.budget(d.t)
        turn.cap_ns = min(cap, budget - d.now) if budget else cap
        turn.least_ns = least  # cycles do not end it sooner

    def settle(self, turn, d):
        """What a turn was shorter than asked is owed to the fuzzer, but not if it died."""
        most = OWED_TURNS * self.r.turn_ns
        owed = self.owed[turn.arm] + (d.turn_ns or self.r.turn_ns) - turn.active_ns
        self.owed[turn.arm] = max(-most, min(most, owed))

    def complete(self, turn):
        where, same, close = f"turn {turn.id}", self.report.same, self.report.close
        self.learn_calls(turn.round)
        sets = [self.r.edges[s.id] for s in self.r.found_in.get(turn.id, [])]
        self.sharing(turn)
        fresh, touched = self.ledger.add(turn.round, turn.arm, sets)
        raw, orphans = self.ledger.worth(self.r.reward, turn.round, fresh, touched)
        self.ledger.orphans += orphans
        if turn.state != COMMITTED or turn.died:
            raw = 0.0
        reward = 0.0
        if turn.state == COMMITTED:
            self.raws.append(raw)
            low, high = min(self.raws), max(self.raws)
            reward = (raw - low) / (high - low) if high > low else 0.0
        same("new edges", where, turn.new_edges, len(fresh))
        close("raw reward", where, turn.raw, raw)
        close("reward", where, turn.reward, reward)
        close("rarity", where, turn.rarity, self.ledger.rarity(fresh))
        close("memory calls", where, turn.sec, self.ledger.sec(fresh))
        if turn.state != LATE:
            self.fuzzers[turn.arm].running -= 1
        if turn.state == COMMITTED:
            self.fuzzers[turn.arm].completed(turn)
            if not turn.died:
                self.settle(turn, self.r.decisions[turn.id])
        if turn.arm >= 0:  # not what the user imported
            self.cycles[turn.arm].append((turn.cycle_ns, turn.cycles))
        self.scheduler.complete(turn, self.r.decisions.get(turn.id), sets)

    def sharing(self, turn):
        """Who ran through is given to others; with --share-new-only who covers what nobody had before the turn."""
        for s in self.r.found_in.get(turn.id, []):
            ran = s.state == MEASURED and s.status in (RAN, EXITED)
            new = not self.r.new_only or any(e not in self.ledger.first for e in self.r.edges[s.id])
            if self.r.worth:  # which of them are light (METHOD R19a) tests/unit/exchange.c computes
                self.report.check("shared runs through", s.share is None or ran and new, f"seed {s.id}")
                continue
            self.report.same("shared" + (" new only" if self.r.new_only else ""), f"seed {s.id}, status {s.status}",
                             s.share is not None, ran and new)


def judge(out, table=None, fakes=False, carol=None):
    """Everything about one record."""
    report = Report()
    record = Record(out, table)
    rules.check(record, report)
    fold = Fold(record, report)
    fold.run()
    if fakes:
        rules.check_virtual(record, report)
    if carol:
        rules.check_status(record, report, fold, carol)
    return report


def main():
    args = sys.argv[1:]
    fakes = "--fakes" in args
    carol = args[args.index("--carol") + 1] if "--carol" in args else None
    names = [a for a in args if not a.startswith("--") and a != carol]
    if not 1 <= len(names) <= 2:
        sys.exit(__doc__)
    report = judge(names[0], names[1] if len(names) > 1 else None, fakes, carol)
    print(report.text() or f"nothing differs: {len(report.looks)} checks, {sum(report.looks.values())} values")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
