#!/usr/bin/env bash
# Installs the missing Debian packages that Carol needs.  If none is missing, it says nothing and ends in a
# few milliseconds (one dpkg-query).  It never asks.
#
#   tools/setup.sh           what `make` needs
#   tools/setup.sh test      also what `make test` needs: a browser, a JSON schema checker, curl; without them tests are skipped
#   tools/setup.sh lint      also what `make lint` needs
#   tools/setup.sh --print   only prints the command that would install what is missing
#
# The names were tried on Debian 12, Debian 13 and Ubuntu 24.04, each from a bare debootstrap
# (docs/decisions.md).  These differ only in which package has a recent cargo: `cargo-web` on Debian 12,
# `cargo` on 13, the newest `cargo-1.NN` on Ubuntu 24.04.  On a release without clang-19 (not tried),
# clang-16 serves the neutral, asan and plain families only.
set -euo pipefail
export LC_ALL=C

packages=(
    make meson ninja-build pkg-config git ca-certificates python3
    gcc g++ libc6-dev binutils
    libjansson-dev libsqlite3-dev libssl-dev libarchive-dev libelf-dev libxxhash-dev libmicrohttpd-dev
    libcmocka-dev
    clang-19 lld-19 llvm-19 llvm-19-dev libclang-rt-19-dev
    binutils-dev libunwind-dev liblzma-dev libblocksruntime-dev zlib1g-dev
    cmake dpkg-dev
)
test_packages=(chromium chromium-driver python3-jsonschema curl ccache) # for the pages, for SARIF, for --webhook, for builds
lint_packages=(clang-format-19 clang-tidy-19 cppcheck shellcheck)
fallback_packages=(clang-16 lld-16 llvm-16 libclang-rt-16-dev)
readonly cargo_needs=85 # 1.85: the crates of engines/Cargo.lock are of edition 2024

say() { printf 'setup: %s\n' "$*" >&2; }

# The names among the arguments that are not installed.
missing_of() {
    local have
    have=" $(dpkg-query -W -f='${db:Status-Status}=${Package}\n' "$@" 2>/dev/null |
        sed -n 's/^installed=//p' | tr '\n' ' ')" || true
    local name
    for name in "$@"; do
        [[ $have == *" $name "* ]] || printf '%s\n' "$name"
    done
}

# Does any cargo here read the lock file?
cargo_is_here() {
    local tool minor
    for tool in cargo /usr/bin/cargo /usr/bin/cargo-1.*; do
        command -v "$tool" >/dev/null || continue
        minor=$("$tool" --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p') || continue
        [[ -n $minor ]] && ((minor >= cargo_needs)) && return 0
    done
    return 1
}

# The version apt would install, empty when it has none.
candidate() { apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: //p' | grep -vx '(none)' || true; }

# A package that brings a recent cargo: Debian 12 keeps an old `cargo` and a newer `cargo-web`.
cargo_package() {
    local name minor
    for name in cargo cargo-web $(apt-cache pkgnames cargo-1. | grep -xE 'cargo-1\.[0-9]+' | sort -Vr); do
        minor=$(candidate "$name" | sed -n 's/^\(.*:\)\?1\.\([0-9]*\)\..*/\2/p')
        [[ $name == cargo-1.* && -n $(candidate "$name") ]] && minor=${name#cargo-1.}
        [[ -n $minor ]] && ((minor >= cargo_needs)) && { echo "$name"; return 0; }
    done
    return 1
}

as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

may_be_root() { [[ $(id -u) == 0 ]] || sudo -n true 2>/dev/null; }

want=("${packages[@]}")
print=0
for arg in "$@"; do
    case $arg in
    test) want+=("${test_packages[@]}") ;;
    lint) want+=("${lint_packages[@]}") ;;
    --print) print=1 ;;
    *) say "usage: tools/setup.sh [test] [lint] [--print]"; exit 2 ;;
    esac
done

if ! command -v dpkg-query >/dev/null; then
    say "this is not a Debian system; install the equivalents of: ${want[*]} cargo (>= 1.$cargo_needs)"
    exit 0
fi

mapfile -t missing < <(missing_of "${want[@]}")
need_cargo=0
cargo_is_here || need_cargo=1
if ((${#missing[@]} == 0 && need_cargo == 0)); then
    exit 0
fi

# Sets `install` to the missing packages that the package lists offer.
plan() {
    local name
    install=()
    for name in "${missing[@]}"; do
        [[ -n $(candidate "$name") ]] && install+=("$name")
    done
    if ((need_cargo)); then
        name=$(cargo_package) && install+=("$name")
    fi
    if [[ " ${missing[*]} " == *" clang-19 "* && " ${install[*]} " != *" clang-19 "* ]]; then
        say "this release has no clang-19: taking clang-16 for the neutral, asan and plain families;" \
            "the fuzzers' own builds need clang-19"
        for name in "${fallback_packages[@]}"; do
            [[ -n $(candidate "$name") ]] && install+=("$name")
        done
    fi
    return 0
}

apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
options=(install -y -q --no-install-recommends)
if ((print)); then
    plan
    ((${#install[@]} == 0)) || echo "sudo apt-get ${options[*]} ${install[*]}"
    exit 0
fi
if ! may_be_root; then
    plan
    say "these packages are missing and this user may not install them; run"
    say "    sudo apt-get update && sudo apt-get install -y --no-install-recommends ${install[*]:-${missing[*]}}"
    say "then make again (a compiler, meson and the -dev packages are needed; cargo only for the fuzzers)"
    exit 3
fi

shown=("${missing[@]}")
((need_cargo)) && shown+=(cargo)
say "missing: ${shown[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! as_root "${apt[@]}" update -q >"$log" 2>&1; then
    say "apt-get update failed; going on with the lists at hand"
    tail -n 3 "$log" >&2
fi
plan
if ((${#install[@]} > 0)); then
    say "installing ${#install[@]} packages ..."
    if ! as_root "${apt[@]}" "${options[@]}" "${install[@]}" >"$log" 2>&1; then
        tail -n 15 "$log" >&2
        say "apt-get failed; the command was: apt-get ${options[*]} ${install[*]}"
        exit 3
    fi
    say "done"
fi
mapfile -t missing < <(missing_of "${packages[@]}")
if ((${#missing[@]} > 0)); then
    say "not available here: ${missing[*]}"
fi
cargo_is_here || say "no cargo >= 1.$cargo_needs here: the fuzzers cannot be fetched"
exit 0
