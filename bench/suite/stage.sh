#!/usr/bin/env bash
# Lays out one target of the suite for `carol build`, with its seeds and witnesses.
#
#   bench/suite/stage.sh NAME DIR
#   carol build -o BUILD --src DIR -- DIR/build.sh
#
# DIR gets the sources, build.sh, oracle/, bugs.csv, seeds/ and witness/.  Libraries come from Debian's
# source packages, at one revision each, pinned by the hash of its .dsc (tools/source.sh).
# Exit 3 when a library cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1:-}
dir=${2:-}
usage() { echo "usage: stage.sh pack|text|maze|proto|yaml|png|gif|json|script|markup DIR" >&2; exit 2; }
[[ -n $name && -n $dir && -f $here/$name/bugs.csv ]] || usage

# directory, package, version, hash of the .dsc
case $name in
yaml) packages=("libyaml libyaml 0.2.5-1 1edbf86e5cd76937ff62892ba6c2537456d645d834d4cd4a82430b8be7051bf4") ;;
png) packages=("libpng libpng1.6 1.6.39-2+deb12u5 7b86211030a34deb6b0a2cd7e1d9db0fe92443fd30cab537fb89b1e7f7c9f188"
    "zlib zlib 1:1.2.13.dfsg-1 3fa1e6b2fc525062aa88207dda52fed8e045373c809d362fe8a2bfbf7cf515a8") ;;
gif) packages=("giflib giflib 5.2.1-2.5+deb12u1 5206a92fd4a057768f429033a3a80bc1e06453f6c60dfec243d8188fa6ade3f4") ;;
json) packages=("cjson cjson 1.7.15-1+deb12u4 764c2de141d680f4fb4cada30c526dacaa30ead061b9b9c34f2b81e2df0f8439") ;;
script) packages=("mujs mujs 1.3.2-1 e335747ecefd516239414a3c80d82846234b10c9d48c5d8e3a4f1220eda9a6e0") ;;
markup) packages=("expat expat 2.5.0-1+deb12u2 6fc87dbd01f49999ed368cfb37c08d35e41348dda2281d60642f3aa14cb77e32") ;;
*) packages=() ;;
esac
rm -rf "$dir"
mkdir -p "$dir/oracle"
for entry in "${packages[@]}"; do
    read -r into package version hash <<<"$entry"
    from=$("$here/../../tools/source.sh" debian "$package" "$version" "$hash")
    cp -r "$from" "$dir/$into"
done
cp -r "$here/$name/." "$dir/"
rm -rf "$dir/__pycache__"
cp "$here/../../runtime/oracle/"* "$dir/oracle/"
[[ ! -f $dir/faults.patch ]] || patch -s -d "$dir" -p1 <"$dir/faults.patch"
[[ ! -x $dir/generate.py ]] || "$dir/generate.py" "$dir"
PYTHONDONTWRITEBYTECODE=1 "$here/$name/inputs.py" "$dir"
