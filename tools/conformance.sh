#!/usr/bin/env bash
# Run Gnocchi's functional tests against bin/test/gnocco, and hold every answer to openapi.yaml: contractproxy stands between. The tests
# are those of the installed package (Debian: python3-gnocchi, and python3-gabbi to run them), or of another release; where they
# are missing, nothing is run, and that is said.
#
#   conformance.sh [FILE.yaml ...]     only these, with the reasons of failures
#   GABBITS=DIR conformance.sh         the files of DIR: of a checkout, gnocchi/tests/functional/gabbits
#   KNOWN=FILE                         tests that are known to fail (default: those of release 4.4.2)
set -euo pipefail
cd "$(dirname "$0")/.."
skip() { echo "conformance: skipped: $1"; echo "0 passed, 0 failed, 0 skipped"; exit 0; }
/usr/bin/python3 -c 'import gabbi' 2>/dev/null || skip "gabbi is not installed (python3-gabbi)"
if [ -z "${GABBITS:-}" ]; then
    GABBITS=$(/usr/bin/python3 -c 'import os, importlib.util as u; print(os.path.join(os.path.dirname(u.find_spec("gnocchi").origin), "tests/functional/gabbits"))' 2>/dev/null || true)
    [ -d "$GABBITS" ] || skip "Gnocchi's functional tests are not installed (python3-gnocchi)"
fi
[ -d "$GABBITS" ] || { echo "conformance: no folder $GABBITS" >&2; exit 2; }

# Ports of our own, below those that the system hands out: other runs may go on beside this one.
free_port() { /usr/bin/python3 -c '
import random, socket
while True:
    port = random.randint(20000, 29999)
    with socket.socket() as s:
        if s.connect_ex(("127.0.0.1", port)):
            print(port)
            break'; }
export RIG LISTEN=${LISTEN:-127.0.0.1:$(free_port)} GNOCCO=$PWD/bin/test/gnocco
RIG=$(mktemp -d)
proxy= proxied=127.0.0.1:$(free_port)
finish() {
    [ -z "$proxy" ] || kill -KILL "$proxy" 2>/dev/null || true
    tools/gabbi-reset.sh stop
    rm -rf "$RIG"
}
trap finish EXIT
go build -o "$RIG/contractproxy" ./tests/conformance/contractproxy
"$RIG/contractproxy" --listen "$proxied" --to "http://$LISTEN" --prefix /gnocchi &
proxy=$!

options=()
files=("$@")
if [ $# -gt 0 ]; then
    options+=(--reasons)
fi
status=0
/usr/bin/python3 tests/conformance/gabbi_run.py --folder "$GABBITS" --url "http://$proxied/gnocchi" --reset tools/gabbi-reset.sh \
    --known-failures "${KNOWN:-tests/conformance/known-failures.txt}" "${options[@]}" "${files[@]}" >"$RIG/result" || status=$?
sed '$d' "$RIG/result"
kill -TERM "$proxy"
wait "$proxy" || status=1
proxy=
tail -n 1 "$RIG/result"
exit "$status"
