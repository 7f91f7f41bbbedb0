#!/usr/bin/env bash
# blocks: every header of runtime/ begins with its name and what it is; a public one has the whole comment block, each
# line of it on a line of its own.
. "$(dirname "$0")/lib.sh"
mapfile -t files < <(list_files '[^/]+\.h' runtime/flare)
[ "${#files[@]}" -gt 0 ] || exit 0
LC_ALL=C awk '
  BEGIN { n = split("Threads Owns Bounds Errors Ordering Invariants Not~here Source", want, " "); for (i = 1; i <= n; i++) sub("~", " ", want[i]) }
  function finish(   i) {
    if (public == 0) { printf "%s:1: says neither \"Public header.\" nor \"Internal.\" at the end of its first line\n", file; bad = 1 }
    if (public == 1) for (i = 1; i <= n; i++) if (!(want[i] in seen)) { printf "%s:1: its comment block has no line \"// %s:\"\n", file, want[i]; bad = 1 }
  }
  FNR == 1 {
    if (file != "") finish()
    file = FILENAME; top = 1; split("", seen); name = file; sub(/.*\//, "", name)
    if (index($0, "// " name ": ") != 1) { printf "%s:1: does not begin with \"// %s: \"\n", file, name; bad = 1 }
    public = $0 ~ /Public header\.$/ ? 1 : $0 ~ /(Private header|Internal)\.$/ ? 2 : 0
  }
  top && !/^\/\// { top = 0 }
  top { for (i = 1; i <= n; i++) if (index($0, "// " want[i] ":") == 1) seen[want[i]] = 1 }
  END { finish(); exit bad }' "${files[@]}"
