#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# Lua without its programs, and the harness.  Debian's build writes the header with the name of the machine.
echo '#define DEB_HOST_MULTIARCH "any"' >"$WORK/lua5.4-deb-multiarch.h"
for f in "$SRC"/lua/src/*.c; do
    case $f in */lua.c | */luac.c) continue ;; esac
    $CC $CFLAGS -DLUA_USE_POSIX -I"$WORK" -c "$f" -o "$WORK/$(basename "$f" .c).o"
done
$CC $CFLAGS -I"$WORK" -I"$SRC/lua/src" -c "$SRC/lua_run.c" -o "$WORK/lua_run.o"
$CXX $CXXFLAGS "$WORK"/*.o $LIB_FUZZING_ENGINE -lm -o "$OUT/lua_run"
cp "$SRC/lua.dict" "$OUT/lua_run.dict"
