#!/usr/bin/env bash
# Makes build/node_peers with the game servers of others (package-lock.json here). Safe and quick to run again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly from=bench/node_peers to=build/node_peers

mkdir -p "$to"
cp "$from"/{*.cjs,package.json,.npmrc} "$to/"
if cmp -s "$from/package-lock.json" "$to/installed.lock"; then
    exit 0
fi
printf 'peers: installing what %s names\n' "$from/package-lock.json"
cp "$from/package-lock.json" "$to/package-lock.json"
npm ci --prefix "$to" --silent --ignore-scripts || {
    printf 'peers: could not install what %s names\n' "$from/package-lock.json" >&2
    exit 1
}
cp "$from/package-lock.json" "$to/installed.lock"
