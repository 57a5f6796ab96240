package api_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// correlation is an answer.
type correlation struct {
	ID, State, Error string
	Progress         float64
	Groups, Total    int
	Metrics          int
	Granularity      float64
	Constant         []string
	Truncated        bool
	Pairs            []struct {
		X, Y    string
		R       float64
		Lag     int
		Overlap int64
	}
	Next *int
}

func decode[T any](t testing.TB, body string) (answer T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return answer
}

// series makes metrics of seconds with these values; NaN for none. It returns them by ID.
func (s *server) series(t testing.TB, columns correlate.Values) map[string][]float64 {
	t.Helper()
	s.create(t, "/v1/archive_policy",
		`{"name":"seconds","definition":[{"granularity":1,"points":100000},{"granularity":60,"points":100000}],"aggregation_methods":["mean"]}`, "user", "admin")
	byID := map[string][]float64{}
	for _, column := range columns {
		var body []string
		for second, v := range column {
			if !math.IsNaN(v) {
				body = append(body, fmt.Sprintf(`{"timestamp":%d,"value":%v}`, second, v))
			}
		}
		byID[s.measured(t, "seconds", "["+strings.Join(body, ",")+"]")[0]] = column
	}
	return byID
}

func ids(byID map[string][]float64) string {
	var quoted []string
	for id := range byID {
		quoted = append(quoted, `"`+id+`"`)
	}
	return strings.Join(quoted, ",")
}

// related makes columns with a common signal, gaps, a constant one, and one that follows by three rows.
func related(rows int) correlate.Values {
	random := rand.New(rand.NewPCG(1, 2))
	columns := make(correlate.Values, 8)
	for j := range columns {
		columns[j] = make([]float64, rows)
	}
	for t := range rows {
		signal := random.NormFloat64()
		for j := range columns {
			columns[j][t] = 1000 + signal + float64(j)*random.NormFloat64()
			if j == 4 && random.IntN(10) == 0 {
				columns[j][t] = math.NaN()
			}
		}
		columns[1][t] = columns[0][t]*2 + 1e-3*random.NormFloat64()
		columns[5][t] = 7
		if t >= 3 {
			columns[6][t] = columns[0][t-3]
		}
	}
	return columns
}

// The answer equals the result of the engine for the same values.
func TestCorrelations(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.MaxLimit = 100 })
	byID := s.series(t, related(400))
	answer := decode[correlation](t, s.want(t, "POST /v1/correlations",
		`{"metrics":[`+ids(byID)+`],"lag":4,"needed_overlap":50}`, 200, "~").Body.String())
	if answer.State != "done" || answer.Metrics != 8 || answer.Groups != 400 || answer.Granularity != 1 ||
		answer.Total != 21 || answer.Progress != 1 ||
		len(answer.Constant) != 1 || byID[answer.Constant[0]][0] != 7 || answer.Truncated {
		t.Fatalf("got %+v", answer)
	}
	for i, p := range answer.Pairs {
		var want correlate.Pair
		_, err := correlate.Run(t.Context(), correlate.Values{byID[p.X], byID[p.Y]}, correlate.Options{MaxLag: 4},
			func(p correlate.Pair) error {
				want = p
				return nil
			})
		if err != nil || math.Float64bits(p.R) != math.Float64bits(want.R) || p.Lag != want.Lag ||
			p.Overlap != want.Overlap {
			t.Errorf("%+v, want %+v (%v)", p, want, err)
		}
		if i > 0 && math.Abs(p.R) > math.Abs(answer.Pairs[i-1].R) {
			t.Errorf("pair %d is stronger than the one before", i)
		}
	}

	// Pages, and all as CSV.
	path := "/v1/correlations/" + answer.ID
	first := decode[correlation](t, s.want(t, "GET "+path+"?limit=20", "", 200, "~").Body.String())
	if len(first.Pairs) != 20 || first.Next == nil || *first.Next != 20 {
		t.Fatalf("first page: %+v", first)
	}
	second := decode[correlation](t, s.want(t, "GET "+path+"?limit=20&marker=20", "", 200, "~").Body.String())
	if len(second.Pairs) != 1 || second.Next != nil || second.Pairs[0] != answer.Pairs[20] {
		t.Fatalf("second page: %+v", second)
	}
	for _, w := range []string{s.want(t, "GET "+path+"?format=csv", "", 200, "~x,y,r,lag,overlap,r_changes\n").Body.String(),
		s.want(t, "GET "+path, "", 200, "~", "Accept", "text/csv").Body.String()} {
		records, err := csv.NewReader(strings.NewReader(w)).ReadAll()
		if err != nil || len(records) != 22 || records[1][0] != answer.Pairs[0].X {
			t.Fatalf("CSV %v: %s", err, w)
		}
	}

	// Only its owner finds it, until it is deleted.
	for _, request := range []string{"GET " + path, "GET " + path + "/redundant", "DELETE " + path} {
		s.want(t, request, "", 404, "~does not exist", "user", "other")
	}
	s.want(t, "GET "+path, "", 406, "~", "Accept", "image/png")
	s.want(t, "GET "+path+"?format=xml", "", 400, "~format", "Accept", wantsJSON)
	s.want(t, "GET "+path+"?marker=-1", "", 400, "~marker", "Accept", wantsJSON)
	s.want(t, "DELETE "+path, "", 204, "")
	s.want(t, "GET "+path, "", 404, "~does not exist")
	s.want(t, "GET /v1/correlations/x", "", 404, "~does not exist")

	// Metrics without any aggregates in the time asked for have no coefficients.
	empty := decode[correlation](t, s.want(t, "POST /v1/correlations", `{"metrics":[`+ids(byID)+`],"start":90000}`, 200,
		"~").Body.String())
	if empty.State != "done" || empty.Groups != 0 || len(empty.Constant) != 8 || empty.Total != 0 {
		t.Fatalf("got %+v", empty)
	}
	coarse := decode[correlation](t, s.want(t, "POST /v1/correlations",
		`{"metrics":[`+ids(byID)+`],"granularity":"1 minute","stop":240,"method":"spearman","top":2,"threshold":0.5}`,
		200, "~").Body.String())
	if coarse.Groups != 4 || coarse.Total != 2 || math.Abs(coarse.Pairs[1].R) < 0.5 {
		t.Fatalf("got %+v", coarse)
	}
}

