#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# The reading half of giflib with the faults of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
objects=()
for f in giflib/dgif_lib giflib/gifalloc giflib/gif_err giflib/gif_hash giflib/openbsd-reallocarray gif_read; do
    $CC $CFLAGS -D_GNU_SOURCE -I"$SRC/giflib" -c "$SRC/$f.c" -o "$WORK/$(basename "$f").o"
    objects+=("$WORK/$(basename "$f").o")
done
$CXX $CXXFLAGS "${objects[@]}" $oracle $LIB_FUZZING_ENGINE -o "$OUT/gif_read"
