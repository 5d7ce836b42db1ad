#!/usr/bin/env bash
# Two slots against one: executions per second, in alternating runs of the same minutes, as a ratio; and
# per CPU second, for machines that have other work to do.
#
#   bench/slots.sh [SECONDS PER RUN]     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/slots.py" "${CAROL:-$root/carol}" "${1:-15}"
