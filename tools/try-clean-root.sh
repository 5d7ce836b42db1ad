#!/usr/bin/env bash
# Tries Carol on a bare Debian: debootstrap (minbase) into a directory, a clone of this repository in
# it, then commands there as root of that system.  Needs root and debootstrap.  What the machine needs
# to reach its mirrors (apt sources and options, resolver, certificates, cargo's settings) is copied
# at run time; nothing of Carol's is.
#
#   tools/try-clean-root.sh ROOT [SUITE [COMMAND]]    default: bookworm, 'make && make test'
#
# For another distribution: MIRROR=URL, SOURCES=FILE (becomes its /etc/apt/sources.list) and
# DEBOOTSTRAP='options' in the environment.
#
# ROOT is made when it is not there and kept; remove it by hand.  It runs in mount and PID namespaces
# of its own with ROOT pivoted in (not chroot: there the kernel refuses user namespaces), so nothing
# stays mounted and no process survives.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

if [[ ${1-} == --inside ]]; then
    root=$2 command=$3
    mount --make-rprivate /
    mount --bind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount --rbind /sys sys
    mount --rbind /dev dev
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mkdir -p old
    pivot_root . old
    cd /
    umount -l /old
    exec env -i HOME=/root TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        SSL_CERT_FILE=/etc/machine-ca.crt CARGO_HTTP_CAINFO=/etc/machine-ca.crt \
        bash -euxo pipefail -c "$command"
fi

root=${1:?usage: tools/try-clean-root.sh ROOT [SUITE [COMMAND]]}
suite=${2:-bookworm}
command=${3:-make && make test}
command -v debootstrap >/dev/null || { echo "install debootstrap first: apt-get install debootstrap" >&2; exit 3; }

if [[ ! -e $root/etc/debian_version ]]; then
    # shellcheck disable=SC2016  # apt's own variable
    mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sed -n 1p)}
    read -r -a extra <<<"${DEBOOTSTRAP-}"
    script=() # Ubuntu's releases are all made as gutsy was; this debootstrap may not know the newest
    [[ -e /usr/share/debootstrap/scripts/$suite ]] || script=(gutsy)
    debootstrap --variant=minbase "${extra[@]}" "$suite" "$root" "$mirror" "${script[@]}"
    if [[ -n ${SOURCES-} ]]; then
        cp "$SOURCES" "$root/etc/apt/sources.list"
    elif grep -rqs "^Suites:.*$suite" /etc/apt/sources.list.d; then
        cp /etc/apt/sources.list.d/*.sources "$root/etc/apt/sources.list.d/"
    fi
    find /etc/apt/apt.conf.d -name '9*' -exec cp {} "$root/etc/apt/apt.conf.d/" \;
fi
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/machine-ca.crt"
if [[ -f ${CARGO_HOME:-$HOME/.cargo}/config.toml ]]; then
    install -D -m 600 "${CARGO_HOME:-$HOME/.cargo}/config.toml" "$root/root/.cargo/config.toml"
fi
rm -rf "$root/srv/carol.git" "$root/root/carol"
git clone -q --bare "$here" "$root/srv/carol.git"

exec unshare --mount --pid --fork --kill-child "$0" --inside "$root" "
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends git make
    git config --global --add safe.directory '*'
    git clone -q /srv/carol.git /root/carol
    cd /root/carol
    $command"
