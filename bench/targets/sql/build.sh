#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# SQLite as one file, made with its own tools (tclsh and a host compiler), and the harness.
mkdir -p "$WORK/b"
cd "$WORK/b"
make -f "$SRC/sqlite/main.mk" TOP="$SRC/sqlite" BCC=cc sqlite3.c

$CC $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_TEMP_STORE=3 \
    -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_DBSTAT_VTAB \
    -c sqlite3.c -o "$WORK/sqlite3.o"
$CC $CFLAGS -I"$WORK/b" -c "$SRC/sql_run.c" -o "$WORK/sql_run.o"
$CXX $CXXFLAGS "$WORK/sql_run.o" "$WORK/sqlite3.o" $LIB_FUZZING_ENGINE -lm -o "$OUT/sql_run"
cp "$SRC/sql.dict" "$OUT/sql_run.dict"
