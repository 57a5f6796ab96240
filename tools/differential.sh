#!/usr/bin/env bash
# Send the same requests to a real Gnocchi and to bin/gnocco, and show what differs beyond what is known: see
# tests/conformance/differential/differential.py. About two minutes, most of them Gnocchi's.
#
# GNOCCHI_UP names the script that starts a Gnocchi: called as `GNOCCHI_UP WORKDIR PORT [options]` it prints the URL, with --reset it
# empties it; gnocchi-down.sh lies beside it. The default is ../shared/tools/gnocchi-up.sh beside the checkout. PORT (default 21541),
# PORT+1 and PORT+1000 must be free. Where there is no such script, nothing is run, and that is said.
set -euo pipefail
cd "$(dirname "$0")/.."
up=${GNOCCHI_UP:-../shared/tools/gnocchi-up.sh}
port=${PORT:-21541}
[ -f "$up" ] || { echo "differential: skipped: no script that starts Gnocchi at $up: set GNOCCHI_UP"; exit 0; }
export RIG LISTEN=127.0.0.1:$((port + 1)) GNOCCO=$PWD/bin/gnocco
RIG=$(mktemp -d)
chmod 755 "$RIG" # PostgreSQL runs as another user
finish() {
    tools/gabbi-reset.sh stop
    [ ! -d "$RIG/gnocchi" ] || bash "$(dirname "$up")/gnocchi-down.sh" "$RIG/gnocchi" >/dev/null || true
    rm -rf "$RIG"
}
trap finish EXIT
status=0
for file in tests/conformance/differential/scenario.txt api/testdata/bad_input.txt; do
    url=$(bash "$up" "$RIG/gnocchi" "$port" --max-limit 7 --metricd 1 --reset)
    tools/gabbi-reset.sh
    /usr/bin/python3 tests/conformance/differential/differential.py "$url" "http://$LISTEN/gnocchi" "$file" || status=1
done
exit "$status"
