#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# libyaml's reading half, with the faults of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
objects=()
for f in api reader scanner parser loader; do
    $CC $CFLAGS -I"$SRC/libyaml/include" -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 \
        '-DYAML_VERSION_STRING="0.2.5"' -c "$SRC/libyaml/src/$f.c" -o "$WORK/$f.o"
    objects+=("$WORK/$f.o")
done
$CC $CFLAGS -I"$SRC/libyaml/include" -c "$SRC/yaml_read.c" -o "$WORK/yaml_read.o"
$CXX $CXXFLAGS "$WORK/yaml_read.o" "${objects[@]}" $oracle $LIB_FUZZING_ENGINE -o "$OUT/yaml_read"
