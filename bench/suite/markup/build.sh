#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# Expat with the faults of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
objects=()
for f in expat/expat/lib/{xmlparse,xmlrole,xmltok} markup_read; do
    $CC $CFLAGS -I"$SRC" -I"$SRC/expat/expat/lib" -c "$SRC/$f.c" -o "$WORK/${f##*/}.o"
    objects+=("$WORK/${f##*/}.o")
done
$CXX $CXXFLAGS "${objects[@]}" $oracle $LIB_FUZZING_ENGINE -lm -o "$OUT/markup_read"
