#!/usr/bin/env bash
# A thousand crashes of the example target: how long `carol triage` takes with all cores, how long the second time, and
# its throughput on one core against running each input by hand, ASan's own cost apart (>= 2).
#
#   bench/triage.sh [CRASHES]     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/triage.py" "${CAROL:-$root/carol}" "${1:-1000}"
