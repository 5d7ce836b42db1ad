#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# MuJS with the faults and bounds of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
$CC $CFLAGS -I"$SRC/mujs" -DJS_STRLIMIT=4096 -c "$SRC/mujs/one.c" -o "$WORK/mujs.o"
$CC $CFLAGS -I"$SRC/mujs" -c "$SRC/script_read.c" -o "$WORK/script_read.o"
$CXX $CXXFLAGS "$WORK/script_read.o" "$WORK/mujs.o" $oracle $LIB_FUZZING_ENGINE -lm -o "$OUT/script_read"
