#!/usr/bin/env bash
# Everything that needs a CUDA device, in one call: parity with the CPU, compute-sanitizer on a short set, benchmarks.
#
#   tools/gpu-device.sh build DIR          here: programs that need no Go where they run
#   tools/gpu-device.sh run DIR OUT PART…  there; logs under OUT. Parts: parity sanitize bench metricd correlate shim choices (default: all)
#
# The tests are three programs, which run in DIR/gpu: the golden vectors are copied beside it.
set -uo pipefail
cd "$(dirname "$0")/.."
dir=$(realpath -m "$2")

parity() {
    echo "== parity"
    for tests in "device TestOnDevice" "resample TestResampler|TestUnpack|TestCalibrate"; do
        timeout 200 ../${tests%% *}.test -test.v -test.run "${tests#* }" 2>&1
        echo "exit $?"
    done >"$out/tests.log"
    grep '^exit' "$out/tests.log"
    grep -E '^(---|PASS|FAIL|panic)|    [a-z_]*\.go' "$out/tests.log" | tail -20
}

sanitize() {
    for tool in memcheck racecheck initcheck; do
        echo "== compute-sanitizer $tool"
        # Rows beyond the last group come to the host with small results, and nobody reads them: initcheck looks at kernels.
        timeout 80 compute-sanitizer --tool $tool --print-limit 20 ../resample.test -test.short -test.run 'TestResamplerSizes/(33|2049|8193)$|TestResamplerLevels/(nine|rates)$|TestUnpack$/(gauge|outliers|beside|random)$' \
            >"$out/$tool.log" 2>&1
        echo "exit $?, $(grep -c 'Uninitialized __global__ memory read' "$out/$tool.log") reads by kernels of what was not written"
        tail -3 "$out/$tool.log"
    done
}

bench() {
    echo "== bench gpu"
    timeout 500 ../gnocco-bench gpu --measures "${MEASURES:-125000000}" --values "${VALUES:-67108864}" --big-sum 8GiB \
        --soak-batches "${SOAK:-100000}" ${ONLY:+--only "$ONLY"} ${HOST_SIZES:+--host-sizes "$HOST_SIZES"} \
        ${CHUNKS:+--chunks "$CHUNKS"} ${STREAMS:+--streams "$STREAMS"} 2>&1 | tee "$out/bench.log" | grep -v level=INFO
}

# The whole process: CPU seconds per million measures with policies that have median and 95pct.
metricd() {
    for gpu in off on auto off on auto; do
        echo "== bench ingest --gpu=$gpu"
        timeout 100 ../gnocco-bench ingest --quiet --floor=false --name "gnocco-gpu-$gpu" --serve-args "--gpu=$gpu" --percentiles \
            --metrics "${METRICS:-5000}" --measures "${INGEST:-6000000}" --shape 100x60@4 2>&1 | tee -a "$out/ingest.log" | grep Benchmark
    done
}

# Correlations with the kernels of every architecture that the device takes: parity, compute-sanitizer on a short set, benchmarks.
correlate() {
    echo "== correlate: parity"
    timeout 100 ../correlate.test -test.v -test.run 'TestCorrelator|TestOnDeviceCorrelator' >"$out/correlate.log" 2>&1
    echo "exit $?"
    grep -E '^(---|PASS|FAIL|panic)|^    --- |    [a-z_]*\.go' "$out/correlate.log" | tail -40
    for tool in memcheck racecheck; do
        echo "== correlate: compute-sanitizer $tool"
        timeout 60 compute-sanitizer --tool $tool --print-limit 20 ../correlate.test -test.short -test.v \
            -test.run 'TestCorrelatorSizes$/sm_.0$/columns=(5|129)$|TestCorrelator$/sm_.0$/(overlap|exact|scales)$' >"$out/correlate-$tool.log" 2>&1
        echo "exit $?"
        grep -E '^ *--- |^========= (ERROR|RACECHECK) SUMMARY' "$out/correlate-$tool.log" | tail -30
    done
    echo "== correlate: bench"
    timeout 100 ../gnocco-bench correlate --count "${COUNT:-3}" --csv-bytes 64MiB --wide-columns "${WIDE:-10000}" 2>&1 | tee "$out/correlate-bench.log"
}

# A driver that fails and hangs, in front of the device's: every batch comes to its end all the same.
shim() {
    echo "== shim"
    for tests in resample correlate; do
        GNOCCO_TEST_SHIM=$PWD/../libshim.so timeout 120 ../$tests.test -test.v -test.run TestShim 2>&1
        echo "exit $?"
    done >"$out/shim.log"
    grep '^exit' "$out/shim.log"
    grep -E '^ *--- |^(PASS|FAIL|panic|fatal)|    [a-z_]*\.go' "$out/shim.log" | tail -50
}

# Stored correlations and files on the CPU, on the device, and on what is chosen.
choices() {
    echo "== choices"
    timeout 200 ../gnocco-bench correlate --choices 2>&1 | tee "$out/choices.log"
}

case "$1" in
build)
    mkdir -p "$dir"
    for package in device resample correlate; do
        CGO_ENABLED=0 go test -c -ldflags '-s -w' -o "$dir/$package.test" ./gpu/$package
    done
    CGO_ENABLED=0 go build -ldflags '-s -w' -o "$dir" ./cmd/gnocco
    CGO_ENABLED=0 go -C bench build -ldflags '-s -w' -o "$(realpath "$dir")" ./cmd/gnocco-bench
    CGO_ENABLED=0 go -C cmd/gnocco-correlate build -ldflags '-s -w' -o "$(realpath "$dir")" .
    mkdir -p "$dir/carbonara/testdata" "$dir/gpu" "$dir/tools" && cp -r carbonara/testdata/golden "$dir/carbonara/testdata/"
    gcc -O1 -Wall -Wextra -shared -fPIC -pthread -o "$dir/libshim.so" tests/cutest/driver/shim.c -ldl
    cp "$0" "$dir/tools/" && echo "module gnocco" >"$dir/go.mod"
    ;;
run)
    out=$(realpath -m "$3")
    mkdir -p "$out"
    cd "$dir/gpu" || exit 1
    export GNOCCO_TEST_DEVICE=1 CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-/tmp/cuda-cache}
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    shift 3
    for part in "${@:-parity sanitize bench metricd correlate shim choices}"; do
        for one in $part; do $one; done
    done
    ;;
esac
