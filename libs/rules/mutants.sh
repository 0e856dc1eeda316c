#!/usr/bin/env bash
# Break a copy of the rules in many small ways, and see that a test notices each: see docs/testing.md.
# Takes the folder with python and mutmut, .venv/bin when it is not named. Leaves everything in build/mutants.
set -euo pipefail
cd "$(dirname "$0")/../.."
bin=$(realpath "${1:-.venv/bin}")
stage=build/mutants
rm -rf "$stage"
mkdir -p "$stage/rules"
cp -R docs "$stage/docs"
cp -R libs/rules/darbar_rules libs/rules/tests libs/rules/pyproject.toml "$stage/rules/"
program=$(realpath libs/rules/mutants.py)
cd "$stage/rules"
exec nice "$bin/python" "$program" "$bin/mutmut"
