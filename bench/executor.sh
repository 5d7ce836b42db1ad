#!/usr/bin/env bash
# The neutral executor against afl-showmap and libFuzzer on libpng and libxml2 (bench/executor.py).
#
#   bench/executor.sh [png] [xml]       default: both; everything is kept in $BUILD/bench-libs
#
# BUILD is the build directory (default: build).  A corpus is grown once with libFuzzer
# (CAROL_BENCH_GROW seconds, default 60).
#
# The rule for the comparators, set before anything was measured: every build comes from the same
# script, the same compiler and the same CFLAGS, those that carol build hands to a script
# (-O2 -gline-tables-only); a family adds what it needs and nothing else.  For libFuzzer that is
# -fsanitize=fuzzer-no-link and the FUZZING macro, for afl what afl-clang-fast adds by itself.
#
# Exit 1: a ratio is below the figure; 3: something needed is not here.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
build=${BUILD:-build}
[[ $build == /* ]] || build=$root/$build
libs=$build/bench-libs
carol=${CAROL:-$build/carol}
export CAROL_ENGINES=${CAROL_ENGINES:-$build/engines}
[[ $# -gt 0 ]] || set -- png xml
[[ -x $CAROL_ENGINES/afl/afl-showmap ]] || { echo "executor: no afl-showmap; run make engines" >&2; exit 3; }
mkdir -p "$libs"

# build_libfuzzer NAME: the same script, with libFuzzer as the engine
build_libfuzzer() {
    local work=$libs/$1-libfuzzer flags
    [[ ! -x $work/out/$1_read ]] || return 0
    rm -rf "$work"
    mkdir -p "$work/out" "$work/work"
    cp -a "$libs/$1-src" "$work/src"
    flags="-O2 -gline-tables-only -fsanitize=fuzzer-no-link -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1"
    SRC=$work/src WORK=$work/work OUT=$work/out CC=clang-19 CXX=clang++-19 CFLAGS=$flags \
        CXXFLAGS=$flags LIB_FUZZING_ENGINE=-fsanitize=fuzzer "$work/src/build.sh" \
        >"$work/log" 2>&1 || { tail "$work/log" >&2; exit 1; }
}

# grow_corpus NAME: from the library's own test files
grow_corpus() {
    local corpus=$libs/$1-corpus
    [[ ! -d $corpus ]] || return 0
    mkdir -p "$corpus.new"
    find "$libs/$1-src" -name "*.$1" -size -3k -print0 | sed -z -n '1,200p' |
        xargs -0 -I{} cp {} "$corpus.new"
    "$libs/$1-libfuzzer/out/$1_read" -max_total_time="${CAROL_BENCH_GROW:-60}" -max_len=1024 \
        -dict="$libs/$1-src/$1.dict" "$corpus.new" >"$libs/$1-grow.log" 2>&1 || true
    mv "$corpus.new" "$corpus"
}

specs=()
for name in "$@"; do
    [[ -d $libs/$name-src ]] || bench/targets/fetch.sh "$name" "$libs/$name-src"
    "$carol" build -o "$libs/$name-exec" --families neutral,afl,plain --src "$libs/$name-src" \
        -- "$libs/$name-src/build.sh"
    build_libfuzzer "$name"
    grow_corpus "$name"
    specs+=("$name=$libs/$name-exec,$libs/$name-libfuzzer/out/${name}_read,$libs/$name-corpus")
done
exec bench/executor.py "$carol" "${specs[@]}"
