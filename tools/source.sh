#!/usr/bin/env bash
# Brings the source of one package of a registry into the cache and prints the directory that it lies in.
#
#   tools/source.sh KIND PACKAGE VERSION [SHA256]
#
#   debian   source package, patches applied.  When the mirror no longer has that revision, the newest one of the same
#            upstream version is taken, and said.  SHA256 is that of the upstream archive.
#   pypi     source distribution; pip checks SHA256, which is needed
#   crate    SHA256 is that of the .crate file
#   npm      SHA256 is that of the .tgz file
#
# Each is asked for by name with its ordinary client as it is set up here; debian with lists and cache of its own, so
# nothing under /etc or /var changes.  With SHA256 anything else is refused.  Unpacked once per kind, package and version, whole or not at all.  Exit 3, with
# the reason, when it cannot be had.
set -euo pipefail
usage='usage: source.sh debian|pypi|crate|npm PACKAGE VERSION [SHA256]'
kind=${1:?$usage} package=${2:?$usage} version=${3:?$usage} sum=${4:-}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/carol/sources
to=$cache/$package-$version # Debian's, without its kind: their names are the oldest
[[ $kind == debian ]] || to=$cache/$kind-$package-$version
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

missing() {
    echo "source: $1; $package $version is skipped" >&2
    exit 3
}

need() { command -v "$1" >/dev/null || missing "$1 ($2) is not here"; }

# The archive is the one that was pinned, or nothing is unpacked.
check_sum() {
    [[ -z $sum ]] || sha256sum "$1" | grep -q "^$sum " ||
        missing "${1##*/} is not the pinned one: its SHA-256 is $(sha256sum "$1" | cut -d' ' -f1)"
}

private_apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$tmp/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::State::lists="$tmp/lists" -o Dir::Cache="$tmp/cache" -o APT::Sandbox::User= \
        -o Acquire::Retries=2 -o Acquire::http::Timeout=30 "$@"
}

prepare_apt() {
    need apt-get apt
    need dpkg-source dpkg-dev
    # shellcheck source=/dev/null
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    # shellcheck disable=SC2016  # apt's own placeholders
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v c="$codename" 'index($2, c) == 1 && !seen[$0]++ { print "deb-src", $1, $2, $3 }' \
            >"$tmp/sources.list"
    [[ -s $tmp/sources.list ]] || missing "no Debian mirror is configured"
    mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial"
    private_apt update || missing "the mirror does not answer"
}

# The pinned revision; else any other that the lists name, newest first: one may be gone though a list names it.
download_debian() {
    local v
    while read -r v; do
        if private_apt source --download-only "$package=$v" 2>"$tmp/said"; then
            [[ $v == "$version" ]] || echo "source: $package $version is gone, $v in its place" >&2
            return 0
        fi
        rm -f ./*.dsc ./*.tar.*
    done < <(
        echo "$version"
        apt-cache -o Dir::State::lists="$tmp/lists" -o Dir::Etc::sourcelist="$tmp/sources.list" \
            -o Dir::Etc::sourceparts=/dev/null -o Dir::Cache="$tmp/cache" showsrc "$package" 2>/dev/null |
            sed -n 's/^Version: //p' | sort -Vru | grep -vxF -- "$version"
    )
    missing "no source of $package can be downloaded ($(tail -1 "$tmp/said"))"
}

bring_debian() {
    local archive
    prepare_apt
    download_debian >&2
    for archive in ./*.orig.tar.*; do
        [[ $archive == *.asc ]] || check_sum "$archive"
    done
    dpkg-source --no-check -q -x ./*.dsc "$tmp/new" >/dev/null 2>&1 ||
        dpkg-source --no-check -x ./*.dsc "$tmp/new" >/dev/null || missing "the source does not unpack"
}

# pip unpacks a source distribution before it asks it for its dependencies, of which we want nothing: --no-clean leaves
# it there even if the asking fails.
bring_pypi() {
    need pip3 python3-pip
    [[ -n $sum ]] || missing "pip needs the SHA-256"
    printf '%s==%s --hash=sha256:%s\n' "$package" "$version" "$sum" >requirement
    TMPDIR=$tmp/get pip3 download --no-clean --no-deps --no-binary :all: --no-build-isolation --require-hashes -r requirement \
        >said 2>&1 || true
    local found=("$tmp"/get/pip-download-*/"$package"_*/)
    [[ -d ${found[0]} ]] || missing "pip cannot download it ($(grep -m1 ERROR said || tail -1 said))"
    mv "${found[0]}" "$tmp/new"
}

# To tell about a package, cargo downloads it.
bring_crate() {
    need cargo cargo
    cargo info --quiet "$package@$version" >/dev/null 2>said || missing "cargo cannot download it ($(tail -1 said))"
    local found=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$package-$version.crate")
    [[ -f ${found[0]} ]] || missing "cargo left no archive of it"
    unpack "${found[0]}"
}

bring_npm() {
    need npm npm
    npm pack --silent "$package@$version" >said 2>&1 || missing "npm cannot download it ($(tail -1 said))"
    unpack ./*.tgz
}

unpack() {
    check_sum "$1"
    mkdir unpacked
    tar xzf "$1" -C unpacked
    mv unpacked/* "$tmp/new"
}

# What lies in the cache counts only if it was checked against the same sum.
if [[ ! -d $to ]] || { [[ -n $sum ]] && ! grep -qxF -- "$sum" "$to.sha256" 2>/dev/null; }; then
    mkdir -p "$tmp/get" "$cache"
    cd "$tmp/get"
    case $kind in
    debian | pypi | crate | npm) "bring_$kind" ;;
    *) echo "$usage" >&2 && exit 2 ;;
    esac
    mv "$tmp/new" "$cache/.new-$$"
    rm -rf "$to"
    mv -T "$cache/.new-$$" "$to"
    echo "$sum" >"$to.sha256"
fi
echo "$to"