func TestCorrelationsOfASearch(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	own := func(user, resource string) {
		s.create(t, "/v1/resource/generic", `{"id":"`+resource+
			`","metrics":{"cpu.user":{"archive_policy_name":"p"},"cpu.system":{"archive_policy_name":"p"},"disk":{"archive_policy_name":"p"}}}`,
			"user", user)
	}
	own("foobar", "a")
	own("foobar", "b")
	ask := func(body string, metrics int) {
		t.Helper()
		answer := decode[correlation](t, s.want(t, "POST /v1/correlations", body, 200, "~").Body.String())
		if answer.Metrics != metrics {
			t.Errorf("%s: %d metrics, want %d", body, answer.Metrics, metrics)
		}
	}
	ask(`{"resource_type":"generic","name":"cpu.*"}`, 4)
	ask(`{"resource_type":"generic","search":{}}`, 6)
	ask(`{"resource_type":"generic","search":"original_resource_id = 'a'"}`, 3)
	own("jd", "c")
	ask(`{"resource_type":"generic","search":{"=":{"creator":"foobar"}}}`, 6)
}

func TestCorrelationsAreRefused(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Correlations.MaxMetrics = 3; o.Correlations.MaxValues = 100 })
	byID := s.series(t, correlate.Values{{1, 2, 3}, {2, 3, 5}})
	two := ids(byID)
	refuse := func(body string, status int, part string) {
		t.Helper()
		s.want(t, "POST /v1/correlations", body, status, "~"+part, "Accept", wantsJSON)
	}
	field := func(field string) string { return `{"metrics":[` + two + `],` + field + `}` }
	refuse(`[]`, 400, "expected a dictionary")
	refuse(`{}`, 400, "resource_type")
	refuse(`{"metrics":[]}`, 400, "length of value must be at least 1")
	refuse(`{"metrics":["x","y"]}`, 400, `\"x\" is not a UUID`)
	refuse(`{"metrics":["5a301761-aaaa-46e2-8900-8b4f6fe6675a"]}`, 404, "Provided metrics don't exist")
	refuse(`{"metrics":[`+two+`],"resource_type":"generic"}`, 400, "extra keys not allowed")
	refuse(`{"resource_type":"none"}`, 400, "none")
	refuse(`{"resource_type":"generic"}`, 400, "takes two metrics")
	refuse(field(`"aggregation":"nope"`), 400, "aggregation")
	refuse(field(`"aggregation":"max"`), 404, "unknown aggregation")
	refuse(field(`"granularity":17`), 400, "Granularities are missing")
	refuse(field(`"granularity":-1`), 400, "granularity")
	refuse(field(`"start":"whenever"`), 400, "start")
	refuse(field(`"lag":-1`), 400, "lag")
	refuse(field(`"lag":99999999999`), 400, "lag")
	refuse(field(`"top":"many"`), 400, "top")
	refuse(field(`"threshold":1.5`), 400, "threshold")
	refuse(field(`"needed_overlap":"x"`), 400, "needed_overlap")
	refuse(field(`"method":"kendall"`), 400, "method")
	s.want(t, "POST /v1/correlations?limit=0", `{"metrics":[`+two+`]}`, 400, "~limit", "Accept", wantsJSON)
	s.want(t, "POST /v1/correlations", `{"metrics":[`+two+`]}`, 200, "~", "user", "admin")
	s.want(t, "POST /v1/correlations", `{"metrics":[`+two+`]}`, 403, "~", "user", "other")

	long := s.measured(t, "seconds", `[{"timestamp":0,"value":1},{"timestamp":90,"value":2}]`)[0]
	refuse(`{"metrics":[`+two+`,"`+long+`"],"lag":1}`, 400, "Too many values")
	// Without a lag, only groups that some metric has need room.
	answer := decode[correlation](t, s.want(t, "POST /v1/correlations", `{"metrics":[`+two+`,"`+long+`"]}`, 200,
		"~").Body.String())
	if answer.Groups != 4 {
		t.Errorf("%d groups", answer.Groups)
	}
	more := s.measured(t, "seconds", `[]`)[0]
	refuse(`{"metrics":[`+two+`,"`+long+`","`+more+`"]}`, 400, "too many metrics: 4, at most 3")
}

