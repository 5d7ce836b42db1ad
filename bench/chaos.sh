#!/usr/bin/env bash
# Random kill -9 of supervisor, evaluator, fuzzers and targets for three minutes, resuming each time:
# nothing acknowledged is lost, nothing is imported twice, nothing is left over.
#
#   bench/chaos.sh [SECONDS]      CAROL=path of carol, CAROL_TEST_SEED=N for other victims (7)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
exec "$root/tests/system/campaign.py" "${CAROL:-$root/carol}" "$root" "chaos=${1:-180}"
