package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// program is the built binary.
var program string

func TestMain(m *testing.M) {
	dir, err := testprogram.Build("gnocco-correlate")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	program = filepath.Join(dir, "gnocco-correlate")
	os.Exit(m.Run())
}

// run runs the program to its end and returns what it printed and its exit status.
func run(t *testing.T, stdin string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestCorrelate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "metrics.csv")
	content := "time,a,host,b,c,d\n" +
		"2026-01-01 00:00:00,1,x,2,8,5\n" +
		"2026-01-01 00:00:10,2,x,4,1,5\n" +
		"2026-01-01 00:00:20,3,y,6,oops,5\n" +
		"2026-01-01 00:00:30,4,y,8,0,5\n"
	fatal.If(t, os.WriteFile(file, []byte(content), 0o600))
	f := func(want, wantStderr, stdin string, status int, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, stdin, args...)
		if got != status || stdout != want || !strings.Contains(stderr, wantStderr) {
			t.Errorf("%q: status %d, want %d\n%s\nwant\n%s\nstandard error\n%s\nwant %q", args, got, status,
				stdout, want, stderr, wantStderr)
		}
	}
	const strong = "(0,1) 1\n"
	f(strong, "left out column timestamp: it holds timestamps",
		"timestamp,a,b\n1767225600,1,2\n1767225610,2,4\n1767225620,4,8\n", 0, "-")
	f("(0,1) 1\n", "left out column a: it holds timestamps", "time,a,b\n1,1,2\n2,2,4\n4,3,8\n", 0, "--timestamp-column",
		"a", "--method", "spearman", "-")
	f(strong, "left out 1 column without numbers: host", "", 0, "--min-abs", "0.95", file)
	f(strong, "line 4, column 5 (c): \"oops\" is not a number", content, 0, "--top", "1", "-")
	f(strong, "1 bad cell, taken as missing", "", 0, "--top", "1", file)
	f(strong, "constant, so without coefficients: 1 column: d", "", 0, "--top", "1",
		"--method", "spearman", file)
	f("(0,1) 1\n(0,2) NaN\n(1,2) NaN\n", "of 4 rows", "", 0, "--skip", "c", file)
	f("i,j,x,y,r,lag,overlap\n0,1,a,b,1,0,4\n", "", "", 0, "--format", "csv", "--top", "1", file)
	f("", "line 4, column 5 (c)", "", 1, "--bad", "error", file)
	f("(0,1) 1 1\n", "", "1;9\n2;1\n4;2\n3;4\n7;3\n", 0, "--lag", "1", "--min-overlap", "4", "--delimiter", ";",
		"--no-header", "-")
	f(strong, "left out column when: it holds timestamps", "when;;a;b\n1.2.2026;1;1,5;2\n14.2.2026;2;2,5;4\n", 0, "-")
	f(strong, "left out 1 column without a name", "when;;a;b\n1.2.2026;1;1,5;2\n14.2.2026;2;2,5;4\n", 0, "-")
	f("", "--decimal", "a;b\n1,500;2\n", 1, "-")
	f("(0,1) 1\n", "", "a;b\n1,500;2\n2,500;3\n", 0, "--decimal", ",", "-")
	f("", "--decimal", "", 1, "--decimal", ";", file)
	f("", "there is no column", "", 1, "--skip", "nope", file)
	f("", "--method", "", 1, "--method", "kendall", file)
	f("", "--format", "", 1, "--format", "xml", file)
	f("", "--min-abs", "", 1, "--min-abs", "NaN", file)
	f("", "no such file", "", 1, file+"x")
	f("", "of memory", "", 1, "--memory", "1kB", file)
}

