#!/usr/bin/env bash
# format: every source looks as clang-format with .clang-format would write it.
. "$(dirname "$0")/lib.sh"
mapfile -t files < <(cpp_files "${all_folders[@]}")
[ "${#files[@]}" -eq 0 ] || clang-format-22 --style=file:"$lint_dir/../../.clang-format" --dry-run -Werror "${files[@]}"
