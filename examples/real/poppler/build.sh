#!/bin/bash -eu
# shellcheck disable=SC2016,SC2046,SC2086  # flags are words, as in OSS-Fuzz; the inner sh expands what is its own
# poppler's own code without the libraries that it can do without, and the harness.  cmake chooses the files; most of the
# time would go into headers, so they are compiled as a few, except those that define the same names.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/poppler" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_SHARED_LIBS=OFF \
    -DENABLE_QT5=OFF -DENABLE_QT6=OFF -DENABLE_GLIB=OFF -DENABLE_CPP=OFF -DENABLE_UTILS=OFF -DENABLE_BOOST=OFF \
    -DENABLE_LIBCURL=OFF -DENABLE_ZLIB=OFF -DENABLE_CMS=none -DENABLE_LIBOPENJPEG=none -DENABLE_DCTDECODER=none \
    -DWITH_JPEG=OFF -DWITH_PNG=OFF -DWITH_TIFF=OFF -DWITH_NSS3=OFF -DWITH_Cairo=OFF -DFONT_CONFIGURATION=generic \
    -DBUILD_MANUAL_TESTS=OFF -DRUN_GPERF_IF_PRESENT=OFF >/dev/null
flags="-w -fno-exceptions -I. -Ipoppler -I$SRC/poppler -I$SRC/poppler/goo -I$SRC/poppler/fofi -I$SRC/poppler/poppler
    $(pkg-config --cflags freetype2)"

sed -n 's/.*"file": "\(.*\)".*/\1/p' compile_commands.json >files
grep -E '\.c$|/(CMap|PSTokenizer|Splash|SplashBitmap)\.cc$' files >alone
grep -vxFf alone files | sed 's/.*/#include "&"/' >together
split -n l/5 --additional-suffix=.cc together part-
printf '%s\n' ./*.cc "$SRC/pdf_render.cc" $(grep '\.cc$' alone) |
    xargs -P "$(nproc)" -I{} sh -c '"$0" "$@" -c {} -o "$WORK/$(basename {}).o"' $CXX $CXXFLAGS -std=c++17 $flags
printf '%s\n' $(grep '\.c$' alone) |
    xargs -P "$(nproc)" -I{} sh -c '"$0" "$@" -c {} -o "$WORK/$(basename {}).o"' $CC $CFLAGS $flags
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE $(pkg-config --libs freetype2) -lpthread -o "$OUT/pdf_render"
