#!/usr/bin/env bash
# Check the types of the console's sources by TypeScript's compiler, where it is installed: esbuild, which builds them, does not look at types.
set -euo pipefail
cd "$(dirname "$0")/../console"
if ! command -v tsc >/dev/null; then
    echo "skipped: types of console/src (tsc is not installed; Debian has it in node-typescript)"
    exit 0
fi
status=0
../tools/pinned/console/packages.sh || status=$?
case $status in
0) tsc --project . ;;
3) echo "skipped: types of console/src: its packages are missing" ;;
*) exit "$status" ;;
esac
