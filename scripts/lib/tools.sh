# tools.sh: builds flare-serve and flare-storm for the scripts that run them; sourced after setup.sh, in the root.

# The tools as people get them: optimised. FLARE_BIN names the folder of others.
build_tools() {
  bin=${FLARE_BIN:-build/demo/tools}
  [ -z "${FLARE_BIN:-}" ] || return 0
  need_packages demo || exit 2
  { cmake --preset release -B build/demo -DFLARE_BUILD_TESTS=OFF -DFLARE_BUILD_EXAMPLES=OFF &&
      cmake --build build/demo --target flare-serve flare-storm; } >build-demo.log 2>&1 || { cat build-demo.log; exit 1; }
  rm -f build-demo.log
}
