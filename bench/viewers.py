#!/usr/bin/env python3
"""Ten viewers against none: see viewers.sh."""
import os
import random
import signal
import statistics
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol, turns_done, wait_until
from web_kit import Events, Site, url_in

carol = Carol(sys.argv[1])
PAIRS, SECONDS = int(sys.argv[2]), float(sys.argv[3])
VIEWERS, LIMIT = 10, 0.005


class Viewer(threading.Thread):
    """Loads the page once, then takes every event."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self.site, self.events, self.count, self.bytes = site, None, 0, 0
        self.start()

    def run(self):
        try:
            self.bytes += len(self.site.get("")[2])
            self.events = Events(self.site)
            while e := self.events.next():
                self.count += 1
                self.bytes += len(e[2])
        except (OSError, ValueError, AttributeError):
            pass  # closed

    def stop(self):
        if self.events:
            try:
                self.events.c.sock.shutdown(2)
            except (OSError, AttributeError):
                pass
        self.join(10)


def serving_cpu(pid):
    """CPU seconds of the supervisor and of what draws for it, so far."""
    total = 0.0
    for p, _ in carol.processes():
        try:
            words = Path(f"/proc/{p}/cmdline").read_bytes().split(b"\0")
            if p == pid or b"--draw" in words:
                total += int(Path(f"/proc/{p}/schedstat").read_text().split()[0]) / 1e9
        except OSError:
            pass
    return total


def side(site, pid, count, looked):
    """Executions per second and the CPU share of serving, over one side."""
    viewers = [Viewer(site) for _ in range(VIEWERS)] if looked else []
    began, execs, cpu = time.monotonic(), count(), serving_cpu(pid)
    time.sleep(SECONDS)
    span = time.monotonic() - began
    result = (count() - execs) / span, (serving_cpu(pid) - cpu) / span
    for v in viewers:
        v.stop()
    return (*result, sum(v.count for v in viewers), sum(v.bytes for v in viewers))


def interval(values, draws=4000):
    """Of the mean, 95 %, by bootstrap."""
    rng = random.Random(1)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(draws))
    return means[draws // 40], means[-draws // 40]


def measure(temp):
    counter = temp / "count"
    counter.write_bytes(bytes(8))
    log = temp / "log"
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:1])
    p = carol.start("fuzz", "--default", "-b", temp / "flat", "-i", temp / "seeds", "-o", temp / "out", "-j", "1", "--turn",
                    "2s", "-f", "aflpp", "-s", "single:aflpp", "--seed", "1", "--web", "127.0.0.1:0", log=log,
                    env={"CAROL_BENCH_COUNT": str(counter)})
    os.sched_setaffinity(0, cores[1:] or cores)
    try:
        url = wait_until(lambda: url_in(log.read_text()) or p.poll() is not None)
        if not isinstance(url, str):
            raise SystemExit(f"the campaign failed:\n{log.read_text()}")
        site = Site(url)
        wait_until(lambda: turns_done(temp / "out") >= 3)
        with counter.open("rb") as f:
            def count():
                f.seek(0)
                return struct.unpack("<Q", f.read(8))[0]
            return pairs(site, p.pid, count)
    finally:
        p.send_signal(signal.SIGINT)
        p.wait(60)


def pairs(site, pid, count):
    ratios, cpu = [], []
    for i in range(PAIRS):
        order = (True, False) if i % 2 == 0 else (False, True)
        r = {looked: side(site, pid, count, looked) for looked in order}
        ratios.append(r[True][0] / r[False][0])
        cpu.append(r[True][1] - r[False][1])
        print(f"pair {i + 1}: {r[False][0]:.0f} executions per second alone, {r[True][0]:.0f} with {VIEWERS} viewers"
              f" (x{ratios[-1]:.4f}; {r[True][2]} events, {r[True][3] / 1e6:.1f} MB); serving took {r[True][1]:.2%} of the core,"
              f" {r[False][1]:.2%} alone", flush=True)
    return ratios, cpu


def main():
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        (temp / "seeds").mkdir()
        (temp / "seeds" / "one").write_bytes(b"x" * 64)
        code, text = carol.run("build", "-o", temp / "flat", "--families", "afl,neutral", ROOT / "bench/targets/flat/flat.c")
        if code != 0:
            print(text)
            return 3
        ratios, cpu = measure(temp)
    low, high = interval(ratios)
    share = statistics.fmean(cpu)
    print(f"{VIEWERS} viewers: x{statistics.fmean(ratios):.4f} executions ({low:.4f} to {high:.4f}, {len(ratios)} pairs; at least"
          f" {1 - LIMIT}); {share:.3%} of a core more for serving (at most {LIMIT:.1%})")
    good = high >= 1 - LIMIT and share <= LIMIT
    print("holds" if good else "DOES NOT HOLD")
    return 0 if good else 1


sys.exit(main())
