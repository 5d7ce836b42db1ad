#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# Poppler and its C++ interface, static, with the decoders that are its own, and the harness.  FreeType is the machine's.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/poppler" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=OFF -DFONT_CONFIGURATION=generic -DENABLE_CPP=ON \
    -DENABLE_BOOST=OFF -DENABLE_UTILS=OFF -DENABLE_GLIB=OFF -DENABLE_GOBJECT_INTROSPECTION=OFF -DENABLE_QT5=OFF \
    -DENABLE_QT6=OFF -DENABLE_LIBOPENJPEG=unmaintained -DENABLE_DCTDECODER=unmaintained -DENABLE_CMS=none \
    -DENABLE_LIBCURL=OFF -DENABLE_ZLIB=OFF -DRUN_GPERF_IF_PRESENT=OFF -DBUILD_CPP_TESTS=OFF -DBUILD_MANUAL_TESTS=OFF \
    -DBUILD_GTK_TESTS=OFF -DBUILD_QT5_TESTS=OFF -DBUILD_QT6_TESTS=OFF -DWITH_Cairo=OFF -DWITH_NSS3=OFF -DWITH_PNG=OFF \
    -DWITH_TIFF=OFF -DWITH_JPEG=OFF >/dev/null
make -j"$(nproc)" poppler poppler-cpp

$CXX $CXXFLAGS -std=c++17 -I"$SRC/poppler/cpp" -I"$WORK/b/cpp" -c "$SRC/pdf_page.cc" -o "$WORK/pdf_page.o"
$CXX $CXXFLAGS "$WORK/pdf_page.o" $LIB_FUZZING_ENGINE "$WORK/b/cpp/libpoppler-cpp.a" "$WORK/b/libpoppler.a" -lfreetype \
    -lpthread -o "$OUT/pdf_page"
cp "$SRC/pdf.dict" "$OUT/pdf_page.dict"
