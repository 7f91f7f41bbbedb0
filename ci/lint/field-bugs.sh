#!/usr/bin/env bash
# field-bugs: docs/field-bugs.md has each id, every test that it names exists, and it names every test that claims one.
. "$(dirname "$0")/lib.sh"
exec "$lint_dir/../../scripts/field-bugs" --check "$PWD"
