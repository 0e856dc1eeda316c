#!/usr/bin/env bash
# Sees to it that there is a Chromium for the tests in a browser. Quick when there is one, and loud when none can be had:
# the tests then say that they were skipped. Debian's own comes with apt where we may install it, elsewhere Playwright's.
set -euo pipefail
# Whoever waits for tests does not wait for a registry that does not answer: for all ways together. apt leaves some of it.
readonly seconds_max=150
readonly apt_seconds_max=100
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

has_one() {
    local name
    for name in chromium chromium-browser google-chrome; do
        command -v "$name" >/dev/null && return
    done
    .venv/bin/python tests/browser/chromium.py
}

# limited UNTIL COMMAND: it has what is left until that second of this script; what it began ends with it.
limited() {
    local until=$1 left=$(($1 - SECONDS))
    shift
    if ((left < 1)); then
        printf 'browser: not tried, the %d seconds are over: %s\n' "$until" "$*" >&2
        return 1
    fi
    if command -v timeout >/dev/null; then
        timeout --kill-after=5 "$left" "$@" && return
    else
        "$@" && return
    fi
    printf 'browser: failed, or not done within %d seconds: %s\n' "$until" "$*" >&2
    return 1
}

has_one && exit 0
if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    printf 'browser: installing chromium\n'
    export DEBIAN_FRONTEND=noninteractive
    limited $apt_seconds_max apt-get update -qq && limited $apt_seconds_max apt-get install -qq --no-install-recommends chromium && exit 0
else
    printf 'browser: apt was not tried: it needs Debian and root\n'
fi
printf 'browser: asking Playwright for its Chromium\n'
limited $seconds_max .venv/bin/playwright install chromium && exit 0
printf 'browser: NO CHROMIUM: not installed, and none can be fetched. Nothing is tried in a browser: the tests are skipped.\n' >&2
