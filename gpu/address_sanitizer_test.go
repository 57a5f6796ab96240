//go:build !race

package gpu_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestResamplerAddressSanitizer runs the tests above once more in a process in which the kernels and all that malloc gives, the
// device's memory among it, are watched by the address sanitizer. It must be the first library of a process.
func TestResamplerAddressSanitizer(t *testing.T) {
	if os.Getenv(addressSanitizer) != "" {
		t.Skip("this is that process")
	}
	if hostKernels(t) == nil {
		t.Skip("the kernels run on a device")
	}
	out, err := exec.Command("clang++-19", "-print-file-name=libclang_rt.asan-x86_64.so").Output()
	runtime := strings.TrimSpace(string(out))
	if err != nil || !strings.HasPrefix(runtime, "/") {
		t.Skip("clang++-19 has no address sanitizer here")
	}
	child := exec.Command(os.Args[0], "-test.short", "-test.run",
		"TestResampler(Golden|Sizes|RandomShapes)$|TestUnpack(Timestamps|Damaged)$|TestCorrelator$/sm_90/(selections|context)$|TestCorrelatorSizes$/sm_70$/columns=257")
	child.Env = append(os.Environ(), addressSanitizer+"=1", "LD_PRELOAD="+runtime,
		"ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=0:handle_segv=0:use_sigaltstack=0:detect_stack_use_after_return=0")
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
