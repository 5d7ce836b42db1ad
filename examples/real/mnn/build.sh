#!/bin/bash -eu
# shellcheck disable=SC2016,SC2086  # flags are words, as in OSS-Fuzz; the inner sh expands what is its own
# MNN's core and its portable code for the CPU, and the harness.  Most of the time goes into headers, so the files of a
# directory are compiled as one, except those that define the same names; _create, which many define, is numbered.
cd "$SRC/mnn/vendor"
flags="-std=c++11 -fno-rtti -fno-exceptions -w -DMNN_BUILD_STATIC_LIBS -DMNN_FORBIT_MULTI_THREADS -DMNN_USE_THREAD_POOL
    -DMNN_SUPPORT_QUANT_EXTEND -DMNN_SUPPORT_DEPRECATED_OPV2 -DMNN_USE_SPARSE_COMPUTE
    -Iinclude -Isource -Ischema/current -I3rd_party -I3rd_party/flatbuffers/include -I3rd_party/half"
cpu=source/backend/cpu
alone=$(ls $cpu/compute/*.cpp $cpu/CPU{Binary,BinaryInt8,Proposal}.cpp)
together() { # NAME FILE...
    printf '%s\n' "${@:2}" | grep -vxF "$alone" |
        awk '{ print "#undef _create\n#define _create _create" NR "\n#include \"" $0 "\"" }' >"$1.cc"
}
together core source/core/*.cpp source/math/*.cpp source/cv/*.cpp source/utils/InitNet.cpp
together shape source/shape/*.cpp
together geometry source/geometry/*.cpp
together cpu1 $cpu/CPU[A-O]*.cpp
together cpu2 $cpu/CPU[P-Z]*.cpp $cpu/ThreadPool.cpp
printf '%s\n' ./*.cc $alone | xargs -P "$(nproc)" -I{} sh -c '"$0" "$@" -c {} -o "$WORK/$(basename {}).o"' $CXX $CXXFLAGS $flags -I.

$CXX $CXXFLAGS -std=c++11 -Iinclude -c "$SRC/mnn_session.cc" -o "$WORK/mnn_session.o"
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -lpthread -ldl -o "$OUT/mnn_session"
