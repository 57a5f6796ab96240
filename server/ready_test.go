package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/server"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// probe is an answer to those who ask whether a process is well.
type probe struct {
	status           int
	close            bool // the connection is for no other request
	Ready            bool
	Reasons, Missing []string
}

func askProbe(t *testing.T, s *server.Server, path string) probe {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+path, nil)
	fatal.If(t, err)
	r.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(r)
	fatal.If(t, err)
	defer answer.Body.Close()
	p := probe{status: answer.StatusCode, close: answer.Close}
	text, err := io.ReadAll(answer.Body)
	if err == nil && strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", path, text, err)
	}
	return p
}

// A process says whether requests should be sent to it, without credentials, below the prefix and outside. Missing
// parts of the cluster are named, but are no reason against it.
func TestReady(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	users := filepath.Join(t.TempDir(), "users")
	fatal.If(t, os.WriteFile(users, []byte("jd:$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC\n"),
		0o600))
	s := start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleAPI, Sacks: 2},
		API: api.Settings{Prefix: "/gnocchi"}, Auth: auth.Options{Mode: "htpasswd", HtpasswdFile: users},
		DrainDelay: time.Millisecond})
	for _, path := range []string{"/ready", "/gnocchi/ready", "/-/ready"} {
		want := probe{status: http.StatusOK, Ready: true, Reasons: []string{},
			Missing: []string{"sacks/000", "sacks/001"}}
		if p := askProbe(t, s, path); !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %+v, want %+v", path, p, want)
		}
	}
	for _, path := range []string{"/live", "/gnocchi/live", "/healthcheck", "/gnocchi/healthcheck", "/-/healthy"} {
		if p := askProbe(t, s, path); p.status != http.StatusOK {
			t.Errorf("%s: %+v", path, p)
		}
	}
	workers := start(t, server.Options{Cluster: cluster.Options{Data: data, Role: cluster.RoleMetricd, Sacks: 2}})
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		p, q := askProbe(t, s, "/ready"), askProbe(t, workers, "/ready")
		if p.Ready && q.Ready && len(p.Missing) == 0 && len(q.Missing) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("with all roles: %+v, %+v", p, q)
		}
	}
	stop(t, workers)
	stop(t, s)
}

// A process that is to stop says so to those who ask before it accepts no more requests, and ends their connections.
func TestDrain(t *testing.T) {
	s := start(t, server.Options{Cluster: cluster.Options{Data: filepath.Join(t.TempDir(), "data"), Sacks: 2},
		DrainDelay: 2 * time.Second})
	if p := askProbe(t, s, "/ready"); p.status != http.StatusOK || p.close {
		t.Fatalf("%+v", p)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, s)
	}()
	for askProbe(t, s, "/ready").Ready {
		time.Sleep(time.Millisecond)
	}
	for path, want := range map[string]probe{
		"/ready": {status: http.StatusServiceUnavailable, close: true, Reasons: []string{"draining"},
			Missing: []string{}},
		"/healthcheck":     {status: http.StatusServiceUnavailable, close: true, Reasons: []string{"draining"}},
		"/live":            {status: http.StatusOK, close: true},
		"/v1/capabilities": {status: http.StatusOK, close: true},
	} {
		if p := askProbe(t, s, path); !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %+v, want %+v", path, p, want)
		}
	}
	<-stopped
}
