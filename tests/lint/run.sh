#!/usr/bin/env bash
# run.sh: the lint rules' own tests: each rule passes a good small tree, and each kind of bad one fails, naming its file.
set -u
cd "$(dirname "$0")/../.." || exit 1
rules=$PWD/ci/lint
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0 count=0
tree=""

# A tree that keeps every rule; each case then spoils one file of it.
good_tree() {
  tree=$work/$count
  mkdir -p "$tree"/{runtime/flare/{base,kernel,handoff,http},tests/{unit/base,coverage},scripts,docs}
  header base/sync.h '#ifdef FLARE_MODEL' '#endif' '#include <mutex>' 'using M = std::mutex;'
  header kernel/system_kernel.h '#ifdef FLARE_MODEL' '#endif' 'inline constexpr int kOne = 1;'
  header handoff/queue.h '#include "flare/base/sync.h"' "// std::mutex, ::close( and thread_local are only words here"
  printf 'constexpr const char* kText = "std::mutex ::close(";\nint twice(int n) {\n  static constexpr int kTwo = 2;\n  return kTwo * n;\n}\n' \
    >"$tree/runtime/flare/handoff/queue.cpp"
  printf '// proves: C-A-01\nTEST(Suite, Case) {}\n' >"$tree/tests/unit/base/a_test.cpp"
  printf '#!/usr/bin/env bash\necho fine\n' >"$tree/scripts/tool"
  chmod +x "$tree/scripts/tool"
  printf -- '- **C-A-01** A promise.\n' >"$tree/docs/contract.md"
  field_bugs >"$tree/docs/field-bugs.md"
  echo 'twice two | handoff/queue.cpp | return kTwo * n; | line' >"$tree/tests/coverage/probes.txt"
  "$rules/../../scripts/proofs" --write "$tree"
}

