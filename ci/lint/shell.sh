#!/usr/bin/env bash
# shell: every script parses, and one that has a #! line may be executed.
. "$(dirname "$0")/lib.sh"
bad=0
while IFS= read -r file; do
  message=$(bash -n "$file" 2>&1) || { echo "$file:1: does not parse: $message"; bad=1; }
  IFS= read -r first <"$file" || true
  case $first in
    '#!'*) [ -x "$file" ] || { echo "$file:1: has a #! line and is not executable"; bad=1; } ;;
  esac
done < <(shell_files)
exit $bad
