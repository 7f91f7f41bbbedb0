#!/usr/bin/env bash
# run.sh [--shard I/N] STAGE...: the stages of CI, the same for people and machines.
#
# --shard: the I-th of N parts of the tests (ctest -I I,,N), for as many machines.
# lint: the rules of ci/lint/.  fuzz: its preset, then each target for FLARE_FUZZ_SECONDS (ci/fuzz.sh).
# sim-nightly takes an hour: the lifecycle with three preemptions, each scenario for FLARE_SIM_SECONDS (300) at most.
# For the night, too: mutants (scripts/mutants); stress-nightly, 100 million queue operations under tsan
# (FLARE_STRESS_OPERATIONS); repeats, the tests of stress and shutdown 200 times (FLARE_REPEATS) beside a busy process.
# counts: instructions of the hot paths against their budget (scripts/bench counts).
# soak-smoke: a minute of the soak; soak-nightly: FLARE_SOAK_MINUTES (60) of it, of the shard FLARE_SOAK_SHARD (1/1).
# All others (dev, release, asan, tsan, sim, ...): cmake --workflow --preset STAGE.
# Every stage runs, also after one that failed. Exit: 0, all passed; 42, a test said no: final; 77, a fuzz target did;
# 1, something else went wrong, a build or a machine; 2, usage, or packages that are missing.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/lib/setup.sh
. ci/coverage.sh
. ci/fuzz.sh

stages="lint dev asan tsan sim sim-asan sim-tsan sim-nightly release coverage fuzz mutants stress-nightly repeats"
stages+=" counts soak-smoke soak-nightly workflows"

budget_of() {  # STAGE: seconds; nothing where none is set
  case $1 in
    lint | counts) echo 120 ;;
    dev | asan) echo 540 ;;
    tsan) echo 420 ;;
    sim | sim-tsan) echo 480 ;;
    sim-asan) echo 600 ;;
    soak-smoke) echo 180 ;;
  esac
}

# Random schedules start from the commit: each commit explores others, and all runs of one commit explore the same.
# Outside of a checkout it is 1. Forty bits: a number that a person can type.
seed_of_commit() {
  local head=1
  if [ -e .git ]; then head=$(git rev-parse HEAD 2>/dev/null) || head=1; fi
  echo $((16#${head:0:10}))
}

reproduce_line() {  # STAGE
  case $1 in
    sim*) echo "reproduce: FLARE_SIM_SEED=$FLARE_SIM_SEED ci/run.sh $1" ;;
    soak*) echo "reproduce: FLARE_SOAK_SEED=$FLARE_SOAK_SEED ci/run.sh $1" ;;
    *) echo "reproduce: ci/run.sh $1" ;;
  esac
}

shard=""
run_preset() {  # TEST_PRESET [PRESET]: PRESET configures and builds it, if that is another one
  if [ -z "$shard" ]; then cmake --workflow --preset "$1"; return; fi
  cmake --preset "${2:-$1}" && cmake --build --preset "${2:-$1}" && ctest --preset "$1" -I "${shard%/*},,${shard#*/}"
}

run_stage() {  # STAGE
  rm -f "build/$1/junit.xml"
  case $1 in
    lint) ci/lint.sh ;;
    sim-nightly)  # each scenario as deep as its seconds allow
      FLARE_SIM_PREEMPTIONS=${FLARE_SIM_PREEMPTIONS:-3} FLARE_SIM_SECONDS=${FLARE_SIM_SECONDS:-300} \
        run_preset sim-nightly sim
      ;;
    coverage) clear_counts; run_preset coverage && report_coverage ;;
    fuzz) run_preset fuzz && fuzz_all ;;
    mutants)  # the second part also when the first one found something
      local all=0
      scripts/mutants --all || all=$?
      scripts/mutants --generated --seed "${FLARE_MUTANT_SEED:-$(date +%Y%m%d)}" && return "$all"
      ;;
    stress-nightly)
      cmake --preset tsan && cmake --build --preset tsan --target stress_runtime &&
        FLARE_STRESS_OPERATIONS=${FLARE_STRESS_OPERATIONS:-100000000} \
          TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:history_size=7 \
          build/tsan/tests/stress/stress_runtime --gtest_filter='QueueStress.*'
      ;;
    repeats) cmake --preset dev && cmake --build --preset dev && run_repeats ;;
    counts)
      python3 -B -m unittest discover -s bench/harness -p 'test_*.py' &&
        python3 -B -m unittest discover -s bench/counts -p 'test_*.py' && scripts/bench counts
      ;;
    soak-smoke) run_soak "$1" 1 ;;
    soak-nightly) run_soak "$1" "${FLARE_SOAK_MINUTES:-60}" ;;
    workflows) ci/check-workflows.sh && ci/check-k8s.sh ;;
    *) run_preset "$1" ;;
  esac
}

run_soak() {  # STAGE MINUTES
  python3 -B -m unittest discover -s tests/soak -p 'test_*.py' || return 42
  scripts/soak --minutes "$2" --seed "$FLARE_SOAK_SEED" --shard "${FLARE_SOAK_SHARD:-1/1}" --out "build/$1"
}

