#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# Little CMS without configure: its defaults are what configure finds on Linux.
for f in "$SRC"/lcms/src/*.c; do
    $CC $CFLAGS -I"$SRC/lcms/include" -DCMS_NO_REGISTER_KEYWORD=1 -c "$f" -o "$WORK/$(basename "$f" .c).o"
done
$CC $CFLAGS -I"$SRC/lcms/include" -c "$SRC/cms_read.c" -o "$WORK/cms_read.o"
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -lm -lpthread -o "$OUT/cms_read"
