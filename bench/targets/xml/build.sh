#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# libxml2, static, without compression and network, and the harness.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/libxml2" -DCMAKE_BUILD_TYPE=None -DBUILD_SHARED_LIBS=OFF -DLIBXML2_WITH_PYTHON=OFF \
    -DLIBXML2_WITH_ZLIB=OFF -DLIBXML2_WITH_LZMA=OFF -DLIBXML2_WITH_ICONV=OFF \
    -DLIBXML2_WITH_HTTP=OFF -DLIBXML2_WITH_FTP=OFF -DLIBXML2_WITH_TESTS=OFF \
    -DLIBXML2_WITH_PROGRAMS=OFF >/dev/null
make -j"$(nproc)" LibXml2

$CC $CFLAGS -I"$SRC/libxml2/include" -I"$WORK/b" -c "$SRC/xml_read.c" -o "$WORK/xml_read.o"
$CXX $CXXFLAGS "$WORK/xml_read.o" $LIB_FUZZING_ENGINE "$WORK/b/libxml2.a" -lm -lpthread \
    -o "$OUT/xml_read"
cp "$SRC/xml.dict" "$OUT/xml_read.dict"
