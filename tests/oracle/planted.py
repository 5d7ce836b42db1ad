"""Journals in which the truth is known: signals, choices and rewards are what a function says.

The tables and the rows that do not matter are those of a small simulated campaign; the turns and decisions are written
here, as docs/FILES.md describes them.
"""
import random
import shutil
import sqlite3
import struct
from pathlib import Path

from record import SIGNALS

TURN = 60 * 10 ** 9


def encoded(t, arms, choice, now, signals):
    head = struct.pack("<5BQqqqQq", 2, arms, len(SIGNALS), 17, 1, t, 0, choice, now, 0, 0)
    return head + b"".join(struct.pack(f"<{len(SIGNALS)}d", *row) for row in signals)


class Planter:
    """template: the directory of a campaign that `carol sim` made, with the same number of fuzzers."""

    def __init__(self, template, arms):
        self.template, self.arms = Path(template), arms
        db = sqlite3.connect(self.template / "carol.db")
        cursor = db.execute("SELECT * FROM turns WHERE state = 3 LIMIT 1")
        self.columns = [c[0] for c in cursor.description]
        self.row = dict(zip(self.columns, cursor.fetchone()))
        db.close()

    def campaign(self, out, seed, turns, reward, signals=None, choose=None, target="planted", scheduler="random",
                 build="b", settings=()):
        """reward(rng, part, arm, signals of that arm), part: of the campaign that is over, in [0, 1)."""
        rng = random.Random(seed)
        out = Path(out)
        out.mkdir(parents=True)
        shutil.copy(self.template / "carol.db", out)
        db = sqlite3.connect(out / "carol.db", isolation_level=None)
        db.execute("BEGIN")
        for table in ("decisions", "learner", "imports", "seeds", "crashes", "turns"):
            db.execute(f"DELETE FROM {table}")
        for key, value in {"target": target, "scheduler": scheduler, "params": "", "seed": str(seed),
                           "build_id": f"{build}-{target}", **dict(settings)}.items():
            db.execute("UPDATE settings SET value = ? WHERE key = ?", (value, key))
        for t in range(1, turns + 1):
            part, now = (t - 1) / turns, (t - 1) * TURN
            rows = [signals(rng, part, a) if signals else [rng.gauss(0, 1) for _ in SIGNALS] for a in range(self.arms)]
            arm = choose(rng, part) if choose else rng.randrange(self.arms)
            raw = reward(rng, part, arm, rows[arm])
            row = {**self.row, "id": t, "round": t, "at_decision": t, "arm": arm, "start_ns": now, "parked_ns": now + TURN,
                   "end_ns": now + TURN, "raw": raw, "reward": min(1.0, max(0.0, raw)), "instance": None, "died": 0}
            db.execute(f"INSERT INTO turns VALUES ({','.join('?' * len(self.columns))})",
                       [row[c] for c in self.columns])
            db.execute("INSERT INTO decisions VALUES (?, ?)", (t, encoded(t, self.arms, arm, now, rows)))
        db.execute("UPDATE clock SET elapsed_ns = ?", (turns * TURN,))
        db.execute("COMMIT")
        db.close()
        return out

    def campaigns(self, home, n, turns, reward, first=1, **more):
        return [self.campaign(Path(home) / f"{more.get('target', 'planted')}-{first + i}", first + i, turns, reward, **more)
                for i in range(n)]
