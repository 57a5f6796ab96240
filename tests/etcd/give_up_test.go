package etcd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// A missing folder of a sack is also damage where etcd keeps the claims, after a stop and after a kill. The server does
// without it, and fsck says so. Once its loss is accepted, all is served again, also measures accepted meanwhile.
func TestGiveUp(t *testing.T) {
	t.Parallel() // it waits
	dir, err := testprogram.Build("gnocco")
	check(t, err)
	address := startEmbedded(t)
	for _, end := range []struct {
		name   string
		signal os.Signal
	}{{"stop", syscall.SIGTERM}, {"kill", syscall.SIGKILL}} {
		t.Run(end.name, func(t *testing.T) {
			f := &folder{t: t, program: filepath.Join(dir, "gnocco"), data: filepath.Join(t.TempDir(), "data"),
				coordination: "etcd://" + address + "/" + end.name}
			f.serve()
			f.do("POST", "/v1/archive_policy",
				`{"name":"p","definition":[{"granularity":60}],"aggregation_methods":["count"]}`, 201)
			var metrics []string
			for inSack, elsewhere := false, false; !inSack || !elsewhere; {
				var m struct{ ID uuid.UUID }
				check(t, json.Unmarshal(f.do("POST", "/v1/metric", `{"archive_policy_name":"p"}`, 201), &m))
				metrics = append(metrics, m.ID.String())
				inSack, elsewhere = inSack || model.Sack(m.ID, 8) == 3, elsewhere || model.Sack(m.ID, 8) != 3
			}
			for _, m := range metrics {
				f.do("POST", "/v1/metric/"+m+"/measures", `[{"timestamp":1600000000,"value":1}]`, 202)
				f.do("GET", "/v1/metric/"+m+"/measures?refresh=true&aggregation=count", "", 200)
			}
			f.end(end.signal)
			if status, text := f.fsck(); status != 0 && end.signal == syscall.SIGTERM {
				t.Errorf("fsck after a stop: %d\n%s", status, text)
			}
			check(t, os.RemoveAll(filepath.Join(f.data, "sacks", "003")))
			if status, text := f.fsck(); status != 1 || !strings.Contains(text, "sacks/003") {
				t.Errorf("fsck of a folder without a sack: %d\n%s", status, text)
			}
			f.serve()
			lost := 0
			for _, m := range metrics {
				f.do("POST", "/v1/metric/"+m+"/measures", `[{"timestamp":1600000060,"value":1}]`, 202)
				if status, text := f.ask("GET", "/v1/metric/"+m+"/measures?aggregation=count", ""); status == 503 &&
					strings.Contains(string(text), "sacks/003") {
					lost++
				} else if status != 200 {
					t.Errorf("%d %s", status, text)
				}
			}
			f.end(end.signal)
			if lost == 0 || lost == len(metrics) {
				t.Errorf("%d of %d metrics are not served", lost, len(metrics))
			}
			if status, text := f.fsck("--repair", "--give-up", "sacks/003"); status != 0 &&
				end.signal == syscall.SIGTERM {
				t.Errorf("give-up: %d\n%s", status, text)
			}
			// After a kill, the ends of other stores' logs may not be provable.
			if status, text := f.fsck(); status != 0 && end.signal == syscall.SIGTERM ||
				strings.Contains(text, "sacks/003") {
				t.Errorf("fsck after a give-up: %d\n%s", status, text)
			}
			f.serve()
			for _, m := range metrics {
				if text := f.do("GET", "/v1/metric/"+m+"/measures?refresh=true&aggregation=count", "",
					200); !bytes.Contains(text, []byte("12:27:00")) {
					t.Errorf("what was accepted meanwhile is not there: %s", text)
				}
			}
			f.end(syscall.SIGTERM)
		})
	}
}

// folder is a data folder, and the process that serves it.
type folder struct {
	t                           *testing.T
	program, data, coordination string
	process                     *exec.Cmd
	url                         string
}

// log is what a process writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var serving = regexp.MustCompile(`msg=serving url=(\S+)`)

// serve starts a server, and waits until it serves.
func (f *folder) serve() {
	f.t.Helper()
	process := exec.Command(f.program, "serve", "--init", "--data", f.data, "--listen", "127.0.0.1:0",
		"--coordination", f.coordination, "--lease-ttl", "4s", "--lease-slack", "0s", "--sacks", "8",
		"--min-free-bytes", "0", "--gpu", "off",
		"--drain-delay", "0s")
	var written log
	process.Stdout, process.Stderr = &written, &written
	check(f.t, testprogram.EndWithTest(process).Start())
	f.process = process
	f.t.Cleanup(func() {
		if process.ProcessState == nil {
			_ = process.Process.Kill()
			_ = process.Wait()
		}
		if f.t.Failed() {
			f.t.Logf("%s", written.String())
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if m := serving.FindStringSubmatch(written.String()); m != nil {
			f.url = m[1]
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatal("the server does not serve")
		}
	}
}

// end ends the server, and waits for that.
func (f *folder) end(signal os.Signal) {
	f.t.Helper()
	check(f.t, f.process.Process.Signal(signal))
	late := time.AfterFunc(time.Minute, func() {
		f.t.Errorf("the server does not end after %s", signal)
		_ = f.process.Process.Kill()
	})
	_ = f.process.Wait() // of a kill it is an error
	late.Stop()
}

// fsck checks the folder, and returns its status and what it says.
func (f *folder) fsck(flags ...string) (int, string) {
	f.t.Helper()
	text, err := exec.Command(f.program, append([]string{"fsck", "--data", f.data}, flags...)...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), string(text)
	}
	check(f.t, err)
	return 0, string(text)
}

func (f *folder) ask(method, path, body string) (int, []byte) {
	f.t.Helper()
	r, err := http.NewRequest(method, f.url+path, strings.NewReader(body))
	check(f.t, err)
	r.SetBasicAuth("admin", "")
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: time.Minute}
	response, err := client.Do(r)
	check(f.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(f.t, err)
	return response.StatusCode, text
}

// do asks and requires a status.
func (f *folder) do(method, path, body string, want int) []byte {
	f.t.Helper()
	status, text := f.ask(method, path, body)
	if status != want {
		f.t.Fatalf("%s %s: %s", method, path, fmt.Sprint(status, " ", string(text)))
	}
	return text
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
