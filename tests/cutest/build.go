package cutest

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

//go:embed driver/fake_driver.c
var source []byte

// Build compiles the driver into dir and returns the library's path, which is what cu.Options.Library takes, and
// programs in the environment variable GNOCCO_CUDA_DRIVER. For such programs FAKE_CUDA_KERNELS names a library of host
// kernels, FAKE_CUDA_DEVICES is the number of devices, FAKE_CUDA_MEMORY their bytes of memory, FAKE_CUDA_INIT what
// cuInit returns.
func Build(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "fake_driver.c")
	if err := os.WriteFile(file, source, 0o600); err != nil {
		t.Fatal(err)
	}
	return Compile(t, filepath.Join(dir, "libfakecuda.so"), "-std=gnu11", file)
}

//go:embed driver/shim.c
var shimSource []byte

// BuildShim compiles the shim into dir and returns the library's path.
func BuildShim(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "shim.c")
	if err := os.WriteFile(file, shimSource, 0o600); err != nil {
		t.Fatal(err)
	}
	return Compile(t, filepath.Join(dir, "libshim.so"), "-std=gnu11", file)
}

// BuildKernels compiles package kernels' sources for the host, with further arguments for the compiler, and returns the
// library's path. Undefined behaviour traps. A library compiled from equal sources is used again: compiling takes
// longer than most tests. The test is skipped where there is no compiler.
func BuildKernels(t testing.TB, args ...string) (library string) {
	t.Helper()
	if library, ok := built.Load(strings.Join(args, " ")); ok {
		return library.(string)
	}
	library = buildKernels(t, args)
	built.Store(strings.Join(args, " "), library)
	return library
}

// built holds the libraries of this process, by arguments.
var built sync.Map

func buildKernels(t testing.TB, args []string) (library string) {
	t.Helper()
	compiler, err := exec.LookPath("clang++-19")
	if err != nil {
		t.Skip("needs clang++-19, to run kernels on the host")
	}
	sources, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/gnocco-db/gnocco/gpu/kernels").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(sources))
	caches, err := os.UserCacheDir()
	if err != nil {
		caches = os.TempDir()
	}
	caches = filepath.Join(caches, "gnocco-host-kernels")
	if err := os.MkdirAll(caches, 0o755); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-fsanitize=undefined", "-fsanitize-trap=undefined"}, args...)
	library = filepath.Join(caches, digest(t, dir, append([]string{compiler}, args...))+".so")
	if _, err := os.Stat(library); err == nil {
		return library
	}
	unfinished := filepath.Join(t.TempDir(), "libkernels.so")
	build := exec.Command(filepath.Join(dir, "build.sh"), append([]string{"host", unfinished}, args...)...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	content, err := os.ReadFile(unfinished)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(library+fmt.Sprint(os.Getpid()), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(library+fmt.Sprint(os.Getpid()), library); err != nil {
		t.Fatal(err)
	}
	return library
}

// digest returns a name for the library that a compiler, with these arguments, makes of the kernels' sources.
func digest(t testing.TB, dir string, compiler []string) string {
	t.Helper()
	binary, err := os.Stat(compiler[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	fmt.Fprintln(sum, compiler, binary.Size(), binary.ModTime())
	for _, arg := range compiler { // sources that are included
		if filepath.Ext(arg) == ".cu" {
			fmt.Fprintln(sum, digest(t, filepath.Dir(arg), compiler[:1]))
		}
	}
	err = filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !slices.Contains([]string{".cu", ".h", ".sh"}, filepath.Ext(path)) {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintln(sum, path[len(dir):], len(content))
		sum.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:16])
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
	flags := []string{"-O1", "-g", "-Wall", "-Wextra", "-shared", "-fPIC", "-pthread", "-o", library}
	args = slices.Concat(flags, args, []string{"-ldl"})
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return library
}
