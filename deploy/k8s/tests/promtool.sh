#!/usr/bin/env bash
# Brings promtool into build/promtool, out of Debian's package of Prometheus; nothing is installed on the machine.
# Where there is no apt, put promtool on PATH.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
readonly target=build/promtool

if [[ -x $target/usr/bin/promtool ]] || command -v promtool >/dev/null; then
    exit 0
fi
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || {
    printf 'promtool: there is no apt here; install Prometheus, or tests of alerts are skipped\n' >&2
    exit 1
}
mkdir -p "$target"
cd "$target"
apt-cache show prometheus >/dev/null 2>&1 || apt-get -qq update
apt-get -qq download prometheus
dpkg-deb --extract prometheus_*.deb .
rm prometheus_*.deb
usr/bin/promtool --version | head -n 1
