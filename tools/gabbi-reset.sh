#!/usr/bin/env bash
# Start gnocco on an empty folder in the way Gnocchi's functional tests want it, ending the one that an earlier call started.
#
#   gabbi-reset.sh         (re)start; returns once the server answers
#   gabbi-reset.sh stop    end it
#
# GNOCCO   the program (default: bin/gnocco of this tree)
# RIG      folder for the data, log and process id (default: gnocco-gabbi in the folder for temporary files)
# LISTEN   address (default: 127.0.0.1:8042)
set -euo pipefail
GNOCCO=${GNOCCO:-$(cd "$(dirname "$0")/.." && pwd)/bin/gnocco}
RIG=${RIG:-${TMPDIR:-/tmp}/gnocco-gabbi}
LISTEN=${LISTEN:-127.0.0.1:8042}

answers() { (exec 3<>"/dev/tcp/${LISTEN%:*}/${LISTEN##*:}") 2>/dev/null; }

ready() {
    (exec 3<>"/dev/tcp/${LISTEN%:*}/${LISTEN##*:}" && printf 'GET /gnocchi/ready HTTP/1.0\r\n\r\n' >&3 &&
        read -r -t 5 _ status _ <&3 && [ "$status" = 200 ]) 2>/dev/null
}

mkdir -p "$RIG"
if [ -s "$RIG/pid" ]; then
    pid=$(cat "$RIG/pid")
    # KILL: what it holds is thrown away. The name guards against a process id in second use.
    if [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = gnocco ]; then
        kill -KILL "$pid" 2>/dev/null || true
        # Its main thread may be gone while others still hold the port and the folder: what counts is that nobody answers.
        for _ in $(seq 500); do
            answers || [ -n "$(find /proc/"$pid"/task -mindepth 1 -maxdepth 1 ! -name "$pid" 2>/dev/null)" ] || break
            sleep 0.01
        done
    fi
    rm -f "$RIG/pid"
fi
rm -rf "$RIG/data"
[ "${1:-}" != stop ] || exit 0

setsid "$GNOCCO" serve --data "$RIG/data" --listen "$LISTEN" --no-default-policies --max-limit 7 --prefix /gnocchi \
    --proxy-headers --cors-allowed-origin http://foobar.com </dev/null >>"$RIG/log" 2>&1 &
pid=$!
echo "$pid" >"$RIG/pid"
# The port is open before the stores are, and a request that comes then waits 2 s at most.
for _ in $(seq 600); do
    ! ready || exit 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
done
echo "gabbi-reset: gnocco does not answer; see $RIG/log" >&2
tail -n 5 "$RIG/log" >&2
exit 1
