package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestVersionWithoutDriver(t *testing.T) {
	out, stderr, status := run(t, "", "version", "--cuda-driver", "no-such-library.so")
	if status != 0 || !strings.HasPrefix(out, "gnocco "+version.Number+"\nrevision ") ||
		!strings.Contains(out, "\ndevice none (gpu: no CUDA device available: ") {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}

func TestVersionFlag(t *testing.T) {
	if out, stderr, status := run(t, "", "--version"); status != 0 || out != "gnocco "+version.Number+"\n" {
		t.Errorf("status %d\n%s%s", status, out, stderr)
	}
}

func TestVersionPrintsDevices(t *testing.T) {
	t.Setenv("GNOCCO_CUDA_DRIVER", cutest.Build(t, t.TempDir()))
	f := func(variable, value, want string) {
		t.Helper()
		t.Setenv(variable, value)
		out, stderr, status := run(t, "", "version")
		if status != 0 || !strings.HasSuffix(out, want) {
			t.Errorf("status %d\n%s%s", status, out, stderr)
		}
	}
	f("FAKE_CUDA_DEVICES", "2",
		"device 0 Fake device 0, sm_90, 0.2 GiB, CUDA 13.0\ndevice 1 Fake device 1, sm_90, 0.2 GiB, CUDA 13.0\n")
	f("FAKE_CUDA_DEVICES", "0", "device none (gpu: no CUDA device available: the driver sees none)\n")
	f("FAKE_CUDA_INIT", "2",
		"device none (gpu: no CUDA device available: cuInit: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory)\n")
}

// The tests' program has neither symbols nor DWARF; with symbols, as make build builds it, it has an eighth more.
func TestProgramIsLight(t *testing.T) {
	info, err := os.Stat(program)
	fatal.If(t, err)
	if most := int64(60_000_000 * 8 / 9); info.Size() > most {
		t.Errorf("gnocco has %d bytes, more than %d: see docs/decisions/0050-weight.md", info.Size(), most)
	}
}
