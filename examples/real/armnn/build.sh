#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# Arm NN's deserializer, built alone, and the harness; the rest of Arm NN is the system's shared library.
cd "$SRC/armnn"
flatc -o "$WORK" --cpp src/armnnSerializer/ArmnnSchema.fbs 2>/dev/null # it warns of every name
for f in src/armnnDeserializer/Deserializer.cpp src/armnnUtils/{ParserHelper,VerificationHelpers}.cpp "$SRC/armnn_read.cc"; do
    $CXX $CXXFLAGS -std=c++14 -w -Wno-enum-constexpr-conversion -DNDEBUG -Iinclude -Isrc/armnnUtils -I"$WORK" -c "$f" -o "$WORK/$(basename "$f").o"
done
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -larmnn -o "$OUT/armnn_read"
