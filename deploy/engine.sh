#!/usr/bin/env bash
# Prints the program that builds images on this machine: docker when its daemon runs, else podman or buildah.
#   engine.sh --install   first installs podman and what base.sh needs, where they are missing and apt may install them
set -euo pipefail
readonly seconds_max=180

fail() {
    printf 'engine: %s\n' "$*" >&2
    exit 1
}

is_here() {
    command -v "$1" >/dev/null
}

find_engine() {
    if docker info >/dev/null 2>&1; then
        printf 'docker\n'
    elif is_here podman; then
        printf 'podman\n'
    elif is_here buildah; then
        printf 'buildah\n'
    else
        return 1
    fi
}

# With runc: it starts containers on machines with both kinds of control groups, where crun refuses to.
install() {
    local missing=()
    docker info >/dev/null 2>&1 || is_here podman || missing+=(podman runc)
    is_here mmdebstrap || missing+=(mmdebstrap)
    ((${#missing[@]})) || return 0
    [[ $(id -u) == 0 ]] && is_here apt-get || fail "not here, and only root may install them, with apt: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    {
        timeout "$seconds_max" apt-get update -qq &&
            timeout "$seconds_max" apt-get install -qq --no-install-recommends "${missing[@]}"
    } >&2 || fail "apt could not install ${missing[*]}"
}

[[ "${1:-}" != --install ]] || install
find_engine || fail 'neither a running docker nor podman nor buildah is here'
