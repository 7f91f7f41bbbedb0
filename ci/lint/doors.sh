#!/usr/bin/env bash
# doors: in runtime/, threads and the environment stand in base/sync.* only; system calls, clocks and randomness in
# kernel/ only.
. "$(dirname "$0")/lib.sh"
mapfile -t files < <(cpp_files runtime)
code_awk "$lint_dir/doors.awk" "${files[@]}"
