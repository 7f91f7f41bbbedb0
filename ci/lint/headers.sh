#!/usr/bin/env bash
# headers: every header of runtime/ compiles alone. Two at a time.
. "$(dirname "$0")/lib.sh"
compile_alone() {  # HEADER, its path below runtime/
  local output
  output=$(echo "#include \"$1\"" | g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only -Iruntime -isystem /usr/share/include/llhttp -x c++ - 2>&1) && return
  echo "runtime/$1:1: does not compile alone"
  head -5 <<<"$output"
  return 1
}
export -f compile_alone
list_files '[^/]+\.h' runtime/flare | sed 's/^runtime\///' | xargs -r -P 2 -I '{}' bash -c 'compile_alone {}'
