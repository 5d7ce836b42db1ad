#!/usr/bin/env bash
# Checks the sources; every check prints one line, its findings above it.  Exit 1 when one failed.
#
#   tools/lint.sh [BUILD]         all of `make lint`
#   tools/lint.sh --format-check  only which files clang-format would change
#   tools/lint.sh --format        change them
#   tools/lint.sh --tidy [BUILD]  clang-tidy (minutes)
# shellcheck disable=SC2317  # the checks are called by name
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t c_files < <(git ls-files 'src/*.[ch]' 'runtime/*.[ch]' 'tests/unit/*.[ch]' 'bench/*.[ch]')
mapfile -t c_headers < <(git ls-files 'src/*.h')
mapfile -t scripts < <(git ls-files | while read -r f; do
    [[ -f $f && ! -L $f ]] && head -c 40 "$f" | grep -aq '^#!.*\(bash\|/sh\)' && echo "$f"
done || true)
mapfile -t pythons < <(git ls-files | while read -r f; do
    [[ -f $f && ! -L $f ]] && head -c 40 "$f" | grep -aq '^#!.*python3' && echo "$f"
done || true)
readonly FORMAT=clang-format-19
failed=0

# check NAME COMMAND...: runs it and reports the result.  A missing tool is a failure, not a pass.
check() {
    local name=$1 began=$SECONDS
    shift
    if ! command -v "$1" >/dev/null && ! declare -F "$1" >/dev/null; then
        echo "lint: $name: $1 is missing; install it with tools/setup.sh lint"
        failed=1
    elif "$@"; then
        echo "lint: $name: ok ($((SECONDS - began)) s)"
    else
        echo "lint: $name: FAILED"
        failed=1
    fi
}

format_check() {
    local wrong
    command -v "$FORMAT" >/dev/null || { echo "$FORMAT is missing; install it with tools/setup.sh lint"; return 1; }
    wrong=$("$FORMAT" --dry-run "${c_files[@]}" 2>&1 | sed -n 's/^\([^:]*\):.*warning:.*/\1/p' |
        sort | uniq -c)
    [[ -z $wrong ]] && return 0
    printf '%s\n' "$wrong" "(places per file; make format changes them)"
    return 1
}

header_alone() {
    local h
    for h in "$@"; do
        gcc -std=gnu11 -D_GNU_SOURCE -include src/base/banned.h -Isrc -I. -Wall -Wextra -Werror \
            -fsyntax-only -x c - <<<"#include \"${h#src/}\"" || { echo "$h does not compile alone"; return 1; }
    done
}
headers() { printf '%s\n' "${c_headers[@]}" | xargs -P 2 -n 12 "$0" --headers; }

# Every .c says in its first lines what its job is.
first_sentence() {
    local f wrong=0
    for f in "${c_files[@]}"; do
        [[ $f == *.c && $f != tests/* ]] || continue
        head -n 1 "$f" | grep -q '^/\* ' || { echo "$f does not start with a sentence about its job"; wrong=1; }
    done
    return "$wrong"
}

no_leftovers() {
    ! git grep -nE '\b(TODO|FIXME|XXX)\b' -- 'src' 'runtime' 'tests' 'bench' 'tools/*.py' ':!*.txt'
}

# head exits before its input ends, which kills the writer and, with pipefail, now and then the script.
# sed -n 1p reads to the end.
no_head_in_pipes() {
    ! git grep -nE '[|] *head( |$)' -- '*.sh' '.ci/run' 'Makefile'
}

# uninitvar is off: the compilers find uninitialised variables better.
static_analysis() {
    cppcheck --quiet --error-exitcode=1 --std=c11 -D_GNU_SOURCE -Isrc -I. -j 2 --max-configs=1 \
        '-Djson_array_foreach(a, i, v)=while ((v = json_array_get(a, i++)))' \
        '-Djson_object_foreach(o, k, v)=while ((v = json_object_get(o, k = json_key(o))))' \
        --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=nullPointerRedundantCheck --suppress=uninitvar --suppress=uninitStructMember \
        src runtime
}

# The whole tree with the other compiler (`make` uses gcc) and the same warnings as errors.  Unoptimised: the
# warnings come from the front end.
clang_build() {
    local dir good=0
    dir=$(mktemp -d)
    { CC=clang-19 meson setup "$dir/b" --buildtype=plain && ninja -C "$dir/b" --quiet; } >"$dir/log" 2>&1 || good=1
    ((good == 0)) || grep -E -A 4 '(error|ERROR|warning):' "$dir/log" || tail -n 20 "$dir/log"
    rm -rf "$dir"
    return "$good"
}

python_compiles() {
    python3 - "$@" <<'PY'
import ast, sys
for name in sys.argv[1:]:
    ast.parse(open(name, encoding="utf-8").read(), name)
PY
}

case ${1-} in
--headers) shift; header_alone "$@"; exit ;;
--format-check) check format format_check; exit "$failed" ;;
--format) exec "$FORMAT" -i "${c_files[@]}" ;;
--tidy) git ls-files 'src/*.c' | xargs -P 2 -n 4 clang-tidy-19 --quiet -p "${2:-build}"; exit ;;
esac

check format format_check
check layers tools/lint-layers
check docs tools/lint-docs
check headers headers
check "first sentences" first_sentence
check leftovers no_leftovers
check pipes no_head_in_pipes
((${#scripts[@]} == 0)) || check shell shellcheck "${scripts[@]}"
((${#pythons[@]} == 0)) || check python python_compiles "${pythons[@]}"
check cppcheck static_analysis
check clang clang_build
exit "$failed"
