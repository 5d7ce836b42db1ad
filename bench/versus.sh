#!/usr/bin/env bash
# Carol against bare afl-fuzz on real libraries: gain over the seeds and area under the curve, in pairs.
#
#   bench/versus.sh [options] [-- OPTIONS of carol fuzz]     CAROL=path of carol
#   bench/versus.sh --name equal --seconds 120 --trials 4 -- --scheduler equal
#
# Needs two cores with nothing else on them.  A trial takes as long as --seconds says (600) and some for
# measuring; there are three per target.  It can be stopped at any time: the same command goes on after the last
# pair in build/versus/NAME.csv, also on another machine that was given this file.  --cores 2: two cores a side,
# one side after the other, afl-fuzz with -M and -S.
# --rival cmplog: afl-fuzz with a CmpLog build.  --rival carol [--rival-options '...']: a carol, of another version or
# with other options: what one of them brings, without the noise of bare afl-fuzz.  --least 1 --mean 1.15: the figures that Carol must hold; exit 1 when it does not.
#
# The targets are libxml2 and libpng (--targets xml,png), on which Carol may be tuned, and four hold-outs: Lua and Little
# CMS (--targets lua,cms), which nobody has looked into, and libjpeg-turbo and SQLite (--targets jpeg,sql).  Look at the
# hold-outs only to see whether what helped on the other two holds in general; choose nothing by them.  SQLite needs
# tclsh (package tcl) to be built.  NAME-nodict is the target without the dictionary that its build script leaves.
set -euo pipefail
exec python3 "$(dirname "$0")/versus.py" "$@"
