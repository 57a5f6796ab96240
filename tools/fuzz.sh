#!/usr/bin/env bash
# Run every fuzz target of the tree for a while each: fuzz.sh [TIME, default 10s].
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
duration=${1:-10s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A minimized input is of use to people only; unbounded, minimizing would eat the whole time of a target.
fuzz() { go test -run '^$' -fuzz "^$2\$" -fuzztime "$duration" -fuzzminimizetime 1s "$1" 2>&1 | tee "$log"; }
# Go's coordinator sometimes takes the end of the time for a failure (golang/go#75804): then that is all it says, and no
# failing input is written.
ended_late() { grep -q '^ *context deadline exceeded$' "$log" && ! grep -qE 'Failing input written|panic|_test\.go:[0-9]+:|hung or terminated' "$log"; }
targets=0
while IFS=: read -r file target; do
    folder=./$(dirname "$file")
    echo "fuzz $folder $target"
    if ! fuzz "$folder" "$target"; then
        ended_late || exit 1
        echo "the time was over, and no failing input found: the seeds once more"
        go test -run "^$target\$" "$folder"
    fi
    targets=$((targets + 1))
done < <(grep -rhoE --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' . | sed 's|^\./||; s|:func |:|' | sort)
echo "$targets fuzz targets"
