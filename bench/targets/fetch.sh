#!/usr/bin/env bash
# Brings the Debian sources of a bench target and lays them out for `carol build`.
#
#   bench/targets/fetch.sh png|xml|jpeg|sql|lua|cms DIR      DIR gets the sources, the harness and build.sh
#
# Source packages are asked for with a private apt configuration made from the machine's own mirrors;
# nothing under /etc or /var is changed.  Exit 3 when they cannot be had.
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

missing() {
    echo "fetch: $1; the bench targets from Debian sources are skipped" >&2
    exit 3
}

[[ $name != sql ]] || command -v tclsh >/dev/null || missing "tclsh (package tcl) is not here"
cache=${XDG_CACHE_HOME:-$HOME/.cache}/carol/sources
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# apt with sources, lists and cache of its own
private_apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$tmp/lists" -o Dir::Cache="$tmp/cache" -o APT::Sandbox::User= \
        -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}

prepare_apt() {
    [[ ! -e $tmp/ready ]] || return 0
    command -v apt-get dpkg-source >/dev/null || missing "apt-get or dpkg-source (dpkg-dev) is not here"
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v c="$codename" 'index($2, c) == 1 && !seen[$0]++ { print "deb-src", $1, $2, $3 }' \
            >"$tmp/sources.list"
    [[ -s $tmp/sources.list ]] || missing "no Debian mirror is configured"
    mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial"
    private_apt update || missing "the mirror does not answer"
    touch "$tmp/ready"
}

# Unpacked once per package and version into the cache, whole or not at all.
bring() {
    local package=$1 version=$2 to=$cache/$1-$2
    [[ ! -d $to ]] || return 0
    prepare_apt
    mkdir -p "$tmp/get" "$cache"
    (cd "$tmp/get" && { private_apt source --download-only "$package=$version" ||
        private_apt source --download-only "$package"; }) >&2 || missing "no source of $package"
    dpkg-source --no-check -q -x "$tmp"/get/*.dsc "$tmp/unpacked" >/dev/null 2>&1 ||
        dpkg-source --no-check -x "$tmp"/get/*.dsc "$tmp/unpacked" >/dev/null ||
        missing "the source of $package does not unpack"
    mv "$tmp/unpacked" "$cache/.new-$$"
    mv -T "$cache/.new-$$" "$to"
    rm -rf "$tmp/get"
}

rm -rf "$dir"
mkdir -p "$dir"
for entry in "${packages[@]}"; do
    IFS='=' read -r into package version <<<"$entry"
    bring "$package" "$version"
    cp -r "$cache/$package-$version" "$dir/$into"
done
rm -rf "$dir"/sqlite/{test,www} # 120 MB that no build needs
cp -r "$here/$name/." "$dir/"
