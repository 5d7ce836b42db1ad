#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# TinyXML-2, which is one file, and the harness.
for f in "$SRC/tinyxml2/tinyxml2.cpp" "$SRC/xml_tree.cc"; do
    $CXX $CXXFLAGS -I"$SRC/tinyxml2" -c "$f" -o "$WORK/$(basename "$f").o"
done
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -o "$OUT/xml_tree"
