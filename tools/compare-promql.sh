#!/usr/bin/env bash
# Compare queries in PromQL of gnocco, Prometheus and VictoriaMetrics on this machine, in one run: `gnocco-bench promql` sends all three the same series by
# remote write, waits until they answer alike (a warning says where VictoriaMetrics does not), and asks them by turns. Some three minutes.
#
#   tools/compare-promql.sh [RESULTS [FLAG…]]
#
# RESULTS gets the raw lines (default: compare-promql.txt in the current folder); a table of the server's CPU time for an answer, and of the time
# that it takes, follows on standard output. prometheus and victoria-metrics are looked for in PATH (Debian has both); one that is missing is left out.
# Further arguments go to gnocco-bench promql.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
results=$(realpath "${1:-compare-promql.txt}")
shift || true
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
go build -o "$work" ./cmd/gnocco
go -C bench build -o "$work" ./cmd/gnocco-bench
"$work/gnocco-bench" promql --temp-dir "$work" "$@" | tee "$results"

echo
awk '
/^Benchmark/ {
    split($1, part, "/"); query = substr(part[2], 7); server = substr(part[3], 8)
    if (!(query in known)) { known[query] = 1; order[++n] = query }
    cpu[server, query] = $3; wall[server, query] = $5
}
END {
    text["month"] = "`avg by (x) (avg_over_time(cpu[1h]))`, 100 series, 30 days, step 1 h"
    text["day"] = "one series, a day, step 60 s"
    text["fleet"] = "`sum by (project_id) (x)`, 10,000 series, an hour, step 60 s"
    text["top10"] = "`topk(10, x)` of the same"
    text["values"] = "values of `resource_id`, 100,000"
    print "| query | gnocco: CPU ms, ms | Prometheus | VictoriaMetrics |"
    print "| --- | --- | --- | --- |"
    for (i = 1; i <= n; i++) {
        printf "| %s |", text[order[i]]
        split("gnocco prometheus victoria", servers, " ")
        for (s = 1; s <= 3; s++)
            printf " %s |", ((servers[s], order[i]) in cpu) ? sprintf("%.3g, %.3g", cpu[servers[s], order[i]], wall[servers[s], order[i]]) : ""
        print ""
    }
}' "$results"
