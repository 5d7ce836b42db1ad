#!/usr/bin/env python3
"""Writes small SQLite databases: seeds.py DIR."""
import pathlib
import sqlite3
import sys

TABLES = {
    "rows": ["CREATE TABLE a(x INTEGER PRIMARY KEY, y TEXT, z BLOB)", "INSERT INTO a VALUES(1, 'one', x'01'), (2, 'two', NULL)"],
    "index": ["CREATE TABLE a(x, y)", "CREATE UNIQUE INDEX i ON a(y DESC)", "INSERT INTO a VALUES(1.5, 'b'), (-1, 'a')"],
    "view": ["CREATE TABLE a(x CHECK(x > 0), y DEFAULT 3)", "CREATE VIEW v AS SELECT x + y FROM a",
             "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a WHERE x = 9; END", "INSERT INTO a(x) VALUES(7)"],
    "keyed": ["CREATE TABLE a(k TEXT PRIMARY KEY, v) WITHOUT ROWID", "INSERT INTO a VALUES('k', zeroblob(900))"],
}


def main():
    out = pathlib.Path(sys.argv[1])
    for name, statements in TABLES.items():
        file = out / f"{name}.db"
        file.unlink(missing_ok=True)
        with sqlite3.connect(file) as db:
            db.execute("PRAGMA page_size = 512")
            for s in statements:
                db.execute(s)
        db.close()


main()
