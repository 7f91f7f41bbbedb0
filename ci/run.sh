#!/usr/bin/env bash
# run.sh STAGE...: the stages of CI, the same for people and machines.
#
# lint: the rules of ci/lint/.  fuzz: its preset, then each target for FLARE_FUZZ_SECONDS (ci/fuzz.sh).
# sim-nightly takes an hour: the lifecycle with three preemptions, each scenario for FLARE_SIM_SECONDS (300) at most.
# mutants, repeats: scripts/mutants, and the tests of stress and shutdown 200 times; both are for the night.
# All others (dev, release, asan, tsan, sim, ...): cmake --workflow --preset STAGE.
# Every stage runs, also after one that failed; the exit status is 0 only if all of them passed.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/lib/setup.sh
. ci/coverage.sh
. ci/fuzz.sh

stages="lint dev asan tsan sim sim-asan sim-tsan sim-nightly release coverage fuzz mutants repeats workflows"

budget_of() {  # STAGE: seconds; nothing where none is set
  case $1 in
    lint) echo 120 ;;
    dev | asan) echo 540 ;;
    tsan) echo 420 ;;
    sim | sim-tsan) echo 480 ;;
    sim-asan) echo 600 ;;
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
    *) echo "reproduce: ci/run.sh $1" ;;
  esac
}

run_stage() {  # STAGE
  rm -f "build/$1/junit.xml"
  case $1 in
    lint) ci/lint.sh ;;
    sim-nightly)  # each scenario as deep as its seconds allow
      FLARE_SIM_PREEMPTIONS=${FLARE_SIM_PREEMPTIONS:-3} FLARE_SIM_SECONDS=${FLARE_SIM_SECONDS:-300} \
        cmake --workflow --preset sim-nightly
      ;;
    coverage) cmake --workflow --preset coverage && report_coverage ;;
    fuzz) cmake --workflow --preset fuzz && fuzz_all ;;
    mutants) scripts/mutants --all && scripts/mutants --generated --seed "${FLARE_MUTANT_SEED:-$(date +%Y%m%d)}" ;;
    repeats)
      cmake --preset dev && cmake --build --preset dev &&
        ctest --preset dev -L 'stress|shutdown' --repeat "until-fail:${FLARE_REPEATS:-200}" --schedule-random
      ;;
    workflows) ci/check-workflows.sh ;;
    *) cmake --workflow --preset "$1" ;;
  esac
}

# What a stage's JUnit file counts: "passed failed". A stage that failed without one counts as one failure.
counts_of() {  # STAGE STATUS
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
  [ "$2" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1
  echo "$passed $failed"
}

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
summary="" passed=0 failed=0 bad=0
for stage in "$@"; do
  reproduce_line "$stage"
  start=$SECONDS
  run_stage "$stage" </dev/null
  status=$?
  # A ctest that was killed leaves cmake with 0, and no report. These three have none.
  case $stage in
    mutants | repeats | workflows) ;;
    *) [ -f "build/$stage/junit.xml" ] || status=1 ;;
  esac
  seconds=$((SECONDS - start)) budget=$(budget_of "$stage")
  read -r stage_passed stage_failed < <(counts_of "$stage" "$status")
  passed=$((passed + stage_passed)) failed=$((failed + stage_failed))
  result=ok
  [ "$status" -eq 0 ] || { result=FAILED; bad=1; }
  line=$(printf '%-11s %-6s %4d s' "$stage" "$result" "$seconds")
  [ -z "$budget" ] || line+=" of $budget s"
  [ -z "$budget" ] || [ "$seconds" -le "$budget" ] || line+="  OVER ITS BUDGET"
  summary+="$line"$'\n'
done
printf '\n%s%d passed, %d failed\n' "$summary" "$passed" "$failed"
exit $bad
