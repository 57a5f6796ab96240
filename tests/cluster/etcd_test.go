package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/testprogram"
)

// etcdServer is Debian's etcd-server.
type etcdServer struct {
	t       *testing.T
	address string
	args    []string
	cmd     *exec.Cmd
}

// startEtcd starts Debian's etcd-server, if it is there.
func startEtcd(t *testing.T) *etcdServer {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("etcd is not installed")
	}
	var ports [2]string
	for i := range ports {
		for {
			ports[i] = fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
			if listener, err := net.Listen("tcp", ports[i]); err == nil {
				listener.Close()
				break
			}
		}
	}
	client, peer := "http://"+ports[0], "http://"+ports[1]
	e := &etcdServer{t: t, address: ports[0], args: []string{program, "--data-dir", t.TempDir(), "--listen-client-urls",
		client, "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
		"--initial-cluster", "default=" + peer, "--log-level", "error"}}
	e.start()
	t.Cleanup(e.kill)
	return e
}

// start starts the server on its earlier files, and waits until it answers.
func (e *etcdServer) start() {
	e.t.Helper()
	e.cmd = testprogram.EndWithTest(exec.Command(e.args[0], e.args[1:]...))
	if err := e.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + e.address + "/health"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			e.t.Fatal("etcd does not start")
		}
	}
}

func (e *etcdServer) kill() {
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
}

// The same over etcd: a metricd and the holder of the index are killed, and all is there, once.
func TestMeasuresCountOnceOverEtcd(t *testing.T) {
	flags := []string{"--coordination", "etcd://" + startEtcd(t).address + "/test", "--lease-ttl", "4s", "--lease-slack", "1s"}
	data := t.TempDir()
	first := start(t, data, "api", flags...)
	metrics := newMetrics(t, first, 8)
	second := start(t, data, "api", flags...)
	worker := start(t, data, "metricd", flags...)
	start(t, data, "metricd", flags...)
	var seconds atomic.Int64
	s := &sender{metrics: metrics, seconds: &seconds, doubt: map[int64]bool{}}
	send := func() {
		done := make(chan struct{})
		time.AfterFunc(300*time.Millisecond, func() { close(done) })
		s.post(t, second, done)
	}
	send()
	worker.kill()
	send()
	first.kill()
	send()
	check(t, second, metrics, s)
	second.eventually("takes the index", func() bool {
		status, _, _, err := second.do(http.MethodGet, "/v1/metric/"+metrics[0], "")
		return err == nil && status == http.StatusOK
	})
	check(t, second, metrics, s)
}
