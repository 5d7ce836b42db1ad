"""The rules of the loop, checked on a record: times, slots, instances, imports, finds, deaths, accounts.

What is computed from what the inputs covered is in fold.py.  Every check is a function over the whole record; what a
killed supervisor took with it (who was idle since when, how often a fuzzer died in a row) begins anew at every resume.
"""
import hashlib
import json
import subprocess

from record import (COMMITTED, CRASHED, EXITED, LATE, MEASURED, PARKED, QUARANTINED, RAN, RUNNING, STORED, TIMED_OUT,
                    VERSION, VOID)

IMPORTS, START = 20_000, 2_000  # inputs a turn imports, a fuzzer starts with
IMPORT_BYTES = 64 << 20
HANGS = 4        # measured per turn
DEATHS = 3       # in a row, and a fuzzer is dropped


def check(r, report):
    for part in (soundness, numbering, decisions, times, budgets, slots_in_use, instances, deaths, seeds, shares,
                 imports, crashes, accounts):
        part(r, report)


def check_virtual(r, report):
    """What can be said of records on virtual time; the fold has computed how long each turn may be."""
    for part in (virtual_times, virtual_hangs, virtual_finds, virtual_results, virtual_calls, virtual_imports):
        part(r, report)


def lives(r):
    """(certain, possible) numbers of decisions after which a supervisor ended and another began."""
    decided = [t for t in r.turns if t.id > 0]
    certain = {t.at_decision for t in r.turns if t.state == VOID and t.round}
    certain |= {int(k[len("budget@"):]) - 1 for k in r.settings if k.startswith("budget@")}
    possible = set()
    for e in (e.at_ns for e in r.events if e.kind == "resume"):
        before, same = sum(t.start_ns < e for t in decided), sum(t.start_ns == e for t in decided)
        (possible if same else certain).update({before, before + same})
    return certain, possible | certain


# --- the record itself -----------------------------------------------------------------------------------

def soundness(r, report):
    report.same("database", "version", r.version, VERSION)
    report.same("database", "integrity", r.sound, ["ok"])
    report.same("database", "dangling references", r.dangling, [])
    report.same("build", "settings", r.settings.get("build_id"), r.table.build_id)
    report.same("build", "edges", int(r.settings["edges_total"]), r.table.n)
    for s in r.seeds + r.crashes:
        data = r.data(s)
        report.check("content", hashlib.sha256(data).digest() == s.hash and len(data) == s.size,
                     f"input {s.id}: {len(data)} bytes are not those of its hash or its size {s.size}")
    for s in r.seeds:
        e = r.edges[s.id]
        report.check("edges ascend", all(a < b for a, b in zip(e, e[1:])) and (not e or e[-1] < r.table.n),
                     f"seed {s.id}")
    for c in r.calls:
        report.check("calls", 0 <= c.caller < r.table.n and 0 <= c.callee < r.table.n
                     and 0 <= c.round <= len(r.turns), f"call {c.id}: {c.caller} -> {c.callee}, round {c.round}")


def numbering(r, report):
    done = sorted(t.round for t in r.turns if t.round)
    report.same("rounds are serial", "all", done, list(range(1, len(done) + 1)))
    ids = [t.id for t in r.turns]
    first, last = min(ids, default=0), max(ids, default=0)
    report.same("turns are serial", "all", ids, [i for i in range(min(first, 0), last + 1) if i])
    served = 0
    for t in sorted((t for t in r.turns if t.round), key=lambda t: t.round):
        report.check("completions in order", served <= t.at_decision <= last and t.id <= t.at_decision,
                     f"turn {t.id}, round {t.round}: {t.at_decision} decisions served, {served} one round before")
        served = t.at_decision
    for t in r.turns:
        report.same("late turns", f"turn {t.id}", t.state == LATE, t.id < 0)
        if t.state in (LATE, VOID):
            zero = (t.raw, t.reward) + ((t.execs, t.cycles, t.active_ns, t.quota_cycles, t.offered, t.taken)
                                        if t.state == LATE else ())
            report.check("void and late turns earn nothing", not any(zero), f"turn {t.id}: {zero}")
        report.check("states", t.state in ((COMMITTED, VOID, LATE) if t.round else (RUNNING, PARKED, VOID, LATE)),
                     f"turn {t.id}: state {t.state} in round {t.round}")
        if r.settings["state"] == "ended":
            report.check("no turn stays open", t.round > 0 or t.arm < 0, f"turn {t.id}: state {t.state}")
    newest = max((t for t in r.turns if t.round), key=lambda t: t.round, default=None)
    if newest:
        report.same("the state is that of the newest commit", "learner", r.learner and r.learner[0], newest.id)
        head = bytes([1, len(r.fuzzers)]) + r.settings["scheduler"].split(":")[0].encode()
        report.same("the state is the scheduler's", "learner", r.learner and r.learner[1][:len(head)], head)
    events = [e for e in r.events if e.kind != "import"]  # of the user's, while it rests
    told = [e.kind for e in events]
    report.same("the start is told", "events", told[:1], ["start"])
    why = events[-1].text if told[-1:] == ["end"] else ""
    state = "running" if not why else "interrupted" if why in ("interrupted", "failed") else "ended"
    report.same("the end is told", f"events: {why}", r.settings["state"], state)


