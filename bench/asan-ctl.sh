#!/bin/bash
# Memory errors in what we load into afl-fuzz: builds afl-fuzz with AddressSanitizer from the pinned
# sources and sends 60 imports of 1 byte to 1 MB through each of our libraries.  Minutes; not in CI.
#
#     bench/asan-ctl.sh BUILD [SOURCES]     SOURCES: a directory of vendored crates; fetched when missing
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(realpath "${1:?usage: bench/asan-ctl.sh BUILD [SOURCES]}")
work=$(mktemp -d /tmp/carol-asan.XXXXXX)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 1 ]; then
    mkdir "$work/src" && cp -r "$2/." "$work/src"
else
    mkdir "$work/manifest"
    cp "$root"/engines/Cargo.{toml,lock} "$work/manifest"
    touch "$work/manifest/lib.rs"
    cargo vendor --locked --quiet --manifest-path "$work/manifest/Cargo.toml" "$work/src" >/dev/null
fi
"$root/tools/apply-changes.py" "$root/engines/changes.txt" "$work/src"
echo "building afl-fuzz with AddressSanitizer"
make -C "$work/src/cargo-afl-common/AFLplusplus" CC=clang-19 LLVM_CONFIG=llvm-config-19 NO_PYTHON=1 \
    NO_NYX=1 ASAN_BUILD=1 afl-fuzz >"$work/make.log" 2>&1 || { tail -20 "$work/make.log"; exit 1; }
mkdir -p "$work/engines/afl"
cp "$work/src/cargo-afl-common/AFLplusplus/afl-fuzz" "$work/engines/afl/"
ln -s "$(realpath "$build/engines/radamsa")" "$work/engines/radamsa"
"$build/carol" build -o "$work/toy" --families afl,laf,cmplog "$root/tests/system/targets/toy.c" >/dev/null 2>&1
export CAROL_SELF=$build/carol CAROL_ENGINES=$work/engines
export ASAN_OPTIONS=detect_leaks=0:log_path=$work/report
failed=0
for arm in aflpp lafintel mopt darwin radamsa cmplog; do
    echo "== $arm"
    "$build/tests/system/arms" "$arm" libfuzzer "$work/toy" sizes | grep -v '^# turn' || failed=1
done
if compgen -G "$work/report*" >/dev/null; then
    cat "$work"/report*
    failed=1
fi
[ $failed = 0 ] && echo "clean"
exit $failed
