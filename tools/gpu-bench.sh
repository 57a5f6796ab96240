#!/usr/bin/env bash
# Everything that needs a CUDA device, in one call: parity with the CPU, compute-sanitizer on a short set, benchmarks.
#
#   tools/gpu-bench.sh build DIR    here: the test program, with no need for Go where it runs
#   tools/gpu-bench.sh run DIR OUT  there; logs under OUT
#
# DIR/gpu.test runs with DIR as its folder: the golden vectors are copied there.
set -uo pipefail
cd "$(dirname "$0")/.."
dir=$(realpath -m "$2")
case "$1" in
build)
    mkdir -p "$dir"
    CGO_ENABLED=0 go test -c -o "$dir/gpu.test" ./gpu
    mkdir -p "$dir/carbonara/testdata" && cp -r carbonara/testdata/golden "$dir/carbonara/testdata/"
    mkdir -p "$dir/gpu" && cp "$0" "$dir/" && echo "module gnocco" >"$dir/go.mod"
    ;;
run)
    out=$(realpath -m "$3")
    mkdir -p "$out"
    cd "$dir/gpu" || exit 1
    export GNOCCO_TEST_DEVICE=1 CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-/tmp/cuda-cache}
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    echo "== parity"
    timeout 200 ../gpu.test -test.v -test.run 'TestResampler|TestOnDevice' >"$out/tests.log" 2>&1
    echo "exit $?"
    grep -E '^(---|===|PASS|FAIL|ok|panic)|    [a-z_]*\.go' "$out/tests.log" | grep -v '=== RUN' | tail -20
    if [ "${SANITIZE:-1}" = 1 ] && command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck initcheck; do
            echo "== compute-sanitizer $tool"
            timeout 100 compute-sanitizer --tool $tool ../gpu.test -test.short -test.run 'TestResamplerSizes/(33|2049)$' >"$out/$tool.log" 2>&1
            echo "exit $?"
            tail -3 "$out/$tool.log"
        done
    fi
    echo "== benchmarks"
    timeout 280 ../gpu.test -test.run '^$' -test.bench "${BENCH:-OnDevice(Resident|Ladder|Resample)\$}" -test.benchtime "${BENCHTIME:-200ms}" 2>&1 | tee "$out/bench.log"
    ;;
esac
