"""Reads what a campaign left behind, as docs/FILES.md describes it: carol.db and the neutral table.

Nothing is computed here and nothing is judged; fold.py and rules.py do that.
"""
import json
import sqlite3
import struct
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace

VERSION = 4  # of the tables
RUNNING, PARKED, COMMITTED, VOID, LATE = 1, 2, 3, 4, 5  # states of a turn
STORED, MEASURED, QUARANTINED = 1, 2, 3                  # states of a seed
RAN, EXITED, CRASHED, TIMED_OUT = 1, 2, 3, 4             # results on the neutral build
SIGNALS = ("win_mean", "win_var", "cov_velocity", "slope", "mk_z", "horizon_ratio", "horizon2_ratio",
           "horizon8_ratio", "rounds_since_improve", "time_since_run", "elapsed_frac", "g_rarity", "g_sec", "g_bug",
           "ctx_unc")
REWARDS = {"1": "coverage_interval", "2": "frontier_branch", "3": "rarity_density"}


def edge_numbers(blob):
    """Ascending edge numbers, stored as LEB128 of their differences."""
    if not blob:
        return []
    if max(blob) < 0x80:
        return list(accumulate(blob))
    numbers, last, value, shift = [], 0, 0, 0
    for byte in blob:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            last += value
            numbers.append(last)
            value = shift = 0
    if shift:
        raise ValueError("a list of edges ends inside a number")
    return numbers


def decision(data):
    """One row of the table `decisions`."""
    head = "<5BQqqqQq"
    version, arms, signals, features, blocks, t, worker, choice, now, dropped, turn_ns = struct.unpack_from(head, data)
    if version != 2 or signals != len(SIGNALS):
        raise ValueError(f"decision of version {version} with {signals} signals")
    d = SimpleNamespace(t=t, arms=arms, worker=worker, choice=choice, now=now, turn_ns=turn_ns,
                        dropped={a for a in range(arms) if dropped >> a & 1})
    at = struct.calcsize(head)
    for bit, (name, width) in enumerate((("signals", signals), ("standardised", signals), ("phi", features),
                                         ("mean", 1), ("width", 1), ("noise", 1), ("draw", 1))):
        rows = [[0.0] * width for _ in range(arms)]
        if blocks >> bit & 1:
            rows = [list(struct.unpack_from(f"<{width}d", data, at + 8 * width * a)) for a in range(arms)]
            at += 8 * width * arms
        setattr(d, name, rows if width > 1 else [r[0] for r in rows])
    if at != len(data):
        raise ValueError(f"decision {t} has {len(data) - at} bytes too many")
    return d


class Table:
    """The neutral table: per edge its predecessors, successors and memory calls."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        magic, version, head, build_id, _, edges, functions, preds, _, _ = struct.unpack_from("<8sII64s6I", data)
        if magic != b"CAROLTAB" or version != 1:
            raise ValueError(f"{path} is not a neutral table")
        self.build_id = build_id.rstrip(b"\0").decode()
        rows = [struct.unpack_from("<QIIIIHHHHHHI", data, head + 40 * i) for i in range(edges)]
        listed = struct.unpack_from(f"<{preds}I", data, head + 40 * edges)
        self.n = edges
        self.preds = [set(listed[r[2]:r[2] + r[3]]) for r in rows]
        self.successors = [r[4] for r in rows]
        self.memory_calls = [r[6] + r[7] for r in rows]
        self.function = [r[1] for r in rows]
        at = head + 40 * edges + 4 * preds
        self.depths = [struct.unpack_from("<IIHH", data, at + 12 * i)[2] for i in range(functions)]


class Record:
    """The tables of carol.db as lists of rows, in the order of their numbers."""

    def __init__(self, out, table=None):
        self.out = Path(out)
        db = sqlite3.connect(f"file:{self.out}/carol.db?mode=ro", uri=True, timeout=10)
        self.version = db.execute("PRAGMA user_version").fetchone()[0]
        self.sound = [r[0] for r in db.execute("PRAGMA integrity_check")]
        self.dangling = db.execute("PRAGMA foreign_key_check").fetchall()
        self.settings = dict(db.execute("SELECT key, value FROM settings"))
        for name in ("events", "instances", "turns", "imports", "crashes", "calls"):
            setattr(self, name, self.rows(db, name, "id"))
        self.seeds = self.rows(db, "seeds", "id")
        self.entries = db.execute("SELECT instance, entry, seed FROM entries").fetchall()
        self.slots = {r.slot: r for r in self.rows(db, "slots", "slot")}
        self.clock = db.execute("SELECT elapsed_ns FROM clock").fetchone()
        self.learner = db.execute("SELECT turn, state FROM learner").fetchone()
        self.decisions = {turn: decision(data) for turn, data in db.execute("SELECT turn, data FROM decisions")}
        db.close()
        self.clock = self.clock[0] if self.clock else 0
        self.fuzzers = self.settings["fuzzers"].split(",")
        self.workers = int(self.settings["jobs"])
        self.turn_ns = int(self.settings["turn_ns"])
        self.reward = REWARDS[self.settings["reward"]]
        self.worth = self.settings["share"] == "worth"
        self.fused = self.settings.get("instances") == "fused"
        self.new_only = self.settings["neutral_filter"] == "1"
        self.table = Table(table or self.own_table())
        self.turn = {t.id: t for t in self.turns}
        self.seed = {s.id: s for s in self.seeds}
        self.edges = {s.id: edge_numbers(s.edges) for s in self.seeds}
        self.found_in = {}
        for s in self.seeds:
            self.found_in.setdefault(s.turn, []).append(s)

    @staticmethod
    def rows(db, name, order):
        cursor = db.execute(f"SELECT * FROM {name} ORDER BY {order}")
        names = [c[0] for c in cursor.description]
        return [SimpleNamespace(**dict(zip(names, r))) for r in cursor]

    def own_table(self):
        """Of the build directory that the campaign was begun with."""
        build = Path(self.settings["build"])
        manifest = json.loads((build / "carol-build.json").read_text())
        wanted = self.settings.get("target") or manifest["target"]
        return build / next(t["table"] for t in manifest["targets"] if t["target"] == wanted)

    def story(self):
        """What happened, in order: ('decide', decision, turn) and ('complete', turn), by the number of decisions
        that had been served at each completion."""
        served, last = 0, max((t.id for t in self.turns), default=0)
        completed = sorted((t for t in self.turns if t.round > 0), key=lambda t: t.round)
        for turn in completed + [SimpleNamespace(at_decision=last, round=0)]:
            while served < min(turn.at_decision, last):
                served += 1
                if served in self.decisions and served in self.turn:
                    yield "decide", self.decisions[served], self.turn[served]
            if turn.round:
                yield "complete", None, turn

    def budget(self, t):
        """In force at decision t: of the start or the newest resume that gave one; 0: no end."""
        given = {int(k[len("budget@"):]): int(v) for k, v in self.settings.items() if k.startswith("budget@")}
        past = [n for n in given if n <= t]
        return given[max(past)] if past else int(self.settings["budget_ns"])

    def data(self, row):
        """The bytes of a seed or a crash."""
        return row.data if row.data is not None else (self.out / "blobs" / row.hash.hex()).read_bytes()
