package api_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
)

// A full disk is told once in a while, with how often it was not; a query that we do not know is no failure of ours.
func TestFailuresAreLoggedNowAndThen(t *testing.T) {
	var log bytes.Buffer
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := newServer(t, func(o *api.Options) {
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		o.SetNow(func() time.Time { return now })
	})
	s.policy(t, "p")
	path := "/v1/metric/" + s.create(t, "/v1/metric", `{"archive_policy_name":"p"}`) + "/measures"
	s.free.Store(0)
	refuse := func(times int) {
		for range times {
			s.want(t, "POST "+path, `[{"timestamp":1,"value":1}]`, http.StatusInsufficientStorage, "~No space")
		}
	}
	refuse(100)
	now = now.Add(time.Minute)
	refuse(2)
	if told := strings.Split(strings.TrimSpace(log.String()), "\n"); len(told) != 2 ||
		!strings.Contains(told[0], "level=WARN") || !strings.Contains(told[0], "withheld=0") ||
		!strings.Contains(told[1], "withheld=99") {
		t.Errorf("102 refusals were told as\n%s", log.String())
	}
	log.Reset()
	s.want(t, "POST /v1/influxdb/query?q=drop+database+x", "", http.StatusNotImplemented, "~q")
	if log.Len() > 0 {
		t.Errorf("a query that we do not know was told as\n%s", log.String())
	}
}
