package cutest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

//go:embed driver/fake_driver.c
var source []byte

// Build compiles the driver into dir and returns the library's path, which is what cu.Options.Library takes, and programs in the
// environment variable GNOCCO_CUDA_DRIVER. For such programs FAKE_CUDA_KERNELS names a library of host kernels,
// FAKE_CUDA_DEVICES is the number of devices, FAKE_CUDA_MEMORY their bytes of memory, FAKE_CUDA_INIT what cuInit returns.
func Build(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "fake_driver.c")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	return Compile(t, filepath.Join(dir, "libfakecuda.so"), "-std=gnu11", file)
}

// BuildKernels compiles package kernels' sources for the host into library, with further arguments for the compiler. It skips the test
// where there is no compiler for them.
func BuildKernels(t testing.TB, library string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed: the kernels do not run on the host")
	}
	_, here, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(here), "../../kernels/build.sh")
	if out, err := exec.Command(script, append([]string{"host", library}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Compile makes a shared library of C sources, with further arguments for the compiler, and returns its path.
func Compile(t testing.TB, library string, args ...string) string {
	t.Helper()
	compiler := ""
	for _, name := range []string{"gcc", "clang", "cc"} {
		if path, err := exec.LookPath(name); err == nil {
			compiler = path
			break
		}
	}
	if compiler == "" {
		t.Skip("no C compiler to build the fake CUDA driver")
	}
	args = append([]string{"-O1", "-g", "-Wall", "-Wextra", "-shared", "-fPIC", "-pthread", "-o", library}, append(args, "-ldl")...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return library
}