// A file of many times the memory is read in bands, and gives what more memory gives; from standard input that cannot
// be.
func TestCorrelateInBands(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	const columns = 200
	for j := range columns {
		fmt.Fprintf(&text, "c%d,", j)
	}
	text.WriteString("end\n")
	for range 2500 {
		for range columns {
			if random.IntN(50) == 0 {
				text.WriteByte(',')
			} else {
				fmt.Fprintf(&text, "%d,", random.IntN(100))
			}
		}
		text.WriteString("1\n")
	}
	file := filepath.Join(t.TempDir(), "wide.csv")
	fatal.If(t, os.WriteFile(file, []byte(text.String()), 0o600))
	want, _, status := run(t, "", file)
	if status != 0 || strings.Count(want, "\n") != (columns+1)*columns/2 {
		t.Fatalf("status %d, %d pairs", status, strings.Count(want, "\n"))
	}
	got, stderr, status := run(t, "", "--memory", "7500kB", file)
	if status != 0 || got != want || strings.Contains(stderr, "in 1 pass") {
		t.Errorf("status %d, other pairs %v: %s", status, got != want, stderr)
	}
	if _, stderr, status = run(t, text.String(), "--memory", "7500kB", "-"); status != 1 ||
		!strings.Contains(stderr, "cannot be read twice") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

func TestCorrelateDeviceChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.csv")
	fatal.If(t, os.WriteFile(file, []byte("a,b\n1,2\n2,4\n3,7\n"), 0o600))
	f := func(wantStderr string, status int, args ...string) {
		t.Helper()
		_, stderr, got := run(t, "", append([]string{"--cuda-driver", "no-such-library.so"}, args...)...)
		if got != status || !strings.Contains(stderr, wantStderr) {
			t.Errorf("%q: status %d\n%s", args, got, stderr)
		}
	}
	f("of 3 rows in", 0, file)
	f("of 3 rows in", 0, "--gpu", "off", file)
	f("no CUDA device available", 1, "--gpu", "on", file)
	f("--gpu is \"x\"", 1, "--gpu", "x", file)
	f("--gpu is \"-1\"", 1, "--gpu", "-1", file)
}

// The program prints the same pairs with a device, within the bound, and says where they come from.
func TestCorrelateOnADevice(t *testing.T) {
	driver := fakeDevice(t)
	text := "a,b,c,d\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,%d,%d,\n", 1000000+i, i*i%17, 3*i)
		if i == 50 {
			text += "1,,2,4\n"
		}
	}
	file := filepath.Join(t.TempDir(), "x.csv")
	fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
	for _, args := range [][]string{{}, {"--top", "2"}, {"--min-abs", "0.5", "--lag", "2"}, {"--top-per-column", "1"}} {
		args = append([]string{"--memory", "64MiB", "--cuda-driver", driver, file}, args...)
		want, _, status := run(t, "", append(args, "--gpu", "off")...)
		got, stderr, deviceStatus := run(t, "", append(args, "--gpu", "on")...)
		if status != 0 || deviceStatus != 0 || !strings.Contains(stderr, " on Fake device 0 in") {
			t.Fatalf("%q: status %d and %d\n%s", args, status, deviceStatus, stderr)
		}
		wanted, lines := strings.Split(want, "\n"), strings.Split(got, "\n")
		if len(lines) != len(wanted) {
			t.Fatalf("%q: got\n%s\nwant\n%s", args, got, want)
		}
		for k, line := range lines[:len(lines)-1] {
			var i, j, lag int
			var r, wantedR float64
			_, _ = fmt.Sscanf(wanted[k], "(%d,%d) %g", &i, &j, &wantedR)
			if n, _ := fmt.Sscanf(line, "(%d,%d) %g %d", &i, &j, &r, &lag); n < 3 ||
				strings.Fields(line)[0] != strings.Fields(wanted[k])[0] ||
				!(math.Abs(r-wantedR) <= 1e-12 || math.IsNaN(r) && math.IsNaN(wantedR)) {
				t.Errorf("%q: got %q, want %q", args, line, wanted[k])
			}
		}
	}
}

// fakeDevice gives the program a device, the kernels of which run on the host, and returns its driver.
func fakeDevice(t *testing.T) (driver string) {
	t.Helper()
	library := cutest.BuildKernels(t)
	t.Setenv("FAKE_CUDA_KERNELS", library)
	t.Setenv("FAKE_CUDA_MEMORY", "1000000000")
	return cutest.Build(t, t.TempDir())
}
