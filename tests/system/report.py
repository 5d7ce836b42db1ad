#!/usr/bin/env python3
"""carol report: the numbers on the page against the record and the other verbs, several campaigns, bad records, and the
page in a real browser.  The campaigns are simulated or played on fakes: no fuzzer runs.

    report.py CAROL RECORDS
"""
import base64
import html
import itertools
import re
import sqlite3
import statistics
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import browser
from campaign_kit import wait_until
from web_kit import Site
from page_kit import CAROL, RECORDS, TAP, TOP, Record, ask, copy, evil_record, report, simulate

# Of each kind of text on the page: its colour against the first background behind it that is not transparent.
CONTRAST = """
const rgb = (text) => (text.match(/[0-9.]+/g) || []).map(Number);
const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, part, i) => {
  const v = c[i] / 255;
  return sum + part * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
}, 0);
const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3) return c; } return [255, 255, 255]; };
const found = new Set();
for (const e of document.querySelectorAll('body *')) {
  const own = Array.from(e.childNodes).some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.checkVisibility() || e.closest('[class^=h],[class*=" h"]')) continue;
  const style = getComputedStyle(e), svg = e instanceof SVGElement;
  const a = light(rgb(svg ? style.fill : style.color)), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) found.add(e.tagName + '.' + (svg ? e.className.baseVal : e.className) + ' ' + ratio.toFixed(2));
}
return Array.from(found);
"""


# --- numbers ------------------------------------------------------------------------------------------
def equal(shown, want):
    return all(abs(float(v) - want) <= 1e-8 * max(1, abs(want)) for v in shown)


def numbers(out, page):
    status, wrong = ask("status", out), []
    shown = ["elapsed_s", "budget_s", "turns", "edges", "edges_total", "seed_edges", "seeds", "crashes", "hangs", "execs",
             "execs_per_s", "execs_per_s_recent"]
    values = [((k, None), status[k]) for k in shown]
    values += [((k, name), row[k]) for name, row in status["fuzzers"].items()
               for k in ("turns", "share", "first_edges", "last_reward", "taken", "offered", "exports", "crashes")]
    values += [((k, str(i)), row[k]) for i, row in enumerate(status["slots"]) for k in ("fuzz_s", "start_s", "eval_s", "idle_s")]
    wrong = [(key, page.metrics.get(key), want) for key, want in values if not equal(page.metrics.get(key) or {"nan"}, want)]
    TAP.ok(not wrong and len(values) > 60, "the numbers on the page are those of carol status", wrong[:5])


def recent_rate(out):
    """Between the first and the last of 16 moments in which turns completed; moments closer than a second are one."""
    db, at, execs = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True), [(0, 0)], 0
    for end, n in db.execute("SELECT end_ns, execs FROM turns WHERE round > 0 ORDER BY round"):
        execs, end = execs + n, max(end, at[-1][0])
        if len(at) > 1 and end - at[-2][0] < 10**9:
            at.pop()
        at = (at + [(end, execs)])[-16:]
    return (at[-1][1] - at[0][1]) / (at[-1][0] - at[0][0]) * 1e9


def terminal(out):
    status, text = ask("status", out), CAROL.run("status", out)[1]
    whole = [("edges", "edges_total", "seed_edges", "seeds", "crashes", "hangs"), ("turns", "execs")]
    want = [r"{} of {} edges \({} from the seeds\), {} seeds, {} crashes, {} hangs\n", r"{} turns, {} executions, "]
    lines = [w.format(*[status[k] for k in keys]) for w, keys in zip(want, whole)]
    lines += [f"{status['execs_per_s_recent']:.0f}/s lately and {status['execs_per_s']:.0f}/s since the start; last new edge at {status['last_new_s']:.0f} s"]
    lines += [rf"{name} +{f['turns']} +{f['active_s']:.1f} +{f['startup_s']:.1f} +{100 * f['share']:.0f}% +{f['first_edges']} +{f['last_reward']:.3f} "
              rf"+{f['taken']}/{f['offered']} +{f['crashes']}\b" for name, f in status["fuzzers"].items()]
    lines += [f"{status['distinct_defects']} distinct defects, {status['confirmed_defects']} confirmed; {status['untriaged']} crashes and hangs not"]
    missing = [line for line in lines if not re.search(line, text)]
    TAP.ok(not missing and status["crashes"] > 0, "the numbers on the terminal are those of carol status --json", (missing, text))
    TAP.ok(abs(status["execs_per_s_recent"] / recent_rate(out) - 1) < 1e-8, "executions per second lately are those of the last turns",
           (status["execs_per_s_recent"], recent_rate(out)))


