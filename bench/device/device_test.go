package device_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/bench/device"
	"github.com/gnocco-db/gnocco/bench/report"
	gpudevice "github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// On the fake driver, with the kernels compiled for the host: the times mean nothing there, but the results must be
// right.
func TestGPU(t *testing.T) {
	driver := cutest.Open(t)
	own, err := filepath.Abs("kernels/all.cu")
	fatal.If(t, err)
	driver.LoadKernels(cutest.BuildKernels(t, "-include", own))
	driver.SetMemory(4 << 30)
	driver.SetDevices(2)
	var out bytes.Buffer
	err = device.Run(t.Context(), report.Run{Report: report.New(&out)}, device.Options{
		// the blog's case has but one size
		Only:   []string{"sum", "ladder", "resident", "host", "dynamic", "packed", "stream", "soak", "cards"},
		Values: 5003, BigSumBytes: 1 << 16, Measures: 3001, HostSizes: []int{500}, Chunks: []int{0, 200},
		SoakBatches: 20, Rounds: 1,
	})
	fatal.If(t, err)
	for _, name := range []string{
		"GPUCopy/to=device", "GPUSum/kernel=atomic", "GPUSum/kernel=row", "GPUSum/kernel=coalesced",
		"GPUSum/kernel=ours", "GPUSum/kernel=cpu/cores=1",
		"GPULadder/kernel=v1-atomics", "GPULadder/kernel=v2-blocks", "GPULadder/kernel=v3-shared",
		"GPULadder/kernel=v4-streams", "GPULadder/kernel=ours",
		"GPULadder/kernel=uncoalesced", "GPULadder/kernel=cpu/cores=1", "GPUResident/granularity=nine/timestamps=8B",
		"GPUHost/methods=six/measures=500/timestamps=4B/engine=device-1/memory=go",
		"GPUHost/methods=six/measures=500/timestamps=4B/engine=device-all/memory=pinned/chunk=200",
		"GPUChoice/methods=six-and-order/measures=500/timestamps=0B",
		"GPUDynamic/operation=resample-median/series=300/rows=10/gaps=true/engine=device-all",
		"GPUDynamic/operation=one-median/group=500/rows=500/engine=model",
		"GPUPacked/stored", "GPUPacked/granularity=60s/from=archive", "GPUPacked/granularity=3600s/from=columns",
		"GPUPacked/granularity=60s/engine=cpu-1",
		"GPUDynamicChoice/operation=resample-median/series=100/rows=5/gaps=false", "GPUStream/timestamps=4B", "GPUSoak",
		"GPUCards/cards=2",
	} {
		if !strings.Contains(out.String(), "Benchmark"+name) {
			t.Errorf("no %s in\n%s", name, out.String())
		}
	}
	if err := device.Run(t.Context(), report.Run{}, device.Options{Only: []string{"moon"}}); err == nil {
		t.Error("an unknown part is no error")
	}
	if err := device.Run(t.Context(), report.Run{}, device.Options{Rounds: -1}); err == nil ||
		errors.Is(err, gpudevice.ErrUnavailable) {
		t.Errorf("negative rounds: %v", err)
	}
}
