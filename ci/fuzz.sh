# fuzz.sh: each fuzz target for a bounded time, from the committed inputs. Sourced by run.sh, after the preset's workflow has
# built the targets and replayed the inputs.
#
# FLARE_FUZZ_SECONDS: for each target (20). FLARE_FUZZ_SEED: of libFuzzer (the time). FLARE_FUZZ_TARGETS: which (all).
# What is found grows build/fuzz/corpus/NAME; what fails is left in build/fuzz/artifacts.

fuzz_one() {  # TARGET SECONDS SEED
  local target=$1 corpus=${1%_sim} program=build/fuzz/tests/fuzz/fuzz_$1 length=600
  local found=build/fuzz/corpus/$corpus artifacts=build/fuzz/artifacts dict=tests/fuzz/dict/$corpus.dict
  local options=(-seed="$3" -max_total_time="$2" -timeout=25 -rss_limit_mb=2048 -print_final_stats=1)
  case $target in reactor_dispatch* | handoff_pool | timer_wheel) length=192 ;; esac
  options+=(-max_len="$length" -artifact_prefix="$artifacts/$target-")
  [ "$target" != plain_head ] || dict=tests/fuzz/dict/http_connection.dict
  [ ! -f "$dict" ] || options+=(-dict="$dict")
  mkdir -p "$found" "$artifacts"
  echo "reproduce: $program ${options[*]} $found tests/fuzz/corpus/$corpus"
  if "$program" "${options[@]}" "$found" "tests/fuzz/corpus/$corpus" >"build/fuzz/$target.log" 2>&1; then
    sed -n 's/^stat::number_of_executed_units: */  inputs: /p; s/^stat::average_exec_per_sec: */  per second: /p' \
      "build/fuzz/$target.log"
    return 0
  fi
  tail -40 "build/fuzz/$target.log"
  local input
  input=$(sed -n 's/.*Test unit written to //p' "build/fuzz/$target.log" | tail -1)
  echo "FAILED: fuzz_$target; reproduce: $program $input; as text: $program --dump $input"
  return 1
}

# What finds nothing proves nothing: with a defect planted in the simulated twin, a minute from no input at all must do.
fuzz_canary() {
  local folder=build/fuzz/canary program=build/fuzz/tests/fuzz/fuzz_reactor_dispatch_sim start=$SECONDS
  rm -rf "$folder"
  mkdir -p "$folder/found"
  echo "reproduce: FLARE_FUZZ_MUTANT=kGenerationIgnored $program -seed=1 -max_total_time=60 -max_len=192"
  FLARE_FUZZ_MUTANT=kGenerationIgnored "$program" -seed=1 -max_total_time=60 -max_len=192 -timeout=25 \
    -artifact_prefix="$folder/" "$folder/found" >"$folder/log" 2>&1
  if compgen -G "$folder/crash-*" >/dev/null; then
    echo "  canary: found within $((SECONDS - start + 1)) s"
    return 0
  fi
  tail -20 "$folder/log"
  echo "FAILED: the canary: a reactor that ignores generations was not found"
  return 1
}

fuzz_all() {
  local seconds=${FLARE_FUZZ_SECONDS:-20} seed=${FLARE_FUZZ_SEED:-$(date +%s)} bad=0 target
  local all="reactor_dispatch reactor_dispatch_sim http_connection plain_head handoff_pool timer_wheel"
  all+=" config schedule"
  # A fiber that is left in the middle keeps the fake stack of that check.
  export ASAN_OPTIONS=detect_stack_use_after_return=0:strict_init_order=1
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  fuzz_canary || bad=77
  for target in ${FLARE_FUZZ_TARGETS:-$all}; do
    fuzz_one "$target" "$seconds" "$seed" || bad=77
  done
  return $bad
}
