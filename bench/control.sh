#!/bin/bash
# What control costs: executions per CPU-second of a fuzzer under control ÷ bare (the same fuzzer, the same
# settings, without our library), for the AFL arms and honggfuzz.  How it is measured, and by what rule it
# is judged, is said in bench/control.c.  Exit 1 when an arm is not shown to be at 0.97 or above.
#
#     bench/control.sh BUILD [ARMS [ROUNDS]]      e.g. bench/control.sh build "aflpp honggfuzz" 9
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:?usage: bench/control.sh BUILD [ARMS [ROUNDS]]}")
read -r -a arms <<<"${2:-aflpp lafintel mopt honggfuzz}"
export CAROL_SELF=$build/carol
engines=$(realpath "${CAROL_ENGINES:-$build/engines}")
work=$(mktemp -d /tmp/carol-control.XXXXXX)
trap 'rm -rf "$work"' EXIT

for fuzzer in afl/afl-fuzz honggfuzz/honggfuzz; do
    mkdir -p "$work/bare/${fuzzer%/*}"
    printf '#!/bin/sh\nunset LD_PRELOAD AFL_CUSTOM_MUTATOR_LIBRARY\nexec "%s" "$@"\n' \
        "$engines/$fuzzer" >"$work/bare/$fuzzer"
    chmod +x "$work/bare/$fuzzer"
done
"$build/carol" build -o "$work/flat" --families afl,laf,hfuzz "$root/bench/targets/flat/flat.c" \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 3; }

failed=0
for arm in "${arms[@]}"; do
    "$build/bench/bench-control" "$arm" "$work/flat" "$engines" "$work/bare" ${3:+"$3"} || failed=1
done
exit $failed
