#!/usr/bin/env bash
# lint.sh [ROOT]: every rule of ci/lint/ over the tree, then the rules' own tests. All rules run; any offence fails.
# Each rule is a script of its own: RULE.sh [ROOT] prints FILE:LINE: what is wrong, and ends with 1 if it found any.
set -u
cd "$(dirname "$0")/.." || exit 1
root=${1:-.}

mkdir -p build/lint
results="" count=0 bad=0
check() {  # NAME COMMAND...
  local name=$1 output
  shift
  count=$((count + 1))
  if output=$("$@" 2>&1); then
    printf 'lint: %-10s ok\n' "$name"
    results+="  <testcase name=\"$name\" classname=\"lint\"/>"$'\n'
  else
    printf 'lint: %-10s FAILED\n%s\n' "$name" "$output"
    results+="  <testcase name=\"$name\" classname=\"lint\"><failure message=\"see the log\"/></testcase>"$'\n'
    bad=$((bad + 1))
  fi
}

for rule in format layers sizes doors statics model blocks shared words shell promises field-bugs proofs probes headers; do
  check "$rule" "ci/lint/$rule.sh" "$root"
done
check self-test tests/lint/run.sh
check scripts tests/lint/scripts.sh

{
  echo '<?xml version="1.0" encoding="UTF-8"?>'
  echo "<testsuite name=\"lint\" tests=\"$count\" failures=\"$bad\" disabled=\"0\" skipped=\"0\">"
  printf '%s</testsuite>\n' "$results"
} >build/lint/junit.xml
[ "$bad" -eq 0 ]
