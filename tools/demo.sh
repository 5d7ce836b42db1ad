#!/usr/bin/env bash
# A first campaign in about a minute: builds the bundled parser for every fuzzer, runs all of them on this
# machine's cores with short turns, and shows the result.
#
#   tools/demo.sh [SECONDS]     leaves everything in build/demo; DEMO=DIR chooses another place,
#                               CAROL=PATH another carol
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
demo=${DEMO:-build/demo}
carol=${CAROL:-./carol}

bold='' plain=''
[[ -t 1 ]] && bold=$'\033[1m' plain=$'\033[0m'
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
say() { printf '%s\n' "$*"; }

# What AddressSanitizer says of at most that many crashing inputs, counted by fault and by the first frame
# that is in the target's own sources.
readonly looked_at=60
bugs() {
    local asan=$1 dir=$2 f
    [[ -d $dir ]] || { say "     none"; return; }
    find "$dir" -type f | sort -t- -k3 | sed -n "1,${looked_at}p" | while read -r f; do
        { ASAN_OPTIONS=detect_leaks=0 timeout 10 "$asan" "$f" 2>&1 || true; } | awk '
            /ERROR: AddressSanitizer: / && !fault { sub(/.*AddressSanitizer: /, ""); fault = $1 }
            fault && !place && /^ *#[0-9]+ / && $4 !~ /^__/ && $NF ~ /\.[a-z]+:[0-9]+/ {
                n = split($NF, path, "/"); split(path[n], at, ":"); place = $4 ", " at[1] ":" at[2] }
            END { print fault ? fault " in " (place ? place : "?") : "no fault on this build" }'
    done | sort | uniq -c | sort -rn
}

[[ -x $carol || -n ${CAROL:-} ]] || make all
rm -rf "$demo"
mkdir -p "$demo"

step "1. The target, examples/tote, once for every kind of fuzzer and once to measure:"
say "   $carol build -o $demo/target --src examples/tote -- examples/tote/build.sh"
$carol build -o "$demo/target" --src examples/tote -- examples/tote/build.sh

step "2. The campaign: $(nproc) cores, $seconds s, turns of 3 s:"
say "   $carol fuzz -b $demo/target -i examples/tote/seeds -o $demo/campaign -d ${seconds}s --turn 3s --paper"
$carol fuzz -b "$demo/target" -i examples/tote/seeds -o "$demo/campaign" -d "${seconds}s" --turn 3s --paper

asan=$(find "$demo/target/asan" -type f -perm -u+x | sed -n 1p)
step "3. Crashing inputs (at most $looked_at) on the AddressSanitizer build, counted by fault and place:"
bugs "$asan" "$demo/campaign/crashes"

step "4. Every decision, computed again from the journal:"
$carol replay "$demo/campaign"

step "Next:"
first=$(find "$demo/campaign/crashes" -type f 2>/dev/null | sort | sed -n 1p || true)
if [[ -n $first ]]; then
    say "  $carol cover -b $demo/target $first"
    say "                                   what a crashing input does on the neutral build"
    say "  $asan $first"
    say "                                   and under AddressSanitizer: the bug itself"
fi
say "  $carol status $demo/campaign
                                   its state; --json for programs; also while it runs
  $carol fuzz --resume $demo/campaign -d 10m
                                   go on where it stopped, for ten minutes in all
  $carol build -o out/mine my_fuzzer.c my_library.c
  $carol fuzz -b out/mine -i my_seeds -o out/campaign
                                   a target of your own: any LLVMFuzzerTestOneInput
  $carol fuzz --help               everything else"
