#!/usr/bin/env bash
# scripts.sh: what the scripts for people do with wrong arguments, missing packages, and promises without a proof.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0 count=0

# expect STATUS TEXT COMMAND...: the status, and TEXT somewhere in what it prints.
expect() {
  local want=$1 text=$2 output status
  shift 2
  count=$((count + 1))
  output=$("$@" 2>&1 </dev/null)
  status=$?
  if [ "$status" -ne "$want" ] || ! grep -qF -- "$text" <<<"$output"; then
    echo "scripts: $*: status $status (expected $want), expected the text: $text"
    head -5 <<<"$output"
    failures=$((failures + 1))
  fi
}

expect 2 "unknown stage 'speed'" ci/run.sh speed
expect 2 'at least one stage' ci/run.sh
expect 2 "--shard is '3/2', expected I/N" ci/run.sh --shard 3/2 lint
expect 2 "unknown stage '--fast'" scripts/test --fast
expect 0 'usage: scripts/test' scripts/test --help
expect 2 "got 'all'" scripts/mutants all
expect 2 'needs an id' scripts/mutants --promise
expect 2 "no patch for 'C-NONE-01'" scripts/mutants --promise C-NONE-01
expect 2 "unknown option '--all'" scripts/promises --all
expect 2 "unknown option '--all'" scripts/field-bugs --all
expect 0 'C13: flare runs on Linux only' scripts/field-bugs --open
expect 2 "got 'tset'" ci/fresh-root.sh tset
expect 2 'usage' scripts/replay
expect 0 'one argument or several' scripts/replay --help
expect 2 "unknown stage 'speed'" scripts/replay 'reproduce: ci/run.sh speed'
expect 2 "no program 'unit_none'" scripts/replay "seed: FLARE_TEST_SEED=7 unit_none --gtest_filter='A.*'"
expect 2 'the quotes of' scripts/replay "unit_none --gtest_filter='A.*"
expect 2 'names no program' scripts/replay 'FLARE_TEST_SEED=7'
expect 0 '7 *' scripts/replay "seed: x='7 *' $(command -v printenv) x"

# A machine where nothing is installed, for a user who is not root and has no sudo: the line to run, and 2.
mkdir "$work/bin"
for tool in bash cat dirname env grep sed sort; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
printf '#!/bin/sh\nexit 1\n' >"$work/bin/dpkg-query"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/apt-get"
printf '#!/bin/sh\necho 1000\n' >"$work/bin/id"
chmod +x "$work"/bin/{dpkg-query,apt-get,id}
expect 2 'apt-get install -y --no-install-recommends clang-22 cmake g++' env PATH="$work/bin" bash ci/run.sh asan
expect 2 'apt-get install -y --no-install-recommends cmake g++ libcli11-dev' env PATH="$work/bin" bash scripts/demo

mkdir -p "$work/tree"/{docs,tests}
printf -- '- **C-A-01** One.\n- **C-A-02** Two.\n' >"$work/tree/docs/contract.md"
printf '| INV-01 | always |\n' >"$work/tree/docs/invariants.md"
printf '// proves: C-A-01, INV-01\nTEST(Suite,\n     Case) {\n}\n' >"$work/tree/tests/a_test.cpp"
expect 0 'a_test.cpp: Suite.Case' scripts/promises "$work/tree"
expect 0 'C-A-02 has no test: Two.' scripts/promises --missing "$work/tree"
expect 1 'C-A-02 has no test: Two.' scripts/promises --check "$work/tree"
printf '# proves: C-A-02\nadd_test(NAME echo_runs COMMAND x)\n' >"$work/tree/tests/CMakeLists.txt"
expect 0 '3 with a test, 0 without' scripts/promises --check "$work/tree"
printf '// proves: INV-99\nTEST(Suite, Other) {}\n' >"$work/tree/tests/b_test.cpp"
expect 1 'b_test.cpp:1: INV-99 is in no document' scripts/promises "$work/tree"

[ "$failures" -eq 0 ] || { echo "scripts: $failures of $count cases failed"; exit 1; }
echo "scripts: $count cases"
