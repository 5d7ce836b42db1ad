#!/usr/bin/env python3
"""libpng and libxml2 from Debian's sources in all families, and what came out.

usage: bench/build-libs.py [-o DIR] [png] [xml]     (default: both, in build/bench-libs)

Prints per library and family the CPU seconds, size, map size, and for the neutral build edges,
functions, the share of edges with a known predecessor and the memory-handling calls.  Exit 1 when a
figure of the project is not held (predecessors known for >= 99 % of edges, memory calls found), 3 when
the sources cannot be had.  What the builds cost is build-cost.sh's.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADER = struct.Struct("<8sII64s6IQQ")  # runtime/cov/protocol.h
EDGE = struct.Struct("<Q4I6HI")


def table_figures(path):
    data = path.read_bytes()
    head = HEADER.unpack_from(data)
    n_edges, n_funcs = head[5], head[6]
    rows = [EDGE.unpack_from(data, head[2] + i * EDGE.size) for i in range(n_edges)]
    return {"edges": n_edges, "functions": n_funcs,
            "with_pred": sum(1 for r in rows if r[3] > 0) / n_edges,
            "mem": sum(r[6] for r in rows), "mem_blocks": sum(1 for r in rows if r[6]),
            "memw": sum(r[7] for r in rows), "indirect": sum(r[8] for r in rows)}


def build(name, top, carol):
    src, out = top / f"{name}-src", top / name
    if not (src / "build.sh").exists():
        got = subprocess.run([ROOT / "bench/targets/fetch.sh", name, src], check=False).returncode
        if got:
            sys.exit(got)
    code = subprocess.run([carol, "build", "-o", out, "--src", src, "--", src / "build.sh"],
                          env={**os.environ, "CCACHE_DISABLE": "1"}, check=False).returncode
    if code:
        sys.exit(code)
    return json.loads((out / "carol-build.json").read_text()), out


def show(name, m, out):
    plain = m["families"]["plain"]["cpu_seconds"]
    print(f"\n{name}: {m['target']} ({m['kind']})")
    print(f"  {'family':8} {'cpu s':>7} {'x plain':>8} {'MB':>6} {'map':>8}")
    for family, f in m["families"].items():
        print(f"  {family:8} {f['cpu_seconds']:7.1f} {f['cpu_seconds'] / plain:8.2f} "
              f"{f['bytes'] / 1e6:6.2f} {f.get('map_size', '-'):>8}")
    t = table_figures(out / m["table"])
    print(f"  neutral: {t['edges']} edges, {t['functions']} functions, "
          f"{100 * t['with_pred']:.2f} % of edges with a known predecessor, "
          f"{t['mem']} memory calls in {t['mem_blocks']} blocks, {t['memw']} calls of wrappers, "
          f"{t['indirect']} indirect call sites")
    return t["with_pred"] >= 0.99 and t["mem"] > 0


def main():
    p = argparse.ArgumentParser(description="libpng and libxml2 in all families")
    p.add_argument("-o", "--output", type=Path, default=ROOT / "build/bench-libs")
    p.add_argument("--carol", default=os.environ.get("CAROL", str(ROOT / "carol")))
    p.add_argument("names", nargs="*", metavar="png|xml")
    a = p.parse_args()
    a.output.mkdir(parents=True, exist_ok=True)
    held = [show(n, *build(n, a.output.resolve(), a.carol)) for n in (a.names or ["png", "xml"])]
    print("\nheld" if all(held) else "\nNOT held: predecessors >= 99 % and memory calls > 0")
    return 0 if all(held) else 1


sys.exit(main())
