#!/usr/bin/env bash
# Run those of Gnocchi's functional tests whose part of the API we serve (tests/conformance/gabbits.txt) against bin/gnocco.
# The tests are those of the installed package (Debian: python3-gnocchi), the runner is gabbi_run.py in shared/tools beside the
# checkout (needs python3-gabbi). Where one is missing, nothing is run, and that is said.
#
#   conformance.sh [FILE.yaml ...]     only these, with the reasons of failures
set -euo pipefail
cd "$(dirname "$0")/.."
runner=../shared/tools/gabbi_run.py
gabbits=$(/usr/bin/python3 -c 'import os, importlib.util as u; print(os.path.join(os.path.dirname(u.find_spec("gnocchi").origin), "tests/functional/gabbits"))' 2>/dev/null || true)
skip() { echo "conformance: skipped: $1"; echo "0 passed, 0 failed, 0 skipped"; exit 0; }
[ -f "$runner" ] || skip "no $runner beside the checkout"
[ -d "$gabbits" ] || skip "Gnocchi's functional tests are not installed (python3-gnocchi)"
/usr/bin/python3 -c 'import gabbi' 2>/dev/null || skip "gabbi is not installed (python3-gabbi)"

# A port of our own, below those that the system hands out: other runs may go on beside this one.
free_port() { /usr/bin/python3 -c '
import random, socket
while True:
    port = random.randint(20000, 29999)
    with socket.socket() as s:
        if s.connect_ex(("127.0.0.1", port)):
            print(port)
            break'; }
export RIG LISTEN=${LISTEN:-127.0.0.1:$(free_port)} GNOCCO=$PWD/bin/gnocco
RIG=$(mktemp -d)
trap 'tools/gabbi-reset.sh stop; rm -rf "$RIG"' EXIT
options=()
files=("$@")
if [ $# -gt 0 ]; then
    options+=(--failures)
else
    mapfile -t files < <(grep -v '^#' tests/conformance/gabbits.txt)
fi
# In the count at the end a known failure is a test skipped.
status=0
/usr/bin/python3 "$runner" --gabbits "$gabbits" --url "http://$LISTEN/gnocchi" --reset-cmd tools/gabbi-reset.sh \
    --known-failures tests/conformance/known-failures.txt --json "$RIG/result.json" "${options[@]}" "${files[@]}" |
    sed '/^[0-9]* passed, [0-9]* failed, [0-9]* skipped$/d' || status=$?
/usr/bin/python3 - "$RIG/result.json" <<'EOP'
import json, sys
result = json.load(open(sys.argv[1]))
for name in result["unexpected_failures"]:
    print("FAILED " + name)
totals, unexpected = result["totals"], len(result["unexpected_failures"])
print("%d passed, %d failed, %d skipped" % (totals["passed"] + totals["xfail"] + totals["xpass"], unexpected,
                                            totals["skipped"] + totals["failed"] - unexpected))
EOP
exit "$status"
