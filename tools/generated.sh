#!/usr/bin/env bash
# Make the generated files anew and fail if that changes any: what is committed must be what its sources say.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/local/go/bin
state() { git ls-files -co --exclude-standard -z | sort -z | xargs -0 sha256sum 2>/dev/null; }
before=$(state)
for module in . bench cmd/gnocco-client cmd/gnocco-correlate cmd/gnocco-backup cmd/gnocco-import cmd/gnocco-migrate tests/prometheus tests/console tools/pinned; do
    (cd "$module" && go generate ./... && go mod tidy -diff)
done
after=$(state)
if [ "$before" != "$after" ]; then
    echo "generated files are out of date:"
    diff <(echo "$before") <(echo "$after") | sed -n 's/^> [0-9a-f]*  /  /p'
    exit 1
fi
