#!/usr/bin/env bash
# Brings the Debian sources of a bench target and lays them out for `carol build`.
#
#   bench/targets/fetch.sh png|xml|jpeg|sql|lua|cms DIR      DIR gets the sources, the harness and build.sh
#
# Exit 3 when they cannot be had (tools/source.sh).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
name=${1:-}
dir=${2:-}
# name of the directory = package = version that is known to download on Debian 12
case $name in
png) packages=(zlib=zlib=1:1.2.13.dfsg-1 libpng=libpng1.6=1.6.39-2+deb12u5) ;;
xml) packages=(libxml2=libxml2=2.9.14+dfsg-1.3~deb12u6) ;;
jpeg) packages=(libjpeg=libjpeg-turbo=1:2.1.5-2) ;;
sql) packages=(sqlite=sqlite3=3.40.1-2+deb12u2) ;;
lua) packages=(lua=lua5.4=5.4.4-3+deb12u1) ;;
cms) packages=(lcms=lcms2=2.14-2+deb12u1) ;;
*) dir= ;;
esac
[[ -n $dir ]] || { echo "usage: fetch.sh png|xml|jpeg|sql|lua|cms DIR" >&2; exit 2; }

if [[ $name == sql ]] && ! command -v tclsh >/dev/null; then
    echo "fetch: tclsh (package tcl) is not here; sql is skipped" >&2
    exit 3
fi
rm -rf "$dir"
mkdir -p "$dir"
for entry in "${packages[@]}"; do
    IFS='=' read -r into package version <<<"$entry"
    from=$("$here/../../tools/source.sh" debian "$package" "$version")
    cp -r "$from" "$dir/$into"
done
rm -rf "$dir"/sqlite/{test,www} # 120 MB that no build needs
cp -r "$here/$name/." "$dir/"
