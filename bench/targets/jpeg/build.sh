#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# libjpeg-turbo, static, in C alone, and the harness.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/libjpeg" -DCMAKE_BUILD_TYPE=None -DENABLE_SHARED=OFF -DWITH_SIMD=OFF \
    -DWITH_TURBOJPEG=OFF >/dev/null
make -j"$(nproc)" jpeg-static

$CC $CFLAGS -I"$SRC/libjpeg" -I"$WORK/b" -c "$SRC/jpeg_read.c" -o "$WORK/jpeg_read.o"
$CXX $CXXFLAGS "$WORK/jpeg_read.o" $LIB_FUZZING_ENGINE "$WORK/b/libjpeg.a" -o "$OUT/jpeg_read"
cp "$SRC/jpeg.dict" "$OUT/jpeg_read.dict"
