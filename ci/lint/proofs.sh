#!/usr/bin/env bash
# proofs: docs/proofs.md is what scripts/proofs makes of the contract, the tests and the mutants now.
. "$(dirname "$0")/lib.sh"
exec "$lint_dir/../../scripts/proofs" --check "$PWD"
