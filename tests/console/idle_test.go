package console_test

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// launch runs the program as a command that serves, and returns its address.
func launch(t *testing.T, command string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed")
	}
	programs, err := testprogram.Build("gnocco")
	check(t, err)
	c := exec.Command(filepath.Join(programs, "gnocco"), command, "--data", filepath.Join(t.TempDir(), "data"), "--listen", "127.0.0.1:0",
		"--min-free-bytes", "1MiB")
	stdout, err := c.StdoutPipe()
	check(t, err)
	check(t, testprogram.EndWithTest(c).Start())
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := regexp.MustCompile(`http://[\d.]+:\d+`).FindString(lines.Text()); m != "" {
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return m
		}
	}
	t.Fatal("the program names no address")
	return ""
}

// figureOf returns the sum of a figure of a server.
func figureOf(t *testing.T, url, name string) (sum float64) {
	t.Helper()
	r, err := http.Get(url + "/metrics")
	check(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	check(t, err)
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{.*\})? (\S+)$`).FindAllSubmatch(text, -1) {
		value, err := strconv.ParseFloat(string(m[1]), 64)
		check(t, err)
		sum += value
	}
	return sum
}

// The demo's page has the cores and the memory by itself, and costs the server next to nothing while it is open. The
// costs of both are logged, for docs/explain/testing.md; the bound is for a busy machine.
func TestDemoIsShown(t *testing.T) {
	url := launch(t, "demo")
	begin := time.Now()
	b := open(t, url, "")
	b.wait(
		"document.querySelector('.tile[data-name^=\"cpu\"] canvas') && document.querySelector('.tile[data-name^=\"memory\"] canvas')")
	t.Logf("cores and memory are shown %v after the address was printed", time.Since(begin).Round(10*time.Millisecond))
	const processor, requests = "process_cpu_seconds_total", "gnocco_http_requests_total"
	used, asked, at := figureOf(t, url, processor), figureOf(t, url, requests), time.Now()
	time.Sleep(5 * time.Second) // what is measured, not waited for
	share, asked := (figureOf(t, url, processor)-used)/time.Since(at).Seconds(), figureOf(t, url, requests)-asked
	t.Logf("%.2f %% of a core, %.0f requests, with the page open", 100*share, asked)
	if used == 0 || share > 0.05 {
		t.Errorf("the server takes %.2f %% of a core for a page, of %.0f requests", 100*share, asked)
	}
}
