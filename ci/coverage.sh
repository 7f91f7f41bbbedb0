# coverage.sh: lines of runtime/ that the tests of the preset coverage executed. Sourced by run.sh.

report_coverage() {
  local objects
  mapfile -t objects < <(find build/coverage/runtime -name '*.gcda' | sort)
  [ "${#objects[@]}" -gt 0 ] || { echo "coverage: no counts under build/coverage/runtime" >&2; return 1; }
  gcov -n "${objects[@]}" 2>/dev/null | awk '
    /^File / { file = $2; gsub(/\047/, "", file) }
    /^Lines executed:/ && file ~ /runtime\/flare\/.*\.cpp$/ {
      text = $2; sub(/executed:/, "", text); sub(/%/, "", text)
      lines = $NF; hit = lines * text / 100
      sub(/.*runtime\//, "", file); printf "%6.1f %% of %4d  %s\n", text, lines, file
      total += lines; all += hit
    }
    { if (/^Lines executed:/) file = "" }
    END { if (total) printf "%6.1f %% of %4d  all of runtime\n", 100 * all / total, total }'
}
