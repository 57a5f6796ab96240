package bench_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"gnocco/gpu"
	"gnocco/gpu/cu/cutest"
	"gnocco/internal/bench"
)

// On the fake driver, with the kernels compiled for the host: what is measured there means nothing, but it must be right.
func TestGPU(t *testing.T) {
	driver := cutest.Open(t)
	library := filepath.Join(t.TempDir(), "libkernels.so")
	cutest.BuildKernels(t, library)
	driver.LoadKernels(library)
	driver.SetMemory(4 << 30)
	driver.SetDevices(2)
	var out bytes.Buffer
	err := bench.GPU(t.Context(), bench.Options{Report: bench.NewReport(&out)}, bench.GPUOptions{
		Only:   []string{"sum", "ladder", "resident", "host", "dynamic", "packed", "stream", "soak", "cards"}, // the blog's case has but one size
		Values: 5003, BigSumBytes: 1 << 16, Measures: 3001, HostSizes: []int{500}, Pieces: []int{0, 200}, SoakBatches: 20, Rounds: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"GPUCopy/to=device", "GPUSum/kernel=atomic", "GPUSum/kernel=row", "GPUSum/kernel=coalesced", "GPUSum/kernel=ours", "GPUSum/kernel=cpu/cores=1",
		"GPULadder/kernel=v1-atomics", "GPULadder/kernel=v2-blocks", "GPULadder/kernel=v3-shared", "GPULadder/kernel=v4-streams", "GPULadder/kernel=ours",
		"GPULadder/kernel=uncoalesced", "GPULadder/kernel=cpu/cores=1", "GPUResident/granularity=nine/timestamps=8B",
		"GPUHost/methods=six/measures=500/timestamps=4B/engine=device-1/memory=go",
		"GPUHost/methods=six/measures=500/timestamps=4B/engine=device-all/memory=pinned/piece=200", "GPUChoice/methods=six-and-order/measures=500/timestamps=0B",
		"GPUDynamic/operation=median/series=300/rows=10/gaps=true/engine=device-all", "GPUDynamic/operation=one-median/group=500/rows=500/engine=model",
		"GPUPacked/stored", "GPUPacked/granularity=60s/from=archive", "GPUPacked/granularity=3600s/from=columns", "GPUPacked/granularity=60s/engine=cpu-1",
		"GPUDynamicChoice/operation=resample-median/series=100/rows=5/gaps=false", "GPUStream/timestamps=4B", "GPUSoak", "GPUCards/cards=2",
	} {
		if !strings.Contains(out.String(), "Benchmark"+name) {
			t.Errorf("no %s in\n%s", name, out.String())
		}
	}
	if err := bench.GPU(t.Context(), bench.Options{}, bench.GPUOptions{Only: []string{"moon"}}); err == nil {
		t.Error("an unknown part is no error")
	}
	if err := bench.GPU(t.Context(), bench.Options{}, bench.GPUOptions{Rounds: -1}); err == nil || errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("negative rounds: %v", err)
	}
}
