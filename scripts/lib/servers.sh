# servers.sh: starts and stops flare-serve and other programs for the scripts that measure; sourced. Plain bash and awk.
#
# The script that sources it has set $bin, the folder of the tools. Everything is written below $work, a new folder that
# goes away at the end, and no process outlives the script.

. scripts/lib/tools.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/flare-run.XXXXXX") || exit 2
declare -A pid_of=()   # NAME: process
declare -A port_of=()  # NAME: the port that it really bound

end_all() {
  local name
  for name in "${!pid_of[@]}"; do kill -TERM "${pid_of[$name]}" 2>/dev/null; done
  for name in "${!pid_of[@]}"; do
    await_end "$name" 30 || kill -KILL "${pid_of[$name]}" 2>/dev/null
    wait "${pid_of[$name]}" 2>/dev/null
  done
  pid_of=()
  rm -rf "$work"
}
trap end_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

await_end() {  # NAME TENTHS: whether it ended within so many tenths of a second
  local i
  for ((i = 0; i < $2; i++)); do
    kill -0 "${pid_of[$1]}" 2>/dev/null || return 0
    sleep 0.1
  done
  ! kill -0 "${pid_of[$1]}" 2>/dev/null
}

# Starts flare-serve on a free port of loopback. Its lines go to $work/NAME.log, its report to $work/NAME.serve.json.
start_server() {  # NAME ARGUMENT...; environment as given
  local name=$1 i line
  shift
  : >"$work/$name.log"
  "$bin/flare-serve" --address 127.0.0.1:0 --report json "$@" >"$work/$name.serve.json" 2>"$work/$name.log" &
  pid_of[$name]=$!
  for ((i = 0; i < 100; i++)); do
    while IFS= read -r line; do
      case $line in
        "listening on "*) port_of[$name]=${line##*:}; return 0 ;;
      esac
    done <"$work/$name.log"
    kill -0 "${pid_of[$name]}" 2>/dev/null || break
    sleep 0.05
  done
  echo "the server '$name' did not start:" >&2
  cat "$work/$name.log" >&2
  return 2
}

# Drains it and leaves its exit code in $exit_code; kills it when that takes longer than its own timeout can.
stop_server() {  # NAME
  kill -TERM "${pid_of[$1]}" 2>/dev/null
  wait_server "$1"
}
wait_server() {  # NAME
  await_end "$1" "${patience:-150}" || kill -KILL "${pid_of[$1]}" 2>/dev/null
  wait "${pid_of[$1]}" 2>/dev/null
  exit_code=$?
  unset "pid_of[$1]"
}

# Runs the storm at a server; its report goes to $work/LABEL.storm.json.
storm() {  # NAME LABEL ARGUMENT...
  local name=$1 label=$2
  shift 2
  "$bin/flare-storm" "127.0.0.1:${port_of[$name]}" --json "$work/$label.storm.json" --quiet "$@"
}
value() {  # FILE PATH...: values out of a report, one a line
  local file=$1
  shift
  "$bin/flare-judge" get "$work/$file" "$@"
}

# Nanoseconds of CPU that a process and its children have used so far.
cpu_ns() {  # PID
  local children="" child
  cat "/proc/$1/task/"*/schedstat 2>/dev/null | awk '{ ns += $1 } END { printf "%.0f\n", ns }'
  children=$(cat "/proc/$1/task/"*/children 2>/dev/null)
  for child in $children; do cpu_ns "$child"; done
}
cpu_of() { cpu_ns "$1" | awk '{ ns += $1 } END { printf "%.0f\n", ns }'; }  # PID: the sum

median() {  # numbers on stdin, one a line
  sort -g | awk '{ v[NR] = $1 } END { if (NR) print (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) }'
}

verdicts=0
judge() {  # "TEXT" LEFT OPERATOR RIGHT: prints and counts; awk compares
  if awk -v a="$2" -v b="$4" "BEGIN { exit !(a + 0 $3 b + 0) }"; then
    printf 'ok      %s: %s (bar: %s %s)\n' "$1" "$2" "$3" "$4"
  else
    printf 'FAILED  %s: %s (bar: %s %s)\n' "$1" "$2" "$3" "$4"
    verdicts=1
  fi
}
