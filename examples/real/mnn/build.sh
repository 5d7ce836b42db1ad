#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# The core of MNN and its CPU backend, static, without the code for special processors, and the harness.  Operators register
# themselves in constructors, so the archive is linked whole.
mkdir -p "$WORK/b"
cd "$WORK/b"
cmake "$SRC/mnn/vendor" -DCMAKE_BUILD_TYPE=None -DMNN_BUILD_SHARED_LIBS=OFF -DMNN_SEP_BUILD=OFF -DMNN_REDUCE_SIZE=ON \
    -DMNN_FORBID_MULTI_THREAD=ON -DMNN_USE_THREAD_POOL=OFF -DMNN_BUILD_TOOLS=OFF -DMNN_BUILD_PROTOBUFFER=OFF \
    -DMNN_USE_SSE=OFF -DMNN_AVX2=OFF -DMNN_ARM82=OFF -DMNN_KLEIDIAI=OFF -DMNN_SME2=OFF >/dev/null
make -j"$(nproc)" MNN

$CXX $CXXFLAGS -std=c++11 -I"$SRC/mnn/vendor/include" -c "$SRC/mnn_session.cc" -o "$WORK/mnn_session.o"
$CXX $CXXFLAGS "$WORK/mnn_session.o" $LIB_FUZZING_ENGINE -Wl,--whole-archive "$WORK/b/libMNN.a" -Wl,--no-whole-archive \
    -lpthread -ldl -o "$OUT/mnn_session"
