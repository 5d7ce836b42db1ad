#!/usr/bin/env python3
"""The live page over real connections: `carol fuzz --web` and `carol view`.

    web.py CAROL ROOT

Who may ask and who may not, malformed requests, clients that are slow or many, the same numbers everywhere, events
that go on without a reload, a campaign that is killed and resumed, and a record that nobody touched by looking.
"""
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import sys
import time

sys.dont_write_bytecode = True
import browser
from campaign_frame import ROOT, TEMP, TOTE, build, carol, nothing_left, ok, replays, tap
from campaign_kit import engines_of, segments, turns_done, wait_until
from web_kit import Events, Site, prometheus, url_in

HOST = b"Host: 127.0.0.1\r\nConnection: close\r\n"


def status_line(answer):
    return answer.split(b"\r\n")[0].decode(errors="replace")


# --- starting ---------------------------------------------------------------------------------------
def start(name, *args):
    """(process, site) of a carol that serves."""
    log = TEMP / f"{name}.log"
    log.unlink(missing_ok=True)
    p = carol.start(*args, log=log)
    url = wait_until(lambda: url_in(log.read_text(errors="replace")) or p.poll() is not None, 60)
    if not isinstance(url, str):
        ok(False, f"{name}: an address is printed", log.read_text(errors="replace"))
        raise SystemExit(tap.done())
    return p, Site(url)


def fuzz(out, *more):
    return start("fuzz", "fuzz", "--default", *more, "--web", "127.0.0.1:0")


def new_campaign(out, target):
    return fuzz(out, "-b", target, "-i", TOTE / "seeds", "-o", out, "-j", "1", "--turn", "0.5s", "-f",
                "aflpp,havoc", "--seed", "7")


