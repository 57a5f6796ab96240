package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestSlope(t *testing.T) {
	f := func(x, y []float64, want float64) {
		t.Helper()
		if got := slope(x, y); got != want {
			t.Errorf("slope(%v, %v) = %v, want %v", x, y, got, want)
		}
	}
	f([]float64{0, 10, 20, 30}, []float64{1, 21, 41, 61}, 2)
	f([]float64{0, 1, 2}, []float64{5, 5, 5}, 0)
	f([]float64{3}, []float64{5}, 0)
}

func TestParseShape(t *testing.T) {
	f := func(text string, want Shape) {
		t.Helper()
		got, err := ParseShape(text)
		if got != want || (err != nil) != (want == Shape{}) {
			t.Errorf("ParseShape(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	f("100x60@4", Shape{100, 60, 4})
	f("10000x1", Shape{10000, 1, 1})
	for _, bad := range []string{"", "x", "100", "100x", "0x1", "1x-1", "1x1@", "1x1@0", "1x1@1@1", "1x1x1"} {
		f(bad, Shape{})
	}
}

func TestMeasureDiskCountsAFileOnce(t *testing.T) {
	dir := t.TempDir()
	fatal.If(t, os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "a", "b", "file"), make([]byte, 10_000), 0o644))
	fatal.If(t, os.Link(filepath.Join(dir, "a", "b", "file"), filepath.Join(dir, "a", "second name")))
	u, err := measureDisk(dir, filepath.Join(dir, "a"))
	if err != nil || u.length != 10_000 {
		t.Errorf("measureDisk: %+v, %v", u, err)
	}
	if _, err := measureDisk(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there has a size")
	}
}

// The shell's own child burns the time: descendants count, alive or waited for.
func TestProcessUsageCountsDescendants(t *testing.T) {
	cmd := exec.Command("sh", "-c",
		`sh -c 'i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done; echo done; read line'; read line`)
	in, err := cmd.StdinPipe()
	fatal.If(t, err)
	out, err := cmd.StdoutPipe()
	fatal.If(t, err)
	fatal.If(t, cmd.Start())
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	if _, err := out.Read(make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	alive, err := processUsage([]int{cmd.Process.Pid})
	if err != nil || alive.cpu < 20*time.Millisecond || alive.rss <= 0 {
		t.Fatalf("processUsage: %+v, %v", alive, err)
	}
	if _, err := in.Write([]byte("\n")); err != nil { // ends the inner shell
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; {
		all, err := withDescendants([]int{cmd.Process.Pid})
		fatal.If(t, err)
		if len(all) == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v still run", all)
		}
		time.Sleep(time.Millisecond)
	}
	after, err := processUsage([]int{cmd.Process.Pid})
	if err != nil || after.cpu < alive.cpu-20*time.Millisecond { // ended children are counted in hundredths of a second
		t.Errorf("once its child has ended: %+v, %v; was %+v", after, err, alive)
	}
	if _, err := processUsage([]int{1 << 30}); err == nil {
		t.Error("a process that is not there has used something")
	}
}
