#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# libsndfile, static, with the codecs that are its own, and the harness.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/libsndfile" -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -DENABLE_EXTERNAL_LIBS=OFF -DENABLE_MPEG=OFF \
    -DBUILD_PROGRAMS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DENABLE_CPACK=OFF -DENABLE_PACKAGE_CONFIG=OFF >/dev/null
make -j"$(nproc)" sndfile

$CC $CFLAGS -I"$SRC/libsndfile/include" -I"$WORK/b/include" -c "$SRC/sndfile_read.c" -o "$WORK/sndfile_read.o"
$CXX $CXXFLAGS "$WORK/sndfile_read.o" $LIB_FUZZING_ENGINE "$WORK/b/libsndfile.a" -lm -o "$OUT/sndfile_read"
