#!/usr/bin/env bash
# What `carol build` costs, in plain builds of the same library by hand (clang-19, -O2 -g, no instrumentation): CPU time
# of each family, and with --wall the time by the clock of six at once, on an otherwise idle machine.  Three
# rounds on libxml2 write bench/results/build-cost.csv, anything else DIR/build-cost.csv or the file of --csv.  Aims: 7 for the CPU
# time of six families, 4 for the clock on two cores.
#
#   bench/build-cost.sh [--rounds N] [--wall] [--target xml|png] [-o DIR] [--csv FILE]     CAROL=path of carol
#
# Exit 0 held, 1 not held, 2 a build failed, 3 the sources cannot be had.  An hour's work of one core for three rounds on libxml2.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec python3 "$root/bench/build-cost.py" "${CAROL:-$root/carol}" "$root" "$@"
