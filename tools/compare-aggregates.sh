#!/usr/bin/env bash
# Compare aggregates across metrics of gnocco, the real Gnocchi and VictoriaMetrics on this machine, in one run: `gnocco-bench
# aggregates` drives all three by turns and checks their answers, which have to be the same. About three minutes.
#
#   tools/compare-aggregates.sh [RESULTS]
#
# RESULTS gets the raw lines (default: compare-aggregates.txt in the current folder); a table follows on standard output.
# GNOCCHI_UP names the script that starts a Gnocchi, see compare-gnocchi.sh; victoria-metrics is looked for in PATH. PORT (default
# 18641), PORT+1 and PORT+1000 must be free. COUNT repeats everything.
#
# 1,000 metrics are asked of gnocco and VictoriaMetrics only; gnocco alone is asked for what the others cannot answer.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
up=${GNOCCHI_UP:-$root/../shared/tools/gnocchi-up.sh}
down=$(dirname "$up")/gnocchi-down.sh
port=${PORT:-18641}
results=$(realpath "${1:-compare-aggregates.txt}")
[ -f "$up" ] || { echo "no script that starts Gnocchi at $up: set GNOCCHI_UP" >&2; exit 2; }
victoria=$(command -v victoria-metrics) || { echo "no victoria-metrics in PATH" >&2; exit 2; }

work=$(mktemp -d)
chmod 755 "$work" # PostgreSQL runs as another user
victoria_pid=
finish() {
    [ -z "$victoria_pid" ] || { kill "$victoria_pid" && wait "$victoria_pid"; } || true
    [ ! -d "$work/gnocchi" ] || bash "$down" "$work/gnocchi" || true
    rm -rf "$work"
}
trap finish EXIT

cd "$root"
go build -o "$work" ./cmd/gnocco
go -C bench build -o "$work" ./cmd/gnocco-bench
gnocchi=$(bash "$up" "$work/gnocchi" "$port" --prefix "" --max-limit 1000 --metricd 2 --delay 1)
pids=$(for name in api metricd; do cut -d' ' -f1 "$work/gnocchi/run/$name.pid"; done; head -1 "$work/gnocchi/pg/postmaster.pid")
pids=$(echo $pids | tr ' ' ,)
"$victoria" -storageDataPath "$work/victoria" -retentionPeriod 100y -search.latencyOffset 0s \
    -httpListenAddr "127.0.0.1:$((port + 1))" >"$work/victoria.log" 2>&1 &
victoria_pid=$!
sleep 2

: >"$results"
run() { "$work/gnocco-bench" aggregates --temp-dir "$work" "$@" | tee -a "$results"; }
for _ in $(seq "${COUNT:-1}"); do
    run --metrics 100
    run --metrics 100 --extra=false --name gnocchi --url "$gnocchi" --pids "$pids"
    run --metrics 100,1000 --name victoria --url "http://127.0.0.1:$((port + 1))" --pids "$victoria_pid" --protocol victoriametrics
    run --metrics 1000
done

echo
awk '
/^Benchmark/ {
    name = $1; sub(/^BenchmarkAggregates\//, "", name)
    server = name; sub(/^server=/, "", server); sub(/\/.*/, "", server)
    sub(/server=[a-z]*\//, "", name); sub(/\/connections=.*/, "", name)
    if (!(name in known)) { known[name] = 1; order[++n] = name }
    for (i = 3; i < NF; i += 2) { sum[server, name, $(i + 1)] += $i; runs[server, name, $(i + 1)]++ }
}
function figure(server, name, unit) {
    if (!runs[server, name, unit]) return ""
    return sprintf("%.3g", sum[server, name, unit] / runs[server, name, unit])
}
END {
    print "| query | gnocco: p50, p99, CPU ms | Gnocchi | VictoriaMetrics |"
    print "| --- | --- | --- | --- |"
    for (i = 1; i <= n; i++) {
        printf "| %s |", order[i]
        split("gnocco gnocchi victoria", servers, " ")
        for (s = 1; s <= 3; s++)
            if (runs[servers[s], order[i], "ms-p50"])
                printf " %s, %s, %s |", figure(servers[s], order[i], "ms-p50"), figure(servers[s], order[i], "ms-p99"), figure(servers[s], order[i], "cpu-ms/request")
            else
                printf " |"
        print ""
    }
}' "$results"
