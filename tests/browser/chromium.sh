#!/usr/bin/env bash
# Sees to it that there is a Chromium for the tests in a browser. Quick when there is one, and loud when none can be had:
# the tests then say that they were skipped. Debian's own comes with apt where we may install it, elsewhere Playwright's.
set -euo pipefail
# Whoever waits for tests does not wait for a registry that does not answer.
readonly seconds_max=180
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

limited() {
    if command -v timeout >/dev/null; then timeout "$seconds_max" "$@"; else "$@"; fi
}

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
.venv/bin/python tests/browser/chromium.py && exit 0

if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    printf 'browser: installing chromium\n'
    export DEBIAN_FRONTEND=noninteractive
    limited apt-get update -qq && limited apt-get install -qq --no-install-recommends chromium && exit 0
fi
printf 'browser: asking Playwright for its Chromium\n'
limited .venv/bin/playwright install chromium && exit 0
printf 'browser: NO CHROMIUM: not installed, and none can be fetched. The tests will be skipped.\n' >&2
