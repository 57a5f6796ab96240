#!/usr/bin/env bash
# Everything that needs a CUDA device, in one call: parity with the CPU, compute-sanitizer on a short set, benchmarks.
#
#   tools/gpu-device.sh build DIR          here: programs that need no Go where they run
#   tools/gpu-device.sh run DIR OUT PART…  there; logs under OUT. Parts: parity sanitize bench metricd correlate (default: all)
#
# DIR/gpu.test runs with DIR as its folder: the golden vectors are copied there.
set -uo pipefail
cd "$(dirname "$0")/.."
dir=$(realpath -m "$2")

parity() {
    echo "== parity"
    timeout 200 ../gpu.test -test.v -test.run 'TestResampler|TestUnpack|TestCalibrate|TestOnDevice' -test.skip TestOnDeviceCorrelator >"$out/tests.log" 2>&1
    echo "exit $?"
    grep -E '^(---|PASS|FAIL|panic)|    [a-z_]*\.go' "$out/tests.log" | tail -20
}

sanitize() {
    for tool in memcheck racecheck initcheck; do
        echo "== compute-sanitizer $tool"
        # Rows beyond the last group come to the host with small results, and nobody reads them: initcheck looks at kernels.
        timeout 80 compute-sanitizer --tool $tool --print-limit 20 ../gpu.test -test.short -test.run 'TestResamplerSizes/(33|2049|8193)$|TestResamplerLevels/(nine|rates)$|TestUnpack$/(gauge|outliers|beside|random)$' \
            >"$out/$tool.log" 2>&1
        echo "exit $?, $(grep -c 'Uninitialized __global__ memory read' "$out/$tool.log") reads by kernels of what was not written"
        tail -3 "$out/$tool.log"
    done
}

bench() {
    echo "== bench gpu"
    timeout 500 ../gnocco bench gpu --measures "${MEASURES:-125000000}" --values "${VALUES:-67108864}" --big-sum 8GiB \
        --soak-batches "${SOAK:-100000}" ${ONLY:+--only "$ONLY"} ${HOST_SIZES:+--host-sizes "$HOST_SIZES"} \
        ${PIECES:+--pieces "$PIECES"} ${LANES:+--lanes "$LANES"} 2>&1 | tee "$out/bench.log" | grep -v level=INFO
}

# The whole process: CPU seconds per million measures with policies that have median and 95pct.
metricd() {
    for gpu in off on auto off on auto; do
        echo "== bench ingest --gpu=$gpu"
        timeout 100 ../gnocco bench ingest --quiet --floor=false --name "gnocco-gpu-$gpu" --serve-args "--gpu=$gpu" --percentiles \
            --metrics "${METRICS:-5000}" --measures "${INGEST:-6000000}" --shape 100x60@4 2>&1 | tee -a "$out/ingest.log" | grep Benchmark
    done
}

# Correlations with the kernels of every architecture that the device takes: parity, compute-sanitizer on a short set, benchmarks.
correlate() {
    echo "== correlate: parity"
    timeout 100 ../gpu.test -test.v -test.run 'TestCorrelator|TestOnDeviceCorrelator' >"$out/correlate.log" 2>&1
    echo "exit $?"
    grep -E '^(---|PASS|FAIL|panic)|^    --- |    [a-z_]*\.go' "$out/correlate.log" | tail -40
    for tool in memcheck racecheck; do
        echo "== correlate: compute-sanitizer $tool"
        timeout 60 compute-sanitizer --tool $tool --print-limit 20 ../gpu.test -test.short -test.v \
            -test.run 'TestCorrelatorSizes$/sm_.0$/columns=(5|129)$|TestCorrelator$/sm_.0$/(overlap|exact)$' >"$out/correlate-$tool.log" 2>&1
        echo "exit $?"
        grep -E '^ *--- |^========= (ERROR|RACECHECK) SUMMARY' "$out/correlate-$tool.log" | tail -30
    done
    echo "== correlate: bench"
    timeout 100 ../gnocco bench correlate --count "${COUNT:-3}" --csv-bytes 64MiB --wide-columns "${WIDE:-10000}" 2>&1 | tee "$out/correlate-bench.log"
}

case "$1" in
build)
    mkdir -p "$dir"
    CGO_ENABLED=0 go test -c -ldflags '-s -w' -o "$dir/gpu.test" ./gpu
    CGO_ENABLED=0 go build -ldflags '-s -w' -o "$dir/gnocco" ./cmd/gnocco
    mkdir -p "$dir/carbonara/testdata" "$dir/gpu" "$dir/tools" && cp -r carbonara/testdata/golden "$dir/carbonara/testdata/"
    cp "$0" "$dir/tools/" && echo "module gnocco" >"$dir/go.mod"
    ;;
run)
    out=$(realpath -m "$3")
    mkdir -p "$out"
    cd "$dir/gpu" || exit 1
    export GNOCCO_TEST_DEVICE=1 CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-/tmp/cuda-cache}
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    shift 3
    for part in "${@:-parity sanitize bench metricd correlate}"; do
        for one in $part; do $one; done
    done
    ;;
esac
