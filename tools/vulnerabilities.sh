#!/usr/bin/env bash
# Find known vulnerabilities in what the programs call, by govulncheck, whose database is on the internet.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
govulncheck=$(go -C tools/pinned tool -n govulncheck)
if ! timeout 30 "$govulncheck" -version | grep -q '^DB updated'; then
    echo "skipped: govulncheck (its database cannot be reached)"
    exit 0
fi
status=0
for module in . cmd/gnocco-client cmd/gnocco-correlate cmd/gnocco-backup cmd/gnocco-migrate; do
    (cd "$module" && "$govulncheck" ./...) || status=1
done
exit $status
