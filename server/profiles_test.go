package server_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Profiles have an address of their own, in every role: the public one has none of them.
func TestProfilesHaveTheirOwnAddress(t *testing.T) {
	f := func(role cluster.Role, address string, served, warned bool) {
		t.Helper()
		var log bytes.Buffer
		s := start(t, server.Options{Cluster: cluster.Options{Data: data(t), Sacks: 1, Role: role},
			ProfileListen: address, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		url := ""
		if found := regexp.MustCompile(`url=(http://\S+)/debug/pprof/`).FindStringSubmatch(log.String()); found != nil {
			url = found[1]
		}
		if (url != "") != served || strings.Contains(log.String(), "--pprof") != warned {
			t.Errorf("role %q, profiles at %q: %s", role, address, log.String())
		}
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/heap"} {
			status := func(base string) int {
				answer, err := http.Get(base + path)
				fatal.If(t, err)
				answer.Body.Close()
				return answer.StatusCode
			}
			if got := status(s.URL()); got != http.StatusNotFound {
				t.Errorf("role %q: %s of the public address: %d", role, path, got)
			}
			if !served {
				continue
			}
			if got := status(url); got != http.StatusOK {
				t.Errorf("role %q: %s: %d", role, path, got)
			}
		}
		if served {
			fewAreOpen(t, strings.TrimPrefix(url, "http://"))
		}
		stop(t, s)
		if served {
			if answer, err := http.Get(url + "/debug/pprof/"); err == nil {
				answer.Body.Close()
				t.Error("answers after Close")
			}
		}
	}
	f(cluster.RoleBoth, "", false, false)
	f(cluster.RoleBoth, "127.0.0.1:0", true, false)
	f(cluster.RoleMetricd, "127.0.0.1:0", true, false)
	f(cluster.RoleBoth, "0.0.0.0:0", true, true)
	if s, err := server.Start(t.Context(), server.Options{Cluster: cluster.Options{Data: data(t)},
		Listen: "127.0.0.1:0", ProfileListen: "true"}); err == nil {
		stop(t, s)
		t.Error("starts with no address for profiles")
	}
}

// fewAreOpen requires that idle connections are bounded: they would use up the descriptors of the process.
func fewAreOpen(t *testing.T, address string) {
	t.Helper()
	const tried, most = 60, 30
	var idle []net.Conn
	for range tried {
		conn, err := net.Dial("tcp", address)
		fatal.If(t, err)
		defer conn.Close()
		idle = append(idle, conn)
	}
	open := 0
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		open = 0
		for _, conn := range idle {
			fatal.If(t, conn.SetReadDeadline(time.Now().Add(time.Millisecond)))
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				open++
			}
		}
		if open <= most || time.Now().After(deadline) {
			break
		}
	}
	if open > most {
		t.Errorf("%d of %d idle connections are open", open, tried)
	}
}
