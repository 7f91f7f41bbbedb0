#!/usr/bin/env bash
# statics: in runtime/ nothing that outlives or escapes a schedule: no thread_local, no function-local static but
# constexpr or constinit, no container keyed by pointers, no fence without an atomic.
. "$(dirname "$0")/lib.sh"
mapfile -t files < <(cpp_files runtime)
code_awk "$lint_dir/statics.awk" "${files[@]}"
