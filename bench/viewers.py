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
from collections import namedtuple
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "system"))
from campaign_kit import Carol, turns_done, wait_until
from web_kit import Events, Site, url_in

carol = Carol(sys.argv[1])
PAIRS, SECONDS = int(sys.argv[2]), float(sys.argv[3])
VIEWERS, LIMIT = 10, 0.005
TICK = os.sysconf("SC_CLK_TCK")


Side = namedtuple("Side", "rate per_cpu serving fuzzing events bytes")


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


def cpu_seconds(pid):
    """CPU seconds so far: of the supervisor and of what draws for it; of the fuzzer and its target."""
    serving, fuzzing = 0.0, 0.0
    for p, _ in carol.processes():
        try:
            words = Path(f"/proc/{p}/cmdline").read_bytes().split(b"\0")
            own = int(Path(f"/proc/{p}/schedstat").read_text().split()[0]) / 1e9
            stat = Path(f"/proc/{p}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if p == pid or b"--draw" in words:
            serving += own
        else:  # targets come and go: those that are gone are in their parents' account
            fuzzing += sum(map(int, stat[11:15])) / TICK
    return serving, fuzzing


def side(site, pid, count, looked):
    """One side: executions per second, and per CPU second of the fuzzer; the part of the core that serving took."""
    viewers = [Viewer(site) for _ in range(VIEWERS)] if looked else []
    began, execs, before = time.monotonic(), count(), cpu_seconds(pid)
    time.sleep(SECONDS)
    span, execs, after = time.monotonic() - began, count() - execs, cpu_seconds(pid)
    for v in viewers:
        v.stop()
    return Side(execs / span, execs / (after[1] - before[1]), (after[0] - before[0]) / span,
                (after[1] - before[1]) / span, sum(v.count for v in viewers), sum(v.bytes for v in viewers))


def interval(values, draws=4000):
    """Of the mean, 95 %, by bootstrap."""
    rng = random.Random(1)
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(draws))
    return means[draws // 40], means[-draws // 40]


def side_of(low, high, good, bad):
    """What an interval says of a limit: all of it is good, all of it is bad, or it lies on both sides."""
    return "holds" if good(low) and good(high) else "DOES NOT HOLD" if bad(low) and bad(high) else "not told apart"


def verdict(serving, kept):
    """The last line and the exit code.  Serving is measured to the nanosecond and decides; executions are counted beside whatever else
    the machine does, so they can refute it, and are not told apart where their interval lies on both sides of the limit."""
    cost = side_of(*serving, lambda x: x <= LIMIT, lambda x: x > LIMIT)
    rest = side_of(*kept, lambda x: x >= 1 - LIMIT, lambda x: x < 1 - LIMIT)
    if "DOES NOT HOLD" in (cost, rest):
        return "DOES NOT HOLD", 1
    if cost == "not told apart":
        return "not told apart: take more pairs", 1
    return ("holds" if rest == "holds" else "holds by the CPU time of serving; executions: not told apart"), 0


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
    """Per pair: the ratio of executions by the clock, that per CPU second, and how much more serving took."""
    found = []
    for i in range(PAIRS):
        order = (True, False) if i % 2 == 0 else (False, True)
        r = {looked: side(site, pid, count, looked) for looked in order}
        on, no = r[True], r[False]
        found.append((on.rate / no.rate, on.per_cpu / no.per_cpu, on.serving - no.serving))
        print(f"pair {i + 1}: x{found[-1][0]:.4f} executions by the clock ({no.rate:.0f}/s alone, {on.rate:.0f}/s with {VIEWERS}"
              f" viewers: {on.events} events, {on.bytes / 1e6:.1f} MB), x{found[-1][1]:.4f} per CPU second; the core went to the fuzzer"
              f" for {no.fuzzing:.1%} and {on.fuzzing:.1%}, to serving for {no.serving:.2%} and {on.serving:.2%}", flush=True)
    return [list(column) for column in zip(*found)]


def main():
    with tempfile.TemporaryDirectory(prefix="carol-bench-") as name:
        temp = Path(name)
        (temp / "seeds").mkdir()
        (temp / "seeds" / "one").write_bytes(b"x" * 64)
        code, text = carol.run("build", "-o", temp / "flat", "--families", "afl,neutral", ROOT / "bench/targets/flat/flat.c")
        if code != 0:
            print(text)
            return 3
        clock, per_cpu, more = measure(temp)
    share = statistics.fmean(more)
    kept = [x * (1 - share) for x in per_cpu]  # what is left of the core, and what is done with it
    for name, values in (("by the clock", clock), ("by CPU time", kept)):
        low, high = interval(values)
        print(f"{VIEWERS} viewers: x{statistics.fmean(values):.4f} executions {name} ({low:.4f} to {high:.4f}, {len(values)} pairs)")
    low, high = interval(more)
    print(f"serving them takes {share:.3%} of a core more ({low:.3%} to {high:.3%}; at most {LIMIT:.1%}); executions by CPU time: at least"
          f" x{1 - LIMIT}; the clock, which everything else on the machine moves, is not judged")
    text, code = verdict(interval(more), interval(kept))
    print(text)
    return code


if __name__ == "__main__":
    sys.exit(main())
