#!/usr/bin/env bash
# The demo: the same clients at two servers, one without the handoff and one with it, all from source ports that lead to
# worker 0; then SIGTERM to both under load, and a report that is checked. Exit 0 only if all of it holds.
set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${FLARE_BIN:-build/demo/tools}
seconds=12 workers=4 clients=8 seed=$RANDOM plain=0

usage() {
  echo "usage: scripts/demo [--seconds N] [--workers N] [--clients N] [--seed N] [--plain]"
  echo "  --seconds N   seconds of load before the servers are told to stop, 2..60 (default $seconds)"
  echo "  --workers N   workers of each server, 2..64 (default $workers)"
  echo "  --clients N   keep-alive clients of each server, 2..1000 (default $clients)"
  echo "  --seed N      of the source ports (default: random, printed)"
  echo "  --plain       one line a second instead of the live view; so does NO_COLOR, or no terminal"
}
number() {  # FLAG VALUE LOW HIGH
  case $2 in
    '' | *[!0-9]*) ;;
    *) [ "${#2}" -le 9 ] && [ "$((10#$2))" -ge "$3" ] && [ "$((10#$2))" -le "$4" ] && return 0 ;;
  esac
  echo "demo: $1: '$2' is not a whole number from $3 to $4" >&2
  exit 2
}
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) number "$1" "${2-}" 2 60; seconds=$((10#$2)); shift 2 ;;
    --workers) number "$1" "${2-}" 2 64; workers=$((10#$2)); shift 2 ;;
    --clients) number "$1" "${2-}" 2 1000; clients=$((10#$2)); shift 2 ;;
    --seed) number "$1" "${2-}" 0 999999999; seed=$((10#$2)); shift 2 ;;
    --plain) plain=1; shift ;;
    --help | -h) usage; exit 0 ;;
    *) echo "demo: '$1' is not an option" >&2; usage >&2; exit 2 ;;
  esac
done
[ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ] || plain=1
for program in flare-serve flare-storm flare-judge; do
  [ -x "$bin/$program" ] || { echo "demo: '$bin/$program' is not there; run scripts/demo, which builds it" >&2; exit 2; }
done
. scripts/lib/servers.sh

# The last whole line of live figures of a server, into $live and $requests (arrays, one number per worker).
live=() requests=()
read_live() {  # NAME
  local line=""
  line=$(tail -n 2 "$work/$1.stats" 2>/dev/null | head -n 1)
  live=() requests=()
  [[ $line =~ \"live\":\[([0-9,]*)\] ]] && IFS=, read -r -a live <<<"${BASH_REMATCH[1]}"
  [[ $line =~ \"requests\":\[([0-9,]*)\] ]] && IFS=, read -r -a requests <<<"${BASH_REMATCH[1]}"
  return 0
}

draw_rows() {  # NAME TITLE
  local worker count bar colour
  printf '  handoff %-4s connections held by each worker\033[K\n' "$2"
  read_live "$1"
  for ((worker = 0; worker < workers; worker++)); do
    count=${live[$worker]:-0}
    printf -v bar '%*s' "$((count > 40 ? 40 : count))" ''
    colour=32
    [ "$count" -le $(((clients + workers - 1) / workers + 1)) ] || colour=31
    printf '    worker %-3s \033[%sm%-40s\033[0m %3s   %8s served\033[K\n' "$worker" "$colour" "${bar// /#}" "$count" \
      "${requests[$worker]:-0}"
  done
}
drawn=0
show() {  # PHASE
  local lines=$((2 * (workers + 1) + 1))
  if [ "$plain" -eq 1 ]; then
    [ "$((frame % 5))" -eq 0 ] || return 0
    read_live off
    local off="${live[*]:-}"
    read_live on
    printf '%s  connections per worker: off [%s]  on [%s]\n' "$1" "$off" "${live[*]:-}"
    return 0
  fi
  [ "$drawn" -eq 0 ] || printf '\033[%dA' "$lines"
  drawn=1
  printf '  %s\033[K\n' "$1"
  draw_rows off off
  draw_rows on on
}

common=(--workers "$workers" --listeners per-worker --handler sleep --handler-us 1000 --worker-headers
  --stats-interval-ms 100 --drain-timeout-ms 5000 --handoff env)
echo "demo: $workers workers, $clients keep-alive clients at each server, all pinned to worker 0; a handler that sleeps 1 ms"
echo "demo: replay with scripts/demo --seconds $seconds --workers $workers --clients $clients --seed $seed"
FLARE_SOAK_WORKERS=off start_server off "${common[@]}" --stats-file "$work/off.stats" || exit 2
FLARE_SOAK_WORKERS=on start_server on "${common[@]}" --stats-file "$work/on.stats" || exit 2

# The storms go on for longer than the servers: the drain meets them under load.
load=(--pin-worker 0 --connections "$clients" --duration-ms $(((seconds + 15) * 1000)) --seed "$seed" --expect-clean)
for side in off on; do
  storm "$side" "$side" "${load[@]}" 2>"$work/$side.storm.log" &
  pid_of[storm-$side]=$!
done

frame=0
for ((; frame < seconds * 5; frame++)); do
  show "$((frame / 5)) s of $seconds"
  for side in off on; do
    kill -0 "${pid_of[storm-$side]}" 2>/dev/null && continue
    echo "demo: the storm at the server with handoff $side ended too soon:" >&2
    cat "$work/$side.storm.log" "$work/$side.log" >&2
    exit 1
  done
  sleep 0.2
done

kill -TERM "${pid_of[off]}" "${pid_of[on]}"
declare -A code=()
frame=0
show "SIGTERM under load"
patience=80
for side in off on; do
  wait_server "$side"
  code[$side]=$exit_code
done
for side in off on; do
  wait_server "storm-$side"
  code[storm-$side]=$exit_code
done
echo
"$bin/flare-judge" demo "$work" --clients "$clients" --workers "$workers" --off-serve-exit "${code[off]}" \
  --on-serve-exit "${code[on]}" --off-storm-exit "${code[storm-off]}" --on-storm-exit "${code[storm-on]}"
verdict=$?
if [ "$verdict" -eq 0 ]; then
  echo "demo: all of it holds"
else
  echo "demo: NOT all of it holds" >&2
  cat "$work"/*.log >&2
fi
exit "$verdict"