def decisions(r, report):
    report.same("a decision per turn", "all", sorted(r.decisions), [t.id for t in r.turns if t.id > 0])
    for d in r.decisions.values():
        t = r.turn.get(d.t)
        where = f"decision {d.t}"
        report.check("a decision is its turn's", t is not None and r.decisions.get(d.t) is d
                     and (d.choice, d.worker, d.now) == (t.arm, t.slot, t.start_ns),
                     f"{where}: choice {d.choice}, worker {d.worker}, at {d.now}; {t}")
        report.check("never a dropped fuzzer", d.choice not in d.dropped, f"{where}: {d.choice} of {d.dropped}")
        report.same("fuzzers", where, d.arms, len(r.fuzzers))


# --- time ---------------------------------------------------------------------------------------------------

def times(r, report):
    for t in r.turns:
        if t.round:
            unharvested = t.state == VOID and t.parked_ns == 0  # killed before it ever ran
            report.check("a turn begins, parks, ends", t.start_ns <= t.parked_ns <= t.end_ns or unharvested and
                         t.start_ns <= t.end_ns, f"turn {t.id}: {t.start_ns} {t.parked_ns} {t.end_ns}")
        report.check("the clock is not behind", max(t.start_ns, t.parked_ns, t.end_ns) <= r.clock,
                     f"turn {t.id}: {t.start_ns} {t.parked_ns} {t.end_ns}, clock {r.clock}")
        for name in ("active_ns", "startup_ns", "cycle_ns", "park_ns", "cpu_ns", "cpu_parked_ns", "eval_ns", "execs", "cycles", 
                     "offered", "taken"):
            report.check("nothing is negative", getattr(t, name) >= 0, f"turn {t.id}: {name} {getattr(t, name)}")
    rising("decisions in order of time", [(t.id, t.start_ns) for t in r.turns if t.id > 0], report)
    rising("rounds in order of time", sorted((t.round, t.end_ns) for t in r.turns if t.round), report)
    rising("events in order of time", [(e.id, e.at_ns) for e in r.events], report)
    for e in r.events:
        report.check("the clock is not behind", e.at_ns <= r.clock, f"event {e.id} at {e.at_ns}, clock {r.clock}")


def rising(name, pairs, report):
    for (a, x), (b, y) in zip(pairs, pairs[1:]):
        report.check(name, x <= y, f"{a} at {x}, then {b} at {y}")


def budgets(r, report):
    """No turn starts in the last T_I/12; a budget shorter than a turn is one turn."""
    for t in r.turns:
        budget = r.budget(t.id)
        if t.id > 0 and budget:
            last = budget - min(r.turn_ns, budget) // 12
            report.check("no turn starts at the end", t.start_ns < last, f"turn {t.id} at {t.start_ns}, end {last}")
    given = {int(k[len("budget@"):]): v for k, v in r.settings.items() if k.startswith("budget@")}
    if given:
        report.same("budget now", "settings", r.settings.get("budget_now"), given[max(given)])


