"""The frame of the tests of the page: which carol, where, a page taken apart, and its record read independently.

The command line is read here: CAROL RECORDS.
"""
import html
import json
import re
import shutil
import sqlite3
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

sys.dont_write_bytecode = True
from campaign_kit import Carol, Tap

CAROL, RECORDS, TAP = Carol(sys.argv[1]), sys.argv[2], Tap()
TOP = Path(tempfile.mkdtemp(prefix="carol-report-"))
EVIL = "\"'><script>window.evil=1</script><img src=x onerror=window.evil=1>"


class Page(HTMLParser):
    """Metrics, ids, and tables of a page."""

    def __init__(self, text):
        super().__init__()
        self.text, self.metrics, self.ids, self.cells, self.at, self.loads = text, {}, [], {}, "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if "id" in a:
            self.ids.append(a["id"])
        if tag == "section":
            self.at = a["id"]
        if tag == "data":
            self.metrics.setdefault((a["data-metric"], a.get("data-of")), set()).add(a["value"])
        if tag in ("script", "img", "iframe", "link") and (a.get("src") or a.get("href", "data:,") != "data:,"):
            self.loads.append(a)

    def rows(self, section):
        part = re.search(rf'<section id="{section}".*?</section>', self.text, re.S).group(0)
        return [[html.unescape(re.sub("<[^>]*>", "", c)).strip() for c in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.S)]
                for row in re.findall(r"<tr[^>]*>(.*?)</tr>", part, re.S)]


def report(*outs, page="page.html"):
    code, text = CAROL.run("report", *outs, "-o", TOP / page)
    if code:
        raise AssertionError(f"carol report: {code} {text}")
    return Page((TOP / page).read_text(encoding="utf-8"))


def ask(*args):
    code, text = CAROL.run(*args, "--json")
    return json.loads(text) if code == 0 else {"code": code, "text": text}


def simulate(out, *options):
    code, text = CAROL.run("sim", "ensemble", "-p", "1", "-o", out, *options)
    if code:
        raise AssertionError(text)
    return out


def copy(out, name, *statements):
    to = TOP / name
    to.mkdir()
    shutil.copy(out / "carol.db", to)
    db = sqlite3.connect(to / "carol.db")
    for statement in statements:
        db.execute(*statement) if isinstance(statement, tuple) else db.execute(statement)
    db.commit()
    db.close()
    return to


def evil_record(out):
    names = sqlite3.connect(out / "carol.db").execute("SELECT value FROM settings WHERE key = 'fuzzers'").fetchone()[0]
    return copy(out, "<b>evil", ("UPDATE seeds SET name = ?", (EVIL,)), ("UPDATE crashes SET name = ?", (EVIL,)),
                ("UPDATE settings SET value = ? WHERE key = 'fuzzers'", (EVIL.replace(",", "") + names[names.index(","):],)),
                ("UPDATE settings SET value = ? WHERE key IN ('target', 'dict', 'seeds', 'host.name')", (EVIL,)))


# --- the record, read independently ------------------------------------------------------------------
def unpack(data):
    edges, at, shift, value = [], -1, 0, 0
    for byte in data or b"":
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            at = value if at < 0 else at + value
            edges.append(at)
            shift = value = 0
    return edges


class Record:
    def __init__(self, out):
        db = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True)
        settings = dict(db.execute("SELECT key, value FROM settings"))
        self.arms = settings["fuzzers"].split(",")
        self.turns = {t: (arm, rnd) for t, arm, rnd in db.execute("SELECT id, arm, round FROM turns")}
        self.seeds = {i: (turn, parent, unpack(e), state) for i, turn, parent, e, state in
                      db.execute("SELECT id, turn, parent, edges, state FROM seeds")}
        self.crashes = dict(db.execute("SELECT id, parent FROM crashes WHERE parent IS NOT NULL"))
        self.first, self.by, self.seed_of = {}, {}, {}
        for i, (turn, _, edges, state) in sorted(self.seeds.items(), key=lambda s: (self.round(s[1][0]), s[0])):
            if turn is not None and not self.turns[turn][1] or state != 2:
                continue
            arm = None if turn is None else self.turns[turn][0]
            for edge in edges:
                if edge not in self.first:
                    self.first[edge], self.seed_of[edge] = arm, i
                if arm is not None:
                    self.by.setdefault(edge, set()).add(arm)

    def round(self, turn):
        return -1 if turn is None else self.turns[turn][1]

    def arm_of(self, seed):
        turn = self.seeds[seed][0]
        return None if turn is None else self.turns[turn][0]

    def finders(self):
        found = [e for e, arm in self.first.items() if arm is not None]
        return [[name, f"{sum(self.first[e] == a for e in found):,}", f"{sum(self.by[e] == {a} for e in found):,}",
                 f"{sum(a in self.by[e] and len(self.by[e]) > 1 for e in found):,}"] for a, name in enumerate(self.arms)]

    def matrix(self):
        grid = [[0] * (len(self.arms) + 2) for _ in self.arms]
        for seed, (turn, parent, _, _) in self.seeds.items():
            if turn is None or not self.turns[turn][1]:
                continue
            source = self.arm_of(parent) if parent else -1
            grid[self.arm_of(seed)][len(self.arms) + 1 if source == -1 else len(self.arms) if source is None else source] += 1
        return [[name] + [f"{n:,}" if n else "" for n in row] for name, row in zip(self.arms, grid)]

    def chain(self, seed):
        steps = []
        while seed:
            steps.insert(0, seed)
            seed = self.seeds[seed][1]
        return steps
