#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
$CC $CFLAGS -c "$SRC/pack.c" -o "$WORK/pack.o"
$CXX $CXXFLAGS "$WORK/pack.o" $oracle $LIB_FUZZING_ENGINE -o "$OUT/pack"
