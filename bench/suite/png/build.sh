#!/bin/bash -eu
# shellcheck disable=SC2086,SC2154  # flags are words, as in OSS-Fuzz; build.inc sets $oracle
# zlib, libpng with the faults of faults.patch, and the harness.
# shellcheck source=/dev/null
. "$SRC/oracle/build.inc"
cp "$SRC/libpng/scripts/pnglibconf.h.prebuilt" "$SRC/libpng/pnglibconf.h"
objects=()
compile() {
    $CC $CFLAGS -w -I"$SRC/zlib" -I"$SRC/libpng" -DHAVE_UNISTD_H -c "$1" -o "$WORK/$(basename "$1" .c).o"
    objects+=("$WORK/$(basename "$1" .c).o")
}
for f in adler32 crc32 deflate inffast inflate inftrees trees zutil; do
    compile "$SRC/zlib/$f.c"
done
for f in png pngerror pngget pngmem pngread pngrio pngrtran pngrutil pngset pngtrans \
    pngwio pngwrite pngwtran pngwutil; do
    compile "$SRC/libpng/$f.c"
done
compile "$SRC/png_read.c"
$CXX $CXXFLAGS "${objects[@]}" $oracle $LIB_FUZZING_ENGINE -lm -o "$OUT/png_read"
