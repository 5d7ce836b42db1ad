#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# libtiff, static, with the codecs that are its own, and the harness.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/tiff" -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF \
    -Dtiff-docs=OFF -Dcxx=OFF -Dzlib=OFF -Dlibdeflate=OFF -Djpeg=OFF -Djbig=OFF -Dlerc=OFF -Dlzma=OFF -Dwebp=OFF \
    -Dzstd=OFF -Dpixarlog=OFF >/dev/null
make -j"$(nproc)" tiff

$CC $CFLAGS -I"$SRC/tiff/libtiff" -I"$WORK/b/libtiff" -c "$SRC/tiff_read.c" -o "$WORK/tiff_read.o"
$CXX $CXXFLAGS "$WORK/tiff_read.o" $LIB_FUZZING_ENGINE "$WORK/b/libtiff/libtiff.a" -lm -o "$OUT/tiff_read"
