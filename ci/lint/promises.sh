#!/usr/bin/env bash
# promises: every id that a test says it proves is one of docs/contract.md or docs/invariants.md.
. "$(dirname "$0")/lib.sh"
[ -f docs/contract.md ] || { echo "docs/contract.md:1: is missing"; exit 1; }
exec "$lint_dir/../../scripts/promises" --ids-only "$PWD"
