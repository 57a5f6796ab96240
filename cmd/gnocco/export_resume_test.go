package main_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// An export of each form that is interrupted says how to go on, and both outputs together are the whole.
func TestExportsGoOn(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	server := func() *served {
		s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
		s.call(http.MethodPost, "/v1/archive_policy", secondsPolicy, http.StatusCreated, nil)
		return s
	}
	first := server()
	random := rand.New(rand.NewPCG(5, 6))
	rows := "time,a,b,c,d,e,f,g,h,i,j\n"
	for i := range 1000 {
		rows += fmt.Sprint(1767225600 + i)
		for range 10 {
			rows += fmt.Sprintf(",%v", random.NormFloat64())
		}
		rows += "\n"
	}
	if _, stderr, status := run(t, rows, "import", "csv", "--url", first.url, "--resource", "it's a house",
		"--archive-policy", "seconds", "-"); status != 0 {
		t.Fatal(stderr)
	}
	whole, _, _ := run(t, "", "export", "csv", "--url", first.url)
	goOn := regexp.MustCompile(`to go on here: (--from .*)\)\n`)
	for _, form := range []string{"csv", "jsonl", "prometheus", "archive"} {
		cmd := exec.Command(program, "export", form, "--url", first.url)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begin := make([]byte, 1000)
		if _, err := io.ReadFull(out, begin); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(out) // the command waits for room in the pipe
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it ends with a status
		from := goOn.FindStringSubmatch(stderr.String())
		if from == nil {
			t.Fatalf("%s: %s", form, stderr.String())
		}
		shell := exec.Command("sh", "-c", `"$0" export "$1" --url "$2" `+from[1], program, form, first.url)
		second, err := shell.Output()
		if err != nil {
			t.Fatal(err)
		}
		both := string(begin) + string(rest) + string(second)
		all, _, _ := run(t, "", "export", form, "--url", first.url)
		if form == "archive" { // the second has the policy and the resource again
			both, all = uniqueLines(both), uniqueLines(all)
		}
		if both != all {
			t.Errorf("%s: both outputs are %d bytes, not the whole of %d: %s", form, len(both), len(all),
				firstDifference(both, all))
		}
		if form == "prometheus" {
			continue
		}
		other := server()
		if _, stderr, status := run(t, string(begin)+string(rest)+string(second), "import", form, "--url", other.url,
			"-"); status != 0 {
			t.Errorf("%s: status %d, %s", form, status, stderr)
		}
		if got, _, _ := run(t, "", "export", "csv", "--url", other.url); got != whole {
			t.Errorf("%s: %d bytes of CSV are %d others", form, len(whole), len(got))
		}
		other.end(syscall.SIGTERM)
	}
}

// uniqueLines removes the lines that an export has had before. Empty metrics' contents may be equal.
func uniqueLines(export string) string {
	seen := make(map[string]bool)
	var b strings.Builder
	for line := range strings.Lines(export) {
		if !seen[line] || strings.HasPrefix(line, `{"content"`) {
			b.WriteString(line)
		}
		seen[line] = true
	}
	return b.String()
}

// An export to a file that is killed goes on when it is run again: the file is that of an uninterrupted one.
func TestKilledExportsGoOn(t *testing.T) {
	t.Parallel()
	withoutCredentials(t)
	s := serve(t, "--data", filepath.Join(t.TempDir(), "data"))
	prepareServer(s)
	fillServer(t, s, 60, 1767225600)
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	var reads, hangs atomic.Int64
	reached := make(chan struct{})
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/measures") || strings.HasSuffix(r.URL.Path, "/archive/content") {
			if n := reads.Add(1); n == hangs.Load() {
				close(reached)
				<-r.Context().Done()
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	defer slow.Close()
	for _, form := range []string{"csv", "jsonl", "prometheus", "archive"} {
		args := []string{"export", form, "--url", slow.URL, `{resource_type="room"}`}
		if form == "jsonl" {
			args = append(args, "--granularity", "all")
		}
		hangs.Store(0)
		reads.Store(0)
		want, stderr, status := run(t, "", args...)
		if status != 0 {
			t.Fatal(stderr)
		}
		all := reads.Load()
		file := filepath.Join(t.TempDir(), "out")
		args = append(args, "--to", file)
		kill := func(at int64) {
			t.Helper()
			reads.Store(0)
			reached = make(chan struct{})
			hangs.Store(at)
			cmd := exec.Command(program, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed
			hangs.Store(0)
		}
		kill(1) // before any metric
		kill(9) // behind what is saved, once a second
		part, err := os.OpenFile(file+".part", os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.WriteString("2026-01-01T00:0"); err != nil { // cut
			t.Fatal(err)
		}
		if err := part.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s: half an export has the name of a whole one", form)
		}
		if _, stderr, status := run(t, "", append(args, "alone")...); status != 1 ||
			!strings.Contains(stderr, "out.part is of an export of something else: finish that one, or remove the file") {
			t.Errorf("%s: another export goes on with it: %s", form, stderr)
		}
		progress, err := os.ReadFile(file + ".part.json")
		if err != nil || !strings.Contains(string(progress), `"next":`) {
			t.Fatalf("%s: %s (%v)", form, progress, err)
		}
		// As a slower export would have left it: the interrupt saves the metric that follows.
		cmd := exec.Command(program, args...)
		reads.Store(0)
		reached = make(chan struct{})
		hangs.Store(20)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-reached
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // interrupted
		hangs.Store(0)
		reads.Store(0)
		if _, stderr, status := run(t, "", args...); status != 0 {
			t.Fatalf("%s: %s", form, stderr)
		}
		if n := reads.Load(); n > all-15 {
			t.Errorf("%s: the last run reads %d of %d, and does not go on", form, n, all)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		left, err := filepath.Glob(file + ".*")
		if err != nil || len(left) > 0 {
			t.Errorf("%s: %q are left (%v)", form, left, err)
		}
		if form == "archive" {
			got, want = []byte(uniqueLines(string(got))), uniqueLines(want)
		}
		if string(got) != want || len(want) < 1000 {
			t.Errorf("%s: %d bytes, not %d: %s", form, len(got), len(want), firstDifference(string(got), want))
		}
	}
}
