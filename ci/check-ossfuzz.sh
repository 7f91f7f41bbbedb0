#!/usr/bin/env bash
# check-ossfuzz.sh: what OSS-Fuzz and ClusterFuzzLite would do with .clusterfuzzlite/build.sh, without their image: the same
# variables, a build, then a thousand runs of each target.
set -eu
cd "$(dirname "$0")/.."

export SRC=$PWD/.. WORK=$PWD/build/ossfuzz/work OUT=$PWD/build/ossfuzz/out
export CC=${CC:-clang-22} CXX=${CXX:-clang++-22} LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export CFLAGS="-O1 -g1 -fsanitize=address,fuzzer-no-link" CXXFLAGS="-O1 -g1 -fsanitize=address,fuzzer-no-link"
mkdir -p "$WORK" "$OUT"
command -v zip >/dev/null || { echo "check-ossfuzz: zip is missing: apt-get install zip" >&2; exit 2; }
.clusterfuzzlite/build.sh
for options in "$OUT"/*.options; do
  target=${options%.options}
  [ -x "$target" ] && [ -s "${target}_seed_corpus.zip" ] || { echo "check-ossfuzz: $target is not whole" >&2; exit 1; }
  echo "reproduce: $target -runs=1000 -seed=1"
  "$target" -runs=1000 -seed=1 -max_len=600 >"$target.log" 2>&1 || { tail -20 "$target.log"; exit 1; }
done
echo "check-ossfuzz: every target was built and ran"
