#!/usr/bin/env bash
# Sees to it that there is a Chromium for the tests in a browser. Quick when there is one, and loud when none can be had:
# the tests then say that they were skipped. Debian's own comes with apt where we may install it, elsewhere Playwright's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
.venv/bin/python tests/browser/chromium.py && exit 0

if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    printf 'browser: installing chromium\n'
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium && exit 0
fi
printf 'browser: asking Playwright for its Chromium\n'
.venv/bin/playwright install chromium && exit 0
printf 'browser: NO CHROMIUM: not installed, and none can be fetched. The tests will be skipped.\n' >&2
