#!/usr/bin/env bash
# What a campaign costs: share of slot time inside fuzzers at 2 s (>= 0.95), 5 s and 120 s turns
# (>= 0.97), and the supervisor's memory over the run (flat).
#
#   bench/campaign.sh [short|long|both]     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/campaign.py" "${CAROL:-$root/carol}" "${1:-both}"
