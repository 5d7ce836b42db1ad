#!/usr/bin/env bash
# A first campaign in about a minute: builds the bundled parser for every fuzzer, runs all of them on this
# machine's cores with short turns, and shows the defects they found.
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

[[ -x $carol || -n ${CAROL:-} ]] || make all
rm -rf "$demo"
mkdir -p "$demo"

step "1. The target, examples/tote, once for every kind of fuzzer and once to measure:"
say "   $carol build -o $demo/target --src examples/tote -- examples/tote/build.sh"
$carol build -o "$demo/target" --src examples/tote -- examples/tote/build.sh

step "2. The campaign: $(nproc) cores, $seconds s, turns of 3 s:"
say "   $carol fuzz -b $demo/target -i examples/tote/seeds -o $demo/campaign -d ${seconds}s --turn 3s"
$carol fuzz -b "$demo/target" -i examples/tote/seeds -o "$demo/campaign" -d "${seconds}s" --turn 3s

step "3. Every decision, computed again from the journal:"
$carol replay "$demo/campaign"

step "4. The defects behind the crashes, confirmed and minimised; the campaign did that at its end, this only lists them:"
say "   $carol triage $demo/campaign"
$carol triage "$demo/campaign"

step "5. The page of all of it, in one file:"
say "   $carol report $demo/campaign"
$carol report "$demo/campaign" -o "$demo/campaign/report.html"

step "Next:"
say "  xdg-open $demo/campaign/report.html
                                   the page to open: coverage, fuzzers, defects, lineages, decisions"
report=$(find "$demo/campaign/triage" -path '*/earlier' -prune -o -name report.md -print 2>/dev/null | sort | sed -n 1p || true)
if [[ -n $report ]]; then
    say "  less $report"
    say "                                   the report of a defect, ready to file"
fi
say "  $carol status $demo/campaign
                                   its state; --json for programs; also while it runs
  $carol fuzz --resume $demo/campaign -d 10m
                                   go on where it stopped, for ten minutes in all
  $carol build -o out/mine my_fuzzer.c my_library.c
  $carol fuzz -b out/mine -i my_seeds -o out/campaign
                                   a target of your own: any LLVMFuzzerTestOneInput
  $carol fuzz --help               everything else"
