#!/usr/bin/env bash
# promises: every promise and invariant has a test that names it, and every id that a test names is in the documents.
. "$(dirname "$0")/lib.sh"
[ -f docs/contract.md ] || { echo "docs/contract.md:1: is missing"; exit 1; }
exec "$lint_dir/../../scripts/promises" --check "$PWD"
