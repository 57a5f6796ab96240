package console_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"github.com/gnocco-db/gnocco/internal/client"
)

type correlation struct {
	ID      string
	Metrics int
	Groups  int
	Total   int
	Pairs   []struct {
		X, Y string
		R    float64
		Lag  int
	}
}

type redundancy struct {
	Bytes          int64
	MeasuresPerDay float64 `json:"measures_per_day"`
	Groups         []struct {
		Keep string
		Drop []struct {
			Metric string
			R      float64
			Bytes  int64
		}
	}
}

// waves sends ten minutes of seconds to metrics: a wave, the same higher, upside down and 5 s later, another wave, and
// constants.
func waves(t *testing.T, c *client.Client, end time.Time) (ids map[string]string) {
	t.Helper()
	noise := func(i, k int) float64 { return float64((i*i*31+i*17*k+k*k*7919)%101) / 500 }
	wave := func(i int) float64 { return math.Sin(float64(i)/23) + math.Cos(float64(i*i)/4001) }
	metrics := map[string]func(i int) float64{
		"web.requests": wave,
		"web.bytes":    func(i int) float64 { return 2000 * wave(i) },
		"web.idle":     func(i int) float64 { return noise(i, 1) - wave(i) },
		"db.queries":   func(i int) float64 { return wave(i-5) + noise(i, 2) },
		"db.locks":     func(i int) float64 { return noise(i, 3) },
		"<b>disk<b>":   func(i int) float64 { return math.Sin(float64(i) / 7) },
		"disk.twin":    func(i int) float64 { return 3 * math.Sin(float64(i)/7) },
		"uptime":       func(int) float64 { return 1 },
		"uplinks":      func(int) float64 { return 2 },
	}
	id, err := c.EnsureResource(t.Context(), "host")
	check(t, err)
	names := slices.Sorted(maps.Keys(metrics))
	ids, err = c.EnsureMetrics(t.Context(), id, names, ofPolicy("console"))
	check(t, err)
	batch := map[string][]map[string]any{}
	for name, value := range metrics {
		for i := range 600 {
			batch[ids[name]] = append(batch[ids[name]], map[string]any{"timestamp": end.Unix() - int64(599-i),
				"value": value(i)})
		}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	for _, name := range names {
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids[name]+
			"/measures?refresh=true&granularity=60", nil, nil))
	}
	return ids
}

// A search becomes a job, a heat map, a pair with its lag and a list of redundant metrics; all in the API's numbers.
func TestCorrelations(t *testing.T) {
	s, c := start(t, nil)
	ids := waves(t, c, time.Now().Truncate(time.Minute))
	b := open(t, s.URL(), "")
	b.click("nav a", "Correlations")
	b.waitText("None yet.")
	b.wait("document.querySelectorAll('.ask-form select option').length > 0")
	b.write(".ask-form [type=number]", "10")
	b.wait("document.querySelector('.ask-form [type=number]').value === '10'")
	b.click(".ask-form button", "Correlate")
	b.wait("document.querySelector('#heat') && document.querySelector('#saved')")

	id := eval[string](b, "new URLSearchParams(location.hash.split('?')[1]).get('job')")
	var job correlation
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/correlations/"+id+"?limit=1000", nil, &job))
	var same redundancy
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/correlations/"+id+"/redundant?threshold=0.99", nil, &same))
	for selector, want := range map[string]int{"#job-metrics": job.Metrics, "#job-pairs": job.Total,
		"#job-groups": job.Groups} {
		if got := b.texts(selector); fmt.Sprint(got) != fmt.Sprintf("[%d]", want) {
			t.Errorf("%s: %q, the API says %d", selector, got, want)
		}
	}
	if job.Metrics != 9 || job.Total != 21 || len(same.Groups) != 2 {
		t.Fatalf("%d metrics, %d pairs, %d redundant groups", job.Metrics, job.Total, len(same.Groups))
	}
	for i, pair := range job.Pairs[:15] {
		row := fmt.Sprintf("#strongest tbody tr:nth-child(%d)", i+1)
		b.same(row, "r", pair.R)
		b.same(row, "lag", float64(pair.Lag))
		if x := eval[string](b, fmt.Sprintf("document.querySelector(%q).dataset.x", row)); x != pair.X {
			t.Errorf("pair %d is of %s, the API says %s", i, x, pair.X)
		}
	}
	b.same("#saved", "bytes", float64(same.Bytes))
	b.same("#saved", "measures", same.MeasuresPerDay)
	for _, group := range same.Groups {
		for _, drop := range group.Drop {
			row := fmt.Sprintf("[data-drop=%q]", drop.Metric)
			b.same(row, "bytes", float64(drop.Bytes))
			b.same(row, "r", drop.R)
		}
	}
	b.size(1280, 1750)
	b.picture("correlations")
	b.click("button", "☾")
	b.picture("correlations-dark")

	// The pair of two metrics by the heat map: with the keyboard, and with a click; the cell says what the API says.
	order := eval[[]float64](b,
		"(e => { const r = e.getBoundingClientRect(), d = e.dataset; return [r.left + Number(d.margin), r.top, Number(d.step)]; })(document.querySelector('#heat'))")
	b.act("document.querySelector('#heat').focus()")
	for _, key := range []string{"ArrowRight", "ArrowRight"} {
		b.act(
			fmt.Sprintf(
				"document.querySelector('#heat').dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true}))",
				key))
	}
	b.wait("document.querySelector('#heat-at').dataset.r")
	said := b.number("#heat-at", "r")
	b.act("document.querySelector('#heat').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
	b.wait("document.querySelectorAll('#pair canvas').length === 2")
	b.same("#pair-words", "r", said)
	first, second := order[0]+1.5*order[2], order[1]+0.5*order[2]
	for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved,
		input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseReleased} {
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: first, Y: second,
			Button: input.MouseButtonLeft, ClickCount: 1})
	}
	b.wait("document.querySelectorAll('#pair canvas').length === 2")

	// The lag of queries behind requests.
	b.visitHash(fmt.Sprintf("correlations?job=%s&x=%s&y=%s&tz=UTC", id, ids["web.requests"], ids["db.queries"]))
	b.wait(fmt.Sprintf("document.querySelector('[data-side=%q]')?.dataset.groups === '600'", ids["db.queries"]))
	b.waitText("db.queries follows by 5 s")
	b.same("#pair-words", "lag", 5)
	b.click("button", "☀")
	b.size(1280, 1960)
	b.picture("correlations-pair")
	b.narrow("correlations-narrow")
	b.size(1280, 860)
	run(b, chromedp.Reload())
	b.waitText("db.queries follows by 5 s")

	// Removed, it is gone from the list; its address says so.
	b.click("#jobs button", "Remove")
	b.waitText("None yet.")
	b.visitHash("correlations?job=" + id)
	b.waitText("This correlation is gone")
	b.allow = "status of 404"
}

