package api_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/web"
)

// loggingServer has an access log, whose lines it returns as they come.
func loggingServer(t *testing.T, access web.AccessLog) (s *server, lines func() []map[string]any) {
	var log bytes.Buffer
	s = newServer(t, func(o *api.Options) {
		o.Logger, o.AccessLog = slog.New(slog.NewJSONHandler(&log, nil)), access
	})
	return s, func() (all []map[string]any) {
		t.Helper()
		for line := range strings.Lines(log.String()) {
			var one map[string]any
			check(t, json.Unmarshal([]byte(line), &one))
			all = append(all, one)
		}
		log.Reset()
		return all
	}
}

func TestAccessLog(t *testing.T) {
	s, lines := loggingServer(t, web.AccessLog{All: true})
	s.policy(t, "p")
	id := s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`)
	s.want(t, "POST /v1/metric/"+id+"/measures", `[{"timestamp":1,"value":1},{"timestamp":400,"value":1}]`,
		http.StatusAccepted, "")
	lines()
	answer := s.call(t, "GET /gnocchi/v1/metric/"+id+"/measures?refresh=true", "", "X-Request-Id", "req-1",
		"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	found := lines()
	if len(found) != 1 {
		t.Fatalf("%d lines for a request", len(found))
	}
	delete(found[0], "time")
	delete(found[0], "ms")
	if read, _ := found[0]["groups_read"].(float64); read < 2 {
		t.Errorf("%v groups were read", read)
	}
	delete(found[0], "groups_read")
	delete(found[0], "metrics_read")
	want := map[string]any{"level": "INFO", "msg": "request", "id": "req-1", "client": "192.0.2.1:1234",
		"user": "foobar", "project": "", "method": "GET", "path": "/gnocchi/v1/metric/" + id + "/measures",
		"route": "/v1/metric/{id}/measures", "status": 200., "bytes": float64(answer.Body.Len()),
		"trace": "0af7651916cd43dd8448eb211c80319c"}
	for key, value := range want {
		if found[0][key] != value {
			t.Errorf("%s is %v, not %v", key, found[0][key], value)
		}
		delete(found[0], key)
	}
	if len(found[0]) > 0 || answer.Header().Get("X-Request-Id") != "req-1" {
		t.Errorf("also logged: %v; answered %v", found[0], answer.Header())
	}
	for _, given := range []string{"", "a b", strings.Repeat("x", 129), "a\"b"} {
		answer := s.call(t, "GET /v1/archive_policy/nowhere", "", "X-Request-Id", given)
		found := lines()
		made := answer.Header().Get("X-Request-Id")
		if len(found) != 1 || found[0]["id"] != made || len(made) != 16 || found[0]["status"] != 404. {
			t.Errorf("request ID %q became %q, logged %v", given, made, found)
		}
	}
}

func TestSlowRequestsAreLogged(t *testing.T) {
	s, lines := loggingServer(t, web.AccessLog{Slow: time.Nanosecond})
	s.call(t, "POST /api/v1/query", "query=vector(1)", "Content-Type", "application/x-www-form-urlencoded")
	s.call(t, "GET /v1/resource/generic?limit=3", "")
	found := lines()
	if len(found) != 2 || found[0]["level"] != "WARN" || found[0]["msg"] != "slow request" ||
		found[0]["query"] != "query=vector%281%29" || found[1]["query"] != "limit=3" {
		t.Errorf("slow requests: %v", found)
	}
	s, lines = loggingServer(t, web.AccessLog{Slow: time.Hour})
	s.call(t, "GET /v1/resource/generic", "")
	if found := lines(); len(found) > 0 {
		t.Errorf("quick requests: %v", found)
	}
}

// Without an access log an ID is repeated, and none is made.
func TestRequestIDs(t *testing.T) {
	s := newServer(t, nil)
	f := func(given, want string) {
		t.Helper()
		answer := s.call(t, "GET /v1/archive_policy", "", "X-Request-Id", given)
		if id := answer.Header().Get("X-Request-Id"); id != want {
			t.Errorf("request ID %q: answered %q", given, id)
		}
	}
	f("req-5f2b", "req-5f2b")
	f("", "")
	f("<script>", "")
}
