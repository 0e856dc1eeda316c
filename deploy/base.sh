#!/usr/bin/env bash
# Prints the name of a base image that this machine has: the official one when it can be pulled; else a small Debian
# with Python 3.11 is made on the spot, out of the machine's own package sources. For `BASE=$(bash deploy/base.sh) ...`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly name=localhost/darbar-base:bookworm tarball=build/base.tar
readonly pull_seconds_max=120 make_seconds_max=300
# `pip` serves stages of the Dockerfile that are left behind; certificates are for sound in a bucket elsewhere, and
# codecs of sound are written in C++.
readonly packages=base-files,ca-certificates,dash,libstdc++6,python3,python3-pip,tzdata
# The package's own script does the same, and needs a shell and Perl in there.
readonly certificates='cat "$1"/usr/share/ca-certificates/mozilla/*.crt >"$1"/etc/ssl/certs/ca-certificates.crt'

fail() {
    printf 'base: %s\n' "$*" >&2
    exit 1
}

can_pull() {
    timeout "$pull_seconds_max" "$engine" pull --quiet "$1" </dev/null >/dev/null 2>&1
}

# Nothing on a machine with another release: mmdebstrap then asks the mirrors that it knows itself.
sources() {
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
        grep -E '^deb [^ ]+ bookworm' || true
}

# Packages are unpacked and not set up: nobody logs in there, and nothing is installed later.
make_tarball() {
    local lines=()
    mapfile -t lines < <(sources)
    timeout "$make_seconds_max" mmdebstrap --quiet --variant=extract --include="$packages" \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --extract-hook="$certificates" bookworm "$tarball" "${lines[@]}" >&2
}

take_in() {
    if [[ $engine != buildah ]]; then
        "$engine" import "$tarball" "$name"
        return
    fi
    local container
    container=$(buildah from scratch)
    buildah add --quiet "$container" "$tarball" /
    buildah commit --quiet --rm "$container" "$name"
}

engine=$(bash deploy/engine.sh)
official=$(sed -n 's/^ARG BASE=//p' deploy/Dockerfile)
if can_pull "$official"; then
    printf '%s\n' "$official"
    exit 0
fi
command -v mmdebstrap >/dev/null || fail "$official can't be pulled, and without mmdebstrap no other base can be made"
printf 'base: %s can not be pulled; making %s\n' "$official" "$name" >&2
mkdir -p build
make_tarball || fail "mmdebstrap could not make $name"
take_in >&2
rm "$tarball"
printf '%s\n' "$name"
