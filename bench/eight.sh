#!/usr/bin/env bash
# A real campaign of two minutes under each scheduler: the default fuzzers, turns of 5 s, kill -9 of the
# supervisor in the middle and --resume; then every decision must replay bit for bit, with this carol and
# with one built by clang.  About 17 minutes for all eight.
#
#   bench/eight.sh [SCHEDULER...]     CAROL=path of carol, SECONDS_EACH=120, TURN=5, KEEP=1 keeps the campaigns
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
carol=${CAROL:-$root/carol}
clang=$root/build/clang
if [[ ! -f $clang/build.ninja ]]; then
    CC=clang-19 meson setup "$clang" "$root" >/dev/null || { echo "bench: clang-19 is needed" >&2; exit 3; }
fi
ninja -C "$clang" --quiet carol >"$clang/bench.log" 2>&1 || { cat "$clang/bench.log" >&2; exit 1; }
exec python3 "$root/bench/eight.py" "$carol" "$clang/carol" "$root" "$@"