def slots_in_use(r, report):
    """A slot has one turn at a time; a late one runs while no other does."""
    busy, free_at = {}, {}
    for what, _, t in r.story():
        report.check("slots", 0 <= t.slot < r.workers, f"turn {t.id} in slot {t.slot} of {r.workers}")
        if what == "decide":
            report.check("one turn at a time", t.slot not in busy and t.start_ns >= free_at.get(t.slot, 0),
                         f"turn {t.id} begins at {t.start_ns} in slot {t.slot}, which has turn {busy.get(t.slot)} or"
                         f" was free from {free_at.get(t.slot)}")
            busy[t.slot] = t.id
            continue
        if t.state == LATE:
            report.check("late turns run alone", not busy, f"turn {t.id} while {busy} run")
        elif t.slot in busy:
            report.same("one turn at a time", f"slot {t.slot}", busy.pop(t.slot), t.id)
        free_at[t.slot] = t.end_ns


# --- instances --------------------------------------------------------------------------------------------------

# whose instances a fuzzer runs in when they are fused: afl-fuzz's modes, and those of the fakes
HOSTS = {"afl": "aflpp darwin havoc mopt radamsa", "f012": "f0 f1 f2"}


def instances(r, report):
    """A dispatch takes the most recently suspended idle instance, a new one when all are busy."""
    row = {i.id: i for i in r.instances}
    hosts = {f: host for host, fuzzers in HOSTS.items() for f in fuzzers.split()} if r.fused else {}
    last = {}  # arm of an instance's last turn
    for name in {hosts.get(f, f) for f in r.fuzzers}:
        numbers = sorted(i.number for i in r.instances if i.fuzzer == name)
        report.check("instances are numbered", numbers == list(range(len(numbers))) and len(numbers) <= r.workers,
                     f"{name}: {numbers}, {r.workers} slots")
    cuts, idle, busy = lives(r)[1], {}, set()
    for what, d, t in r.story():
        if t.state == LATE and t.instance is None:  # the user's imports are of nobody
            report.same("imports by the user are nobody's", f"turn {t.id}", t.arm, -1)
            continue
        fuzzer = row[t.instance].fuzzer
        name = r.fuzzers[t.arm]
        report.same("an instance of its fuzzer", f"turn {t.id}", fuzzer, hosts.get(name, name))
        if t.state == LATE:
            report.same("late finds are of the last turn's fuzzer", f"turn {t.id}", t.arm, last.get(t.instance))
        elif what == "decide":
            last[t.instance] = t.arm
        if what == "complete":
            busy.discard(t.instance)
            idle[t.instance] = (t.parked_ns, t.end_ns) if t.state == COMMITTED else None
            continue
        if d.t - 1 in cuts:
            idle = dict.fromkeys(idle)
        mine = {i: at for i, at in idle.items() if row[i].fuzzer == fuzzer}
        known = {i: at for i, at in mine.items() if at}
        report.check("an idle instance", t.instance not in busy, f"turn {t.id}: instance {t.instance} is busy")
        if t.instance not in mine and t.instance not in busy:
            report.check("a new instance when all are busy", not known, f"turn {t.id}: idle are {sorted(known)}")
        elif known:
            best = {max(known.values())[0], max(at[1] for at in known.values())}
            at = known.get(t.instance) or (-1, -1)
            report.check("the most recently idle instance", at[0] in best or at[1] in best,
                         f"turn {t.id}: instance {t.instance}, idle are {known}")
        idle.pop(t.instance, None)
        busy.add(t.instance)


def deaths(r, report):
    """Three deaths in a row and a fuzzer is dropped, until the next resume."""
    certain, possible = lives(r)
    least, most = [0] * len(r.fuzzers), [0] * len(r.fuzzers)  # they differ where it is not sure that a life began
    before = set()
    told = {n for n in range(len(r.fuzzers)) if any(e.kind == "dropped" and e.text.startswith(r.fuzzers[n] + " ")
                                                    for e in r.events)}
    for what, d, t in r.story():
        if what == "complete":
            if t.state != LATE:
                died = t.died and t.state == COMMITTED
                least[t.arm], most[t.arm] = (least[t.arm] + 1, most[t.arm] + 1) if died else (0, 0)
            continue
        again = d.t - 1 in possible
        if again:
            least = [0] * len(r.fuzzers)
        if d.t - 1 in certain:
            most = [0] * len(r.fuzzers)
        for a, name in enumerate(r.fuzzers):
            where = f"decision {d.t}, {name}"
            if least[a] >= DEATHS:
                report.check("three deaths drop a fuzzer", a in d.dropped, f"{where}: died {least[a]} times in a row")
            if a in d.dropped:
                report.check("a dropped fuzzer is told of", a in told, where)
            if not again and d.t > 1:
                report.check("only deaths drop a fuzzer", a not in d.dropped or a in before or most[a] >= DEATHS,
                             f"{where}: died {most[a]} times in a row")
                report.check("a dropped fuzzer stays so", a in d.dropped or a not in before, where)
        before = d.dropped
    for e in r.events:
        if e.kind == "died":
            report.check("deaths are in the turns", any(t.died and t.why in e.text for t in r.turns), e.text)


