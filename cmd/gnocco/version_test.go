package main_test

import (
	"strings"
	"testing"

	"gnocco/gpu/cu/cutest"
)

func TestVersionWithoutDriver(t *testing.T) {
	out, stderr, status := run(t, "", "version", "--cuda-driver", "no-such-library.so")
	if status != 0 || !strings.HasPrefix(out, "gnocco ") || !strings.Contains(out, "\ndevice none (gpu: no CUDA device available: ") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}

func TestVersionPrintsDevices(t *testing.T) {
	t.Setenv("GNOCCO_CUDA_DRIVER", cutest.Build(t, t.TempDir()))
	t.Setenv("FAKE_CUDA_DEVICES", "2")
	out, stderr, status := run(t, "", "version")
	want := "device 0 Fake device 0, sm_90, 0.2 GiB, CUDA 13.0\ndevice 1 Fake device 1, sm_90, 0.2 GiB, CUDA 13.0\n"
	if status != 0 || !strings.HasSuffix(out, want) {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}
