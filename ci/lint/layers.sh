#!/usr/bin/env bash
# layers: who may include whom: base <- kernel <- net <- reactor; base <- timer; base <- handoff; those <- worker <-
# scheduler; http on top. runtime/ includes nothing of tests/, and every spelling is "flare/room/file.h".
. "$(dirname "$0")/lib.sh"
mapfile -t files < <(cpp_files runtime tools examples)
[ "${#files[@]}" -eq 0 ] || LC_ALL=C awk -f "$lint_dir/layers.awk" "${files[@]}"