# --- who may ask ------------------------------------------------------------------------------------
def check_guard(site):
    t = site.token
    cases = [
        (f"/{t}/metrics", {}, 200), (f"/{t}/nothing", {}, 404), (f"/{t}", {}, 301), ("/", {}, 403),
        ("/metrics", {}, 403), (f"/{'0' * 32}/metrics", {}, 403), (f"/{t[:-1]}/metrics", {}, 403),
        ("/metrics", {"Authorization": f"Bearer {t}"}, 200), (f"/metrics?token={t}", {}, 200),
        ("/metrics", {"Authorization": f"Bearer {t[::-1]}"}, 403), (f"/{t}/metrics", {"Host": "evil.example"}, 421),
        (f"/{t}/metrics", {"Host": f"127.0.0.1.evil.example:{site.port}"}, 421),
        (f"/{t}/metrics", {"Host": f"localhost:{site.port}"}, 200),
        (f"/{t}/metrics", {"Origin": "http://evil.example"}, 403), (f"/{t}/metrics", {"Origin": "null"}, 403),
        (f"/{t}/metrics", {"Origin": f"http://127.0.0.1:{site.port}"}, 200), (f"/{t}/turn/x", {}, 404),
        (f"/{t}/../../etc/passwd", {}, 404)]
    wrong = [(path, headers, site.ask(path, headers)[0], want) for path, headers, want in cases]
    wrong = [w for w in wrong if w[2] != w[3]]
    ok(not wrong, "token, Host and Origin decide who is answered", wrong)
    methods = {m: site.ask(f"/{t}/metrics", method=m)[0] for m in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS")}
    ok(set(methods.values()) == {405}, "only GET is answered", methods)
    headers = site.get("api/status")[1]
    csp = headers.get("content-security-policy", "")
    ok("default-src 'none'" in csp and "unsafe" not in csp and "frame-ancestors 'none'" in csp
       and headers.get("x-content-type-options") == "nosniff" and headers.get("cache-control") == "no-store"
       and headers.get("referrer-policy") == "no-referrer", "every answer has the headers that close it off", headers)


def check_malformed(site):
    t = site.token.encode()
    get = b"GET /" + t + b"/metrics HTTP/1.1\r\n" + HOST
    cases = {
        b"\x00\x01\x02garbage\r\n\r\n": 400, b"GET\r\n\r\n": 400, b"GET /x\r\n\r\n": 400,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100: 400,  # somebody tries https
        b"GET / HTTP/9.9\r\n" + HOST + b"\r\n": 505,
        b"GET /" + t + b"/metrics HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n": 400,
        b"GET /" + t + b"/metrics HTTP/1.1\r\nConnection: close\r\n\r\n": 400,
        b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\n" + HOST + b"\r\n": 414,
        get + b"X: " + b"a" * 40000 + b"\r\n\r\n": 431,
        get + b"".join(b"X%d: y\r\n" % i for i in range(3000)) + b"\r\n": 431,
        get + b"Content-Length: -5\r\n\r\n": 400, get + b"Content-Length: 9" + b"9" * 30 + b"\r\n\r\n": 413,
        get + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n": 400, get + b"Content-Length: 5\r\n\r\nhello": 200,
        b"POST /" + t + b"/ HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000\r\n\r\nxyz": 405,
        b"\r\n\r\n" + get + b"\r\n": 200}
    wrong = []
    for sent, want in cases.items():
        line = status_line(site.raw(sent))
        if f" {want} " not in line + " ":
            wrong.append((sent[:60], want, line))
    ok(not wrong, "every malformed request gets an answer", wrong)


# --- the same numbers everywhere --------------------------------------------------------------------
def printed_status(out):
    return carol.run("status", "--json", out)[1]


def same_moment(site, out):
    """(ours, theirs) of a moment in which nothing changed in between; None: something did."""
    before, printed, after = site.body("api/status"), printed_status(out), site.body("api/status")
    return (before, printed) if before == after else None


def flat(status):
    """{(scope, member, key): number}"""
    found = {("campaign", "", k): v for k, v in status.items()
             if type(v) in (int, float) and k != "schema"}
    for name, f in status["fuzzers"].items():
        found.update({("fuzzer", name, k): v for k, v in f.items() if not isinstance(v, (str, bool))})
    for i, s in enumerate(status["slots"]):
        found.update({("slot", str(i), k): v for k, v in s.items()})
    return found


# What the numbers of the status are called in /metrics: written down a second time on purpose.
SPECIAL = {"elapsed_s": "elapsed_seconds", "budget_s": "budget_seconds", "turns": "turns_total",
           "edges_total": "edges_known", "no_predecessor": "no_predecessor_total", "execs": "executions_total",
           "last_new_s": "last_new_edge_seconds", "execs_per_s": "executions_per_second",
           "execs_per_s_recent": "executions_per_second_recent", "distinct_defects": "defects",
           "confirmed_defects": "defects_confirmed",
           "active_s": "active_seconds_total", "startup_s": "startup_seconds_total",
           "first_edges": "first_edges_total", "offered": "imports_offered_total", "taken": "imports_taken_total",
           "exports": "exports_total", "deaths": "deaths_total"}


def metric_of(scope, key):
    if scope == "slot":
        return f"carol_slot_{key[:-2]}_seconds_total"
    if scope == "fuzzer":
        return "carol_fuzzer_" + {"crashes": "crashes_total", "hangs": "hangs_total"}.get(key, SPECIAL.get(key, key))
    return "carol_" + SPECIAL.get(key, key)


def check_numbers(site, out, what):
    seen = wait_until(lambda: same_moment(site, out), 60, every=0)
    ok(seen and seen[0] == seen[1], f"{what}: /api/status has the bytes of carol status --json", seen)
    metrics, status = None, None
    for _ in range(50):
        before, metrics, after = site.body("api/status"), site.body("metrics"), site.body("api/status")
        if before == after:
            status = json.loads(before)
            break
    try:
        values, _ = prometheus(metrics)
    except ValueError as e:
        ok(False, f"{what}: /metrics is Prometheus's text", e)
        return None
    ok(True, f"{what}: /metrics is Prometheus's text")
    wrong = []
    for (scope, member, key), v in (flat(status) if status else {}).items():
        label = f'{scope}="{member}"' if scope != "campaign" else ""
        if values.get((metric_of(scope, key), label)) != v:
            wrong.append((scope, member, key, v, values.get((metric_of(scope, key), label))))
    ok(status and not wrong, f"{what}: it has every number of the status, equal", wrong)
    text = carol.run("status", out)[1]
    ok(values.get(("carol_state", f'state="{status["state"]}"')) == 1 and text.startswith(status["state"])
       and (status["state"] == "running" or f'{status["turns"]} turns, {status["execs"]} executions' in text),
       f"{what}: and so has the terminal", text)
    return status


def check_page_numbers(site, status):
    """What the page says at a glance, of a campaign that stands still."""
    shown = {}
    for attributes in re.findall(r"<data ([^>]*)>", site.body("")):
        a = dict(re.findall(r'([a-z-]+)="([^"]*)"', attributes))
        if "data-metric" in a:
            shown[(a.get("data-of", ""), a["data-metric"])] = float(a["value"])
    want = {(member, key): v for (_, member, key), v in flat(status).items()}
    wrong = [(k, v, want.get(k)) for k, v in shown.items() if k in want and want[k] != v]
    shown = {k: v for k, v in shown.items() if k in want}
    ok(len(shown) > 12 and not wrong, "the page has the same numbers", (len(shown), wrong))


def check_browser(site, p):
    """In a real browser: figures change without a reload, nothing complains, nothing comes from elsewhere."""
    if not browser.is_here():
        tap.skip("the page in a browser", "chromium or chromium-driver is not installed")
        p.send_signal(signal.SIGINT)
        return
    with browser.Browser() as b:
        b.open(site.url)
        b.run("window.mark = 1")
        look = ("return [window.mark, document.querySelector('#glance [data-metric=turns]').value,"
                " document.querySelector('#shares').innerHTML, document.getElementById('live').textContent]")
        first = b.run(look)
        now = wait_until(lambda: (x := b.run(look))[1] != first[1] and x[2] != first[2] and x, 60)
        ok(now and now[0] == 1 and int(now[1]) > int(first[1]) and now[3] == "live",
           "in a browser numbers and figures change without a reload", (first[:2], now and now[:2]))
        fetched = b.fetched()
        elsewhere = [u for u in fetched if not u.startswith((site.url, "data:"))]
        ok(fetched and not elsewhere, "nothing is fetched from elsewhere", elsewhere)
        wrong = b.errors()
        ok(not wrong, "the browser has nothing to complain about", wrong)
        p.send_signal(signal.SIGINT)
        said = wait_until(lambda: (x := b.run("return document.getElementById('live').textContent")) != "live" and x, 60)
        ok(said, "it says when the campaign is over", said)


# --- clients that would hold it up ------------------------------------------------------------------
def check_crowd(site, out):
    """Half a request each; a page that nobody reads; connections that say nothing.  The campaign and others go on."""
    before = turns_done(out)
    crowd = []
    for i in range(150):
        try:
            s = socket.create_connection((site.host, site.port), timeout=5)
            s.setblocking(False)
            if i % 3 == 0:
                s.send(b"GET /" + site.token.encode() + b"/metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
            elif i % 3 == 1:
                s.send(b"GE")
            crowd.append(s)
        except OSError:
            pass
    served = wait_until(lambda: attempt(site) == 200, 60, every=0.2)
    ok(served, "with 150 connections that never finish a request others are still answered", len(crowd))
    ok(wait_until(lambda: turns_done(out) >= before + 2), "and the campaign goes on")
    for s in crowd:
        s.close()
    small = socket.socket()
    small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    small.connect((site.host, site.port))
    small.sendall(b"GET /" + site.token.encode() + b"/events HTTP/1.1\r\n" + HOST + b"\r\n")
    before = turns_done(out)
    ok(wait_until(lambda: turns_done(out) >= before + 2) and wait_until(lambda: attempt(site) == 200, 60),
       "a viewer that never reads holds nobody up")
    small.close()


def attempt(site):
    try:
        return site.get("metrics", timeout=5)[0]
    except OSError:
        return None


def check_many_viewers(site):
    viewers, codes = [], []
    for _ in range(35):
        try:
            e = Events(site)
            codes.append(e.response.status)
            viewers.append(e)
        except OSError as why:
            codes.append(str(why))
    ok(codes.count(200) == 32 and set(codes) <= {200, 503}, "there are so many viewers, and no more", codes)
    for e in viewers:
        e.close()


# --- events -----------------------------------------------------------------------------------------
def check_events(site):
    code, headers, page = site.get("")
    ok(code == 200 and headers["content-type"].startswith("text/html") and b"data-live" in page and b"<script>" not in page
       and b"report.js" in page and site.get("report.js")[0] == 200 and site.get("report.css")[0] == 200,
       "the page is served, its script and style beside it", page[:300])
    e = Events(site)
    ok(e.response.status == 200 and e.response.getheader("content-type") == "text/event-stream", "events are served")
    first = e.until(lambda x: x[0] == "section")
    ok(first and first[2].startswith("<section") and 'id="' in first[2], "a section is an event", first)
    name = first[2].split('id="')[1].split('"')[0] if first else ""
    again = e.until(lambda x: x[0] == "section" and f'id="{name}"' in x[2] and x[2] != first[2])
    ok(again, "when it changes it comes again, without asking", again)
    versions = [int(x[1].rsplit("-", 1)[1]) for x in (first, again) if x]
    ok(len(versions) == 2 and versions[0] < versions[1], "ids grow", versions)
    e.close()
    if not again:
        return
    e = Events(site, last=again[1])
    more = e.next()
    ok(more and int(more[1].rsplit("-", 1)[1]) > versions[1], "who was cut off gets what is newer", (more or ())[:2])
    e.close()
    e = Events(site, last="deadbeef-999999999")
    ok(e.until(lambda x: x[0] == "state", 30), "who comes from another server gets everything")
    e.close()
    ok(site.get("turn/1")[0] == 200 and site.get("turn/999999")[0] == 404, "a turn is explained; one that is not there is missing")


# --- sections ---------------------------------------------------------------------------------------
def usage(target):
    busy = socket.socket()
    busy.bind(("127.0.0.1", 0))
    busy.listen()
    port = busy.getsockname()[1]
    out = TEMP / "never"
    code, text = carol.run("fuzz", "-b", target, "-i", TOTE / "seeds", "-o", out, "--web", f"127.0.0.1:{port}")
    ok(code == 2 and f"port {port}" in text and "--web 127.0.0.1:0" in text and not out.exists(),
       "a port that is taken: says what to type, and nothing is begun", (code, text))
    busy.close()
    code, text = carol.run("fuzz", "-b", target, "-o", out, "--web", "nowhere.invalid:80")
    ok(code == 2 and "nowhere.invalid" in text, "an address that is none is wrong usage", (code, text))
    code, text = carol.run("view", TEMP / "nothing-there", "--web", "127.0.0.1:0")
    ok(code == 2 and "holds no campaign" in text, "carol view needs a campaign", (code, text))


def live(target):
    shm = segments()
    out = TEMP / "out"
    p, site = new_campaign(out, target)
    ok(site.host == "127.0.0.1" and len(site.token) == 32, "it listens on loopback; the address has a token", site.url)
    ok(wait_until(lambda: turns_done(out) >= 2), "the campaign runs")
    check_numbers(site, out, "running")
    check_guard(site)
    check_malformed(site)
    check_events(site)
    check_many_viewers(site)
    check_crowd(site, out)
    drawing = [x for x in carol.processes() if b"--draw" in cmdline(x[0])]
    ok(drawing, "a process of its own draws", carol.processes())
    for pid, _ in drawing:
        os.kill(pid, signal.SIGKILL)
    before = turns_done(out)
    ok(wait_until(lambda: turns_done(out) >= before + 2), "when it dies the campaign goes on")
    ok(wait_until(lambda: site.get("")[0] == 200, 60, every=1), "and so does the page")
    turns = turns_done(out)
    os.kill(p.pid, signal.SIGKILL)
    p.wait()
    nothing_left("kill -9 while serving", shm)
    return out, turns


def cmdline(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read()
    except OSError:
        return b""


def record_bytes(out):
    return hashlib.sha256((out / "carol.db").read_bytes()).hexdigest(), sorted(
        x.name for x in out.iterdir() if not x.name.startswith("carol.db-"))


def check_token_file(out):
    """A kept token opens again; one that is none is refused; it is for the user alone."""
    kept = TEMP / "token"
    tokens = []
    for _ in range(2):
        p, site = start("view", "view", out, "--web", "[::1]:0", "--web-token", kept)
        tokens.append(site.token)
        code = site.ask("/metrics", {"Authorization": f"Bearer {kept.read_text().strip()}"})[0]
        ok(code == 200 and site.host == "::1", "a kept token opens it, over IPv6, too", (code, site.url))
        p.send_signal(signal.SIGTERM)
        p.wait(30)
    ok(tokens[0] == tokens[1] and kept.stat().st_mode & 0o777 == 0o600, "it stays the same, and is the user's alone", tokens)
    kept.chmod(0o640)
    code, text = carol.run("view", out, "--web", "127.0.0.1:0", "--web-token", kept)
    ok(code == 2 and "chmod 600" in text, "a token that others can read is refused", (code, text))
    kept.chmod(0o600)
    kept.write_text("guess me\n")
    code, text = carol.run("view", out, "--web", "127.0.0.1:0", "--web-token", kept)
    ok(code == 2 and "holds no token" in text, "a file without a token is refused", (code, text))


def check_dashboard(site):
    """Every metric that the example for Grafana asks for is there."""
    asked = set(re.findall(r"\bcarol_[a-z_]+", (ROOT / "examples/grafana/carol.json").read_text()))
    there = set(prometheus(site.body("metrics"))[1])
    ok(len(asked) > 10 and asked <= there, "the Grafana dashboard asks for metrics that exist", asked - there)


def check_open_address(out):
    log = TEMP / "open.log"
    p, site = start("open", "view", out, "--web", "0.0.0.0:0")
    ok("other machines can reach the page" in log.read_text() and site.get("metrics")[0] == 200,
       "an address that others can reach is served, and it says what that means", log.read_text())
    p.send_signal(signal.SIGTERM)
    p.wait(30)


def cpu_of(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0]) / 1e9


def check_no_descriptors(site, p):
    """More connections than it may have open: it neither spins nor gives up."""
    few = max(int(x) for x in os.listdir(f"/proc/{p.pid}/fd")) + 6
    was = resource.prlimit(p.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(p.pid, resource.RLIMIT_NOFILE, (few, was[1]))
    crowd = [site.connect() for _ in range(20)]
    before, began = cpu_of(p.pid), time.monotonic()
    time.sleep(1)
    busy = (cpu_of(p.pid) - before) / (time.monotonic() - began)
    for s in crowd:
        s.close()
    resource.prlimit(p.pid, resource.RLIMIT_NOFILE, was)
    ok(busy < 0.3 and wait_until(lambda: attempt(site) == 200), "without descriptors it waits, and goes on afterwards", busy)


def check_triage(out):
    """The page of a campaign that rests shows what triage finds meanwhile: a row as carol triage leaves it."""
    rests = TEMP / "rests"
    rests.mkdir()
    for part in out.glob("carol.db*"):
        shutil.copy(part, rests)
    db = sqlite3.connect(rests / "carol.db")
    db.execute("INSERT INTO crashes(id, hang, hash, size, arm, signal, name, found_ns, by_eval, data) VALUES(999999, 0, ?, 1, -1, 6, '', 1, 0, 'x')", (bytes(32),))
    db.execute("INSERT OR REPLACE INTO settings(key, value) VALUES('triage.build', 'b')")
    db.commit()
    p, site = start("rests", "view", rests, "--web", "127.0.0.1:0")
    before = site.body("")
    db.execute("INSERT INTO triage VALUES(999999, 'b', 1, 'd1', 'tally_up', '/x/a.c', 7, 'abort', 'main', '', 0, '', 0, 0, 1, 1, 5, 5, 6, 0, '', '')")
    db.commit()
    db.close()
    ok("tally_up" not in before and wait_until(lambda: "tally_up" in site.body(""), 30), "a campaign that rests: the page shows what triage found meanwhile")
    p.send_signal(signal.SIGTERM)
    p.wait(30)


def check_versions(site, out):
    """What carol doctor says is here is what the record says ran, and what the page shows."""
    said = carol.json("doctor", "--json")["fuzzers"]["aflpp"]["version"]
    facts = dict(sqlite3.connect(f"file:{out}/carol.db?mode=ro", uri=True).execute("SELECT key, value FROM settings WHERE key LIKE 'version.%'"))
    page = site.body("")
    ok(facts.get("version.aflpp") == facts.get("version.havoc") == f"afl-fuzz {said}" and {"version.carol", "version.compiler"} <= set(facts)
       and all(f"<dt>{key.split('.')[1]}</dt><dd>{value}</dd>" in page for key, value in facts.items()),
       "the record and the page say which versions ran", (said, facts))


def viewing(out):
    was = record_bytes(out)
    check_token_file(out)
    check_open_address(out)
    check_triage(out)
    p, site = start("view", "view", out, "--web", "127.0.0.1:0")
    check_dashboard(site)
    status = check_numbers(site, out, "carol view")
    ok(status["state"] == "interrupted", "a killed campaign is seen as it was left", status["state"])
    check_page_numbers(site, status)
    check_versions(site, out)
    check_no_descriptors(site, p)
    p.send_signal(signal.SIGTERM)
    ok(p.wait(30) == 0, "carol view ends when asked to")
    ok(record_bytes(out) == was, "looking writes nothing", (was, record_bytes(out)))


def resumed(out, turns):
    p, site = fuzz(out, "--resume", out)
    ok(wait_until(lambda: turns_done(out) > turns + 1), "resumed, it goes on")
    check_numbers(site, out, "resumed")
    e = Events(site)
    check_browser(site, p)
    last = e.until(lambda x: x[0] == "state" and x[2] != "running")
    e.close()
    ok(p.wait(60) == 0, "it ends cleanly")
    ok(last and last[2] == carol.json("status", "--json", out)["state"], "viewers are told when it ends, and how", last)
    replays("served", out)


def main():
    if not engines_of(carol.binary):
        tap.skip("the live page", "no fuzzers here")
        return tap.done()
    target = build("tote", [TOTE / "tote.c", TOTE / "tote_fuzzer.c"], "afl,neutral")
    usage(target)
    out, turns = live(target)
    viewing(out)
    resumed(out, turns)
    carol.kill_all()
    tap.tidy(TEMP)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
