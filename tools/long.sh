#!/usr/bin/env bash
# Run what is random for many rounds, from seeds that no run had before, and append a line for each kind to docs/explain/long-runs.md.
#
#   ONLY="chaos damage"   these kinds (default: all, some five hours)
#   SCALE=0.1             a tenth of the rounds
#   SEED=1732270000       the first seed (default: the time, in seconds)
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin
kinds=${ONLY:-chaos etcd soak days kills restarts upgrades moves histories simulations seeds planted laws damage backups rest kernels slow disks memory senders console dist fuzz} scale=${SCALE:-1} seed=${SEED:-$(date +%s)}
commit=$(git describe --always --dirty --exclude '*')
log=$(mktemp)
failed=0
rounds() { awk -v n="$1" -v scale="$scale" 'BEGIN { n = int(n * scale); print n < 1 ? 1 : n }'; }
# try WHAT COMMAND...
try() {
    local what=$1 begun=$SECONDS result=passed
    shift
    echo "== $what"
    if ! "$@" >"$log" 2>&1; then
        result="failed: $(grep -m 1 -oE '^ *--- FAIL: [^ ]*|^FAIL.*|Failing input written.*' "$log" | tr -s ' |' ' ' || true)"
        cat "$log"
        failed=1
    fi
    printf '| %s | %s | %s | %d s | %s |\n' "$(date -u +%F)" "$commit" "$what" $((SECONDS - begun)) "$result" |
        tee -a docs/explain/long-runs.md
}
test_of() { go test -count=1 -timeout 0 "$@"; }
for kind in $kinds; do
    case $kind in
    chaos) n=$(rounds 300)
        try "chaos: $n rounds from seed $seed" test_of ./tests/cluster -run '^TestChaos$' -chaos.rounds "$n" -chaos.seed "$seed" ;;
    etcd) n=$(rounds 100) # with etcd-server of Debian
        try "etcd: $n rounds of chaos over etcd from seed $seed" test_of ./tests/cluster -run '^TestChaos$' -chaos.etcd -chaos.rounds "$n" -chaos.seed "$seed" ;;
    soak) n=$(rounds 1000)
        try "soak: $n events in one cluster, seed $seed" test_of ./tests/cluster -run '^TestChaos$' -chaos.rounds 1 -chaos.steps "$n" -chaos.seed "$seed" ;;
    days) n=$(rounds 60) # SCALE is of the time
        try "days: 8 virtual days of $n s each" test_of ./tests/crash -run '^TestDays$' -days 8 -days.real "${n}s" ;;
    kills) n=$(rounds 2000)
        try "kills: $n of one server under load, seed $seed" test_of ./tests/crash -run '^TestNothingLost$' -rounds "$n" -seed "$seed" ;;
    restarts) n=$(rounds 20)
        try "restarts: $n under load behind HAProxy" test_of ./tests/cluster -run '^TestRollingRestart$' -restart.rounds "$n" ;;
    upgrades) # in a shallow clone it skips
        try "upgrades: a cluster of a626c1a8, stopped under load" test_of ./tests/cluster -run '^TestUpgrade$' -upgrade.from a626c1a8 ;;
    moves) n=$(rounds 200) up=${GNOCCHI_UP:-$(cd .. && pwd)/shared/tools/gnocchi-up.sh}
        [ -f "$up" ] || { echo "moves: skipped: no script that starts a Gnocchi at $up: set GNOCCHI_UP"; continue; }
        try "moves: $n resources of a real Gnocchi, killed 20 times" env GNOCCHI_UP="$up" go -C cmd/gnocco-migrate test -count=1 -timeout 0 . \
            -run '^TestBesideGnocchi' -beside.resources "$n" -beside.kills 20 ;;
    histories) n=$(rounds 5000)
        try "histories: $n from seed $seed" test_of ./tests/metamorphic -run '^TestArchivesEqualRecomputation$' -history.rounds "$n" -history.seed "$seed" ;;
    simulations) n=$(rounds 100000)
        try "simulations of claims: seeds 1 to $n" test_of ./storage/claim -run '^TestSimulation$' -claim.runs "$n" ;;
    seeds) n=$(rounds 2000)
        try "seeds: $n simulated clusters, from seed $seed" test_of ./tests/simulation -run '^TestSimulation$' -sim.first "$seed" -sim.runs "$n" -sim.found 100 ;;
    planted) n=$(rounds 12)
        try "planted: each bug in 4000 simulations of claims and $n of a cluster" test_of ./tests/simulation -run '^TestPlanted' -sim.tries "$n" ;;
    laws) n=$(rounds 100)
        try "laws: $n seeds from $seed" go test -count="$n" -timeout 0 ./query/promql ./storage/index ./metricd ./metricd/latetypes -seed "$seed" \
            -run '^(TestStepsEqualInstants|TestFunctionsOverTimeAreExact|TestAnswersAtAnyAgeAndRange|TestAnswersOfAnyPolicyAtAnyAge|TestDashboardsAtAnyAge|TestDashboardsOfAnyPolicy|TestMovesCostNoGroups|TestTypesThatComeLate|TestReplicasAreOneScraper|TestHistogramsOfGroupsAreExactOrSaySo|TestRebuildToAWideGranularity|TestListMetricsAgainstModel|TestPlanAgainstScan|TestRebuiltIsAsIfFromTheStart)$'
        try "laws of rules: $n seeds from $seed" go test -count="$n" -timeout 0 ./tests/metamorphic -seed "$seed" -run '^TestRulesEqualTheirExpressions$'
        try "laws of doors: $n seeds from $seed" go test -count="$n" -timeout 0 ./api -seed "$seed" -run '^(TestImportsLoseNothingSilently|TestTypesByAnyDoor)$'
        try "laws of files: $n seeds from $seed" go test -count="$n" -timeout 0 ./cmd/gnocco -seed "$seed" -run '^TestImportedFilesLoseNothingSilently$'
        try "laws of blocks: $n seeds from $seed" go -C tests/prometheus test -count="$n" -timeout 0 . -seed "$seed" -run '^TestBlocksArePushedSeries$' ;;
    damage) n=$(rounds 500)
        try "damage: $n flipped bits from seed $seed" test_of ./cmd/gnocco/internal/fsck -run '^TestDamagedTables$' -damage.rounds "$n" -damage.seed "$seed"
        n=$(rounds 520)
        try "damage: $n flipped bits of any file from seed $seed" test_of ./cmd/gnocco/internal/fsck -run '^TestFlippedBits$' -damage.flips "$n" -damage.seed "$seed" ;;
    backups) n=$(rounds 100)
        try "backups: $n rounds of disturbed folders and repositories" test_of ./backup -run '^Test(BackupSaysWhatItLacks|CopiesStayRestorable)$' \
            -backup.rounds "$n" -seed "$seed"
        try "backups: $n rounds of a cluster under kills, history, rebuilds and losses" test_of ./tests/cluster \
            -run '^TestBackupOfServingCluster$' -backup.rounds "$n" -seed "$seed" ;;
    rest) n=$(rounds 32)
        try "rest: what $n processes ask the disk for" test_of ./cluster -run '^TestDiskAtRest$' -rest.processes "$n" ;;
    kernels) try "kernels: all sizes on the host, address sanitizer" test_of ./gpu/device ./gpu/resample ./gpu/correlate -kernels.all ;;
    slow) n=$(rounds 60)
        try "slow: syncs of 10 s, leases of 10 s + 5 s, clients for $n s" test_of ./server -run '^TestSlow' -slow.ttl 10s -slow.sync 10s -slow.time "${n}s" ;;
    disks) n=$(rounds 1) # as root, with what is installed of ceph, glusterfs-server and user-mode-linux
        try "disks: $n rounds of every fault on local, GlusterFS, CephFS, NFS" test_of ./tests/disks -disks local,gluster,ceph,nfs \
            -disks.scenarios all -disks.rounds "$n" ;;
    memory) n=$(rounds 300)
        try "memory: attacked for $n s" test_of ./tests/memory -run '^TestMemory(OfQueries)?StaysBounded$' -memory.seconds "$n" -memory.p99 500ms ;;
    senders) n=$(rounds 600)
        try "senders: 10,000 series of a Prometheus for $n s" test_of ./tests/senders -run '^TestActiveSeries$' -scrape.for "${n}s"
        try "senders: rules beside those of Prometheus and vmalert" test_of ./tests/senders -run '^TestLateRules$' -senders.late ;;
    console) n=$(rounds 40)
        try "console: every page $n times, with 100,000 metrics" go -C tests/console test -count=1 -timeout 0 -run '^TestSpeed$' -speed.visits "$n" ;;
    dist) made=$(mktemp -d)
        try "dist: made twice" bash -ec "for n in 1 2; do go -C tools/dist run . -out $made/\$n; done; cmp $made/[12]/SHA256SUMS"
        rm -rf "$made"
        try "dist: installed, upgraded, purged" go -C tools/dist test -count=1 -timeout 0 -run '^TestInstalled$' . ;;
    fuzz) n=$(rounds 300)
        try "fuzz: every target for $n s" tools/fuzz.sh "${n}s" ;;
    *) echo "no kind $kind: chaos soak days kills restarts upgrades moves histories simulations seeds planted laws damage backups rest kernels slow disks memory senders console dist fuzz" >&2; exit 2 ;;
    esac
done
rm -f "$log"
exit "$failed"
