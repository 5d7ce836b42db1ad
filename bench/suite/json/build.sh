#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# cJSON and its patches with the faults of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
objects=()
for f in cjson/cJSON cjson/cJSON_Utils json_read; do
    $CC $CFLAGS -I"$SRC/cjson" -c "$SRC/$f.c" -o "$WORK/$(basename "$f").o"
    objects+=("$WORK/$(basename "$f").o")
done
$CXX $CXXFLAGS "${objects[@]}" $oracle $LIB_FUZZING_ENGINE -lm -o "$OUT/json_read"
