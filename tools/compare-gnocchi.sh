#!/usr/bin/env bash
# Compare gnocco with the real Gnocchi on this machine, in one run: both are driven by `gnocco-bench` with the same
# small workload, by turns. About three minutes, nearly all of them Gnocchi's.
#
#   tools/compare-gnocchi.sh [RESULTS]
#
# RESULTS gets the raw lines (default: compare-gnocchi.txt in the current folder); a table follows on standard output.
# GNOCCHI_UP names the script that starts a Gnocchi: it is called as `GNOCCHI_UP WORKDIR PORT [options]`, leaves process
# ids in WORKDIR/run/*.pid and WORKDIR/pg/postmaster.pid and files in WORKDIR/data; gnocchi-down.sh lies beside it.
# The default is ../shared/tools/gnocchi-up.sh beside the checkout. PORT (default 18541) and PORT+1000 must be free.
#
# CPU of Gnocchi counts API, metricd and PostgreSQL; its bytes on disk are those of its storage, without PostgreSQL.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
up=${GNOCCHI_UP:-$root/../shared/tools/gnocchi-up.sh}
down=$(dirname "$up")/gnocchi-down.sh
port=${PORT:-18541}
count=${COUNT:-1}
results=$(realpath "${1:-compare-gnocchi.txt}")
[ -f "$up" ] || { echo "no script that starts Gnocchi at $up: set GNOCCHI_UP" >&2; exit 2; }

work=$(mktemp -d)
chmod 755 "$work" # PostgreSQL runs as another user
finish() {
    [ ! -d "$work/gnocchi" ] || bash "$down" "$work/gnocchi" || true
    rm -rf "$work"
}
trap finish EXIT

cd "$root"
go build -o "$work" ./cmd/gnocco
go -C bench build -o "$work" ./cmd/gnocco-bench
url=$(bash "$up" "$work/gnocchi" "$port" --prefix "" --max-limit 1000 --metricd 2 --delay 1)
pids=$(for name in api metricd; do cut -d' ' -f1 "$work/gnocchi/run/$name.pid"; done; head -1 "$work/gnocchi/pg/postmaster.pid")
pids=$(echo $pids | tr ' ' ,)

: >"$results"
both() { # both BENCHMARK FLAG...: the same for each server
    "$work/gnocco-bench" "$@" --floor=false --temp-dir "$work" --count "$count" \
        --name gnocchi --url "$url" --pids "$pids" --data-dirs "$work/gnocchi/data" | tee -a "$results"
    "$work/gnocco-bench" "$@" --floor=false --temp-dir "$work" --count "$count" | tee -a "$results"
}
both ingest --metrics 200 --measures 24000 --shape 100x60@4
both ingest --metrics 200 --measures 8000 --shape 200x1@1
both freshness --probes 15 --metrics 200 --measures 24000 --shape 20x5@2
both read --metrics 4 --step 60s
both disk --metrics 50 --pattern gauge --per-group 1,6

echo
# Figures that both have, as a table; several runs are averaged.
awk '
/^Benchmark/ {
    name = $1; sub(/^Benchmark/, "", name)
    server = name ~ /server=gnocchi/ ? "gnocchi" : "gnocco"; sub(/\/server=[a-z]*/, "", name)
    for (i = 3; i < NF; i += 2) {
        key = name " | " $(i + 1)
        if (!(key in known)) { known[key] = 1; order[++n] = key }
        sum[server, key] += $i; runs[server, key]++
    }
}
END {
    print "| benchmark | unit | gnocchi | gnocco | gnocco / gnocchi |"
    print "| --- | --- | ---: | ---: | ---: |"
    for (i = 1; i <= n; i++) {
        key = order[i]
        if (key ~ /client-cpu|B\/answer|B-sent|load-wanted/ || !runs["gnocchi", key] || !runs["gnocco", key]) continue
        a = sum["gnocchi", key] / runs["gnocchi", key]; b = sum["gnocco", key] / runs["gnocco", key]
        ratio = (a > 0 && b > 0) ? sprintf("%.3g", b / a) : ""
        printf "| %s | %.4g | %.4g | %s |\n", key, a, b, ratio
    }
}' "$results"
