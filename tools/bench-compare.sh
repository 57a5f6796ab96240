#!/usr/bin/env bash
# Compare benchmarks of a revision (base) with those of this tree (head), run by turns on this machine:
#   bench-compare.sh REF [COUNT] [PACKAGE...]
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
ref=$1 count=${2:-10}
shift $(($# < 2 ? $# : 2))
packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
    mapfile -t packages < <(grep -rlE --include='*_test.go' '^func Benchmark' . | xargs -n 1 dirname | sort -u)
fi
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/tree" "$ref"

head=$PWD
number=0
for package in "${packages[@]}"; do
    [ -d "$work/tree/$package" ] || { echo "$package is not in $ref" >&2; continue; }
    (cd "$work/tree/$package" && go test -c -o "$work/base.$number" .)
    (cd "$package" && go test -c -o "$work/head.$number" .)
    for _ in $(seq "$count"); do
        (cd "$work/tree/$package" && "$work/base.$number" -test.run '^$' -test.bench . >>"$work/base.txt")
        (cd "$head/$package" && "$work/head.$number" -test.run '^$' -test.bench . >>"$work/head.txt")
    done
    number=$((number + 1))
done
[ "$number" -gt 0 ] || { echo "no benchmarks in both" >&2; exit 1; }
go -C tools/pinned tool benchstat "base=$work/base.txt" "head=$work/head.txt"
