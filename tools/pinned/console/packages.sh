#!/usr/bin/env bash
# Install what console/package-lock.json names in console/node_modules, by npm, unless it lies there already. Where npm or the network is
# missing, say so and exit with status 3.
set -euo pipefail
cd "$(dirname "$0")/../../../console"
cmp -s package-lock.json node_modules/.installed && exit 0
missing() { echo "console/node_modules: skipped: $1"; exit 3; }
command -v npm >/dev/null || missing "npm is not installed (Debian has it in npm)"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! npm ci --prefer-offline --fetch-retries=0 >"$log" 2>&1; then
    if code=$(grep -oE '\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EIDLETIMEOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b' "$log" | head -n 1); then
        missing "npm reaches no packages ($code)"
    fi
    cat "$log" >&2
    exit 1
fi
cp package-lock.json node_modules/.installed
