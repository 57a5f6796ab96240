package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
)

// usage is a project's, as the API shows it.
type usage struct {
	Project  string
	Quota    model.Quota
	OwnQuota *model.Quota `json:"own_quota"`
	Series   int64
	Measures float64 `json:"measures_per_second"`
	Requests float64 `json:"requests_per_second"`
}

func (s *server) usage(t *testing.T, headers ...string) (u usage) {
	t.Helper()
	check(t, json.Unmarshal(s.want(t, "GET /v1/usage", "", http.StatusOK, "~", headers...).Body.Bytes(), &u))
	return u
}

// All ways in share the quotas of the sender's project, which sees its usage. Only the role admin changes quotas.
func TestQuotas(t *testing.T) {
	s := newServer(t, func(o *api.Options) {
		o.Auth, o.Quota = auth.TrustedHeaders{}, model.Quota{Series: 3, Measures: 2}
		o.Quotas = &quota.Book{Now: func() time.Time { return time.Unix(1000, 0) }} // balances do not grow
	})
	user := []string{"X-User-Id", "u", "X-Project-Id", "p"}
	admin := []string{"X-User-Id", "a", "X-Project-Id", "q", "X-Roles", "admin"}
	s.create(t, "/v1/archive_policy", `{"name": "low", "definition": [{"granularity": 1}]}`, admin...)
	s.want(t, "GET /v1/quotas", "", http.StatusForbidden, "~", user...)
	s.want(t, "PUT /v1/quotas/p", `{"series": 9}`, http.StatusForbidden, "~", user...)

	lines := "cpu,host=a,pod=1 v=1 1\ncpu,host=a,pod=2 v=1 1\ncpu,host=a,pod=3 v=1 1\n"
	s.want(t, "POST /write", lines, http.StatusNoContent, "~", user...)
	if u := s.usage(t, user...); u.Project != "p" || u.Series != 3 || u.Quota != (model.Quota{Series: 3, Measures: 2,
		Requests: -1}) || u.OwnQuota != nil || u.Measures != .3 {
		t.Errorf("usage: %+v", u)
	}
	// Series are refused permanently: the others are stored, and no sender repeats them.
	w := s.want(t, "POST /write", "cpu,host=a,pod=1 v=1 2\ncpu,host=a,pod=4 v=1 2\ncpu,host=a,pod=5 v=1 2",
		http.StatusBadRequest, "~quota of 3 series: of these, label pod (2) has the most values", user...)
	if w.Header().Get("Retry-After") != "" {
		t.Error("series beyond the quota are to be sent again")
	}
	body := `{"name": "m", "archive_policy_name": "low"}`
	s.want(t, "POST /v1/metric", body, http.StatusForbidden, "~Project p has a quota of 3 series", user...)
	s.want(t, "POST /v1/resource/generic", `{"id": "r", "metrics": {"m": {"archive_policy_name": "low"}}}`,
		http.StatusForbidden, "~Quota exceeded", user...)
	if u := s.usage(t, user...); u.Series != 3 || u.Measures != .4 {
		t.Errorf("usage: %+v", u)
	}
	var made struct{ ID string }
	check(t, json.Unmarshal(s.want(t, "POST /v1/metric", body, http.StatusCreated, "~", admin...).Body.Bytes(), &made))

	// Measures are refused for a while. 6 are left of a balance of 10.
	seven := strings.Repeat("cpu,host=a,pod=1 v=1 3\n", 7)
	w = s.want(t, "POST /write", seven, http.StatusTooManyRequests, "~2 measures a second: of 7 measures", user...)
	if after := w.Header().Get("Retry-After"); after != "1" {
		t.Errorf("Retry-After is %q", after)
	}
	list := "[" + strings.TrimSuffix(strings.Repeat(`{"timestamp": 1, "value": 1},`, 10), ",") + "]"
	path := "/v1/metric/" + made.ID + "/measures"
	s.want(t, "POST "+path, list, http.StatusAccepted, "~", admin...)
	w = s.want(t, "POST "+path, list, http.StatusTooManyRequests, "~metric m has the most (10)", admin...)
	if after := w.Header().Get("Retry-After"); after != "5" {
		t.Errorf("Retry-After is %q", after)
	}
	// A correction's measures are charged, but not those of a dry run, nor of a refused one.
	other := []string{"X-User-Id", "a", "X-Project-Id", "r", "X-Roles", "admin"}
	s.want(t, "POST "+path, `[{"timestamp": 100, "value": 1}]`, http.StatusAccepted, "~", other...)
	nine := `[{"timestamp": 1.1, "value": 1}`
	for at := range 8 {
		nine += fmt.Sprintf(`, {"timestamp": 1.%d, "value": 1}`, at+2)
	}
	correction := "PUT " + path + "?start=1&stop="
	s.want(t, correction+"2&dry_run=true", nine+"]", http.StatusOK, "~", other...)
	s.want(t, correction+"1.95", nine+"]", http.StatusBadRequest, "~part of the group", other...)
	s.want(t, correction+"2", nine+"]", http.StatusOK, "~", other...)
	s.want(t, correction+"2", nine+"]", http.StatusTooManyRequests, "~2 measures a second", other...)

	for _, value := range []string{`1.5`, `"5"`, `true`, `1e3`, `5.0`, `null`, `[5]`, `-2`, `0`} { // not as in Gnocchi
		s.want(t, "PUT /v1/quotas/p", `{"series": `+value+`}`, http.StatusBadRequest, "~series", admin...)
	}
	s.want(t, "PUT /v1/quotas/p", `{"series": -1, "measures_per_second": 100, "requests_per_second": 1}`,
		http.StatusOK, `~"own_quota": {"series": -1, "measures_per_second": 100, "requests_per_second": 1}`, admin...)
	s.want(t, "POST /write", lines+"cpu,host=a,pod=4 v=1 2", http.StatusNoContent, "~", user...)
	s.want(t, "GET /v1/quotas/q", "", http.StatusOK, `~"series": 1`, admin...)
	s.want(t, "GET /v1/quotas/nobody", "", http.StatusNotFound, "~nobody does not exist", admin...)
	s.want(t, "GET /v1/quotas?limit=1", "", http.StatusOK, `~"project": "p"`, admin...)
	s.want(t, "GET /v1/quotas?marker=p", "", http.StatusOK, `~"project": "q"`, admin...)
	for range 4 {
		s.usage(t, user...)
	}
	s.want(t, "GET /v1/usage", "", http.StatusTooManyRequests, "~1 requests a second", user...)
	s.want(t, "GET /api/v1/query?query=up", "", http.StatusTooManyRequests, "~1 requests a second", user...)
	s.want(t, "DELETE /v1/quotas/p", "", http.StatusNoContent, "~", admin...)
	if u := s.usage(t, user...); u.OwnQuota != nil || u.Series != 4 {
		t.Errorf("usage: %+v", u)
	}
}