// A job that takes longer than the request waits goes on, is found, and can be cancelled.
func TestCorrelationsInTheBackground(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Correlations.Wait = time.Nanosecond })
	byID := s.series(t, related(1000))
	body := `{"metrics":[` + ids(byID) + `],"lag":300}`
	w := s.call(t, "POST /v1/correlations", body)
	if w.Code != http.StatusAccepted && w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	path := strings.TrimPrefix(w.Header().Get("Location"), "http://example.com")
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		answer := decode[correlation](t, s.want(t, "GET "+path, "", 200, "~").Body.String())
		if answer.State == "done" {
			if answer.Progress != 1 || answer.Total != 21 {
				t.Fatalf("got %+v", answer)
			}
			break
		}
		if answer.State == "failed" || len(answer.Pairs) > 0 || time.Now().After(deadline) {
			t.Fatalf("got %+v", answer)
		}
	}
	w = s.call(t, "POST /v1/correlations", body)
	path = strings.TrimPrefix(w.Header().Get("Location"), "http://example.com")
	s.want(t, "DELETE "+path, "", 204, "")
	s.want(t, "GET "+path, "", 404, "~")
}

// A job whose client has gone before it heard of it is cancelled.
func TestCorrelationWithoutAClient(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Correlations.Wait = time.Hour })
	byID := s.series(t, related(1000))
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, "POST", "/v1/correlations",
		strings.NewReader(`{"metrics":[`+ids(byID)+`],"lag":900}`))
	request.SetBasicAuth("foobar", "")
	request.Header.Set("Content-Type", "application/json")
	time.AfterFunc(50*time.Millisecond, cancel)
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, request)
	if w.Code != http.StatusServiceUnavailable && w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
}

func TestOldCorrelationsGo(t *testing.T) {
	s := newServer(t, func(o *api.Options) { o.Correlations.MaxJobs = 1; o.Correlations.Wait = time.Minute })
	two := ids(s.series(t, correlate.Values{{1, 2, 3}, {2, 3, 5}}))
	var first string
	for i := range 7 {
		answer := decode[correlation](t, s.want(t, "POST /v1/correlations", `{"metrics":[`+two+`]}`, 200,
			"~").Body.String())
		if i == 0 {
			first = answer.ID
		}
	}
	s.want(t, "GET /v1/correlations/"+first, "", 404, "~does not exist")
}

