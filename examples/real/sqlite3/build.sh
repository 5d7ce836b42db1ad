#!/bin/bash -eu
# shellcheck disable=SC2086  # flags are words, as in OSS-Fuzz
# SQLite, which is one file, and the harness.
$CC $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_TEMP_STORE=3 -DSQLITE_ENABLE_FTS5 \
    -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_DBSTAT_VTAB -c "$SRC/sqlite/sqlite3/sqlite3.c" -o "$WORK/sqlite3.o"
$CC $CFLAGS -I"$SRC/sqlite/sqlite3" -c "$SRC/sqlite_open.c" -o "$WORK/sqlite_open.o"
$CXX $CXXFLAGS "$WORK/sqlite_open.o" "$WORK/sqlite3.o" $LIB_FUZZING_ENGINE -lm -o "$OUT/sqlite_open"
