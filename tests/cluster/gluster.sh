#!/usr/bin/env bash
# TestChaos on two mounts of a GlusterFS volume, each client in a network namespace of its own, so that it can be cut off:
#   sudo tests/cluster/gluster.sh [FLAG OF THE TEST...]        such as -chaos.rounds 10 -chaos.seed 1
# Needs root, ip, nsenter, FUSE and Debian's glusterfs-server and glusterfs-client. It starts daemons in namespaces that it
# makes, under a folder that it makes, and ends and removes all of that.
set -euo pipefail
cd "$(dirname "$0")"
if [ "${1:-}" = link ]; then # link down|up NUMBER: called by the test, by way of -chaos.cut
    exec ip -n "$GLUSTER_SWITCH" link set "v${GLUSTER_PREFIX}c$3" "$2"
fi
for program in glusterd glusterfs gluster ip nsenter unshare; do
    command -v "$program" >/dev/null || { echo "gluster.sh: $program is missing: apt-get install glusterfs-server glusterfs-client iproute2 util-linux"; exit 77; }
done
[ "$(id -u)" = 0 ] && [ -e /dev/fuse ] || { echo "gluster.sh: needs root and /dev/fuse"; exit 77; }

work=$(mktemp -d /var/tmp/gnocco-gluster.XXXXXX)
prefix=g$(( $$ % 10000 ))
switch=${prefix}sw
pids=()
cleanup() {
    set +e
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null; done
    # What the daemons started (bricks, self-heal) and the mounts' processes are whoever is left in the namespaces.
    for n in s0 s1 s2 c0 c1 t; do
        for pid in $(ip netns pids "$prefix$n"); do kill -9 "$pid" 2>/dev/null; done
    done
    for mount in "$work"/m/*; do umount -l "$mount" 2>/dev/null; done
    for n in s0 s1 s2 c0 c1 t; do ip netns del "$prefix$n" 2>/dev/null; done
    ip netns del "$switch" 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT

ip netns add "$switch"
ip -n "$switch" link add br0 type bridge
ip -n "$switch" link set br0 up
i=10
declare -A address
for n in s0 s1 s2 c0 c1 t; do
    i=$((i + 1))
    address[$n]=10.99.0.$i
    ip netns add "$prefix$n"
    ip link add "v$prefix$n" netns "$switch" type veth peer name eth0 netns "$prefix$n"
    ip -n "$switch" link set "v$prefix$n" master br0 up
    ip -n "$prefix$n" addr add "${address[$n]}/24" dev eth0
    ip -n "$prefix$n" link set eth0 up
    ip -n "$prefix$n" link set lo up
done
# One glusterd a server, with state, logs and /run of its own.
declare -A server
for n in s0 s1 s2; do
    mkdir -p "$work/$n"/{lib,log,run,brick}
    cp -a /var/lib/glusterd/{groups,hooks} "$work/$n/lib/" 2>/dev/null || true
    setsid nsenter "--net=/var/run/netns/$prefix$n" unshare -m --propagation private sh -c "
        mount --bind $work/$n/lib /var/lib/glusterd; mount --bind $work/$n/log /var/log/glusterfs
        mount --bind $work/$n/run /run; mkdir -p /run/gluster; exec glusterd -N" >"$work/$n.out" 2>&1 &
    server[$n]=$!
    pids+=("$!")
done
g() { local n=$1; shift; nsenter -t "${server[$n]}" -n -m gluster --mode=script "$@" >>"$work/gluster.out" 2>&1; }
tries() { for _ in $(seq 60); do "$@" && return; sleep 0.5; done; cat "$work/gluster.out"; return 1; }
tries g s0 peer probe "${address[s1]}"
tries g s0 peer probe "${address[s2]}"
peers() { [ "$(nsenter -t "${server[s0]}" -n -m gluster pool list | grep -c Connected)" = 3 ]; }
tries peers
tries g s0 volume create v replica 3 "${address[s0]}:$work/s0/brick/v" "${address[s1]}:$work/s1/brick/v" "${address[s2]}:$work/s2/brick/v" force
for option in "network.ping-timeout 5" "server.tcp-user-timeout 5" "client.tcp-user-timeout 5" "client.keepalive-time 2" "client.keepalive-interval 1" \
    "client.keepalive-count 2" "server.keepalive-time 2" "server.keepalive-interval 1" "server.keepalive-count 2"; do
    # shellcheck disable=SC2086
    g s0 volume set v $option
done
g s0 volume start v
hosts=()
for n in c0 c1; do
    mkdir -p "$work/m/$n"
    nsenter "--net=/var/run/netns/$prefix$n" glusterfs "--volfile-server=${address[s0]}" --volfile-id=v "--log-file=$work/$n.log" \
        "--pid-file=$work/$n.pid" "$work/m/$n"
    hosts+=("${address[$n]},$work/m/$n,nsenter --net=/var/run/netns/$prefix$n")
done
mounted() { touch "$work/m/$1/.there" 2>/dev/null; }
tries mounted c0
tries mounted c1
echo "gluster.sh: two mounts of a volume with three replicas below $work"

test=${CHAOS_TEST:-}
if [ -z "$test" ]; then
    test=$work/chaos.test
    go test -c -o "$test" .
fi
# leases must outlast what the mount hides: a counter is seen up to 2.6 s late
export GLUSTER_SWITCH=$switch GLUSTER_PREFIX=$prefix
nsenter "--net=/var/run/netns/${prefix}t" "$test" -test.run '^TestChaos$' -test.v -test.timeout 60m \
    -chaos.hosts "${hosts[0]};${hosts[1]}" -chaos.cut "$PWD/gluster.sh link" -chaos.ttl 6s -chaos.slack 4s "$@"
