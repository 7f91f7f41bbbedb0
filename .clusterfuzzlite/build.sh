#!/usr/bin/env bash
# build.sh: what ClusterFuzzLite and OSS-Fuzz call, with their compilers, flags and engine. The targets on the real kernel;
# those of the simulation need Boost.Context, which the builder's image cannot link with its own C++ library.
set -eu

cmake -S . -B "$WORK/flare" -G Ninja \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DCMAKE_BUILD_TYPE=None -DFLARE_BUILD_TESTS=OFF -DFLARE_BUILD_TOOLS=OFF -DFLARE_BUILD_EXAMPLES=OFF \
  -DFLARE_FUZZ=ON -DFLARE_FUZZING_ENGINE="$LIB_FUZZING_ENGINE"

for name in reactor_dispatch http_connection handoff_pool timer_wheel config; do
  cmake --build "$WORK/flare" --target "fuzz_$name"
  cp "$WORK/flare/tests/fuzz/fuzz_$name" "$OUT/"
  (cd "tests/fuzz/corpus/$name" && zip -q -r - .) >"$OUT/fuzz_${name}_seed_corpus.zip"
  printf '[libfuzzer]\nmax_len = 600\ntimeout = 25\nclose_fd_mask = 0\n' >"$OUT/fuzz_$name.options"
  [ ! -f "tests/fuzz/dict/$name.dict" ] || cp "tests/fuzz/dict/$name.dict" "$OUT/fuzz_$name.dict"
done