# --- inputs ------------------------------------------------------------------------------------------------------

def seeds(r, report):
    measured = "seeds_done" in r.settings
    for s in r.seeds:
        t, where = r.turn.get(s.turn), f"seed {s.id}"
        rnd = t.round if t else 0
        report.same("round of a seed", where, s.round, rnd)
        if rnd or t is None and measured:
            report.check("seeds are measured", s.state in (MEASURED, QUARANTINED) and
                         (s.status > 0 or s.state == QUARANTINED), f"{where}: state {s.state}, status {s.status}")
            report.check("quarantine", s.state != QUARANTINED or s.share is None and not r.edges[s.id],
                         f"{where}: share {s.share}, {len(r.edges[s.id])} edges")
        else:
            report.check("seeds wait", s.state == STORED and s.share is None, f"{where}: state {s.state}")
        if t:
            report.same("finder of a seed", where, (s.instance, s.found_ns), (t.instance, t.parked_ns))
        else:
            report.same("finder of a seed", where, (s.instance, s.found_ns), (None, 0))
        report.check("a parent is older", s.parent is None or s.parent < s.id, f"{where}: parent {s.parent}")
    for t in r.turns:
        if t.parked_ns or t.round:
            report.same("inputs of a turn", f"turn {t.id}", t.inputs, len(r.found_in.get(t.id, [])))


def shares(r, report):
    """1, 2, 3, ... in the order in which the rounds were evaluated."""
    given = sorted((s for s in r.seeds if s.share is not None), key=lambda s: s.share)
    report.same("share numbers", "all", [s.share for s in given], list(range(1, len(given) + 1)))
    order = [s.id for s in sorted(given, key=lambda s: (s.round, s.id))]
    report.same("order of shares", "all", [s.id for s in given], order)
    for s in r.found_in.get(None, []):
        if s.state == MEASURED:
            report.same("shared", f"initial seed {s.id}", s.share is not None, s.status in (RAN, EXITED))


def imports(r, report):
    """Before a turn the instance is given all it has not seen: once, never its own, in order, so much at a time."""
    claimed, ids = {}, {}
    for i in r.imports:
        claimed.setdefault(i.turn, []).append(i)
        report.check("never its own", r.seed[i.seed].instance != i.instance, f"instance {i.instance}, seed {i.seed}")
        report.check("imports are once", (i.instance, i.seed) not in ids, f"instance {i.instance}, seed {i.seed}")
        report.check("imports are shared seeds", r.seed[i.seed].share is not None, f"seed {i.seed}")
        ids[i.instance, i.seed] = i
    order = sorted((s for s in r.seeds if s.share is not None), key=lambda s: s.share)
    shared = sum(s.turn is None for s in order)
    given, ran, lost = {}, {}, {}
    for what, _, t in r.story():
        if what == "complete":
            shared += sum(s.share is not None for s in r.found_in.get(t.id, []))
            ran.setdefault(t.instance, []).append(t.state == COMMITTED and not t.died)
            continue
        mine = claimed.get(t.id, [])
        had = given.setdefault(t.instance, set())
        due = [s for s in order[:shared] if s.id not in had and s.instance != t.instance]
        started = ran.get(t.instance, [])
        limits = {IMPORTS} if any(started) else {START} if not started else {START, IMPORTS}
        may = [part for limit in limits for part in parts(due, limit)]
        if r.worth:  # in an order of its own, and not all (METHOD R19b to R19d)
            report.check("imports are due", {i.seed for i in mine} <= {s.id for s in due} and len(mine) <= max(limits),
                         f"turn {t.id}: {[i.seed for i in mine]}")
            had.update(i.seed for i in mine)
            continue
        report.check("imports of a turn", [(i.seed, i.instance) for i in mine] in
                     [[(s.id, t.instance) for s in part] for part in may],
                     f"turn {t.id}, instance {t.instance}: {len(mine)} from {[i.seed for i in mine[:3]]}..., computed"
                     f" {[len(p) for p in may]} from {[s.id for s in due[:3]]}...")
        had.update(i.seed for i in mine)
    for t in r.turns:  # what an instance that goes on had claimed has arrived
        if t.state == COMMITTED and not t.died:
            lost.update({i.id: t.id for n, c in claimed.items() if n <= t.id for i in c
                         if i.instance == t.instance and not i.delivered} if any(
                             not i.delivered for i in r.imports) else {})
    report.same("imports arrive", "undelivered, though the instance ran since", lost, {})
    for i in r.instances:
        upto = {s.id for s in order[:i.shared]}
        missed = [s for s in upto if s not in given.get(i.id, set()) and r.seed[s].instance != i.id]
        beyond = [s for s in given.get(i.id, set()) if s not in upto]
        report.check("given up to", i.shared == 0 if r.worth else not missed and not beyond, f"instance {i.id}, share {i.shared}: {missed} {beyond}")
        taken, known = sum(t.taken for t in r.turns if t.instance == i.id), len(given.get(i.id, set()))
        report.check("taken is what was given", taken <= known, f"instance {i.id}: {taken} of {known}")


