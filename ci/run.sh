#!/usr/bin/env bash
# run.sh STAGE...: the stages of CI, the same for people and machines.
#
# lint: the rules of ci/lint/.  fuzz: its preset, then each target for FLARE_FUZZ_SECONDS (ci/fuzz.sh).
# All others (dev, release, asan, tsan, sim, ...): cmake --workflow --preset STAGE.
# Every stage runs, also after one that failed; the exit status is 0 only if all of them passed.
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/lib/setup.sh
. ci/coverage.sh
. ci/fuzz.sh

stages="lint dev asan tsan sim sim-asan sim-tsan release coverage fuzz"

budget_of() {  # STAGE: seconds; nothing where none is set
  case $1 in
    lint) echo 120 ;;
    dev | asan) echo 540 ;;
    tsan) echo 420 ;;
    sim) echo 480 ;;
  esac
}

run_stage() {  # STAGE
  rm -f "build/$1/junit.xml"
  case $1 in
    lint) ci/lint.sh ;;
    coverage) cmake --workflow --preset coverage && report_coverage ;;
    fuzz) cmake --workflow --preset fuzz && fuzz_all ;;
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

summary="" passed=0 failed=0 bad=0
for stage in "$@"; do
  echo "reproduce: ci/run.sh $stage"
  start=$SECONDS
  run_stage "$stage" </dev/null
  status=$?
  seconds=$((SECONDS - start)) budget=$(budget_of "$stage")
  read -r stage_passed stage_failed < <(counts_of "$stage" "$status")
  passed=$((passed + stage_passed)) failed=$((failed + stage_failed))
  result=ok
  [ "$status" -eq 0 ] || { result=FAILED; bad=1; }
  line=$(printf '%-9s %-6s %4d s' "$stage" "$result" "$seconds")
  [ -z "$budget" ] || line+=" of $budget s"
  [ -z "$budget" ] || [ "$seconds" -le "$budget" ] || line+="  OVER ITS BUDGET"
  summary+="$line"$'\n'
done
printf '\n%s%d passed, %d failed\n' "$summary" "$passed" "$failed"
exit $bad
