#!/usr/bin/env bash
# model: FLARE_MODEL stands in exactly two files of runtime/: base/sync.h and kernel/system_kernel.h.
. "$(dirname "$0")/lib.sh"
expected="runtime/flare/base/sync.h runtime/flare/kernel/system_kernel.h"
bad=0
mapfile -t files < <(cpp_files runtime)
for file in "${files[@]}"; do
  lines=$(code_awk <(echo '/(^|[^A-Za-z0-9_])FLARE_MODEL([^A-Za-z0-9_]|$)/ { print FNR; exit }') "$file")
  case " $expected " in
    *" $file "*) [ -n "$lines" ] || { echo "$file:1: names FLARE_MODEL nowhere"; bad=1; } ;;
    *) [ -z "$lines" ] || { echo "$file:$lines: FLARE_MODEL outside the two doors"; bad=1; } ;;
  esac
done
for file in $expected; do
  [ -f "$file" ] || { echo "$file:1: is missing"; bad=1; }
done
exit $bad
