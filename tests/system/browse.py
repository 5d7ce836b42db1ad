#!/usr/bin/env python3
"""The page in a real browser: what pointer and slider do, turns that are opened or asked for, and a served page full of names that
look like scripts, while it is renewed.  What a page must look like is report.py's.

    browse.py CAROL RECORDS
"""
import contextlib
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
import browser
from campaign_kit import wait_until
from page_kit import CAROL, EVIL, TAP, TOP, ask, copy, evil_record, report, simulate

TOLD = "return document.querySelector('.moment output').textContent"
AREA = "return document.querySelector('#coverage .area').getAttribute('viewBox').split(' ').map(Number)"
CURSOR = "return document.querySelector('#shares svg.plot > .cursor').getAttribute('visibility')"
TURN = """const t = document.querySelector('details[data-turn="' + arguments[0] + '"]');
t.closest('.block').open = true; t.open = true;"""
ROWS = """return Array.from(document.querySelectorAll(arguments[0] + ' table.decision tr')).map(
  r => Array.from(r.children).map(c => c.textContent));"""


@contextlib.contextmanager
def served(out):
    """The address of carol view."""
    p = subprocess.Popen([CAROL.binary, "view", str(out), "--web", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        yield next(line.strip() for line in p.stdout if line.startswith("http://"))
    finally:
        p.terminate()
        p.wait(30)


def whole(b, url):
    """Opens it and waits until the record is read."""
    b.open(url)
    wait_until(lambda: b.run("return document.querySelectorAll('details[data-turn]').length"), 60)


# --- moving through time ---------------------------------------------------------------------------------
def pointer(b, path):
    b.open(path.as_uri())
    left, top, width, height = b.box("#coverage svg.plot")
    seen = []
    for part in (0.3, 0.6):
        b.mouse((left + part * width, top + height / 2))
        seen.append((b.run(TOLD), b.run(CURSOR)))
    TAP.ok(seen[0][0] != seen[1][0] and all("edges" in text and shown == "visible" for text, shown in seen),
           "the pointer over one figure tells that moment, and marks it in the others", seen)
    before = b.run(AREA)
    b.mouse((left + 0.3 * width, top + height / 2), "down", (left + 0.5 * width, top + height / 2), (left + 0.6 * width, top + height / 2), "up")
    zoomed, button = b.run(AREA), "return document.querySelector('.moment .whole').hidden"
    TAP.ok(abs(zoomed[2] / (0.3 * 760) - 1) < 0.05 and not b.run(button) and b.run("return !document.querySelector('.select')"),
           "dragging over a figure shows that part of the time", (before, zoomed))
    b.run("document.querySelector('.moment .whole').click()")
    TAP.ok(b.run(AREA) == before and b.run(button), "a button shows the whole time again", b.run(AREA))


def slider(b, path):
    b.open(path.as_uri())
    series = b.run("return JSON.parse(document.querySelector('#coverage .series').textContent)")
    left, top, width, height = b.run("const r = document.getElementById('moment').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]")
    b.mouse((left + width / 2, top + height / 2), "down", "up")
    at = int(b.run("return document.getElementById('moment').value"))
    said = b.run(TOLD)
    TAP.ok(100 < at < 140 and f" {series['rows'][at][0]} edges" in said and b.run(CURSOR) == "visible", "the slider tells what was known at its moment",
           (at, said, series["rows"][at][0]))


# --- turns -----------------------------------------------------------------------------------------------
def decision(out, turn):
    """The rows of the table, from carol explain."""
    said = ask("explain", out, "--turn", turn)
    names = list(said["fuzzers"])
    rows = [[said["fuzzers"][n][k] for n in names] for k in ("mean", "width", "noise", "draw")]
    rows += [[said["fuzzers"][n]["signals"][k] for n in names] for k in said["fuzzers"][names[0]]["signals"]]
    return names, rows, said["why"]


def is_decision(table, names, rows):
    if not table or table[0][1:] != names or len(table) != 1 + len(rows):
        return False
    return all(abs(float(cell) - v) <= 0.006 * abs(v) + 1e-9 for line, want in zip(table[1:], rows) for cell, v in zip(line[1:], want))


def turns(b, out, url):
    whole(b, url)
    listed = b.run("return Array.from(document.querySelectorAll('details[data-turn]:not([data-whole])')).map(d => Number(d.dataset.turn))")
    turn = listed[len(listed) // 2]
    names, rows, why = decision(out, turn)
    place = f'details[data-turn="{turn}"]'
    was = b.run(ROWS, place)
    b.run(TURN, str(turn))
    got = wait_until(lambda: b.run(ROWS, place), 60)
    TAP.ok(not was and is_decision(got, names, rows) and why in b.run("return document.querySelector(arguments[0]).textContent", place),
           "a turn that is opened fetches its decision", (turn, got and got[:2]))
    b.run("window.fetch = () => Promise.resolve(new Response('', {status: 404}))")
    turn = listed[len(listed) // 2 + 1]
    b.run(TURN, str(turn))
    look = f"return Array.from(document.querySelectorAll('details[data-turn=\"{turn}\"] .failed')).map(x => x.textContent)"
    said = wait_until(lambda: b.run(look), 30)
    TAP.ok(said and len(said) == 1 and said[0].endswith(f"carol explain {out} --turn {turn}") and "Why: " in b.run(
        f"return document.querySelector('details[data-turn=\"{turn}\"]').textContent"), "one that does not come is shown as the command that explains it", said)


def type_turn(b, turn):
    b.run("const i = document.querySelector('#turns .pick input'); i.value = ''; i.focus()")
    b.keys(f"{turn}\ue007")


def any_turn(b, out, url):
    """One that is too old to be listed, and one that there is not; renewing the section keeps the answer."""
    whole(b, url)
    TAP.ok(b.run("return !document.querySelector('details[data-turn=\"7\"]')"), "the oldest turns are not listed")
    names, rows, why = decision(out, 7)
    type_turn(b, 7)
    got = wait_until(lambda: b.run(ROWS, "#turns .answer"), 60)
    TAP.ok(is_decision(got, names, rows) and why in b.run("return document.querySelector('#turns .answer').textContent"), "any turn can be asked for", got and got[:2])
    type_turn(b, 999999)
    look = "return document.querySelector('#turns .answer').textContent"
    said = wait_until(lambda: (x := b.run(look)) and "999999" in x and x, 30)
    TAP.ok(said and said.endswith(f"carol explain {out} --turn 999999"), "one that is not there is said, with the command", said or b.run(look))
    TAP.ok(not [e for e in b.errors() if "turn/999999" not in e], "the browser has nothing else to complain about")


def answer_stays(b, out, url, last):
    """The last turn is completed while the page is open: the list is another, and what was asked for is still there."""
    whole(b, url)
    type_turn(b, 3)
    wait_until(lambda: b.run(ROWS, "#turns .answer"), 60)
    b.run("document.activeElement.blur(); document.querySelector('#turns').old = 1")
    db = sqlite3.connect(out / "carol.db")
    db.execute("UPDATE turns SET round = ?, state = ? WHERE id = ?", last)
    db.commit()
    db.close()
    renewed = wait_until(lambda: b.run("return !document.querySelector('#turns').old"), 60)
    TAP.ok(renewed and b.run(ROWS, "#turns .answer") and b.run("return document.querySelector('#turns .pick input').value") == "3",
           "the answer stays when the list is renewed", renewed)


def open_turn(out):
    """A record whose last turn is not completed yet, and what completes it."""
    db = sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True)
    last = db.execute("SELECT round, state, id FROM turns WHERE id > 0 ORDER BY round DESC LIMIT 1").fetchone()
    return copy(out, "open", f"UPDATE turns SET round = 0, state = 1 WHERE id = {last[2]}"), last


# --- names that look like scripts --------------------------------------------------------------------------
def insert_defect(db, crash, name):
    """As carol triage leaves it, with that name everywhere."""
    db.execute("INSERT OR REPLACE INTO settings(key, value) VALUES('triage.build', 'b')")
    db.execute("INSERT INTO triage VALUES(?, 'b', 1, ?, ?, ?, 7, ?, ?, '', 0, '', 0, 0, 1, 1, 5, 2, 6, 0, ?, ?)", (crash, f"d{crash}", *[name] * 6))
    db.commit()


def evil(b, out, url):
    """A campaign whose names are scripts, opened, opened further, and renewed."""
    whole(b, url)
    b.run("window.mark = 1; document.querySelector('#defects').old = 1; document.querySelector('#lineage').old = 1")
    b.run(TURN, "20")
    turn = wait_until(lambda: b.run(ROWS, 'details[data-turn="20"]'), 60)
    db = sqlite3.connect(out / "carol.db")
    insert_defect(db, db.execute("SELECT max(id) FROM crashes").fetchone()[0], EVIL + "1")
    renewed = wait_until(lambda: b.run("return ['#defects', '#lineage'].every(s => !document.querySelector(s).old)"), 60)
    insert_defect(db, 2, EVIL + "2")
    again = wait_until(lambda: b.run("return document.querySelector('#defects').textContent.includes(arguments[0])", EVIL + "2"), 60)
    db.close()
    state = b.run("return [window.mark, window.evil, document.querySelectorAll('img, script:not([src]):not([type])').length,"
                  " document.body.textContent.split(arguments[0]).length - 1]", EVIL)
    TAP.ok(turn and EVIL.replace(",", "") in turn[0] and renewed and again and state[:3] == [1, None, 0] and state[3] > 10,
           "a served page whose names are scripts is renewed, shows them and runs none", (turn and turn[0], renewed, again, state))
    wrong = b.errors()
    TAP.ok(not wrong, "and nothing tried to run", wrong)


def main():
    if not browser.is_here():
        TAP.skip("pages in a browser", "chromium or chromium-driver is not installed")
        return
    out = simulate(TOP / "out", "-s", "contextual", "--campaigns", "1", "--turns", "600", "-j", "3", "--edges", "2500", "--hardness", "20m")
    long = simulate(TOP / "long", "-k", "2", "-s", "contextual", "--campaigns", "1", "--turns", "5100", "-j", "2", "--edges", "600")
    report(out)
    with browser.Browser() as b:
        pointer(b, TOP / "page.html")
        slider(b, TOP / "page.html")
        with served(out) as url:
            turns(b, out, url)
        unfinished, last = open_turn(out)
        with served(unfinished) as url:
            answer_stays(b, unfinished, url, last)
        with served(long) as url:
            any_turn(b, long, url)
        bad = evil_record(out)
        with served(bad) as url:
            evil(b, bad, url)
    TAP.tidy(TOP)


main()
sys.exit(TAP.done())
