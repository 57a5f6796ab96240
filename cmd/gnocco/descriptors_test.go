package main_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Clients without credentials cannot use up the files that a process may open, at its port or at the one for other
// processes: it keeps its lease, and serves others.
func TestHalfRequestsLeaveFilesForStores(t *testing.T) {
	t.Parallel()
	t.Run("clients", func(t *testing.T) { requireFilesForStores(t, false) })
	t.Run("peers", func(t *testing.T) { requireFilesForStores(t, true) })
}

func requireFilesForStores(t *testing.T, peers bool) {
	t.Helper()
	const files, clients = 1024, 3000
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil || own.Cur < clients+500 {
		t.Skipf("this process may open %d files: %v", own.Cur, err)
	}
	s := serveBy(t, exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, files), "sh", program, "serve",
		"--listen", "127.0.0.1:0", "--data", t.TempDir(), "--min-free-bytes", "1MiB", "--memory-limit", "512MiB",
		"--lease-ttl", "5s"))
	if log := s.logged(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, "LimitNOFILE") ||
		!strings.Contains(log, "asked=2048") || !strings.Contains(log, "files=1024") {
		t.Errorf("no warning of 2,048 connections with %d files:\n%s", files, log)
	}

	address := strings.TrimPrefix(s.url, "http://")
	if peers {
		address = regexp.MustCompile(` peers=(\S+)`).FindStringSubmatch(s.logged())[1]
	}
	ctx, end := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	for i := range clients {
		all.Go(func() { sendHalves(ctx, address, i%10 == 1) })
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	served := 0
	for until := time.Now().Add(8 * time.Second); served == 0 || time.Now().Before(until); {
		answer, err := client.Get(s.url + "/live")
		select {
		case <-s.done:
			t.Fatalf("ended with status %d:\n%s", s.cmd.ProcessState.ExitCode(), s.logged())
		default:
		}
		if err == nil {
			answer.Body.Close()
			served++
		}
		time.Sleep(100 * time.Millisecond)
	}
	end()
	all.Wait()
	if log := s.logged(); strings.Contains(log, "too many open files") {
		t.Errorf("files ran out:\n%s", log)
	}
	t.Logf("%d requests of other clients served", served)
	s.call(http.MethodGet, "/v1/status", "", http.StatusOK, nil)
}

// sendHalves sends half a request until ctx ends, again and again once the server has closed its connection.
func sendHalves(ctx context.Context, address string, body bool) {
	request := "GET /v1/metric HTTP/1.1\r\nHost: x\r\n"
	if body {
		request = "POST /v1/metric HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{"
	}
	var dialer net.Dialer
	for ctx.Err() == nil {
		if conn, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			_, _ = conn.Write([]byte(request))
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			for buffer := make([]byte, 512); err == nil; {
				_, err = conn.Read(buffer)
			}
			stop()
			conn.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
