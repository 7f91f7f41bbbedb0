#!/usr/bin/env bash
# shared: every atomic and every mutex that a header of runtime/ declares as a member has its line in docs/concurrency.md,
# a line that names the header and the member.
. "$(dirname "$0")/lib.sh"
bad=0
mapfile -t files < <(list_files '[^/]+\.h' runtime/flare)
while IFS=: read -r file line member; do
  grep -F "$(basename "$file")" docs/concurrency.md 2>/dev/null | grep -Eq "(\`|::)$member\`" && continue
  echo "$file:$line: docs/concurrency.md has no line on $member ($(basename "$file"))"
  bad=1
done < <(code_awk <(cat <<'AWK'
  FILENAME ~ /flare\/base\/sync\.h$/ { next }
  /^[ \t]*(mutable[ \t]+)?(Atomic<.*>|Mutex)[ \t]+[A-Za-z_]+([ \t]*(;|\{|=)| FLARE_)/ {
    text = $0; sub(/^.*(>|Mutex)[ \t]+/, "", text); sub(/[^A-Za-z_].*/, "", text)
    print FILENAME ":" FNR ":" text
  }
AWK
) "${files[@]}")
exit $bad
