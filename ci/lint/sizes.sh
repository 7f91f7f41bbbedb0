#!/usr/bin/env bash
# sizes: files of at most 300 lines, functions of at most 70, lines of at most 120 columns.
. "$(dirname "$0")/lib.sh"
bad=0
mapfile -t cpp < <(cpp_files "${all_folders[@]}")
mapfile -t shell < <(shell_files; list_files '[^/]+\.awk' "${all_folders[@]}")
if [ $((${#cpp[@]} + ${#shell[@]})) -gt 0 ]; then
  LC_ALL=C awk '
    function done_file() { if (lines > 300) { printf "%s:301: a file of %d lines, 300 is the most\n", file, lines; bad = 1 } }
    FNR == 1 { done_file(); file = FILENAME }
    { lines = FNR }
    file ~ /\.(h|cpp)$/ && length($0) > 120 { printf "%s:%d: a line of %d columns, 120 is the most\n", file, FNR, length($0); bad = 1 }
    END { done_file(); exit bad }' "${cpp[@]}" "${shell[@]}" || bad=1
fi
code_awk "$lint_dir/functions.awk" "${cpp[@]}" || bad=1
if [ "${#shell[@]}" -gt 0 ]; then
  LC_ALL=C awk '
    FNR == 1 { start = 0 }
    /^[A-Za-z_][A-Za-z_0-9]*\(\) \{/ { start = FNR; name = $1 }
    /^}/ && start { if (FNR - start + 1 > 70) { printf "%s:%d: %s has %d lines, 70 is the most\n", FILENAME, start, name, FNR - start + 1; bad = 1 } start = 0 }
    END { exit bad }' "${shell[@]}" || bad=1
fi
exit $bad
