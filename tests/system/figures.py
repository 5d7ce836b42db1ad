#!/usr/bin/env python3
"""The figures of carol report against the record: steps, bars, sets, slots, lineages and their differences; and every link
within a page leads somewhere.  What is in the numbers and tables is report.py's.

    figures.py CAROL RECORDS
"""
import fcntl
import html
import json
import re
import sqlite3
import sys

sys.dont_write_bytecode = True
from campaign_kit import COMMITTED
from page_kit import TAP, TOP, Record, ask, copy, report, simulate

MANY = 20050  # crashes: more than a page looks at


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page.text, re.S).group(0)


def rows_of(out, question):
    db = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True)
    try:
        return db.execute(question).fetchall()
    finally:
        db.close()


def near(a, b, by):
    return len(a) == len(b) and all(abs(x - y) <= by for x, y in zip(a, b))


# --- coverage ------------------------------------------------------------------------------------------
def coverage(out, page):
    arms, part = Record(out).arms, section(page, "coverage")
    status, gains = ask("status", out), rows_of(out, "SELECT arm, new_edges, end_ns FROM turns WHERE round > 0 AND new_edges > 0 ORDER BY round")
    series = json.loads(re.search(r'class="series">(.*?)</script>', part, re.S).group(1))
    last = series["rows"][-1]
    TAP.ok(last[0] == status["edges"] and last[1:-2] == [status["fuzzers"][a]["first_edges"] for a in arms]
           and last[-1] == status["crashes"], "coverage: the last moment has the edges of each fuzzer, and the crashes", (last, status["edges"]))
    wrong = []
    for k in (0, 20, 60, 120, 239):
        at = series["end"] * k / 240
        by = [sum(n for arm, n, end in gains if arm == a and end / 1e9 <= at) for a in range(len(arms))]
        wrong += [] if series["rows"][k][:-2] == [status["seed_edges"] + sum(by)] + by else [(k, series["rows"][k], by)]
    TAP.ok(not wrong, "coverage: so have the moments before", wrong)
    steps = [[(float(x), float(y) - float(to)) for x, y, to in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", d)]
             for d in re.findall(r'<path class="step[^"]*" d="([^"]*)"', part)]
    left, _, width, _ = map(float, re.search(r'data-area="([^"]*)"', part).group(1).split())
    pixels = sum(h for fuzzer in steps for _, h in fuzzer) / sum(n for _, n, _ in gains)
    wrong = []
    for a in range(len(arms)):
        own = [(left + width * end / 1e9 / series["end"], n * pixels) for arm, n, end in gains if arm == a]
        wrong += [] if near([x for x, _ in own], [x for x, _ in steps[a]], 0.11) and near([h for _, h in own], [h for _, h in steps[a]], 0.25) else [arms[a]]
    TAP.ok(len(steps) == len(arms) and not wrong, "coverage: each step is where its turn ended, as high as what it brought, in the fuzzer's colour", wrong)


# --- shares --------------------------------------------------------------------------------------------
def active_in(turns, from_s, to_s, arms):
    """Seconds each fuzzer ran between the two, a turn's time spread evenly over it."""
    sums = [0.0] * arms
    for arm, start, end, active in turns:
        inside = min(to_s, end / 1e9) - max(from_s, start / 1e9)
        if inside > 0:
            sums[arm] += active / 1e9 * inside / ((end - start) / 1e9)
    return sums


def shares(out, page):
    arms, status = Record(out).arms, ask("status", out)
    meters = [float(v) for v in re.findall(r'<meter min="0" max="1" value="([^"]*)"', section(page, "glance"))]
    TAP.ok(near(meters, [status["fuzzers"][a]["share"] for a in arms], 0.0006), "the bars at a glance are the shares of carol status", meters)
    turns = rows_of(out, "SELECT arm, start_ns, end_ns, active_ns FROM turns WHERE round > 0 AND id > 0 AND end_ns > start_ns")
    part = section(page, "shares").split("</figure>")[0]
    left, _, width, height = map(float, re.search(r'data-area="([^"]*)"', part).group(1).split())
    end = float(re.search(r'data-x="0 ([^"]*)"', part).group(1))
    bars = {}
    for x, w, h, arm in re.findall(r'<rect x="([^"]*)" y="[^"]*" width="([^"]*)" height="([^"]*)" class="f\d+ a(\d+)"', part):
        bars.setdefault((float(x), float(w)), {})[int(arm)] = float(h) / height
    wrong = []
    for (x, w), got in bars.items():
        from_s = round((x - left) / w) * end / round(width / w)
        sums = active_in(turns, from_s, from_s + end / round(width / w), len(arms))
        want = [s / sum(sums) for s in sums]
        wrong += [] if near([got.get(a, 0) for a in range(len(arms))], want, 0.004) else [(x, got, want)]
    TAP.ok(len(bars) > 20 and not wrong, "the bars of each moment are the parts of the time in which fuzzers ran", (len(bars), wrong[:3]))


def rewards(out, page):
    """Every point of every line: the mean reward of the fuzzer's turns that ended in that part of the campaign."""
    arms, part = Record(out).arms, section(page, "shares").split("</figure>")[1]
    left, top, width, height = map(float, re.search(r'data-area="([^"]*)"', part).group(1).split())
    end = float(re.search(r'data-x="0 ([^"]*)"', part).group(1))
    bins = int(re.search(r"in each (\d+)<sup>", part).group(1))
    sums = [{} for _ in arms]
    for arm, at, reward in rows_of(out, f"SELECT arm, end_ns, reward FROM turns WHERE id > 0 AND round > 0 AND state = {COMMITTED}"):
        sums[arm].setdefault(min(bins - 1, int(at / 1e9 / (end / bins))), []).append(reward)
    most = max(sum(v) / len(v) for by in sums for v in by.values())
    wrong, points = [], 0
    for a, by in enumerate(sums):
        line = re.search(rf'<path class="line f\d+ a{a}" d="([^"]*)"', part).group(1)
        for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", line):
            k, points = round((float(x) - left) / width * bins - 0.5), points + 1
            want = sum(by.get(k, [9])) / len(by.get(k, [9]))
            wrong += [] if abs(top + height * (1 - want / most) - float(y)) < 0.11 else [(arms[a], k, y, want)]
    TAP.ok(points > 100 and not wrong, "the lines of rewards are the means of the turns that ended then", (points, wrong[:5]))


# --- sets ----------------------------------------------------------------------------------------------
def sets(out, page, what):
    record, want = Record(out), {}
    for edge, arm in record.first.items():
        if arm is not None:
            key = frozenset(record.by[edge])
            want[key] = want.get(key, 0) + 1
    part, got = re.search(r'<figure class="sets">.*?</figure>', page.text, re.S).group(0), {}
    for column in re.findall(r"<g><title>.*?</g>", part, re.S):
        who = frozenset(int(a) for a in re.findall(r'<circle [^>]*class="f\d+ a(\d+)"', column))
        got[who] = int(re.search("<title>(.*?)</title>", column).group(1).replace(",", ""))
    largest = sorted(want.values(), reverse=True)[:24]
    TAP.ok(sorted(got.values(), reverse=True) == largest and all(want.get(k) == n for k, n in got.items()),
           f"{what}: the columns of the set view are the largest sets, and how many edges exactly these have", (got, want))
    left = re.search(r"(\d+) smaller sets with (\d+) edges", part)
    rest = (len(want) - len(got), sum(want.values()) - sum(got.values()))
    TAP.ok((tuple(map(int, left.groups())) if left else (0, 0)) == rest, f"{what}: and the rest is counted", (left, rest))


# --- slots ---------------------------------------------------------------------------------------------
def slots(out):
    """The record of a campaign in whose first slot a fuzzer runs, while what the second found is measured; the third is free."""
    last = [rows_of(out, f"SELECT id, arm FROM turns WHERE slot = {i} AND id > 0 ORDER BY id DESC LIMIT 1")[0] for i in range(3)]
    to = copy(out, "runs", f"UPDATE turns SET round = 0, state = 1 WHERE id = {last[0][0]}", f"UPDATE turns SET round = 0, state = 2 WHERE id = {last[1][0]}")
    arms = Record(out).arms
    TAP.ok('class="slots"' not in report(to, page="rests.html").text, "a campaign that rests has no slots")
    with (to / "lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        part = re.search(r'<ol class="slots".*?</ol>', report(to, page="runs.html").text, re.S).group(0)
    got = [re.sub("<[^>]*>", "", x) for x in re.findall("<li.*?</li>", part)]
    want = [f"{arms[last[0][1]]} turn {last[0][0]}", f"{arms[last[1][1]]} turn {last[1][0]}, measuring", "free"]
    TAP.ok(got == want, "what each slot does now", (got, want))


# --- lineages ------------------------------------------------------------------------------------------
def some(data):
    text = "".join(chr(c) if 32 <= c < 127 and c != 92 else f"\\x{c:02x}" for c in data[:16])
    return html.escape(text).replace("&#x27;", "&#39;") + ("…" if len(data) > 16 else "")


def difference(old, new):
    """As the page writes it, from the definition: what lies between the equal beginnings and the equal ends."""
    least = min(len(old), len(new))
    head = next((i for i in range(least) if old[i] != new[i]), least)
    tail = next((i for i in range(least - head) if old[-1 - i] != new[-1 - i]), least - head)
    was, now = old[head:len(old) - tail], new[head:len(new) - tail]
    text = f"@{head} " + (f"<del>{some(was)}</del>" if was else "") + (f"<ins>{some(now)}</ins>" if now else "")
    return f'<code class="diff">{text}</code> <small>{len(was)} → {len(now)} bytes</small>'


def numbers_in(ranges):
    found = set()
    for part in ranges.split():
        low, _, high = part.partition("-")
        found |= set(range(int(low), int(high or low) + 1))
    return found


def steps(out, page):
    """Every row: its edges, how many of them it says, and how its bytes differ from its parent's."""
    record, first = Record(out), {}
    for edge, seed in record.seed_of.items():
        first.setdefault(seed, set()).add(edge)
    data = dict(rows_of(out, "SELECT id, data FROM seeds"))
    crashes = {i: (p, d) for i, p, d in rows_of(out, "SELECT id, parent, data FROM crashes")}
    wrong, changed, brought = [], 0, 0
    for kind, number, parent, row in re.findall(r'<li id="([sx])(\d+)"[^>]* data-parent="(\d+)"(.*?)</li>', page.text, re.S):
        number, parent = int(number), int(parent)
        bytes_now = data[number] if kind == "s" else crashes[number][1]
        good = parent == ((record.seeds[number][1] if kind == "s" else crashes[number][0]) or 0)
        if parent:
            good, changed = good and difference(data[parent], bytes_now) in row, changed + 1
        else:
            good = good and f'<code class="diff"><ins>{some(bytes_now)}</ins></code>' in row
        if kind == "s":
            own = first.get(number, set())
            said = re.search(r"<strong>(\d+) (?:new )?edges?</strong>", row)
            good = good and numbers_in(re.search(r'data-edges="([^"]*)"', row).group(1)) == own and (int(said.group(1)) if said else 0) == len(own)
            brought += len(own)
        wrong += [] if good else [(kind, number, row)]
    TAP.ok(not wrong and changed > 100 and brought == len(record.seed_of), "each step says which bytes changed and how many edges it was the first to cover",
           (changed, brought, wrong[:2]))


def late_defects(out, name):
    """Defects first seen after so many crashes that most of these are left out: each has its whole chain, and its bytes."""
    record = Record(out)
    first = set(record.seed_of.values())
    silent = sorted((s for s in record.seeds if s not in first and record.seeds[s][1]), key=lambda s: -len(record.chain(s)))
    shown = {s for f in first | set(record.crashes.values()) for s in record.chain(f)}
    hidden = [s for s in silent if s not in shown][:2]
    arm, turn, end = rows_of(out, "SELECT arm, id, end_ns FROM turns WHERE round > 0 ORDER BY id DESC LIMIT 1")[0]
    base = max(record.crashes) + 1
    late = {base + 400: hidden[0], base + MANY: hidden[1]}
    add = [("INSERT INTO crashes(id, hang, hash, size, turn, parent, arm, signal, name, found_ns, by_eval, data) VALUES(?,0,?,3,?,?,?,6,'',?,0,'odd')",
            (i, i.to_bytes(32, "big"), turn, late.get(i), arm, end)) for i in range(base, base + MANY + 1)]
    add += [("INSERT INTO triage VALUES(?, 'b', 1, ?, 'late', '/x/a.c', ?, 'abort', 'main', '', 0, '', 0, 0, 1, 1, 5, 5, 6, 0, '', '')",
             (i, f"d{i}", i)) for i in [*late, *list(record.crashes)[:6]]]
    to = copy(out, name, *add, "INSERT INTO settings(key, value) VALUES('triage.build', 'b')")
    page, data = report(to, page=f"{name}.html"), dict(rows_of(out, "SELECT id, data FROM seeds"))
    for i, parent in late.items():
        chain = record.chain(parent)
        row = re.search(rf'<li id="x{i}".*?</li>', page.text, re.S)
        missing = [s for s in chain if f"s{s}" not in page.ids]
        TAP.ok(row and difference(data[parent], b"odd") in row.group(0) and len(chain) > 1 and not missing,
               f"{name}: a defect that is first seen after {i - base} crashes has its lineage", (missing, chain, row and row.group(0)))
    more = len(rows_of(to, "SELECT id FROM crashes")) - 60
    TAP.ok(f"{more} more are in" in page.text, f"{name}: crashes that are not listed are counted", re.findall(r"\d+ more are in", page.text))
    links(page, name)
    return to


# --- links ---------------------------------------------------------------------------------------------
def links(page, what):
    wanted = set(re.findall(r'href="#([^"]*)"', page.text))
    TAP.ok(wanted and wanted <= set(page.ids), f"{what}: every link within the page leads somewhere", sorted(wanted - set(page.ids))[:9])


def main():
    out = simulate(TOP / "out", "-s", "contextual", "--campaigns", "1", "--turns", "600", "-j", "3", "--edges", "2500", "--hardness", "20m")
    page = report(out)
    coverage(out, page)
    shares(out, page)
    rewards(out, page)
    sets(out, page, "six fuzzers")
    crowd = simulate(TOP / "crowd", "-k", "9", "-s", "equal", "--campaigns", "1", "--turns", "400", "--edges", "3000")
    sets(crowd, report(crowd, page="crowd.html"), "nine fuzzers")
    slots(out)
    steps(out, page)
    links(page, "a campaign")
    late = late_defects(out, "late defects")
    links(report(late, out, page="several.html"), "several campaigns")
    day = simulate(TOP / "day", "-s", "contextual", "--campaigns", "1")
    links(report(day, page="day.html"), "a day")
    late_defects(day, "late defects of a day")
    TAP.tidy(TOP)


main()
sys.exit(TAP.done())
