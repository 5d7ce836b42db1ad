#!/usr/bin/env bash
# What learning costs at scale: K fuzzers, 256 workers, a million simulated turns under every scheduler; time
# per decision and per lesson by quarter, and memory.  Held if no scheduler's decision costs more than twice as
# much in the last quarter as in the second (it must not grow with the turns), and 64 fuzzers cost at most
# three times as much per fuzzer as 16 do (linear).  Simulated: no fuzzer runs.
#
#   bench/scale.sh [TURNS]       1000000; CAROL names the program
set -euo pipefail
cd "$(dirname "$0")/.."
carol=${CAROL:-build/carol}
turns=${1:-1000000}
[[ -x $carol ]] || { echo "there is no $carol: build it with make" >&2; exit 3; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
play() { # NAME K TURNS
    "$carol" sim ensemble -k "$2" -j 256 --turns "$3" --edges 2000 --bugs 0 --campaigns 1 -p 1 \
        -s contextual,phase,bandfuzz,autofz,legion,equal,random --json >"$out/$1.json"
}
play small 16 $((turns / 4))
play large 64 "$turns"
python3 - "$out" <<'PY'
import json, sys
small, large = (json.load(open(f"{sys.argv[1]}/{n}.json")) for n in ("small", "large"))
print(f"simulated, 256 workers, {large['schedulers'][0]['turns']:.0f} turns, "
      f"{large['wall_s']:.0f} s; us per decision and per lesson by quarter")
print(f"{'scheduler':12} {'decision, K=64':>32} {'lesson, K=64':>32} {'K=16':>7} {'MB by quarter':>24}")
held = True
for s, l in zip(small["schedulers"], large["schedulers"]):
    d, e, mb = l["decide_us"], l["learn_us"], [k / 1024 for k in l["rss_kb"]]
    few = s["decide_us"][3]
    grows = d[3] > 2 * d[1] + 1 or mb[3] > 1.25 * mb[1] + 4
    steep = d[3] / 64 > 3 * few / 16 + 0.05
    held = held and not grows and not steep
    print(f"{l['scheduler']:12} " + " ".join(f"{x:7.2f}" for x in d) + "  " +
          " ".join(f"{x:7.2f}" for x in e) + f" {few:7.2f} " + " ".join(f"{x:5.0f}" for x in mb) +
          ("  GROWS" if grows else "") + ("  STEEP" if steep else ""))
print("constant in turns, linear in K" if held else "NOT constant in turns or not linear in K")
sys.exit(0 if held else 1)
PY
