#!/usr/bin/env bash
# words: the files of the project need no text outside it, and no check is switched off outside tests/sim.
. "$(dirname "$0")/lib.sh"
bad=0
report() {  # MESSAGE; grep's lines on stdin
  local line
  while IFS= read -r line; do
    echo "$(cut -d: -f1-2 <<<"$line"): $1"
    bad=1
  done
}
# This rule and its tests have to spell what they forbid.
own='^(ci/lint/words\.sh|tests/lint/|\.git$)'
mapfile -t files < <({ list_files '[^/]+\.(h|cpp|sh|awk|md|txt|cmake|json|patch)' "${all_folders[@]}" docs cmake
  list_files '[^/.]+' "${all_folders[@]}"; find . -maxdepth 1 -type f | sed 's/^\.\///'; } | grep -Ev "$own")
[ "${#files[@]}" -gt 0 ] || exit 0
report 'a word of what is not in the project' < <(grep -nHE '\.\./shared|/work/' "${files[@]}")
report 'a sanitizer is switched off' < <(grep -nHE 'no_sanitize|__tsan_ignore|__lsan_(ignore|disable)|suppressions=|ANNOTATE_BENIGN_RACE' "${files[@]}" | grep -Ev '^(tests/sim/|docs/|README\.md|CHANGELOG\.md|CONTRIBUTING\.md)')
exit $bad
