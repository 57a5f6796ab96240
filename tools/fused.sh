#!/usr/bin/env bash
# Tell where the compiler for arm64 fuses a multiplication with an addition, which gives other bits than amd64: one rounding, not two. It does
# so across statements, too; a conversion, float64(x*y)+z, forbids it. Lines that call math.FMA are meant so.
#
#   tools/fused.sh [PACKAGE...]    default: those that compute what clients read
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin GOARCH=arm64 CGO_ENABLED=0
[ $# -gt 0 ] || set -- ./carbonara/... ./correlate ./correlate/tile ./internal/compensated ./internal/decimal ./model ./query ./query/aggregates
# Tests run everywhere by themselves; assembly for arm64 there is none.
found=$(go list -export -f '{{.Export}}' "$@" | while read -r archive; do go tool objdump "$archive"; done |
    awk '/^TEXT /{ inside = $2; next } /[ \t]FN?M(ADD|SUB)[SD][ \t]/{ print $1, inside }' | sort -u |
    while read -r place inside; do
        file=${place%:*} line=${place##*:}
        git ls-files -- "$file" "*/$file" | while read -r path; do sed -n "${line}p" "$path"; done | grep 'math\.FMA' >/dev/null || echo "$place: $inside"
    done)
[ -z "$found" ] || { printf 'fused on arm64; see tools/fused.sh:\n%s\n' "$found" >&2; exit 1; }
