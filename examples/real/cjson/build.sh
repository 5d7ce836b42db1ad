#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# cJSON and its utilities, which are a file each, and the harness.
for f in "$SRC/cjson/cJSON.c" "$SRC/cjson/cJSON_Utils.c" "$SRC/cjson_patch.c"; do
    $CC $CFLAGS -I"$SRC/cjson" -c "$f" -o "$WORK/$(basename "$f" .c).o"
done
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -lm -o "$OUT/cjson_patch"
