#!/usr/bin/env bash
# Runs the tests of one build directory and prints the real counts as the last line.
#
#   tools/test.sh BUILD [meson test options]     a directory *-san is built with ASan and UBSan
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
if [[ ! -e $build/build.ninja ]]; then
    sanitize=()
    # gcc gives false warnings when it sanitizes; the plain build is the strict one.
    [[ $build == *-san ]] && sanitize=(-Db_sanitize='address,undefined' -Db_lundef=false -Dwerror=false)
    meson setup "$build" "${sanitize[@]}" >/dev/null
fi
ninja -C "$build" --quiet | { grep -v '^ninja: no work to do' || true; }
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
rm -f "$build/meson-logs/testlog.json"
code=0
# One more than there are cores: the tests wait for fuzzers half of the time.
meson test -C "$build" --no-rebuild --print-errorlogs --num-processes $(($(nproc) + 1)) "$@" || code=$?
tools/count-tests.py "$build/meson-logs/testlog.json" || code=1
exit "$code"
