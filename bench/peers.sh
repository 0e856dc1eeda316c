#!/usr/bin/env bash
# Makes build/peers, a virtual environment with the card games of others (bench/peers.lock). Safe and quick to run
# again. Takes the interpreter to use, python3.11 when it is not named.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly venv=build/peers lock=bench/peers.lock

if [[ -f $venv/peers.lock ]] && cmp -s "$lock" "$venv/peers.lock" && "$venv/bin/python" -c '' 2>/dev/null; then
    exit 0
fi
printf 'peers: installing what %s names\n' "$lock"
"${1:-python3.11}" -m venv --clear "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r "$lock" || {
    printf 'peers: could not install what %s names\n' "$lock" >&2
    exit 1
}
cp "$lock" "$venv/peers.lock"
