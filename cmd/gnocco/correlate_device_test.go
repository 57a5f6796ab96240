package main_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCorrelateDeviceChoice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(file, []byte("a,b\n1,2\n2,4\n3,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(wantStderr string, status int, args ...string) {
		t.Helper()
		_, stderr, got := run(t, "", append([]string{"correlate", "--cuda-driver", "no-such-library.so"}, args...)...)
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
	dir := fakeDevice(t)
	text := "a,b,c,d\n"
	for i := range 100 {
		text += fmt.Sprintf("%d,%d,%d,\n", 1000000+i, i*i%17, 3*i)
		if i == 50 {
			text += "1,,2,4\n"
		}
	}
	file := filepath.Join(dir, "x.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--top", "2"}, {"--min-abs", "0.5", "--lag", "2"}, {"--top-per-column", "1"}} {
		args = append([]string{"correlate", "--memory", "64MiB", file}, args...)
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
			if n, _ := fmt.Sscanf(line, "(%d,%d) %g %d", &i, &j, &r, &lag); n < 3 || strings.Fields(line)[0] != strings.Fields(wanted[k])[0] ||
				!(math.Abs(r-wantedR) <= 1e-12 || math.IsNaN(r) && math.IsNaN(wantedR)) {
				t.Errorf("%q: got %q, want %q", args, line, wanted[k])
			}
		}
	}
}
