#!/usr/bin/env bash
# `make soak`: the tests that draw lots (what is killed and when, where the power is cut, what the fuzzers mutate),
# round after round, with a new seed each.  make test has them with one fixed seed.  Stops at the first failure
# and says how to repeat that round; what a test printed is in BUILD/soak.log.
#
#   tools/soak.sh [--seconds N] [--runs N] [--seed N] [BUILD]
#
#   --seconds N   no new round after so long (600)
#   --runs N      so many rounds instead
#   --seed N      of the first round (default: drawn); the next ones have N + 1, N + 2, ...
set -euo pipefail
cd "$(dirname "$0")/.."
SECONDS=0 seconds=600 runs=0 seed=$((RANDOM << 15 | RANDOM)) build=build
while [[ $# -gt 0 ]]; do
    case $1 in
    --seconds | --runs | --seed)
        [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "soak: $1 needs a number" >&2; exit 2; }
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) echo "soak: there is no $1" >&2; exit 2 ;;
    *) build=$1; shift ;;
    esac
done
[[ $build == /* ]] || build=$PWD/$build
carol=$build/carol arms=$build/tests/system/arms log=$build/soak.log
export CAROL_TEST_LONG=1

run() {
    case $1 in
    chaos) tests/system/campaign.py "$carol" . chaos=60 ;;
    power_cut) tests/system/power_cut.py "$carol" . ;;
    *) "tests/system/$1.py" "$carol" "$arms" . ;;
    esac
}

round=0 skipped=0
while ((runs ? round < runs : SECONDS < seconds || round == 0)); do
    export CAROL_TEST_SEED=$((seed + round))
    round=$((round + 1))
    for name in chaos power_cut arms_hfuzz arms_afl; do
        began=$SECONDS
        if ! run "$name" >"$log" 2>&1; then
            grep -A 20 '^not ok' "$log" || tail -n 40 "$log"
            echo "soak: $name failed, see $log; again: make soak RUNS=1 SEED=$CAROL_TEST_SEED"
            exit 1
        fi
        grep '^ok .* # SKIP ' "$log" || true
        skips=$(grep -c '^ok .* # SKIP ' "$log" || true)
        skipped=$((skipped + skips))
        echo "soak: round $round, seed $CAROL_TEST_SEED: $name ok ($(grep -c '^ok' "$log") checks, $skips skipped," \
            "$((SECONDS - began)) s)"
    done
done
echo "soak: $round rounds from seed $seed, none failed, $skipped checks skipped"
