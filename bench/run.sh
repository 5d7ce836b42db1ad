#!/usr/bin/env bash
# `make bench`: every benchmark of this directory, one after another, on an otherwise idle machine.
# Each holds a figure and says so by its exit code (0 held, 1 not held, 3 something needed is not
# here); what it printed is shown and kept in BUILD/bench/NAME.log.  About twenty minutes.  `versus` and `bugs` take hours
# and judge what was recorded in bench/results; docs/RESULTS.md has the commands that make it.
#
#   bench/run.sh [BUILD [NAME...]]       names: libs executor control import decide scale analyze campaign slots page viewers triage chaos versus bugs
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
shift || true
[[ $build == /* ]] || build=$PWD/$build
[[ $# -gt 0 ]] || set -- libs executor control import decide scale analyze campaign slots page viewers triage chaos versus bugs
mkdir -p "$build/bench"
export BUILD=$build CAROL=$build/carol CAROL_SELF=$build/carol

command_of() {
    case $1 in
    libs) echo "python3 bench/build-libs.py -o $build/bench-libs" ;;
    control) echo "bench/control.sh $build" ;;
    import | decide) echo "$build/bench/bench-$1" ;;
    executor | campaign | scale | analyze | slots | page | viewers | triage | chaos) echo "bench/$1.sh" ;;
    versus) echo "bench/versus.sh -o bench/results/versus --name 26-default --targets xml,png,lua,cms --trials 3 --least 1 --mean 1.15" ;;
    bugs) echo "bench/bugs.py $build/carol" ;;
    *) return 1 ;;
    esac
}

summary=() failed=0
for name in "$@"; do
    words=$(command_of "$name") || { echo "bench: there is no '$name'" >&2; exit 2; }
    read -r -a command <<<"$words"
    echo "== $name"
    began=$SECONDS code=0
    "${command[@]}" 2>&1 | tee "$build/bench/$name.log" || code=$?
    case $code in
    0) state=held ;;
    3) state="could not run" failed=1 ;;
    *) state="NOT HELD" failed=1 ;;
    esac
    summary+=("$(printf '%-11s %-13s %4d s   %s' "$name" "$state" $((SECONDS - began)) \
        "$(tail -n 1 "$build/bench/$name.log" | cut -c1-80)")")
done
printf '\n%s\n' "load of the machine now: $(cut -d' ' -f1-3 /proc/loadavg) on $(nproc) cores"
printf '%s\n' "${summary[@]}"
exit "$failed"
