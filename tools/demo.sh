#!/usr/bin/env bash
# A first campaign in about a minute: the bundled parser built for every fuzzer, all of them on this
# machine's cores with short turns, and what came of it.
#
#   tools/demo.sh [SECONDS]     leaves everything in build/demo; DEMO=DIR chooses another place
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
demo=${DEMO:-build/demo}
carol=./carol

step() { printf '\n\033[1m%s\033[0m\n' "$*"; }
say() { printf '%s\n' "$*"; }

[[ -x $carol ]] || make all
rm -rf "$demo"
mkdir -p "$demo"

step "1. The target, examples/tote, once for every kind of fuzzer and once to measure:"
say "   $carol build -o $demo/target --src examples/tote -- examples/tote/build.sh"
$carol build -o "$demo/target" --src examples/tote -- examples/tote/build.sh

step "2. The campaign: $(nproc) cores, $seconds s, turns of 3 s:"
say "   $carol fuzz -b $demo/target -i examples/tote/seeds -o $demo/campaign -d ${seconds}s --turn 3s"
$carol fuzz -b "$demo/target" -i examples/tote/seeds -o "$demo/campaign" -d "${seconds}s" --turn 3s

step "3. What was found:"
$carol status "$demo/campaign"

step "4. Every decision, computed again from the journal:"
$carol replay "$demo/campaign"

step "Next:"
first=$(find "$demo/campaign/crashes" -type f 2>/dev/null | sort | head -n 1 || true)
if [[ -n $first ]]; then
    say "  $carol cover -b $demo/target $first"
    say "                                   what a crashing input does on the neutral build"
    say "  $(find "$demo/target/asan" -type f -perm -u+x | head -n 1) $first"
    say "                                   and under AddressSanitizer: the bug itself"
fi
say "  $carol fuzz --resume $demo/campaign -d 10m
                                   go on where it stopped, for ten minutes in all
  $carol build -o out/mine my_fuzzer.c my_library.c
  $carol fuzz -b out/mine -i my_seeds -o out/campaign
                                   a target of your own: any LLVMFuzzerTestOneInput
  $carol fuzz --help               everything else"
