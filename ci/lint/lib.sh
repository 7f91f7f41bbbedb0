# lib.sh: what the rules share. Sourced with the rule's arguments; leaves the shell in the root of the tree to check.
lint_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$lint_dir/../..}" || exit 1

# The files below the folders that exist, sorted, whose whole name matches the extended expression PATTERN.
list_files() {  # PATTERN FOLDER...
  local pattern=$1 folder folders=()
  shift
  for folder in "$@"; do
    [ ! -e "$folder" ] || folders+=("$folder")
  done
  [ "${#folders[@]}" -eq 0 ] || find "${folders[@]}" -type f -regextype posix-extended -regex ".*/($pattern)" | LC_ALL=C sort
}

all_folders=(runtime tests tools examples bench scripts ci .ci)

cpp_files() {  # FOLDER...
  list_files '[^/]+\.(h|cpp)' "$@"
}

shell_files() {  # every script: by its name, or by its first line when it has no suffix
  list_files '[^/]+\.sh' "${all_folders[@]}"
  local file first
  while IFS= read -r file; do
    IFS= read -r first <"$file" || true
    case $first in '#!'*bash*) echo "$file" ;; esac
  done < <(list_files '[^/.]+' "${all_folders[@]}" 2>/dev/null)
}

# awk with the stripper and the reader of scopes in front, over files; without files it does nothing.
code_awk() {  # PROGRAM_FILE FILE...
  local program=$1
  shift
  [ $# -eq 0 ] || LC_ALL=C awk -f "$lint_dir/strip.awk" -f "$lint_dir/scopes.awk" -f "$program" "$@"
}
