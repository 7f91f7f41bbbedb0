#!/usr/bin/env bash
# examples_test.sh embed_http|echo_frontend PROGRAM: starts the example, talks to it, drains it by SIGTERM.
set -u
kind=$1 program=$2
folder=$(mktemp -d) || exit 1
pid=""
cleanup() {
  [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
  rm -rf "$folder"
}
trap cleanup EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

mkfifo "$folder/out" || exit 1
"$program" >"$folder/out" &
pid=$!
exec 3<"$folder/out"
IFS= read -r -t 20 address <&3 || fail "no address was printed"
port=${address##*:}

# Every client is a descriptor of its own.
clients=()
connect() {
  local fd
  exec {fd}<>"/dev/tcp/127.0.0.1/$port" || fail "no connection to $address"
  clients+=("$fd")
}

expect_line() {  # FD TEXT
  local line
  IFS= read -r -t 20 line <&"$1" || fail "no line, expected '$2'"
  line=${line%$'\r'}
  [ "$line" = "$2" ] || fail "got '$line', expected '$2'"
}

expect_answer() {  # FD BODY: prints the head
  local line head=""
  while IFS= read -r -t 20 line <&"$1"; do
    line=${line%$'\r'}
    [ -n "$line" ] || break
    head+="$line"$'\n'
  done
  expect_line "$1" "$2"
  printf '%s' "$head"
}

expect_end() {  # FD
  local rest
  IFS= read -r -t 20 -N 1 rest <&"$1" && fail "more than was expected: '$rest'"
  [ -z "$rest" ] || fail "more than was expected: '$rest'"
}

request() { printf 'GET %s HTTP/1.1\r\nHost: x\r\n\r\n' "$2" >&"$1"; }

case $kind in
  embed_http)
    connect; connect
    request "${clients[0]}" /a
    request "${clients[0]}" /b
    expect_answer "${clients[0]}" "hello /a" | grep -q '^HTTP/1.1 200 OK$' || fail "no 200"
    expect_answer "${clients[0]}" "hello /b" | grep -q '^Date: ' || fail "no Date"
    # A request of which a part was read when the drain begins is answered, and told that it is the last.
    printf 'GET /part' >&"${clients[0]}"
    kill -TERM "$pid"
    printf ' HTTP/1.1\r\nHost: x\r\n\r\n' >&"${clients[0]}"
    expect_answer "${clients[0]}" "hello /part" | grep -q '^Connection: close$' || fail "not said to be the last"
    ;;
  echo_frontend)
    for i in 1 2 3 4 5 6 7 8; do
      connect
      printf 'line %s\n' "$i" >&"${clients[-1]}"
      expect_line "${clients[-1]}" "line $i"
    done
    printf 'last\n' >&"${clients[0]}"
    expect_line "${clients[0]}" last
    kill -TERM "$pid"
    ;;
  *) fail "unknown example '$kind'" ;;
esac
for fd in "${clients[@]}"; do expect_end "$fd"; done

if [ "$kind" = echo_frontend ]; then
  # One listener for both workers: alone it may wake the same worker each time; the handoff evens that out.
  for worker in 0 1; do
    IFS=' ' read -r -t 20 _ id _ served _ cut <&3 || fail "no report"
    if [ "$id" != "$worker" ] || [ "$cut" != 0 ]; then fail "worker $id cut $cut"; fi
    if [ "$served" -lt 3 ] || [ "$served" -gt 5 ]; then fail "worker $id served $served of 8"; fi
  done
fi
wait "$pid"
status=$?
pid=""
[ "$status" -eq 0 ] || fail "exit status $status"
