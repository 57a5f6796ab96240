#!/usr/bin/env bash
# Compare gnocco, VictoriaMetrics, InfluxDB and Prometheus on this machine while all of them take the same measures of a fleet of hosts, at the same time:
# `gnocco-bench fleet`. Some 31 minutes.
#
#   tools/compare-fleet.sh [RESULTS [FLAG…]]
#   tools/compare-fleet.sh million.txt --metrics 1000000 --step 60s --for 30m --memory-limit 2147483648
#   tools/compare-fleet.sh day.txt --metrics 10000 --for 24h --past --pack 60 --read-every 1m      # what a day takes on disk
#
# RESULTS gets the raw lines (default: compare-fleet.txt in the current folder); a table follows on standard output. victoria-metrics, influxd and prometheus
# are looked for in PATH (Debian has all three); one that is missing is left out. Further arguments go to gnocco-bench fleet: --server victoria@1.112=PATH
# and so on names other programs.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
results=$(realpath "${1:-compare-fleet.txt}")
shift || true
[ $# -gt 0 ] || set -- --for 30m
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
go build -o "$work" ./cmd/gnocco
go -C bench build -o "$work" ./cmd/gnocco-bench
"$work/gnocco-bench" fleet --temp-dir "$work" "$@" | tee "$results"

echo
awk '
/^BenchmarkFleet/ {
    split($1, part, "server="); name = part[2]; servers[++n] = name
    for (i = 3; i < NF; i += 2) { value[name, $(i + 1)] = $i; if (!($(i + 1) in known)) { known[$(i + 1)] = 1; units[++m] = $(i + 1) } }
}
END {
    printf "| |"; for (s = 1; s <= n; s++) printf " %s |", servers[s]; print ""
    printf "| --- |"; for (s = 1; s <= n; s++) printf " --- |"; print ""
    for (u = 1; u <= m; u++) {
        printf "| %s |", units[u]; for (s = 1; s <= n; s++) printf " %.3g |", value[servers[s], units[u]]; print ""
    }
}' "$results"
