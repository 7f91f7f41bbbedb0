# coverage.sh: lines and branches of runtime/ that the tests of the preset coverage executed: unit tests, and the
# simulation, which compiles the same sources a second time. Sourced by run.sh, after the preset's workflow.

clear_counts() {  # those of an earlier run would count too
  find build/coverage -name '*.gcda' -delete 2>/dev/null
}

report_coverage() {
  local json=build/coverage/coverage.json
  # Branches that only an exception takes, and those that the compiler knows nobody takes, say nothing about the tests.
  # report.py leaves the former out: gcov marks none at a call that never ran, and gcovr, told to leave them out, would
  # keep those of the sources' second compilation as branches that nobody took.
  gcovr --root . --object-directory build/coverage --filter 'runtime/flare/' -j 2 \
    --exclude-unreachable-branches --json "$json" build/coverage >build/coverage/gcovr.log 2>&1 ||
    { tail -20 build/coverage/gcovr.log >&2; return 1; }
  python3 tests/coverage/report.py "$json" || return 42
}
