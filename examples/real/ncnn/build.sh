#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# ncnn, static, with the portable code of every layer, and the harness.  A processor that ncnn has no code for gets that
# code; to build for x86 too would take ten times as long.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/ncnn" -DCMAKE_BUILD_TYPE=None -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=xtensa \
    -DNCNN_SHARED_LIB=OFF -DNCNN_OPENMP=OFF -DNCNN_VULKAN=OFF -DNCNN_RUNTIME_CPU=OFF -DNCNN_PIXEL=OFF -DNCNN_C_API=OFF \
    -DNCNN_BUILD_TOOLS=OFF -DNCNN_BUILD_EXAMPLES=OFF -DNCNN_BUILD_BENCHMARK=OFF -DNCNN_BUILD_TESTS=OFF \
    -DNCNN_INSTALL_SDK=OFF -DNCNN_PYTHON=OFF >/dev/null
make -j"$(nproc)" ncnn

$CXX $CXXFLAGS -std=c++11 -I"$SRC/ncnn/src" -I"$WORK/b/src" -c "$SRC/ncnn_load.cc" -o "$WORK/ncnn_load.o"
$CXX $CXXFLAGS "$WORK/ncnn_load.o" $LIB_FUZZING_ENGINE "$WORK/b/src/libncnn.a" -lpthread -o "$OUT/ncnn_load"