def choices(out, page):
    said, n = ask("explain", out), ask("status", out)["turns"]
    TAP.ok(equal(page.metrics[("explored", None)], said["exploration"]["choices"]), "explored choices are those of carol explain")
    shown = sorted(float(v) for v in page.metrics[("influence", None)])
    want = sorted({row["share"] for row in said["influence"]})
    TAP.ok(len(shown) == len(want) and all(abs(a - b) < 1e-8 for a, b in zip(shown, want)), "so is the influence of the signals",
           (shown, want))
    turns = dict(re.findall(r'<details data-turn="(\d+)"(?: data-whole)?>(.*?)</details>', page.text, re.S))
    TAP.ok(len(turns) == n == len(set(turns)), "every decision is listed once", (len(turns), n))
    wrong = [t for t in (1, n // 2, n) if ask("explain", out, "--turn", t)["why"] not in html.unescape(turns[str(t)])]
    TAP.ok(not wrong, "a turn opens into the reason that carol explain gives", wrong)


def discoveries(out, page, what):
    record = Record(out)
    want = record.finders() if any(arm is not None for arm in record.first.values()) else []
    TAP.ok(page.rows("finders")[1:] == want, f"{what}: who found which edges", (page.rows("finders")[1:], want))
    want = record.matrix() if any(turn > 0 and rnd for turn, (_, rnd) in record.turns.items()) else []
    TAP.ok(page.rows("imports")[1:] == want, f"{what}: who built on whom", (page.rows("imports")[1:], want))


# --- several campaigns ---------------------------------------------------------------------------------
def exact_p(x, y):
    pooled, n, m = x + y, len(x), len(y)

    def far(group):
        inside = [pooled[i] for i in group]
        rest = [pooled[i] for i in range(n + m) if i not in group]
        return abs(sum((a > b) + (a == b) / 2 for a in inside for b in rest) - n * m / 2)
    want = far(range(n))
    deals = [far(g) for g in itertools.combinations(range(n + m), n)]
    return sum(d >= want - 1e-9 for d in deals) / len(deals)


def several():
    top = simulate(TOP / "many", "-s", "equal,contextual", "--campaigns", "4", "--turns", "150", "-j", "2", "--edges", "1500",
                   "--hardness", "5m")
    outs = sorted(p.parent for p in Path(top).rglob("carol.db"))
    page = report(*outs, page="many.html")
    by = {}
    for out in outs:
        scheduler = ask("explain", out)["scheduler"]
        by.setdefault(scheduler, []).append(ask("status", out)["edges"])
    rows = {row[0]: row for row in page.rows("compare") if len(row) == 10}
    names = [n for n in rows if n in by]
    first = by[names[0]]
    wrong = [n for n in by if n not in rows or float(rows[n][2]) != float(f"{statistics.median(by[n]):.4g}") or rows[n][1] != "4"]
    TAP.ok(len(outs) == 8 and not wrong, "trials are grouped by what their campaigns differ in, with medians", (rows, by))
    x = by[names[1]]
    a12 = sum((a > b) + (a == b) / 2 for a in x for b in first) / len(x) / len(first)
    TAP.ok(rows[names[1]][4].startswith(f"{a12:.2f} ") and float(rows[names[1]][5]) == float(f"{exact_p(x, first):.3g}"),
           "A12 and p are those of the definition", (rows[names[1]], a12, exact_p(x, first)))
    TAP.ok(len(page.ids) == len(set(page.ids)), "no id is on the page twice",
           [i for i in page.ids if page.ids.count(i) > 1][:9])
    return TOP / "many.html"


# --- bad records ---------------------------------------------------------------------------------------
def odd_records(out):
    no_turns = copy(out, "no-turns", "DELETE FROM decisions", "DELETE FROM imports", "DELETE FROM entries", "DELETE FROM crashes",
                    "DELETE FROM seeds WHERE turn IS NOT NULL", "DELETE FROM turns", "DELETE FROM learner")
    page = report(no_turns)
    TAP.ok("No turn has been completed yet" in page.text and "<svg" not in page.text.split('id="settings"')[0],
           "a campaign without turns has a page that says so")
    page = report(simulate(TOP / "one", "-k", "1", "-s", "rate", "--campaigns", "1", "--turns", "60", "-j", "1", "--edges", "1000"))
    TAP.ok(len(page.rows("finders")) == 2, "one fuzzer")
    crowd = simulate(TOP / "crowd", "-k", "64", "-s", "contextual", "--campaigns", "1", "--turns", "400", "--edges", "3000")
    page = report(crowd)
    TAP.ok(len(page.rows("finders")) == 65 and len(page.text) < 3e6, "64 fuzzers", len(page.text))
    discoveries(crowd, page, "64 fuzzers")
    made = TOP / "records"
    subprocess.run([RECORDS, str(made)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    for name in sorted(p.parent for p in made.rglob("carol.db"))[:8]:
        page = report(name, page="killed.html")
        discoveries(name, page, f"killed and resumed, {name.parent.name}")


def plateau(out):
    """The record of a campaign that goes on for three times as long and finds nothing more."""
    db, arms = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True), Record(out).arms
    rows = db.execute("SELECT arm, state, new_edges, reward FROM turns WHERE round > 0 ORDER BY round").fetchall()
    by_id = db.execute("SELECT arm, reward FROM turns WHERE id > 0 AND state = 3 ORDER BY id DESC").fetchall()
    last = [arm for arm, _, n, _ in reversed(rows) for _ in range(n)][:10]
    by = ", ".join(f"{arms[a]} ({last.count(a)})" for a in sorted(set(last), key=lambda a: (-last.count(a), a)))
    idle = sum(sum([r for arm, r in by_id if arm == a][:20]) <= 0 for a in range(len(arms)))
    want = f"; the last 10 came from {by}; {idle} of {len(arms)} fuzzers earned nothing in their last 20 turns."
    text = report(copy(out, "flat", "UPDATE clock SET elapsed_ns = 3 * elapsed_ns"), page="flat.html").text
    notice = re.search(r'<div class="notice".*?</div>', text, re.S)
    TAP.ok(notice and want in notice.group(0) and "<code>-x FILE</code>" in notice.group(0), "a plateau is said, with its evidence and advice",
           (want, notice and notice.group(0)))
    climbs = copy(out, "climbs", "UPDATE clock SET elapsed_ns = (SELECT max(end_ns) * 6 / 5 FROM turns WHERE new_edges > 0)")
    TAP.ok('class="notice"' not in report(climbs, page="climbs.html").text, "and not where there is none")


def cut_off(out):
    """A record as a power cut leaves it: the last steps are in a log whose end is missing."""
    whole = copy(out, "whole")
    db = sqlite3.connect(whole / "carol.db", isolation_level=None)
    db.execute("PRAGMA wal_autocheckpoint = 0")
    for k in range(40):
        db.execute("INSERT INTO events(at_ns, kind, text) VALUES(1, 'note', ?)", ("x" * 3000 + str(k),))
    cut = TOP / "cut"
    cut.mkdir()
    for part in ("carol.db", "carol.db-wal"):
        data = (whole / part).read_bytes()
        (cut / part).write_bytes(data if part == "carol.db" else data[:len(data) // 2 + 77])
    db.close()
    page = report(cut, page="cut.html")
    got = sqlite3.connect(cut / "carol.db").execute("SELECT count(*) FROM events WHERE kind = 'note'").fetchone()[0]
    TAP.ok(0 < got < 40 and page.metrics[("turns", None)] == {str(ask("status", out)["turns"])}, "a log that is cut off: the page is of what was safe", got)


def triaged(out):
    """Rows as carol triage leaves them: every third crash is of one defect, confirmed; the others are of one that is not."""
    crashes = sqlite3.connect(out / "carol.db").execute("SELECT id, found_ns, arm FROM crashes ORDER BY found_ns, id").fetchall()
    rows = [(c, "b", 1, *(("d1", "parse<b>", "/x/a.c", 7) if i % 3 == 0 else ("d2", "read", "/x/b.c", 9)), "use-after-free", "main", "read", 1,
             "", 416, 1, 1, 1, 5, 5 if i % 3 == 0 else 2, 11, 0, "" if i % 3 == 0 else "fails now and then", "") for i, (c, _, _) in enumerate(crashes)]
    marks = ",".join("?" * len(rows[0]))
    to = copy(out, "triaged", *[(f"INSERT INTO triage VALUES({marks})", row) for row in rows],
              "INSERT INTO settings(key, value) VALUES('triage.build', 'b')")
    page, arms = report(to, page="triaged.html"), Record(out).arms
    got = [row for row in page.rows("defects") if len(row) == 7][1:]
    commands = [row[0] for row in page.rows("defects") if len(row) == 1]
    want = [[place, shown, sorted(crashes[i][1] for i in range(len(crashes)) if (i % 3 == 0) == sure)[0], sum((i % 3 == 0) == sure for i in range(len(crashes)))]
            for place, shown, sure in (("parse<b> a.c:7", "confirmed", True), ("read b.c:9", "not confirmed fails now and then", False))]
    clock = [f"{ns // 10**9 // 3600}:{ns // 10**9 // 60 % 60:02}:{ns // 10**9 % 60:02}" for _, _, ns, _ in want]
    TAP.ok([r[0] for r in got] == [w[0] for w in want] and [r[3] for r in got] == [w[1] for w in want]
           and [r[6] for r in got] == [str(w[3]) for w in want] and [r[4] for r in got] == clock and got[0][5] == arms[crashes[0][2]]
           and len(commands) == 2 and all(re.match("defect d[12]; see it again: carol triage", c) for c in commands),
           "defects as triage left them: where, confirmed or not, first seen, by whom, how many inputs", (got, want, clock))
    worst = re.search(r'<ul class="worst".*?</ul>', page.text, re.S).group(0)
    TAP.ok(re.findall(r"<code>(.*?)</code>", worst) == ["parse&lt;b&gt;", "read"], "the worst are named at a glance, the confirmed one first", worst)
    status = ask("status", to)
    said = {k: page.metrics[(k, None)] for k in ("distinct_defects", "confirmed_defects", "untriaged")}
    TAP.ok(said == {k: {str(status[k])} for k in said} and status["distinct_defects"] == 2 and status["confirmed_defects"] == 1
           and status["untriaged"] == 0 and sum(f["defects"] for f in status["fuzzers"].values()) == 2
           and status["fuzzers"][arms[crashes[0][2]]]["defects"] >= 1, "so does carol status, in the same numbers", (said, status["fuzzers"]))
    TAP.ok("2 distinct defects, 1 confirmed; 0 crashes" in CAROL.run("status", to)[1]
           and "Triage, which tells" not in page.text and "Triage, which tells" in report(out).text, "without triage the page says that it has not run")


def lost_bytes(out):
    """A crash and what it was made from without their bytes, as when OUT/blobs has lost a file."""
    crash, parent = sqlite3.connect(out / "carol.db").execute("SELECT id, parent FROM crashes WHERE parent > 0 ORDER BY id").fetchone()
    page = report(copy(out, "lost", f"UPDATE seeds SET data = NULL WHERE id = {parent}", f"UPDATE crashes SET data = NULL WHERE id = {crash}"))
    rows = {i: re.search(rf'<li id="{i}".*?</li>', page.text, re.S).group(0) for i in (f"s{parent}", f"x{crash}")}
    TAP.ok("its bytes are lost" in rows[f"s{parent}"] and page.text.count("its bytes are lost") == 1
           and all("diff" not in row for row in rows.values()) and page.ids == report(out).ids,
           "lost bytes cost two rows what they differ in, and the page nothing else", rows)


def of_nobody(out):
    """Crashing inputs of the user's: the files are named as the campaign names them."""
    for turn, name in (("NULL", "initial seeds"), ("-1", "imported")):
        to = copy(out, f"user {name}", f"UPDATE crashes SET arm = -1, signal = 6, hang = 0, turn = {turn} WHERE id = 1")
        digest = sqlite3.connect(to / "carol.db").execute("SELECT hex(hash) FROM crashes WHERE id = 1").fetchone()[0].lower()[:16]
        rows = [row for row in report(to).rows("defects") if digest in row]
        TAP.ok(len(rows) == 1 and rows[0][1] == name and f"/crashes/seed-sig6-{digest}" in rows[0][-1],
               f"the command for a crash of the {name} names its file", rows)


def refusals(out):
    (TOP / "empty").mkdir()
    for what, args, code, words in [
            ("no campaign", [], 2, "which campaign?"), ("a directory that is none", [TOP / "none", "-o", TOP / "x.html"], 2, "none"),
            ("one without a record", [TOP / "empty", "-o", TOP / "x.html"], 2, "empty"),
            ("a directory as the page", [out, "-o", TOP], 2, "is a directory"),
            ("a page where nothing can be written", [out, "-o", TOP / "no" / "x.html"], 3, "x.html"),
            ("several without a page", [out, out], 2, "-o FILE.html")]:
        got, text = CAROL.run("report", *args)
        TAP.ok(got == code and text.startswith("carol: ") and words in text, f"refused: {what}", f"{got} {text}")


# --- in the browser --------------------------------------------------------------------------------------
def wide(b, path):
    b.open(path.as_uri())
    text = b.run("return document.body.innerText")
    missing = [w for w in ("At a glance", "Coverage over time", "Who found what", "Every decision", "aflpp") if w not in text]
    TAP.ok(not missing and b.run("return Array.from(document.querySelectorAll('.time svg.plot')).every(s => "
                                 "s.getBoundingClientRect().height > 100)"), "text and figures are there", missing)
    colours = []
    for scheme in ("light", "dark"):
        b.media("", scheme)
        colours.append(b.run("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"))
    TAP.ok(colours[0] != colours[1], "dark and light", colours)
    pale = []
    for scheme in ("light", "dark"):
        b.media("", scheme)
        pale += b.run(CONTRAST)
    TAP.ok(not pale, "every kind of text stands out from what is behind it, 4.5 to 1 or more", pale)
    b.media("", "light")


def print_view(b, path):
    b.open(path.as_uri())
    b.size(717, 1000)  # a sheet of A4 without its margins
    b.media("print", "dark")
    shown = b.run("return ['nav', '.moment', '.pick'].filter(s => getComputedStyle(document.querySelector(s)).display !== 'none')")
    paper = b.run("const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]")
    TAP.ok(not shown and paper == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"], "in print there is nothing to click, in black on white", (shown, paper))
    over = b.run("return Array.from(document.querySelectorAll('table, svg, pre, li, dd')).filter(e => e.checkVisibility() && "
                 "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.closest('section').id + ' ' + e.tagName)")
    TAP.ok(not over, "nothing sticks out of the sheet", over[:9])
    b.media("", "light")
    pdf = base64.b64decode(b.cdp("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    sheets = len(re.findall(rb"/Type\s*/Page\b", pdf))
    TAP.ok(2 < sheets < 20, "it is a few sheets", sheets)
    b.size(1200, 900)


def keyboard(b, path):
    b.open(path.as_uri())
    b.run("document.querySelector('#coverage button.key').focus()")
    before = b.run("return document.querySelectorAll('svg .a0.off').length")
    b.keys(" ")
    after = b.run("return document.querySelectorAll('svg .a0.off').length")
    pressed = b.run("return document.querySelector('#shares button.key').getAttribute('aria-pressed')")
    TAP.ok(before == 0 and after > 0 and pressed == "false", "a key switches a fuzzer off in every figure", (before, after, pressed))
    b.run("document.querySelector('#coverage svg.plot').focus()")
    told = b.run("return document.querySelector('.moment output').textContent")
    b.keys("\ue012\ue012\ue012")  # left
    moved = b.run("return document.querySelector('.moment output').textContent")
    TAP.ok(told and moved and told != moved, "arrows move through time", (told, moved))
    box = b.run("return document.querySelector('#coverage .area').getAttribute('viewBox')")
    b.keys("+")
    zoomed = b.run("return Array.from(document.querySelectorAll('.area')).map(a => a.getAttribute('viewBox').split(' ')[2])")
    TAP.ok(len(set(zoomed)) == 1 and float(zoomed[0]) < float(box.split()[2]) * 0.6, "+ zooms all figures of time", (box, zoomed))
    b.keys("0")
    whole = b.run("return document.querySelector('#coverage .area').getAttribute('viewBox')")
    TAP.ok([float(v) for v in whole.split()] == [float(v) for v in box.split()], "0 shows the whole time again", (whole, box))
    stops = b.run("return Array.from(document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')).filter("
                  "e => e.tabIndex < 0).length")
    TAP.ok(stops == 0, "everything that does something can be reached by key", stops)


def lineage(b, out, path):
    record = Record(out)
    edges = sorted((e for e, arm in record.first.items() if arm is not None), key=lambda e: -len(record.chain(record.seed_of[e])))
    b.open(path.as_uri())
    wrong = []
    for edge in edges[:1] + edges[len(edges) // 2:len(edges) // 2 + 1]:
        got = b.run("const i = document.querySelector('.pick input'); i.value = arguments[0]; i.dispatchEvent(new Event('input')); "
                    "return Array.from(document.querySelectorAll('.steps li:not([hidden])')).map(l => Number(l.id.slice(1)))", str(edge))
        want = record.chain(record.seed_of[edge])
        who = ", ".join(record.arms[a] for a in sorted(record.by[edge]))
        said = b.run("return document.querySelector('.pick output').textContent")
        wrong += [] if got == want and f"; {who} ha" in said else [(edge, got, want, who, said)]
    TAP.ok(len(record.chain(record.seed_of[edges[0]])) > 3 and not wrong, "an edge's lineage is its chain of inputs, and it says who else has the edge", wrong)
    crash, parent = max(record.crashes.items(), key=lambda c: len(record.chain(c[1])))
    got = b.run("const s = document.querySelector('.pick select'); s.value = arguments[0]; s.dispatchEvent(new Event('change')); "
                "return Array.from(document.querySelectorAll('.steps li:not([hidden])')).map(l => Number(l.id.slice(1)))", f"x{crash}")
    TAP.ok(got == record.chain(parent) + [crash], "so is that of a crash", (got, record.chain(parent), crash))


def edge_left_out(b, record):
    """The served page fetches a lineage that it does not have."""
    rows = "return Array.from(document.querySelectorAll('.steps li')).filter(l => !l.hidden).map(l => l.id)"
    here = set(b.run(rows))
    edge = next(e for e, arm in sorted(record.first.items()) if arm is not None and f"s{record.seed_of[e]}" not in here)
    b.run("const i = document.querySelector('.pick input'); i.focus(); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", str(edge))
    want = [f"s{seed}" for seed in record.chain(record.seed_of[edge])]
    got = wait_until(lambda: (x := b.run(rows)) and sorted(x) == sorted(want) and x, 30)
    TAP.ok(got, "the lineage of an edge that the page leaves out comes when it is asked for", (edge, want, b.run(rows)[:9]))


def served_day(b, day):
    """Whatever is not read or drawn when the page is opened comes by itself, the influence of the signals last."""
    p = subprocess.Popen([CAROL.binary, "view", str(day), "--web", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        url = next(line.strip() for line in p.stdout if line.startswith("http://"))
        status, _, text = Site(url).get("turn/4000", timeout=300)
        TAP.ok(status == 200 and b"<table" in text, "a turn that is asked for before the record is read is waited for", (status, text[:200]))
        b.open(url)
        b.run("window.mark = 1")
        look = ("return [window.mark, document.querySelectorAll('#coverage svg.plot').length, document.querySelectorAll('#signals .influence').length ||"
                " document.getElementById('signals').innerText.includes('was given up'),"
                " document.querySelectorAll('details[data-turn]').length, document.body.innerText.includes('being read')]")
        seen = wait_until(lambda: (x := b.run(look))[2] and x, 120)
        TAP.ok(seen and seen[0] == 1 and seen[1] == 1 and seen[3] > 4000 and not seen[4], "a day that is served is whole after a while, without a reload",
               seen or b.run(look))
        said = b.run("return document.getElementById('live').textContent")
        TAP.ok(said == "ended" and not b.errors(), "and says that it is over; the browser has nothing to complain about", said)
        edge_left_out(b, Record(day))
    finally:
        p.terminate()
        p.wait(30)


def in_browser(out, page, day_out, evil, day, many):
    if not browser.is_here():
        TAP.skip("pages in a browser", "chromium or chromium-driver is not installed")
        return
    with browser.Browser() as b:
        for path, what in ((page, "a campaign"), (many, "several campaigns"), (day, "a day"), (evil, "evil names")):
            wrong = browser.faults(b, path)
            TAP.ok(not wrong, f"{what}: no complaint, nothing fetched, readable at 1200 and at 400 px", wrong)
        b.open(evil.as_uri())
        TAP.ok(b.run("return window.evil === undefined && document.body.innerText.includes('<script>window.evil')"),
               "what looks like a script in a name is shown and not run")
        b.open(many.as_uri())
        b.run("document.querySelector('#compare svg.plot').focus()")
        wide_box = b.run("return document.querySelector('#compare .area').getAttribute('viewBox').split(' ').map(Number)")
        b.keys("++")
        box = b.run("return document.querySelector('#compare .area').getAttribute('viewBox').split(' ').map(Number)")
        TAP.ok(0.24 < box[2] / wide_box[2] < 0.26, "the figure of several campaigns zooms by key", (wide_box, box))
        wide(b, page)
        print_view(b, page)
        keyboard(b, page)
        lineage(b, out, page)
        served_day(b, day_out)


def main():
    out = simulate(TOP / "out", "-s", "contextual", "--campaigns", "1", "--turns", "600", "-j", "3", "--edges", "2500", "--hardness", "20m")
    page = report(out)
    TAP.ok(not page.loads and len(page.ids) == len(set(page.ids)), "the page loads nothing, and no id is there twice", page.loads)
    TAP.ok((TOP / "page.html").read_bytes() == (report(out, page="again.html") and (TOP / "again.html").read_bytes()),
           "the same record gives the same bytes")
    numbers(out, page)
    terminal(out)
    choices(out, page)
    discoveries(out, page, "a campaign")
    many = several()
    odd_records(out)
    plateau(out)
    cut_off(out)
    triaged(out)
    lost_bytes(out)
    of_nobody(out)
    refusals(out)
    evil = evil_record(out)
    report(evil, page="evil.html")
    day = simulate(TOP / "day", "-s", "contextual", "--campaigns", "1")
    text = report(day, page="day.html").text
    TAP.ok(len(text) < 3e6 and len(re.findall("<details data-turn", text)) == ask("status", day)["turns"] > 4000,
           "a day of 4,320 decisions is a page under 3 MB with all of them", len(text))
    report(out)
    in_browser(out, TOP / "page.html", day, TOP / "evil.html", TOP / "day.html", many)
    TAP.tidy(TOP)


main()
sys.exit(TAP.done())
