#!/usr/bin/env bash
# probes: the text of each coverage probe stands in the sources; the coverage itself is measured at night only.
. "$(dirname "$0")/lib.sh"
[ -f tests/coverage/probes.txt ] || { echo "tests/coverage/probes.txt:1: is missing"; exit 1; }
exec python3 -B "$lint_dir/../../tests/coverage/report.py" --sources "$PWD"
