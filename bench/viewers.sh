#!/usr/bin/env bash
# What ten viewers of the live page cost a campaign: its executions while they look ÷ while nobody does, in turns of a few
# seconds within one campaign, the sides swapped from pair to pair.  The campaign, its fuzzer, its server and the process that
# draws share one core; the viewers have another.  It is judged by the CPU time of serving; executions by
# CPU time can refute that, or are not told apart from the limit; the clock is only printed.
#
#   bench/viewers.sh [PAIRS [SECONDS PER SIDE]]     CAROL=path of carol
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/viewers.py" "${CAROL:-$root/carol}" "${1:-20}" "${2:-6}"
