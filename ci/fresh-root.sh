#!/usr/bin/env bash
# fresh-root.sh test|demo|soak [DIR]: a new, bare Debian 12 (debootstrap, chroot) with a clone of what is committed here.
# test, demo: that script runs in it; soak: what scripts/test installs, then a minute of scripts/soak, with both reports.
# DIR (default: a new folder below /var/tmp) is kept when it is named, else removed. A DIR that already holds a root is
# used again, with a new clone: what a second run by the same user meets.
set -u
cd "$(dirname "$0")/.." || exit 1
task=${1-}
case $task in
  test | demo) command="./scripts/$task" ;;
  soak)
    command=". scripts/lib/setup.sh && need_packages lint dev && ./scripts/soak --minutes 1 &&
      ls -l build/soak/soak.json build/soak/soak.html" ;;
  *) echo "fresh-root.sh: expected test, demo or soak, got '$task'" >&2; exit 2 ;;
esac
[ "$(id -u)" -eq 0 ] || { echo "fresh-root.sh: needs root, for chroot and mount" >&2; exit 2; }
for tool in debootstrap git chroot; do
  command -v $tool >/dev/null || { echo "fresh-root.sh: $tool is needed: apt-get install debootstrap git" >&2; exit 2; }
done
dir=${2-}
[ -n "$dir" ] || dir=$(mktemp -d /var/tmp/flare-root.XXXXXX) || exit 1
mkdir -p "$dir" && chmod 755 "$dir" || exit 1  # it becomes /, which others than root enter too

# The first Debian archive that this machine's apt uses for bookworm.
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
  awk '/^URIs:/ { url = $2 } /^deb / { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { url = $i; break } }
       url && url !~ /security/ { print url; exit }')
mirror=${mirror:-http://deb.debian.org/debian}

mounted=()
finish() {
  local at
  for at in "${mounted[@]}"; do umount -l "$at"; done
  [ -n "${keep-}" ] || rm -rf --one-file-system "$dir"
}
trap finish EXIT
[ -z "${2-}" ] || keep=1

if [ ! -x "$dir/usr/bin/apt-get" ]; then
  debootstrap --variant=minbase bookworm "$dir" "$mirror" >"$dir.log" 2>&1 ||
    { tail -5 "$dir.log"; echo "fresh-root.sh: debootstrap failed: $dir.log" >&2; exit 1; }
  rm -f "$dir.log"
  # How this machine reaches its archives: sources and their options; no packages, no keys beyond Debian's own.
  rm -f "$dir/etc/apt/sources.list"
  cp /etc/apt/sources.list "$dir/etc/apt/" 2>/dev/null
  cp /etc/apt/sources.list.d/debian.sources "$dir/etc/apt/sources.list.d/" 2>/dev/null
  [ -e "$dir/etc/apt/sources.list" ] || [ -e "$dir/etc/apt/sources.list.d/debian.sources" ] ||
    echo "deb $mirror bookworm main" >"$dir/etc/apt/sources.list"
  grep -lE 'Acquire::' /etc/apt/apt.conf.d/* 2>/dev/null | xargs -r cp -t "$dir/etc/apt/apt.conf.d/"
fi
cp /etc/resolv.conf /etc/hosts "$dir/etc/"
for at in proc sys dev; do
  mkdir -p "$dir/$at"
  mount --rbind "/$at" "$dir/$at" && mount --make-rslave "$dir/$at" && mounted=("$dir/$at" "${mounted[@]}")
done

rm -rf --one-file-system "$dir/root/flare"
git clone -q --no-hardlinks . "$dir/root/flare" || exit 1
echo "fresh-root.sh: $(git log -1 --format='%h %s') in $dir"
start=$SECONDS
chroot "$dir" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root CI=true \
  bash -c "cd /root/flare && $command" </dev/null
status=$?
echo "fresh-root.sh: $task ended with $status after $((SECONDS - start)) s"
exit $status
