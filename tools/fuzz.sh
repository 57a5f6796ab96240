#!/usr/bin/env bash
# Run every fuzz target of the tree for a while each, as many at a time as there are processors: fuzz.sh [TIME, default 10s] [blind].
# Blind, inputs are mutated without regard to what they reach: for a few seconds a target, it isn't worth to compile everything for that.
set -euo pipefail
cd "$(dirname "$0")/.."
export PATH=$PATH:/usr/local/go/bin duration=${1:-10s} work inputs
work=$(mktemp -d)
ours=$(go list -m)
inputs=$(go env GOCACHE)/fuzz/$ours # where the go command keeps what it found interesting
trap 'rm -rf "$work"' EXIT

# programs FOLDER: where those of its module lie.
programs() { echo "$work$(dirname "$(go -C "$1" env GOMOD)")"; }
# fuzz FOLDER TARGET
fuzz() {
    local program log=$work/${1//\//-}.$2
    program=$(programs "$1")/${1##*/}.test
    # A minimized input is of use to people only; unbounded, minimizing would eat the whole time of a target.
    if (cd "$1" && "$program" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$duration" -test.fuzzminimizetime 1s -test.parallel 1 \
        -test.fuzzcachedir "$inputs/$1") >"$log" 2>&1; then
        echo "fuzz $1 $2: $(grep -o 'execs: [0-9]*' "$log" | tail -n 1)"
        return
    fi
    # Go's coordinator sometimes takes the end of the time for a failure (golang/go#75804): then that is all it says, and no
    # failing input is written.
    if ! grep -q '^ *context deadline exceeded$' "$log" || grep -qE 'Failing input written|panic|_test\.go:[0-9]+:|hung or terminated' "$log"; then
        cat "$log"
        return 1
    fi
    echo "fuzz $1 $2: the time was over, and no failing input found: the seeds once more"
    (cd "$1" && "$program" -test.run "^$2\$")
}
export -f fuzz programs

grep -rhoE --include='*_test.go' -H '^func Fuzz[A-Za-z0-9_]*' . | sed 's|^\./||; s|/[^/]*:func | |' | sort >"$work/targets"
# Only our own packages are instrumented. With -fuzz, all that they import would be, and so compiled once more. One command for each
# module compiles and links side by side.
flags=(-gcflags="$ours/...=-d=libfuzzer")
[ "${2:-}" != blind ] || flags=()
cut -d ' ' -f 1 "$work/targets" | sort -u | while read -r folder; do echo "$(programs "$folder")" "$(go -C "$folder" list)"; done >"$work/packages"
cut -d ' ' -f 1 "$work/packages" | sort -u | while read -r place; do
    mkdir -p "$place"
    grep "^$place " "$work/packages" | cut -d ' ' -f 2 |
        xargs go -C "${place#"$work"}" test -c -vet=off -ldflags='-s -w' "${flags[@]}" -o "$place/"
done
xargs -a "$work/targets" -P "$(nproc)" -L 1 bash -c 'fuzz "$@"' fuzz
echo "$(wc -l <"$work/targets") fuzz targets"
