#!/usr/bin/env bash
# What `carol analyze` costs: every question asked of 100 simulated campaigns of 4,320 decisions, and of ten of them.  Held: each
# answer takes at most two minutes of CPU time, and a hundred campaigns take no more memory than ten, but for a few kilobytes each.
#
#   bench/analyze.sh [CAMPAIGNS [TURNS]]     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/analyze.py" "${CAROL:-$root/carol}" "${1:-100}" "${2:-4320}"
