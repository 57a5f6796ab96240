#!/usr/bin/env bash
# Format console/src and build console/dist, where npm can install the packages for it; else say so and change nothing.
set -euo pipefail
cd "$(dirname "$0")"
status=0
./packages.sh || status=$?
case $status in
0)
    cd ../../../console
    node_modules/.bin/prettier --log-level warn --write 'src/**/*.{ts,tsx,css}'
    go -C ../tools/pinned run ./console
    ;;
3) echo "console/dist: skipped: its packages are missing" ;;
*) exit "$status" ;;
esac
