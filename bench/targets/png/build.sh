#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# zlib and libpng, static, and the harness.
cd "$SRC/zlib"
./configure --static >/dev/null
make -j"$(nproc)" libz.a

cd "$SRC/libpng"
./configure --disable-shared --disable-dependency-tracking CPPFLAGS="-I$SRC/zlib" \
    LDFLAGS="-L$SRC/zlib" >/dev/null
make -j"$(nproc)" libpng16.la

$CC $CFLAGS -I"$SRC/libpng" -I"$SRC/zlib" -c "$SRC/png_read.c" -o "$WORK/png_read.o"
$CXX $CXXFLAGS "$WORK/png_read.o" $LIB_FUZZING_ENGINE "$SRC/libpng/.libs/libpng16.a" \
    "$SRC/zlib/libz.a" -lm -o "$OUT/png_read"
cp "$SRC/png.dict" "$OUT/png_read.dict"