# A page whose every row names the one test of the tree; A19 has a reason instead.
field_bugs() {
  local group i
  for group in A:18 B:13 C:18 D:10 E:13 F:07 G:07; do
    for i in $(seq -w 1 "${group#*:}"); do
      [ ${#i} -eq 2 ] || i=0$i
      printf '| %s%s | what | `Suite.Case` |\n' "${group%:*}" "$i"
    done
  done
  echo '| A19 | what | nothing of the kind is here |'
}

bad_page() {  # WHAT SED: a good tree whose page is then edited
  count=$((count + 1))
  good_tree
  sed -i "$2" "$tree/docs/field-bugs.md"
  fails field-bugs docs/field-bugs.md "$1"
}

header() {  # PATH_BELOW_FLARE LINE...: a public header with its whole comment block
  local path=$tree/runtime/flare/$1 name
  name=$(basename "$1")
  shift
  {
    echo "// $name: a header. Public header."
    printf '// %s: none.\n' Threads Owns Bounds Errors Ordering Invariants 'Not here' Source
    echo '#pragma once'
    printf '%s\n' "$@"
  } >"$path"
}

fails() {  # RULE FILE WHAT: RULE must fail on the tree and name FILE
  local output status
  output=$("$rules/$1.sh" "$tree" 2>&1)
  status=$?
  if [ $status -eq 0 ] || ! grep -qF "$2" <<<"$output"; then
    echo "self-test: $1 does not see: $3 (status $status)"
    echo "$output" | head -5
    failures=$((failures + 1))
  fi
}

# bad RULE FILE WHAT TEXT: a good tree whose FILE then holds TEXT (\n for new lines).
bad() {
  count=$((count + 1))
  good_tree
  mkdir -p "$tree/$(dirname "$2")"
  printf '%b' "$4" >"$tree/$2"
  fails "$1" "$2" "$3"
}

lines() {  # N TEXT
  local i
  for ((i = 0; i < $1; i++)); do printf '%s\\n' "$2"; done
}

good_tree
for rule in format layers sizes doors statics model blocks shared words shell promises field-bugs proofs probes headers; do
  output=$("$rules/$rule.sh" "$tree" 2>&1) || { echo "self-test: $rule fails on a good tree: $output"; failures=$((failures + 1)); }
done

cpp=runtime/flare/handoff/queue.cpp
bad format $cpp 'bad spacing' 'int   f( ) {return 1 ;}\n'
bad layers $cpp 'handoff includes kernel' '#include "flare/kernel/system_kernel.h"\n'
bad layers runtime/flare/kernel/a.cpp 'kernel includes worker' '#include "flare/worker/a.h"\n'
bad layers runtime/flare/worker/a.cpp 'worker includes http' '#include "flare/http/a.h"\n'
bad layers $cpp 'runtime includes tests' '#include "support/wait_until.h"\n'
bad layers $cpp 'another spelling' '#include "sync.h"\n'
bad layers $cpp 'the model outside the doors' '#include "flare_model/sync_model.h"\n'
bad layers $cpp 'llhttp below http' '#include <llhttp.h>\n'
bad layers tools/a.cpp 'a tool includes tests' '#include "tests/support/a.h"\n'
bad layers runtime/flare/attic/a.cpp 'an unknown room' 'int x;\n'
bad sizes $cpp 'a long file' "$(lines 301 'int f();')"
bad sizes scripts/long.sh 'a long script' "$(lines 301 ':')"
bad sizes $cpp 'a long function' "namespace a {\n$(lines 10 'int g();')int f() {\n$(lines 70 '  g();')}\n}\n"
bad sizes $cpp 'a long method' "template <class T>\nclass A : public B<T> {\n  int f() const {\n$(lines 70 '    g();')  }\n};\n"
bad sizes $cpp 'a long lambda' "const auto f = [](int x) {\n$(lines 70 '  g();')};\n"
bad sizes $cpp 'a function after initialisers' "A::A() : x_{1}, y_(2) {\n$(lines 70 '  g();')}\n"
bad sizes scripts/a.sh 'a long shell function' "f() {\n$(lines 70 '  :')}\n"
bad sizes $cpp 'a long line' "// $(printf 'x%.0s' {1..120})\n"
bad doors $cpp 'a mutex' 'std::mutex m;\n'
bad doors $cpp 'an atomic' 'std::atomic<int> a;\n'
bad doors $cpp 'a thread' 'std::jthread t;\n'
bad doors $cpp 'pthread' 'void f() { pthread_self(); }\n'
bad doors $cpp 'the environment' 'auto e = ::getenv("X");\n'
bad doors $cpp 'a header of threads' '#include <condition_variable>\n'
bad doors $cpp 'epoll' 'int f() { return epoll_create1(0); }\n'
bad doors $cpp 'close' 'int f(int fd) { return ::close(fd); }\n'
bad doors $cpp 'accept4' 'int f(int fd) { return ::accept4(fd, 0, 0, 0); }\n'
bad doors $cpp 'recv' 'int f(int fd) { return ::recv(fd, 0, 0, 0); }\n'
bad doors $cpp 'a clock' 'auto t = std::chrono::steady_clock::now();\n'
bad doors $cpp 'the wall clock' 'auto t = std::chrono::system_clock::now();\n'
bad doors $cpp 'randomness' 'std::random_device d;\n'
bad doors runtime/flare/kernel/a.cpp 'a thread in kernel/' 'std::thread t;\n'
bad doors runtime/flare/base/sync.cpp 'a system call in sync' 'int f(int fd) { return ::close(fd); }\n'
bad doors $cpp 'code after a comment that ends in it' '/* x\n */ std::mutex m;\n'
bad statics $cpp 'thread_local' 'thread_local int x;\n'
bad statics $cpp 'a static in a function' 'int f() {\n  static int calls = 0;\n  return ++calls;\n}\n'
bad statics $cpp 'a static const in a function' 'int f() {\n  if (g()) {\n    static const int kX = g();\n    return kX;\n  }\n}\n'
bad statics $cpp 'a map keyed by pointers' 'std::map<Node*, int> m;\n'
bad statics $cpp 'a set of pointers' 'std::set<const Node*> m;\n'
bad statics $cpp 'a fence' 'void f() { std::atomic_thread_fence(std::memory_order_seq_cst); }\n'
bad model $cpp 'FLARE_MODEL in a third file' '#ifdef FLARE_MODEL\n#endif\n'
bad model runtime/flare/base/sync.h 'FLARE_MODEL only in a comment' '// FLARE_MODEL\n'
bad blocks runtime/flare/base/a.h 'no name' '#pragma once\n'
bad blocks runtime/flare/base/a.h 'neither public nor private' '// a.h: a header.\n'
bad blocks runtime/flare/base/a.h 'a block without its lines' '// a.h: a header. Public header.\n// Threads: none. Owns: none.\n'
bad shared runtime/flare/handoff/a.h 'an atomic that no document has' 'struct A {\n  Atomic<int> cell{0};\n};\n'
bad shared runtime/flare/handoff/a.h 'a mutex that no document has' 'class A {\n  mutable Mutex lock_;\n};\n'
bad words docs/a.md 'a path outside the project' 'see ../shared/notes\n'
bad words $cpp 'a sanitizer switched off' '__attribute__((no_sanitize("thread"))) int f();\n'
bad words tests/unit/base/b_test.cpp 'a suppression' '// TSAN_OPTIONS=suppressions=x\n'
bad shell scripts/a.sh 'a script that does not parse' 'if true; then\n'
bad shell scripts/plain 'a script that cannot be executed' '#!/usr/bin/env bash\necho\n'
bad promises tests/unit/base/b_test.cpp 'a promise that is none' '// proves: C-A-99\nTEST(A, B) {}\n'
bad promises docs/contract.md 'a promise without a test' '- **C-A-01** One.\n- **C-A-02** Two.\n'
bad_page 'an id without a row' '/^| B07 /d'
bad_page 'an id with two rows' '/^| B07 /p'
bad_page 'an id that is none' 's/^| B07 /| B14 /'
bad_page 'a test that is not there' 's/^| B07 .*/| B07 | what | `Suite.Gone` |/'
bad_page 'a scenario that is not there' 's/^| B07 .*/| B07 | what | `sim:stop.gone` |/'
bad_page 'neither test nor reason' 's/^| B07 .*/| B07 | what | |/'
bad field-bugs tests/unit/base/a_test.cpp 'a claim of an id that is none' '// field-bugs H01\nTEST(Suite, Case) {}\n'
bad field-bugs tests/unit/base/a_test.cpp 'a claim that the row does not know' \
  'TEST(Suite, Case) {}\n// field-bugs A01, B02\n// proves: C-A-01\nTEST(Suite, Other) {}\n'
count=$((count + 1))
good_tree
printf '// proves: C-A-01\nTEST(Suite, New) {}\n' >"$tree/tests/unit/base/a_test.cpp"
fails proofs docs/proofs.md 'a test that the page does not know'
bad probes tests/coverage/probes.txt 'a text that is gone' 'gone | handoff/queue.cpp | return kThree; | line\n'
bad probes tests/coverage/probes.txt 'a file that is gone' 'gone | handoff/none.cpp | int | line\n'
bad headers runtime/flare/base/a.h 'a header that needs another' '#pragma once\nstd::vector<int> f();\n'

count=$((count + 1))
[ "$failures" -eq 0 ] || { echo "self-test: $failures of $count cases failed"; exit 1; }
echo "self-test: $count cases"