# The exit code for a stage that failed: whether trying again may help.
code_of() {  # STAGE STATUS FAILED_TESTS
  case $1:$2 in
    fuzz:77) echo 77 ;;
    soak-*:42 | counts:42 | mutants:1 | repeats:8 | stress-nightly:1 | stress-nightly:66 | coverage:42) echo 42 ;;
    *) if [ "$3" -gt 0 ]; then echo 42; else echo 1; fi ;;
  esac
}

# In random order, beside a process that takes a processor away from them again and again.
run_repeats() {
  timeout 4h sh -c 'while :; do :; done' &
  local busy=$! status
  ctest --preset dev -L 'stress|shutdown' --repeat "until-fail:${FLARE_REPEATS:-200}" --schedule-random
  status=$?
  kill "$busy"
  return $status
}

# What a stage's JUnit file counts: "passed failed".
counts_of() {  # STAGE
  local passed=0 failed=0
  if [ -f "build/$1/junit.xml" ]; then
    read -r passed failed < <(tr '\n' ' ' <"build/$1/junit.xml" | awk '{
      match($0, /<testsuite [^>]*>/); head = substr($0, RSTART, RLENGTH)
      n = split("tests failures disabled skipped", names, " ")
      for (i = 1; i <= n; i++) {
        if (match(head, names[i] "=\"[0-9]+\"")) {
          text = substr(head, RSTART, RLENGTH); gsub(/[^0-9]/, "", text); count[names[i]] = text
        }
      }
      print count["tests"] - count["failures"] - count["disabled"] - count["skipped"], count["failures"] + 0
    }')
  fi
  echo "$passed $failed"
}

# The failed tests of a stage with the end of what each printed: the summary's reader may see no more than the last lines.
failures_of() {  # STAGE
  [ ! -f "build/$1/junit.xml" ] || awk -v stage="$1" -v most=40 '
    function flush_test(  i) {
      if (!failed) return
      printf "--- %s: %s failed\n", stage, name
      for (i = (n > most ? n - most + 1 : 1); i <= n; i++) print lines[i]
      failed = n = 0
    }
    /<testcase / {
      flush_test(); n = 0
      match($0, / name="[^"]*"/); name = substr($0, RSTART + 7, RLENGTH - 8)
      failed = /status="(fail|timeout)"/
      next
    }
    /<failure/ { failed = 1 }
    failed { gsub(/&lt;/, "<"); gsub(/&gt;/, ">"); gsub(/&quot;/, "\""); gsub(/&amp;/, "\\&"); lines[++n] = $0 }
    END { flush_test() }' "build/$1/junit.xml"
}

if [ "${1-}" = --shard ]; then
  [[ ${2-} =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ ]] && [ "${BASH_REMATCH[1]}" -le "${BASH_REMATCH[2]}" ] ||
    { echo "run.sh: --shard is '${2-}', expected I/N with I from 1 to N" >&2; exit 2; }
  shard=$2
  shift 2
fi
[ $# -gt 0 ] || { echo "run.sh: name at least one stage: $stages" >&2; exit 2; }
for stage in "$@"; do
  case " $stages " in
    *" $stage "*) ;;
    *) echo "run.sh: unknown stage '$stage'; the stages are: $stages" >&2; exit 2 ;;
  esac
done
need_packages "$@"

case " $* " in
  *" sim"*) export FLARE_SIM_SEED="${FLARE_SIM_SEED:-$(seed_of_commit)}" ;;
esac
case " $* " in
  *" soak"*) export FLARE_SOAK_SEED="${FLARE_SOAK_SEED:-$(($(seed_of_commit) % 4294967296))}" ;;
esac
summary="" details="" passed=0 failed=0 bad=0
for stage in "$@"; do
  reproduce_line "$stage"
  start=$SECONDS
  run_stage "$stage" </dev/null
  status=$?
  # A ctest that was killed leaves cmake with 0, and no report. These have none.
  case $stage in
    mutants | stress-nightly | repeats | counts | soak-* | workflows) ;;
    *) [ -f "build/$stage/junit.xml" ] || status=1 ;;
  esac
  seconds=$((SECONDS - start)) budget=$(budget_of "$stage")
  read -r stage_passed stage_failed < <(counts_of "$stage")
  result=ok
  if [ "$status" -ne 0 ]; then
    result=FAILED code=$(code_of "$stage" "$status" "$stage_failed")
    [ "$bad" -ne 0 ] && [ "$code" -eq 1 ] || bad=$code  # what is final counts more than what may pass the next time
    [ "$stage_failed" -gt 0 ] || stage_failed=1
    details+=$(failures_of "$stage")$'\n'
  fi
  passed=$((passed + stage_passed)) failed=$((failed + stage_failed))
  line=$(printf '%-11s %-6s %4d s' "$stage" "$result" "$seconds")
  [ -z "$budget" ] || line+=" of $budget s"
  [ -z "$budget" ] || [ "$seconds" -le "$budget" ] || line+="  OVER ITS BUDGET"
  summary+="$line"$'\n'
done
printf '\n%s%s%d passed, %d failed\n' "$details" "$summary" "$passed" "$failed"
exit $bad
