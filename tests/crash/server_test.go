package crash_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/loopback"
	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// patience bounds waits for conditions that must come true, however slow the machine is. It decides on no test's
// outcome.
const patience = 2 * time.Minute

// binary is the gnocco that TestMain built.
var binary string

func TestMain(m *testing.M) {
	dir, err := testprogram.Build("gnocco")
	if err != nil {
		fmt.Fprintln(os.Stderr, "crash:", err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "gnocco")
	os.Exit(m.Run())
}

// server is a gnocco process on a data folder that outlives it.
type server struct {
	t       testing.TB
	data    string
	address string
	flags   []string // further ones
	process *exec.Cmd
	ended   <-chan struct{} // closed when the process is gone
	log     *bytes.Buffer
	client  *http.Client
}

func newServer(t testing.TB) *server {
	address, err := loopback.Free()
	if err != nil {
		t.Fatal(err)
	}
	return &server{t: t, data: t.TempDir(), address: address,
		client: &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
}

// start starts the server and waits until it answers: it, not another process on its port.
func (s *server) start() {
	s.t.Helper()
	s.log = &bytes.Buffer{}
	s.process = exec.Command(binary, append([]string{"serve", "--data", s.data, "--listen", s.address,
		"--checkpoint-interval", "150ms", "--min-free-bytes", "0"}, s.flags...)...)
	s.process.Stdout, s.process.Stderr = s.log, s.log
	if err := testprogram.EndWithTest(s.process).Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	s.ended = ended
	go func() {
		s.process.Wait()
		close(ended)
	}()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if response, err := s.client.Get("http://" + s.address + "/healthcheck"); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ended:
			s.t.Fatalf("gnocco ended:\n%s", s.log)
		case <-time.After(25 * time.Millisecond):
		}
	}
	s.kill()
	s.t.Fatalf("gnocco does not answer:\n%s", s.log)
}

// kill ends the process as a power cut of the process would: SIGKILL.
func (s *server) kill() {
	s.process.Process.Kill()
	<-s.ended
}

// do sends a request as admin and returns status and body.
func (s *server) do(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+s.address+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.SetBasicAuth("admin", "")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func (s *server) mustDo(method, path string, body []byte, want int) []byte {
	s.t.Helper()
	status, answer, err := s.do(context.Background(), method, path, body)
	if err != nil || status != want {
		s.t.Fatalf("%s %s: %d %s %v\n%s", method, path, status, answer, err, s.log)
	}
	return answer
}
