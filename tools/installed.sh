#!/usr/bin/env bash
# Make what Gnocco is installed from twice, compare, and install it in a Debian 12 of its own: as root, for minutes.
#
#   DIST=dir   what was made already; then only install it
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin
for program in debootstrap lintian; do
    command -v "$program" >/dev/null || { echo "skipped: $program is missing"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: debootstrap needs root"; exit 0; }
work=$(mktemp -d)
started=
finish() {
    [ -z "$started" ] || kill "$started" 2>/dev/null || true
    umount "$work/root/proc" 2>/dev/null || true
    rm -rf --one-file-system "$work"
}
trap finish EXIT
dist=${DIST:-}
if [ -z "$dist" ]; then
    for n in 1 2; do (cd tools/dist && go run . -out "$work/$n"); done
    cmp "$work/1/SHA256SUMS" "$work/2/SHA256SUMS"
    echo "two builds are equal"
    dist=$work/1
fi
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)
lintian --allow-root --fail-on error,warning "$dist"/gnocco_*_amd64.deb "$dist"/gnocco-as-gnocchi_*.deb
echo "lintian is content"

root=$work/root
debootstrap --variant=minbase --include=adduser,init-system-helpers bookworm "$root" >"$work/log" || { tail "$work/log"; exit 1; }
mount -t proc proc "$root/proc"
cp "$dist"/*_amd64.deb "$dist"/*_all.deb "$root/tmp/"
in_root() { chroot "$root" "$@"; }
in_root sh -c 'dpkg -i /tmp/*.deb' >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
[ "$(in_root id -u gnocco)" = 8041 ]

# serves WHERE USER COMMAND...: it answers /ready below WHERE, stores a measure, and ends in order.
serves() {
    local where=$1 user=$2
    shift 2
    rm -rf "$where/data"
    install -d -o 8041 -g 8041 "$where/data"
    chroot --userspec="$user" "$where" "$@" --data /data --listen 127.0.0.1:18041 2>"$work/log" &
    started=$!
    for _ in $(seq 300); do
        ! curl -sf -o /dev/null http://127.0.0.1:18041/ready || break
        sleep 0.2
    done
    curl -sf -u admin: -H 'Content-Type: application/json' -d '{"archive_policy_name":"low","name":"x"}' -o /dev/null http://127.0.0.1:18041/v1/metric || { cat "$work/log"; exit 1; }
    kill "$started"
    wait "$started"
    started=
}
# What gnocco.service starts, as its user.
unit=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1 serve/p' "$root/lib/systemd/system/gnocco.service")
serves "$root" 8041:8041 $unit
in_root gnocco fsck --data /data >"$work/log" || { cat "$work/log"; exit 1; }
in_root gnocco licenses | grep 'github.com/cockroachdb/pebble/v2 v' >/dev/null
in_root gnocchi-upgrade >"$work/log" 2>&1 && in_root gnocchi-upgrade 2>&1 | grep 'nothing to do' >/dev/null
echo "installed, and runs as uid 8041"
in_root sh -c 'dpkg -i /tmp/*.deb' >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
in_root gnocco fsck --data /data >"$work/log" || { cat "$work/log"; exit 1; }
echo "upgraded"
in_root dpkg -P gnocco-as-gnocchi gnocco >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
left=$(in_root find / -xdev -name '*gnoc*' -not -path '/data/*' -not -path '/tmp/*' -not -path '/proc/*' -not -path '/var/lib/gnocchi*')
[ -z "$left" ] || { echo "left: $left"; exit 1; }
echo "purged: nothing is left but data"

# The image, unpacked.
mkdir "$work/oci" "$work/image"
tar -xf "$dist"/gnocco-*-oci.tar -C "$work/oci"
python3 - "$work/oci" "$work/image" <<'PY'
import json, subprocess, sys
oci, out = sys.argv[1:]
blob = lambda d: f"{oci}/blobs/{d['digest'].replace(':', '/')}"
index = json.load(open(oci + "/index.json"))
manifest = json.load(open(blob(next(m for m in index["manifests"] if m["platform"]["architecture"] == "amd64"))))
for layer in manifest["layers"]:
    subprocess.run(["tar", "-xf", blob(layer), "-C", out], check=True)
PY
mkdir -p "$work/image/proc"
mount -t proc proc "$work/image/proc"
trap 'umount "$work/image/proc" 2>/dev/null || true; finish' EXIT
serves "$work/image" 8041:8041 /usr/bin/gnocco serve
umount "$work/image/proc"
echo "the image runs as uid 8041"