func TestRedundantMetrics(t *testing.T) {
	s := newServer(t, nil)
	byID := s.series(t, related(400))
	answer := decode[correlation](t, s.want(t, "POST /v1/correlations?limit=1", `{"metrics":[`+ids(byID)+`],"lag":4}`,
		200, "~").Body.String())
	type saving struct {
		Bytes          int64   `json:"bytes"`
		FinerBytes     int64   `json:"finer_bytes"`
		MeasuresPerDay float64 `json:"measures_per_day"`
	}
	type redundant struct {
		Threshold float64
		Groups    []struct {
			Keep string
			Drop []struct {
				Metric string
				R      float64
				Lag    int
				saving
			}
			saving
		}
		saving
	}
	check(t, s.options.Archives.(testnode.Archives).Checkpoint(t.Context())) // what is in memory takes no bytes yet
	path := "GET /v1/correlations/" + answer.ID + "/redundant"
	got := decode[redundant](t, s.want(t, path, "", 200, "~").Body.String())
	if got.Threshold != 0.99 || len(got.Groups) != 1 || len(got.Groups[0].Drop) != 2 {
		t.Fatalf("got %+v", got)
	}
	sum := saving{}
	for _, member := range got.Groups[0].Drop {
		check := correlate.Values{byID[got.Groups[0].Keep], byID[member.Metric]}
		if _, err := correlate.Run(t.Context(), check, correlate.Options{MaxLag: 4}, func(p correlate.Pair) error {
			if p.R != member.R || p.Lag != member.Lag {
				t.Errorf("got %+v, want %+v", member, p)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if member.R < 0.99 || member.Bytes <= 0 || member.FinerBytes <= 0 || member.FinerBytes >= member.Bytes {
			t.Errorf("got %+v", member)
		}
		// 400 measures within 7 groups of a minute.
		if want := 400. / 420 * 86400; math.Abs(member.MeasuresPerDay-want) > 1e-6 {
			t.Errorf("%v measures a day, want %v", member.MeasuresPerDay, want)
		}
		sum = saving{sum.Bytes + member.Bytes, sum.FinerBytes + member.FinerBytes,
			sum.MeasuresPerDay + member.MeasuresPerDay}
	}
	if got.Groups[0].saving != sum || got.saving != sum {
		t.Errorf("sums are %+v and %+v, want %+v", got.Groups[0].saving, got.saving, sum)
	}
	if none := decode[redundant](t, s.want(t, path+"?threshold=1", "", 200, "~").Body.String()); len(none.Groups) > 1 {
		t.Errorf("got %+v", none)
	}
	s.want(t, path+"?threshold=2", "", 400, "~threshold", "Accept", wantsJSON)
	strong := decode[correlation](t, s.want(t, "POST /v1/correlations", `{"metrics":[`+ids(byID)+`],"threshold":0.9}`,
		200, "~").Body.String())
	s.want(t, "GET /v1/correlations/"+strong.ID+"/redundant?threshold=0.5", "", 400, "~no pairs below 0.9",
		"Accept", wantsJSON)
}

// Users find their own jobs, the newest first, and the names of their metrics.
func TestCorrelationsAreListed(t *testing.T) {
	s := newServer(t, nil)
	s.policy(t, "p")
	s.create(t, "/v1/resource/generic",
		`{"id":"a","metrics":{"x":{"archive_policy_name":"p"},"y":{"archive_policy_name":"p"}}}`)
	s.want(t, "GET /v1/correlations", "", 200, "[]")
	post := func(body string) string {
		return decode[correlation](t, s.want(t, "POST /v1/correlations", body, 200, "~").Body.String()).ID
	}
	first := post(`{"resource_type":"generic","start":"2026-01-01T00:00:00Z"}`)
	second := post(`{"resource_type":"generic","lag":2}`)
	type listed struct {
		ID          string
		State       string
		Start, Stop *string
		Lag         int `json:"max_lag"`
		Metrics     int
	}
	jobs := decode[[]listed](t, s.want(t, "GET /v1/correlations", "", 200, "~").Body.String())
	if len(jobs) != 2 || jobs[0].ID != second || jobs[1].ID != first || jobs[0].Lag != 2 || jobs[0].Start != nil ||
		*jobs[1].Start != "2026-01-01T00:00:00Z" ||
		jobs[1].Stop != nil || jobs[0].Metrics != 2 || jobs[0].State != "done" {
		t.Errorf("got %+v", jobs)
	}
	metrics := decode[[]struct{ ID, Name string }](t,
		s.want(t, "GET /v1/correlations/"+first+"/metrics", "", 200, "~").Body.String())
	if len(metrics) != 2 || metrics[0].ID >= metrics[1].ID ||
		metrics[0].Name+metrics[1].Name != "xy" && metrics[0].Name+metrics[1].Name != "yx" {
		t.Errorf("got %+v", metrics)
	}
	s.want(t, "GET /v1/correlations", "", 200, "[]", "user", "other")
	s.want(t, "GET /v1/correlations/"+first+"/metrics", "", 404, "~does not exist", "user", "other")
}
