#!/usr/bin/env bash
# Brings the source of one package of a registry into the cache and prints the directory that it lies in.
#
#   tools/source.sh KIND PACKAGE VERSION [SHA256]
#
#   debian   source package, patches applied.  SHA256 is that of the upstream archive: when the mirror no longer has that
#            revision, another one of the same archive is taken, and said.  Or it is that of the .dsc: exactly that revision.
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

# One of the files is the pinned one, or nothing is unpacked.
check_sum() {
    sha256sum "$@" | cut -d' ' -f1 >"$tmp/sums"
    [[ -z $sum ]] || grep -qxF -- "$sum" "$tmp/sums" ||
        missing "what came is not the pinned one: SHA-256 $(sha256sum "$@" | sed 's/  / of /' | paste -sd ';')"
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
    missing "no source of $package can be downloaded ($(tail -n 1 "$tmp/said"))"
}

bring_debian() {
    prepare_apt
    download_debian >&2
    check_sum ./*.dsc ./*.orig.tar.*
    dpkg-source -q -x ./*.dsc "$tmp/new" >"$tmp/said" 2>&1 || missing "the source does not unpack ($(tail -n 1 "$tmp/said"))"
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
    [[ -d ${found[0]} ]] || missing "pip cannot download it ($(grep -m1 ERROR said || tail -n 1 said))"
    mv "${found[0]}" "$tmp/new"
    echo "$sum" >"$tmp/sums"
}

# To tell about a package, cargo downloads it.
bring_crate() {
    need cargo cargo
    cargo info --quiet "$package@$version" >/dev/null 2>said || missing "cargo cannot download it ($(tail -n 1 said))"
    local found=("${CARGO_HOME:-$HOME/.cargo}"/registry/cache/*/"$package-$version.crate")
    [[ -f ${found[0]} ]] || missing "cargo left no archive of it"
    unpack "${found[0]}"
}

bring_npm() {
    need npm npm
    npm pack --silent "$package@$version" >said 2>&1 || missing "npm cannot download it ($(tail -n 1 said))"
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
    mv "$tmp/sums" "$to.sha256"
fi
echo "$to"
