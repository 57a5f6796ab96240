package devicetest

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/cutest"
)

// underAddressSanitizer is set in processes that RunUnderAddressSanitizer starts.
const underAddressSanitizer = "GNOCCO_TEST_ADDRESS_SANITIZER"

// HostKernels makes the fake driver run the kernels, compiled for the host. On a machine with a device, the tests use
// that.
func HostKernels(t testing.TB) *cutest.Driver {
	t.Helper()
	if os.Getenv("GNOCCO_TEST_DEVICE") != "" {
		if all, err := device.Find(""); err == nil && len(all) > 0 && all[0].Major > 0 {
			t.Logf("on %v", all[0])
			return nil
		}
	}
	driver := cutest.Open(t)
	var more []string
	if os.Getenv(underAddressSanitizer) != "" {
		more = []string{"-fsanitize=address", "-shared-libsan"}
	}
	driver.LoadKernels(cutest.BuildKernels(t, more...))
	driver.SetMemory(2 << 30)
	return driver
}

// RunUnderAddressSanitizer runs tests of this program once more in another process. There the address sanitizer watches
// the kernels and all memory from malloc, including the device's. It must be the first library of a process.
func RunUnderAddressSanitizer(t *testing.T, pattern string) {
	t.Helper()
	if os.Getenv(underAddressSanitizer) != "" {
		t.Skip("this is that process")
	}
	if testing.Short() {
		t.Skip("-kernels.all or make kernels runs it")
	}
	if HostKernels(t) == nil {
		t.Skip("the kernels run on a device")
	}
	out, err := exec.Command("clang++-19", "-print-file-name=libclang_rt.asan-x86_64.so").Output()
	runtime := strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(runtime, "/") {
		t.Skip("clang++-19 has no address sanitizer here")
	}
	child := exec.Command(os.Args[0], "-test.short", "-test.run", pattern)
	child.Env = append(os.Environ(), underAddressSanitizer+"=1", "LD_PRELOAD="+runtime,
		"ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0:handle_segv=0:use_sigaltstack=0:detect_stack_use_after_return=0")
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
