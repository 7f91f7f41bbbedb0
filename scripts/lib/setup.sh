# setup.sh: makes sure that the Debian packages a task needs are there. Sourced; plain bash, nothing else needed.
#
#   need_packages TASK...    TASK: demo, or a stage of ci/run.sh
#
# What is missing is installed with apt when this is root or may use sudo; without either, the line to run is printed
# and the script ends with 2. When nothing is missing, nothing is touched.

packages_of() {  # TASK: the packages it needs, one line
  local build="g++ cmake ninja-build pkg-config node-llhttp libcli11-dev nlohmann-json3-dev"
  local tests="libgtest-dev libgmock-dev librapidcheck-dev python3"
  local clang="clang-22 libclang-rt-22-dev"
  case $1 in
    lint) echo "g++ node-llhttp clang-format-22 python3" ;;
    demo) echo "$build" ;;
    dev | release) echo "$build $tests strace" ;;
    coverage) echo "$build $tests strace libboost-context-dev gcovr" ;;
    asan | tsan | stress-nightly) echo "$build $tests $clang" ;;
    sim | sim-nightly) echo "$build $tests libboost-context-dev" ;;
    sim-asan | sim-tsan | fuzz) echo "$build $tests $clang libboost-context-dev" ;;
    mutants) echo "$build $tests strace $clang libboost-context-dev git ccache" ;;
    repeats) echo "$build $tests" ;;
    soak | soak-smoke) echo "$build python3 strace" ;;
    soak-nightly) echo "$build python3 strace chromium" ;;
    bench) echo "$build python3 wrk strace" ;;
    counts) echo "$build python3 valgrind" ;;
    bench-http-peers) echo "nginx-light haproxy h2o lighttpd golang-go libboost-dev" ;;
    bench-loop-peers) echo "libuv1-dev libevent-dev libev-dev libasio-dev" ;;
    bench-micro-peers) echo "libbenchmark-dev libboost-dev libtbb-dev libconcurrentqueue-dev libck-dev liburcu-dev" ;;
    workflows) command -v npm >/dev/null || echo "nodejs npm" ;;  # or those of another source
    *) echo "setup: no such task: '$1'" >&2; return 2 ;;
  esac
}

missing_packages() {  # PACKAGE...: those that are not installed
  local package
  for package in "$@"; do
    case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
      "install ok installed") ;;
      *) echo "$package" ;;
    esac
  done
}

has_candidates() {  # PACKAGE...: whether apt knows a version of each
  local package
  for package in "$@"; do
    apt-cache policy "$package" 2>/dev/null | grep -q '^  Candidate: [^(]' || return 1
  done
}

install_packages() {  # PACKAGE...
  local as=()
  if [ "$(id -u)" -ne 0 ]; then
    as=(sudo)
    # Without a terminal nobody can type a password: then sudo counts only if it asks for none.
    if ! command -v sudo >/dev/null || { ! [ -t 0 ] && ! sudo -n true 2>/dev/null; }; then
      echo "Packages are missing. As root, run:" >&2
      echo "  apt-get update && apt-get install -y --no-install-recommends $*" >&2
      exit 2
    fi
  fi
  local apt=("${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  echo "setup: installing $*"
  has_candidates "$@" || "${apt[@]}" update || { echo "setup: apt-get update failed" >&2; exit 1; }
  # Lists that are older than the archive name files that are gone: then once more, with new lists.
  "${apt[@]}" install -y --no-install-recommends "$@" </dev/null && return
  { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@" </dev/null; } ||
    { echo "setup: apt-get could not install: $*" >&2; exit 1; }
}

need_packages() {  # TASK...
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "setup: no apt here; the packages are named in scripts/lib/setup.sh (Debian 12)" >&2
    return 0
  fi
  local task list=() all=() missing=()
  for task in "$@"; do
    packages_of "$task" >/dev/null || exit 2
    read -ra list < <(packages_of "$task")
    all+=("${list[@]}")
  done
  mapfile -t missing < <(missing_packages "${all[@]}" | sort -u)
  [ "${#missing[@]}" -eq 0 ] || install_packages "${missing[@]}"
}
