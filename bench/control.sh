#!/bin/bash
# What control costs: executions per CPU-second of afl-fuzz under control ÷ bare (same afl-fuzz, same
# settings, no library), runs interleaved, median of the ratios; time from request to parked, start-up,
# memory of a parked instance.  Exit 1 when a ratio is below 0.97.
#
#     bench/control.sh BUILD [ROUNDS] [SECONDS]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:?usage: bench/control.sh BUILD [ROUNDS] [SECONDS]}")
rounds=${2:-5}
export CAROL_BENCH_SECONDS=${3:-8} CAROL_SELF=$build/carol
engines=${CAROL_ENGINES:-$build/engines}
work=$(mktemp -d /tmp/carol-control.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bare/afl"
printf '#!/bin/sh\nunset LD_PRELOAD AFL_CUSTOM_MUTATOR_LIBRARY\nexec "%s" "$@"\n' \
    "$(realpath "$engines/afl/afl-fuzz")" >"$work/bare/afl/afl-fuzz"
chmod +x "$work/bare/afl/afl-fuzz"
"$build/carol" build -o "$work/toy" --families afl,laf "$root/tests/system/targets/toy.c" -- \
    -DTOY_QUIET=1 >/dev/null 2>&1

run() { # ENGINES ARM -> the line "bench ..."
    CAROL_ENGINES=$1 "$build/tests/system/arms" "$2" libfuzzer "$work/toy" bench 2>/dev/null | grep ^bench
}

below=0
for arm in aflpp lafintel mopt; do
    : >"$work/ratios"
    : >"$work/lines"
    for ((i = 0; i < rounds; i++)); do
        bare=$(run "$work/bare" $arm)
        ours=$(run "$engines" $arm)
        echo "$ours" >>"$work/lines"
        awk -v a="$ours" -v b="$bare" 'BEGIN { split(a, x); split(b, y); print x[2] / y[2], x[2], y[2] }' \
            >>"$work/ratios"
    done
    sort -n "$work/ratios" | awk -v arm=$arm '{ r[NR] = $0 } END { split(r[int((NR + 1) / 2)], m)
        printf "%-9s controlled / bare %.3f (median of %d; %d and %d execs per CPU-second there)\n",
               arm, m[1], NR, m[2], m[3] }'
    sort -n "$work/ratios" | awk '{ r[NR] = $1 } END { exit r[int((NR + 1) / 2)] < 0.97 }' || below=1
    awk '{ p += $5; s += $8; k += $11 } END {
        printf "          parked %.2f ms after the request, ready after %.0f ms, %.1f MB parked\n",
               p / NR, s / NR, k / NR / 1024 }' "$work/lines"
done
exit $below