// The page explains in words why there is no answer.
func TestCorrelationsOfNothing(t *testing.T) {
	s, c := start(t, nil)
	waves(t, c, time.Now().Truncate(time.Minute))
	b := open(t, s.URL(), "#/correlations")
	ask := func(name string) {
		t.Helper()
		b.write(".ask-form [name=name]", name)
		b.wait(fmt.Sprintf("document.querySelector('.ask-form [name=name]').value === %q", name))
		b.click(".ask-form button", "Correlate")
	}
	ask("nothing*")
	b.waitText("a correlation takes two metrics")
	ask("up*")
	b.waitText("No pair of the 2 metrics has a coefficient: all of them are constant or missing.")
	b.allow = "status of 400"
}

// One click plans the coarsest granularity for all redundant metrics, in a week, and says what goes; one more cancels
// all. A metric that is gone meanwhile is told, and the others are planned.
func TestSavingPlan(t *testing.T) {
	s, c := start(t, nil)
	waves(t, c, time.Now().Truncate(time.Minute))
	b := open(t, s.URL(), "#/correlations")
	b.click(".ask-form button", "Correlate")
	b.wait("document.querySelector('#plan button')")
	b.waitText("3 metrics of console: 1 s go, 1 min stays, by console-coarse, which is made")
	id := eval[string](b, "new URLSearchParams(location.hash.split('?')[1]).get('job')")
	var same redundancy
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/correlations/"+id+"/redundant?threshold=0.99", nil, &same))
	var dropped []string
	for _, group := range same.Groups {
		for _, drop := range group.Drop {
			dropped = append(dropped, drop.Metric)
		}
	}
	if len(dropped) < 2 {
		t.Fatalf("%d redundant metrics", len(dropped))
	}
	states := func() map[string]int {
		t.Helper()
		var all []struct {
			State  string
			Policy string `json:"archive_policy_name"`
			Metric string `json:"metric_id"`
		}
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/rebuild", nil, &all))
		found := map[string]int{}
		for _, r := range all {
			if r.Policy != "console-coarse" || !slices.Contains(dropped, r.Metric) {
				t.Errorf("a plan of %v", r)
			}
			found[r.State]++
		}
		return found
	}
	b.size(1280, 1900)
	b.picture("plan")
	check(t, c.Do(t.Context(), http.MethodDelete, "/v1/metric/"+dropped[0], nil, nil))
	b.click("#plan button", "coarser in 7 days")
	b.wait(fmt.Sprintf("document.querySelector('#plan').dataset.planned === '%d'", len(dropped)-1))
	b.waitText("1 metric: Metric " + dropped[0] + " does not exist")
	if got := states(); len(got) != 1 || got["planned"] != len(dropped)-1 {
		t.Errorf("%v", got)
	}
	var metric struct {
		Policy struct{ Name string } `json:"archive_policy"`
	}
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+dropped[1], nil, &metric))
	if metric.Policy.Name != "console" {
		t.Errorf("planned, and changed to %s", metric.Policy.Name)
	}
	b.picture("planned")
	b.click("#plan button", "Cancel the plan")
	b.wait("document.querySelector('#plan').dataset.planned === '0'")
	if got := states(); len(got) != 1 || got["cancelled"] != len(dropped)-1 {
		t.Errorf("%v", got)
	}
	var policy struct {
		Definition []struct{ Granularity string }
		Methods    []string `json:"aggregation_methods"`
	}
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/archive_policy/console-coarse", nil, &policy))
	if len(policy.Definition) != 1 || len(policy.Methods) < 3 {
		t.Errorf("%v", policy)
	}
	b.allow = "status of 404"
}