def parts(due, limit):
    """The beginning of a list that a turn may import: up to the limits, with or without the input that crosses them."""
    size = 0
    for n, s in enumerate(due[:limit]):
        size += s.size
        if size > IMPORT_BYTES:
            return [due[:n], due[:n + 1]]
    return [due[:limit]]


def eval_ms(r):
    """The limit with which finds of a turn are measured: five times the one at which fuzzers give a run up."""
    hang = int(r.settings["timeout_ms"])
    slowest = max((s.cpu_us for s in r.seeds if s.turn is None and s.status == RAN), default=0)
    give_up = int(r.settings["exec_ms"]) or max(5, -(-5 * slowest // 5000) * 5)
    return min(5 * min(give_up, hang), hang)


def hang_ns(r, s):
    """What measuring it took: two runs, by CPU time or, if it sleeps, by the clock."""
    limit_us = 1000 * eval_ms(r)
    return 2000 * (s.cpu_us if s.cpu_us >= limit_us // 2 else 5 * limit_us + 10 ** 6)


def crashes(r, report):
    kept = {(c.hang, c.hash) for c in r.crashes}
    given = {(i.instance, r.seed[i.seed].hash) for i in r.imports}
    by_hash = {s.hash: s for s in r.seeds}
    for s in r.seeds:
        if s.state == MEASURED and s.status == CRASHED:
            report.check("crashes of the neutral build are kept", (0, s.hash) in kept, f"seed {s.id}")
        if s.state == MEASURED and s.status == TIMED_OUT and s.turn is None:
            report.check("crashes of the neutral build are kept", (1, s.hash) in kept, f"initial seed {s.id}")
    count = {}
    for c in r.crashes:
        t, where, s = r.turn.get(c.turn), f"crash {c.id}", by_hash.get(c.hash)
        if t:
            report.same("finder of a crash", where, (c.instance, c.arm, c.found_ns), (t.instance, t.arm, t.parked_ns))
        else:
            report.same("finder of a crash", where, (c.instance, c.arm, c.by_eval), (None, -1, 1))
        if c.by_eval:
            report.check("crashes seen only on the neutral build", s is not None and s.turn == c.turn
                         and s.status == (TIMED_OUT if c.hang else CRASHED) and s.signal == c.signal,
                         f"{where}: its seed is {s and (s.id, s.turn, s.status, s.signal)}, its signal {c.signal}")
            report.same("they keep name and parent", where, (c.name, c.parent), s and (s.name, s.parent))
        if c.by_eval or (c.instance, c.hash) not in given:  # an echo of what it was given is nobody's find
            count[c.turn, c.hang] = count.get((c.turn, c.hang), 0) + 1
    for t in r.turns:
        if t.parked_ns or t.round:
            for hang, logged in ((0, t.crashes), (1, t.hangs)):
                n = count.get((t.id, hang), 0)
                report.check("crashes of a turn", logged >= n, f"turn {t.id}: logged {logged}, {n} in the table")
        hangs = [c for c in r.crashes if c.turn == t.id and c.hang and not c.by_eval]
        run = sum(c.hash in by_hash and by_hash[c.hash].turn == t.id for c in hangs)
        report.check("few hangs are measured", run <= HANGS, f"turn {t.id}: {run}")
    measured = [by_hash[c.hash] for c in r.crashes if c.hang and not c.by_eval and c.hash in by_hash]
    spent = sum(hang_ns(r, s) for s in measured)
    begun = sum(e.kind in ("start", "resume") for e in r.events)
    slack = begun * r.workers * HANGS * 2 * (5 * eval_ms(r) + 1000) * 10 ** 6  # those under way
    report.check("hangs take little time", spent <= r.clock * r.workers // 50 + slack, f"{spent} ns of {r.clock}")
    if r.settings["state"] in ("ended", "interrupted"):
        for folder, hang in (("crashes", 0), ("hangs", 1)):
            files = {f.name.rsplit("-", 1)[-1]: f for f in (r.out / folder).glob("*")}
            for c in r.crashes:
                if c.hang == hang:
                    file = files.get(c.hash.hex()[:16])
                    finder = r.fuzzers[c.arm] if c.arm >= 0 else ""
                    name = f"{finder}-" if hang else f"{finder}-sig{c.signal}-"
                    report.check(f"{folder} are files too", file is not None and file.read_bytes() == r.data(c)
                                 and (not finder or file.name.startswith(name)), f"crash {c.id}: {file}")


# --- accounts -----------------------------------------------------------------------------------------------------

def accounts(r, report):
    for n, s in r.slots.items():
        where, mine = f"slot {n}", [t for t in r.turns if t.slot == n and t.round]
        report.same("slots: time of start-up", where, s.start_ns, sum(t.startup_ns for t in mine))
        report.same("slots: time in fuzzers", where, s.fuzz_ns, sum(t.active_ns for t in mine))
        report.same("slots: time of evaluation", where, s.eval_ns, sum(t.eval_ns for t in mine))
        report.check("slots: time adds up", s.start_ns + s.fuzz_ns + s.eval_ns + s.idle_ns == s.wall_ns
                     and s.idle_ns >= 0, f"{where}: {s}")
        report.check("slots: wall", s.wall_ns == r.clock if r.settings["state"] == "ended" else
                     s.wall_ns <= r.clock, f"{where}: {s.wall_ns}, clock {r.clock}")
    for t in r.turns:
        report.check("evaluation is campaign time", t.eval_ns <= t.end_ns - t.parked_ns or not t.round,
                     f"turn {t.id}: {t.eval_ns} of {t.end_ns - t.parked_ns}")
        report.check("only completed cycles have a time", t.cycles or not t.cycle_ns, f"turn {t.id}: {t.cycle_ns} ns")


# --- what only virtual time can show --------------------------------------------------------------------------------

def virtual_times(r, report):
    """A turn lasts as long as it may, to the nanosecond, unless the campaign is told to end."""
    cut = set()
    for e in r.events:
        if e.kind == "end" and e.text != "budget used":
            cut.update(sorted(t.id for t in r.turns if t.start_ns < e.at_ns)[-r.workers:])
    resumed = {e.at_ns for e in r.events if e.kind == "resume"}
    for t in r.turns:
        if t.round:  # a fake evaluator needs a millisecond per input; a resume measures before the clock runs
            report.check("time of an evaluation", t.eval_ns == t.inputs * 10 ** 6 or not t.eval_ns and t.end_ns in
                         resumed, f"turn {t.id}: logged {t.eval_ns}, computed {t.inputs * 10 ** 6}")
        if t.state not in (COMMITTED, PARKED) or t.id < 0:
            continue
        where, cycle_ns, budget = f"turn {t.id}", (3 + t.arm) * 10 ** 9, r.budget(t.id)
        length = min(t.cap_ns, max(t.least_ns, t.quota_cycles * cycle_ns)) if t.quota_cycles else t.cap_ns
        if budget:
            length = max(0, min(length, budget - t.start_ns - t.startup_ns))
        if t.id in cut or t.died:
            report.check("the length of a turn", t.active_ns <= length, f"{where}: {t.active_ns}, at most {length}")
        else:
            report.same("the length of a turn", where, t.active_ns, length)
        report.same("time of a turn", where, t.parked_ns - t.start_ns, t.active_ns + t.startup_ns)
        report.same("time of cycles", where, t.cycle_ns, t.cycles * cycle_ns)
        report.same("executions", where, t.execs, 1000 * t.cycles)
        report.same("taken", where, t.taken, t.offered)


def virtual_hangs(r, report):
    """How many hangs a turn measures: four, while all take no more than 2 % of the slots' time since the start or the
    resume, each one two time limits.  The first is always measured."""
    begun = sorted(e.at_ns for e in r.events if e.kind in ("start", "resume"))
    each = 2 * eval_ms(r) * 10 ** 6
    for t in r.turns if r.workers == 1 else []:
        hangs = {c.hash for c in r.crashes if c.turn == t.id and c.hang}
        since = max(at for at in begun if at <= t.parked_ns)
        done = {u.id for u in r.turns if u.round and since <= u.end_ns <= t.parked_ns}
        spent = sum(hang_ns(r, s) for s in r.seeds if s.status == TIMED_OUT and s.turn in done)
        left = ((t.parked_ns - since) * r.workers // 50 - spent) // each
        most = min(HANGS, max(left, 0 if spent else 1, 0))
        run = sum(s.hash in hangs for s in r.found_in.get(t.id, []))
        report.same("few hangs are measured", f"turn {t.id}, {spent} ns spent", run, min(len(hangs), most))


def virtual_finds(r, report):
    """Fakes keep what they found in a file: all of it is in the store, and made from the entry before."""
    known = {bytes(s.data) for s in r.seeds if s.size == 2} | {bytes(c.data) for c in r.crashes if c.size == 2}
    entries = {(i, e): s for i, e, s in r.entries}
    for i in r.instances:
        queue = r.out / "fuzzers" / f"{i.fuzzer}-{i.number}" / "queue"
        data = queue.read_bytes() if queue.exists() else b""
        upto = len(data) if r.settings["state"] == "ended" else 2 * int(i.cursor or 0)
        for at in range(0, upto, 2):
            report.check("every find is kept", data[at:at + 2] in known, f"{i.fuzzer}-{i.number}, entry {at // 2}")
    first = {}
    for (i, e), s in sorted(entries.items()):
        first.setdefault((i, s), e)
    for (i, s), e in first.items():
        if r.seed[s].instance == i:
            report.same("lineage", f"seed {s}, entry {e}", r.seed[s].parent, entries.get((i, e - 1)))
    if r.workers > 1:
        return
    for t in r.turns:  # nobody finds what another found: the counts are exact
        for hang, logged in ((0, t.crashes), (1, t.hangs)):
            rows = [c for c in r.crashes if c.turn == t.id and c.hang == hang and "echo" not in c.name]
            report.same("crashes of a turn, exactly", f"turn {t.id}", logged, len(rows))


def virtual_results(r, report):
    """The depth of an input says which edge is its deepest, its third byte how it ends."""
    ends = {"h": (TIMED_OUT, 0), "t": (TIMED_OUT, 0), "o": (5, 0), "x": (EXITED, 3), "c": (CRASHED, 8)}
    for s in r.seeds:
        depth, mark = int.from_bytes(s.data[:2], "little"), chr(s.data[2]) if s.size == 4 else ""
        where = f"seed {s.id}, depth {depth} {mark}"
        if s.turn and s.size == 2:
            report.same("names", where, s.name, f"depth:{depth}")
        if s.state == STORED:
            continue
        report.same("quarantine", where, s.state == QUARANTINED, mark == "q")
        if mark != "q":
            ended = ends.get(mark) or ((CRASHED, 11) if depth and depth % 97 == 0 else (RAN, 0))
            report.same("results", where, (s.status, s.signal, r.edges[s.id][-1]), (*ended, depth % r.table.n))
    for c in r.crashes:
        depth = int.from_bytes(c.data[:2], "little")
        signal = 0 if c.hang else 6 if c.name == "echo" else 8 if c.size == 4 else 11
        report.same("signals", f"crash {c.id}, depth {depth}", c.signal, signal)
    for i in r.instances:
        ran = any(t.instance == i.id and t.state == COMMITTED and not t.died for t in r.turns)
        report.check("started", i.started or not ran, f"instance {i.id} ran and is not noted as started")


def virtual_calls(r, report):
    """Every function on the way to the deepest edge was seen to be called, but for each third one."""
    each, known, deepest = r.table.n // len(r.table.depths), {}, {}
    for c in r.calls:
        known[c.caller, c.callee] = c.round
    for s in r.seeds:
        if r.edges[s.id] and (s.round or s.turn is None):
            deepest[s.round] = max(deepest.get(s.round, 0), r.edges[s.id][-1])
    first, reached = {}, 0
    for rnd in sorted(deepest):
        for entry in range(each * (reached // each + 1), deepest[rnd] + 1, each):
            if entry // each % 3:
                first[entry - 2, entry] = rnd
        reached = max(reached, deepest[rnd])
    report.same("calls are learned", "all", known, first)


def virtual_imports(r, report):
    """Fakes keep the numbers of what they were given: each delivered import once."""
    given = {}
    for i in r.imports:
        given.setdefault(i.instance, []).append(i)
    for i in r.instances:
        inbox = r.out / "fuzzers" / f"{i.fuzzer}-{i.number}" / "inbox"
        data = inbox.read_bytes() if inbox.exists() else b""
        arrived = [int.from_bytes(data[k:k + 8], "little") for k in range(0, len(data), 8)]
        mine = {m.seed: m for m in given.get(i.id, [])}
        first = min((t.id for t in r.turns if t.instance == i.id and t.state == COMMITTED), default=0)
        late = {m.seed for m in mine.values() if m.turn > first and m.delivered} if first else set()
        report.check("imports arrive once", len(arrived) == len(set(arrived)) and set(arrived) <= mine.keys(),
                     f"{i.fuzzer}-{i.number}: {arrived}")
        report.same("delivered imports arrived", f"{i.fuzzer}-{i.number}", sorted(late - set(arrived)), [])
        turns = [t for t in r.turns if t.instance == i.id]
        if all(t.state == COMMITTED and not t.died for t in turns):
            for t in turns[1:]:
                report.same("offered", f"turn {t.id}", t.offered, sum(m.turn == t.id for m in mine.values()))


# --- what carol says of it -------------------------------------------------------------------------------------------

def check_status(r, report, fold, carol):
    """`carol status --json` counts as we do."""
    p = subprocess.run([carol, "status", "--json", str(r.out)], capture_output=True, text=True, timeout=60, check=False)
    s = json.loads(p.stdout)
    done = [t for t in r.turns if t.round]
    own = {"turns": sum(t.id > 0 for t in done), "edges": len(fold.ledger.first), "seeds": len(r.seeds),
           "crashes": sum(not c.hang for c in r.crashes), "execs": sum(t.execs for t in done)}
    for name, value in own.items():
        report.same("status", name, s[name], value)
    near(report, "elapsed_s", s["elapsed_s"], r.clock / 1e9)
    total = sum(t.active_ns for t in done)
    for a, name in enumerate(r.fuzzers):
        mine, f = [t for t in done if t.arm == a], s["fuzzers"][name]
        active = sum(t.active_ns for t in mine)
        own = {"turns": sum(t.id > 0 for t in mine), "first_edges": sum(e[1] == a for e in fold.ledger.first.values()),
               "offered": sum(t.offered for t in mine), "taken": sum(t.taken for t in mine),
               "exports": sum(t.inputs for t in mine), "crashes": sum(t.crashes for t in mine)}
        for key, value in own.items():
            report.same("status", f"{name}: {key}", f[key], value)
        near(report, f"{name}: active_s", f["active_s"], active / 1e9)
        near(report, f"{name}: startup_s", f["startup_s"], sum(t.startup_ns for t in mine) / 1e9)
        near(report, f"{name}: share", f["share"], active / total if total else 0.0)
        rewards = [t.reward for t in sorted(mine, key=lambda t: t.round) if t.state == COMMITTED]
        near(report, f"{name}: last_reward", f["last_reward"] or 0.0, rewards[-1] if rewards else 0.0)
    for n, slot in r.slots.items():
        for name in ("start", "fuzz", "eval", "idle", "wall"):
            near(report, f"slot {n}: {name}", s["slots"][n][f"{name}_s"], getattr(slot, f"{name}_ns") / 1e9)


def near(report, where, said, computed):
    """Numbers for people have nine digits."""
    report.check("status", abs(said - computed) <= 1e-8 * max(1.0, abs(computed)), f"{where}: said {said}, computed"
                 f" {computed}")
