#!/bin/bash
# An OSS-Fuzz-style build script: run once per family by `carol build -o DIR -- ./build.sh`.
set -eu
cd "$(dirname "$0")"
# shellcheck disable=SC2086  # the flags are words
{
    $CC $CFLAGS -c tote.c -o "$WORK/tote.o"
    $CC $CFLAGS -c tote_fuzzer.c -o "$WORK/tote_fuzzer.o"
    $CXX $CXXFLAGS "$WORK/tote_fuzzer.o" "$WORK/tote.o" $LIB_FUZZING_ENGINE -o "$OUT/tote_fuzzer"
}
cp tote.dict "$OUT/tote_fuzzer.dict"
