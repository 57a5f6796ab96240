#!/usr/bin/env bash
# Run every fuzz target of the tree for a while each: fuzz.sh [TIME, default 10s].
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
duration=${1:-10s}
targets=0
while IFS=: read -r file target; do
    folder=./$(dirname "$file")
    echo "fuzz $folder $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "$folder"
    targets=$((targets + 1))
done < <(grep -rhoE --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' . | sed 's|^\./||; s|:func |:|' | sort)
echo "$targets fuzz targets"
