#!/usr/bin/env bash
# Installs Carol, its runtimes and its fuzzers: PREFIX/bin/carol, PREFIX/lib/carol/{runtime,engines}.
#
#   tools/install.sh BUILD PREFIX DESTDIR
set -euo pipefail
build=$1 prefix=$2 destdir=${3-}
[[ $prefix == /* ]] || { echo "install: PREFIX must be an absolute path, not '$prefix'" >&2; exit 2; }
current=$(meson introspect "$build" --buildoptions |
    python3 -c 'import json, sys; print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
[[ $current == "$prefix" ]] || meson configure "$build" -Dprefix="$prefix"
ninja -C "$build" --quiet >"$build/install.log" || { cat "$build/install.log"; exit 1; } # a new prefix: meson's summary
DESTDIR=$destdir meson install -C "$build" --quiet --no-rebuild
lib=$destdir$prefix/lib/carol
if [[ -e $build/engines/afl ]]; then
    # Beside the old one first: a campaign that runs keeps what it has open.
    rm -rf "$lib/engines.new"
    mkdir -p "$lib"
    cp -a "$build/engines/." "$lib/engines.new"
    rm -rf "$lib/engines"
    mv "$lib/engines.new" "$lib/engines"
else
    echo "install: without fuzzers: $build/engines is not there (make says why)" >&2
fi
echo "installed below $destdir$prefix"
