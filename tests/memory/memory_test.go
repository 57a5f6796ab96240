package memory_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

var (
	seconds = flag.Int("memory.seconds", 0, "how long the server is attacked; 0: 2, or 8 without -short")
	slowest = flag.Duration("memory.p99", 0,
		"the innocent client's 99th percentile; 0: any, for a machine that does other things")
	program = flag.String("memory.gnocco", "", "the gnocco to attack; default: this tree's")
)

const limit = 512 << 20

// With everything that takes memory at once, the server stays within its limit and a quarter, and refuses rather than
// die. A client that asks for little is served all the time.
func TestMemoryStaysBounded(t *testing.T) {
	rows, readers, long := 1_000_000, 30, 8 // an answer of 52 MB
	if testing.Short() {
		rows, readers, long = 300_000, 10, 2
	}
	if *seconds > 0 {
		long = *seconds
	}
	s := start(t)
	s.post("/v1/archive_policy", `{"name":"second","back_window":10,"definition":[{"granularity":1,"points":2000000}],
		"aggregation_methods":["mean","max"]}`, http.StatusCreated, nil)
	s.post("/v1/archive_policy", `{"name":"minute","definition":[{"granularity":60,"points":1000}],
		"aggregation_methods":["mean"]}`, http.StatusCreated, nil)
	a := attack{address: s.address, large: s.metric("second"), bodySize: 57_000_000, readers: readers, metadata: 24}
	for range 8 {
		a.metrics = append(a.metrics, s.metric("second"))
	}
	const part = 250_000
	for from := 0; from < rows; from += part {
		s.post("/v1/metric/"+a.large+"/measures", ascending(from, min(part, rows-from)), http.StatusAccepted, nil)
	}
	innocent := s.metric("minute")
	s.get("/v1/metric/"+a.large+"/measures?refresh=true&limit=1&start=2001-01-01&stop=2001-01-02", nil)

	pin(t, runtime.NumCPU()-1)
	stop := a.start(t)
	latencies := s.serveInnocent(innocent, time.Duration(long)*time.Second)
	t.Log(stop())
	slices.Sort(latencies)
	p99 := latencies[len(latencies)*99/100]
	peak := s.peak()
	t.Logf("%d requests of the innocent client, p50 %v, p99 %v, slowest %v; resident %d MB at most", len(latencies),
		latencies[len(latencies)/2], p99, latencies[len(latencies)-1], peak>>20)
	if peak > limit+limit/4 {
		t.Errorf("%d MB were resident, with a limit of %d MB", peak>>20, limit>>20)
	}
	if *slowest > 0 && p99 > *slowest {
		t.Errorf("the innocent client's p99 is %v, above %v", p99, *slowest)
	}
}

// ascending returns measures a second apart.
func ascending(from, n int) string {
	body := []byte("[")
	for i := range n {
		body = fmt.Appendf(body, `{"timestamp":%d,"value":%d.25},`, 1_600_000_000+from+i, i%1000)
	}
	return string(append(body[:len(body)-1], ']'))
}

// start starts the process that attacks. The function that it returns ends it and returns what it has printed.
func (a *attack) start(t *testing.T) (stop func() string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestAttack$", "-test.v")
	cmd.Env = append(os.Environ(), fmt.Sprintf("GNOCCO_ATTACK=%s %s %s %d %d %d",
		a.address, strings.Join(a.metrics, ","), a.large, a.bodySize, a.readers, a.metadata))
	pipe, err := cmd.StdinPipe()
	fatal.If(t, err)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	fatal.If(t, testprogram.EndWithTest(cmd).Start())
	return func() string {
		pipe.Close()
		fatal.If(t, cmd.Wait())
		_, answers, _ := strings.Cut(output.String(), "answers:")
		answers, _, _ = strings.Cut(answers, "\n")
		return "the attackers' answers:" + answers
	}
}

// server is a gnocco process.
type server struct {
	t       *testing.T
	address string
	process *os.Process
	client  *http.Client
}

func start(t *testing.T, settings ...string) *server {
	gnocco := *program
	if gnocco == "" {
		dir, err := testprogram.Build("gnocco")
		fatal.If(t, err)
		gnocco = filepath.Join(dir, "gnocco")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fatal.If(t, err)
	s := &server{t: t, address: listener.Addr().String(), client: &http.Client{Timeout: time.Minute}}
	listener.Close()
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	fatal.If(t, err)
	cmd := exec.Command(gnocco, append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data"),
		"--listen", s.address, "--memory-limit", strconv.Itoa(limit), "--gpu", "off", "--min-free-bytes", "0"},
		settings...)...)
	cmd.Stdout, cmd.Stderr = log, log
	fatal.If(t, testprogram.EndWithTest(cmd).Start())
	s.process = cmd.Process
	t.Cleanup(func() {
		s.process.Kill()
		cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		response, err := s.client.Get("http://" + s.address + "/healthcheck")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server is not ready: %v", err)
		}
	}
}

func (s *server) do(method, path string, body []byte, want int, answer any) {
	s.t.Helper()
	response, err := s.client.Do(newRequest(context.Background(), method, s.address, path, body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		s.t.Fatalf("%s %s: %s %.200s %v", method, path, response.Status, text, err)
	}
	if answer != nil {
		fatal.If(s.t, json.Unmarshal(text, answer))
	}
}

func (s *server) post(path, body string, want int, answer any) {
	s.t.Helper()
	s.do(http.MethodPost, path, []byte(body), want, answer)
}

func (s *server) get(path string, answer any) {
	s.t.Helper()
	s.do(http.MethodGet, path, nil, http.StatusOK, answer)
}

// metric creates a metric.
func (s *server) metric(policy string) string {
	var metric struct{ ID string }
	s.post("/v1/metric", fmt.Sprintf(`{"archive_policy_name":%q}`, policy), http.StatusCreated, &metric)
	return metric.ID
}

// serveInnocent sends the requests of any client, over and over. Every one must succeed.
func (s *server) serveInnocent(metric string, long time.Duration) (latencies []time.Duration) {
	for deadline := time.Now().Add(long); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, request := range []func(){
			func() {
				body := fmt.Sprintf(`[{"timestamp":%d,"value":1}]`, time.Now().Unix())
				s.post("/v1/metric/"+metric+"/measures", body, http.StatusAccepted, nil)
			},
			func() { s.get("/v1/metric/"+metric+"/measures", nil) },
			func() { s.get("/v1/metric/"+metric, nil) },
			func() { s.post("/v1/search/resource/generic", `{"=":{"id":"`+metric+`"}}`, http.StatusOK, nil) },
		} {
			began := time.Now()
			request()
			latencies = append(latencies, time.Since(began))
		}
	}
	return latencies
}

// peak returns the most memory that was resident, in bytes.
func (s *server) peak() int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Pid))
	fatal.If(s.t, err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes int64
	_, err = fmt.Sscan(rest, &kilobytes)
	fatal.If(s.t, err)
	return kilobytes << 10
}

// pin keeps this process on one core.
func pin(t *testing.T, core int) {
	tasks, err := os.ReadDir("/proc/self/task")
	fatal.If(t, err)
	var set unix.CPUSet
	set.Set(core)
	for _, task := range tasks {
		id, _ := strconv.Atoi(task.Name())
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			t.Logf("not kept on one core: %v", err)
		}
	}
}
