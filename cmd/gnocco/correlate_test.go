package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCorrelate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "metrics.csv")
	content := "time,a,host,b,c,d\n" +
		"2026-01-01 00:00:00,1,x,2,8,5\n" +
		"2026-01-01 00:00:10,2,x,4,1,5\n" +
		"2026-01-01 00:00:20,3,y,6,oops,5\n" +
		"2026-01-01 00:00:30,4,y,8,0,5\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want, wantStderr, stdin string, status int, args ...string) {
		t.Helper()
		stdout, stderr, got := run(t, stdin, append([]string{"correlate"}, args...)...)
		if got != status || stdout != want || !strings.Contains(stderr, wantStderr) {
			t.Errorf("correlate %q: status %d, want %d\n%s\nwant\n%s\nstandard error\n%s\nwant %q", args, got, status, stdout, want, stderr, wantStderr)
		}
	}
	const strong = "(0,1) 1\n"
	f(strong, "left out 2 columns without numbers: time, host", "", 0, "--min-abs", "0.95", file)
	f(strong, "line 4, column 5 (c): \"oops\" is not a number", content, 0, "--top", "1", "-")
	f(strong, "1 bad cells, taken as missing", "", 0, "--top", "1", file)
	f(strong, "1 columns are constant, so they have no coefficients: d", "", 0, "--top", "1", "--method", "spearman", file)
	f("(0,1) 1\n(0,2) NaN\n(1,2) NaN\n", "of 4 rows", "", 0, "--skip", "c", file)
	f("i,j,x,y,r,lag,overlap\n0,1,a,b,1,0,4\n", "", "", 0, "--format", "csv", "--top", "1", file)
	f("", "line 4, column 5 (c)", "", 1, "--bad", "error", file)
	f("(0,1) 1 1\n", "", "1;9\n2;1\n4;2\n3;4\n7;3\n", 0, "--lag", "1", "--min-overlap", "4", "--delimiter", ";", "--no-header", "-")
	f("", "there is no column", "", 1, "--skip", "nope", file)
	f("", "--method", "", 1, "--method", "kendall", file)
	f("", "--format", "", 1, "--format", "xml", file)
	f("", "--min-abs", "", 1, "--min-abs", "NaN", file)
	f("", "no such file", "", 1, file+"x")
	f("", "of memory", "", 1, "--memory", "1kB", file)
}

// A file of many times the memory is read in bands, and gives what more memory gives; from standard input that cannot be.
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
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	want, _, status := run(t, "", "correlate", file)
	if status != 0 || strings.Count(want, "\n") != (columns+1)*columns/2 {
		t.Fatalf("status %d, %d pairs", status, strings.Count(want, "\n"))
	}
	got, stderr, status := run(t, "", "correlate", "--memory", "7500kB", file)
	if status != 0 || got != want || strings.Contains(stderr, "in 1 passes") {
		t.Errorf("status %d, other pairs %v: %s", status, got != want, stderr)
	}
	if _, stderr, status = run(t, text.String(), "correlate", "--memory", "7500kB", "-"); status != 1 || !strings.Contains(stderr, "cannot be read twice") {
		t.Errorf("status %d: %s", status, stderr)
	}
}
