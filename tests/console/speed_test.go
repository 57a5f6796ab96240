package console_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/internal/client"
)

var (
	speedMetrics    = flag.Int("speed.metrics", 100_000, "metrics of TestSpeed's server, two to a resource")
	speedCorrelated = flag.Int("speed.correlated", 250, "metrics of TestManyCorrelations")
	speedVisits     = flag.Int("speed.visits", 3, "how often TestSpeed opens each page; it zooms a third as often")
)

// The bounds on the console's times.
const (
	aimOfPage   = 300 * time.Millisecond // from the navigation to the content
	aimOfChart  = 150 * time.Millisecond // from a click to a chart of 30 days of ten metrics
	aimOfScript = 8 * time.Millisecond   // of a frame while zooming
	// what a page without content takes on a machine that does little else: it tells how slow this one is
	aimOfNone = 100 * time.Millisecond
)

// fill creates resources with two metrics each, and sends two measures to each metric.
func fill(t *testing.T, c *client.Client, metrics int, end time.Time) {
	t.Helper()
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type",
		map[string]any{"name": "instance", "attributes": map[string]any{
			"host": map[string]any{"type": "string", "required": true}}}, nil))
	const batch = 1000
	type object = map[string]any
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(4)
	for first := 0; first < metrics/2; first += batch {
		g.Go(func() error {
			var resources []object
			measures := object{}
			for n := first; n < min(first+batch, metrics/2); n++ {
				id := fmt.Sprintf("instance-%05d", n)
				resources = append(resources, object{"id": id, "host": fmt.Sprintf("host-%03d", n%200),
					"project_id": fmt.Sprintf("project-%02d", n%50),
					"metrics": object{"cpu.percent": object{"archive_policy_name": "console"},
						"memory.bytes": object{"archive_policy_name": "console"}}})
				two := func(value float64) []object {
					return []object{{"timestamp": end.Unix() - 60, "value": value},
						{"timestamp": end.Unix(), "value": value / 2}}
				}
				measures[id] = object{"cpu.percent": two(float64(n % 100)), "memory.bytes": two(float64(n << 20))}
			}
			if err := c.Do(ctx, http.MethodPost, "/v1/batch/resources/instance", resources, nil); err != nil {
				return err
			}
			return c.Do(ctx, http.MethodPost, "/v1/batch/resources/metrics/measures", measures, nil)
		})
	}
	check(t, g.Wait())
}

// months sends n measures, five minutes apart, to ten metrics, and returns their IDs.
func months(t *testing.T, c *client.Client, end time.Time, n int) (ids []string) {
	t.Helper()
	check(t, c.EnsureArchivePolicy(t.Context(), "months", map[string]any{"name": "months", "back_window": 0,
		"aggregation_methods": []string{"mean", "min", "max"},
		"definition": []map[string]any{{"granularity": 300, "timespan": "60 days"},
			{"granularity": 3600, "timespan": "365 days"}}}))
	resource, err := c.EnsureResource(t.Context(), "months")
	check(t, err)
	var names []string
	for k := range 10 {
		names = append(names, fmt.Sprintf("month%d.percent", k))
	}
	made, err := c.EnsureMetrics(t.Context(), resource, names, ofPolicy("months"))
	check(t, err)
	batch := map[string][]map[string]any{}
	for k, name := range names {
		ids = append(ids, made[name])
		for i := range n {
			x := float64(i)
			batch[made[name]] = append(batch[made[name]], map[string]any{"timestamp": end.Unix() - int64(300*(n-1-i)),
				"value": float64(10*k) + 4*math.Sin(x/288) + math.Sin(x*x/7)})
		}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	for _, id := range ids {
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+id+
			"/measures?refresh=true&granularity=3600", nil, nil))
	}
	return ids
}

// times are what something took, several times.
type times []time.Duration

func (all times) at(share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// report logs what something took, and is red if what is judged of it took three times the aim, on a machine that is so
// many times slower than ours: others may use it.
func (all times) report(t *testing.T, what string, aim, judged time.Duration, slower float64) {
	t.Helper()
	round := func(share float64) time.Duration { return all.at(share).Round(100 * time.Microsecond) }
	t.Logf("%-28s median %7v, p95 %7v, most %7v of %d; aim %v", what, round(0.5), round(0.95), round(1), len(all), aim)
	if limit := time.Duration(3 * slower * float64(aim)); judged > limit {
		t.Errorf("%s: %v is more than %v", what, judged, limit)
	}
}

// stopwatch makes a page keep when an expression has become true, at the frame after, in ms since the navigation.
const stopwatch = `(() => {
	const look = () => { if (%s) requestAnimationFrame(() => { window.shownAt = performance.now(); }); else requestAnimationFrame(look); };
	look();
})()`

// A server with 100,000 metrics shows each page, and a chart of a month, at once, and a chart of many points can be
// zoomed smoothly.
func TestSpeed(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "#/server")
	end := time.Now().Truncate(5 * time.Minute)
	begin := time.Now()
	fill(t, c, *speedMetrics, end)
	ids := months(t, c, end, 10_000)
	b.wait("document.querySelector('#backlog')?.textContent === '0'")
	t.Logf("%d metrics of %d resources after %v", *speedMetrics+10, *speedMetrics/2+1,
		time.Since(begin).Round(10*time.Millisecond))

	var job correlation
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/correlations",
		map[string]any{"resource_type": "generic", "name": "month*", "granularity": 3600}, &job))
	month := url.Values{"m": ids, "from": {fmt.Sprint(end.Unix() - 30*86400)}, "to": {fmt.Sprint(end.Unix())}}.Encode()
	const drawn = "document.querySelectorAll('#summary [data-figure=mean]:not([data-value=\"\"])').length === 10 && document.querySelector('#drawn canvas')"
	visit := func(address, ready string) time.Duration {
		t.Helper()
		script := call(b, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(stopwatch, ready)}).Identifier
		run(b, chromedp.Navigate("about:blank"))
		run(b, chromedp.Navigate(b.server+"/ui/#/"+address))
		b.wait("window.shownAt")
		call(b, page.RemoveScriptToEvaluateOnNewDocument,
			page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: script})
		return time.Duration(eval[float64](b, "window.shownAt") * 1e6)
	}
	pages := []struct{ name, address, ready string }{
		{"a page without content", "none", "document.querySelector('main .notice')"},
		{"Explore", "explore", "document.querySelector('#found') && document.querySelector('.tile canvas')"},
		{"Explore, by name", "explore?find=month",
			"document.querySelector('#found')?.textContent === '10 metrics' && document.querySelector('.tile canvas')"},
		{"Explore, by words", "explore?find=memory&l=project_id%3Dproject-07",
			"document.querySelector('#found') && document.querySelector('.tile canvas')"},
		{"Explore, ten metrics", "explore?" + month, drawn},
		{"Metric", "metric?id=" + ids[3],
			"document.querySelectorAll('[data-first]:not([data-first=\"\"])').length === 2 && document.querySelector('#bytes')?.textContent !== '–'"},
		{"Policies", "policies", "document.querySelector('[data-policy=console] [data-metrics]')"},
		{"Policies, one", "policies?policy=console", "document.querySelector('.cost .figures')"},
		{"Correlations", "correlations",
			"document.querySelector('#jobs td') && document.querySelector('#ask option:nth-child(2)')"},
		{"Correlations, a job", "correlations?job=" + job.ID,
			"document.querySelector('#heat') && document.querySelector('#saved, #redundant .hint')"},
		{"Server", "server", "document.querySelector('#metrics') && document.querySelector('#members td')"},
	}
	took := map[string]times{}
	for range *speedVisits { // by turns, as the machine's other load changes
		for _, p := range pages {
			took[p.name] = append(took[p.name], visit(p.address, p.ready))
		}
	}
	slower := max(1, float64(took[pages[0].name].at(1))/float64(aimOfNone))
	for _, p := range pages {
		took[p.name].report(t, p.name, aimOfPage, took[p.name].at(0), slower)
	}

	// A click on a page that is open draws a chart.
	var charts times
	for range *speedVisits {
		b.visitHash("explore?find=month")
		b.wait("document.querySelector('.tile canvas')")
		ms := run(b, chromedp.Evaluate[float64](fmt.Sprintf(`new Promise((done) => {
			const begin = performance.now(), look = () => { if (%s) requestAnimationFrame(() => done(performance.now() - begin)); else requestAnimationFrame(look); };
			location.hash = %q;
			look();
		})`, drawn, "#/explore?"+month), chromedp.EvalAwaitPromise))
		charts = append(charts, time.Duration(ms*1e6))
	}
	charts.report(t, "a chart of 30 days", aimOfChart, charts.at(0), slower)

	b.visitHash("explore?" + url.Values{"m": ids, "g": {"300"}, "from": {fmt.Sprint(end.Unix() - 300*10_000)},
		"to": {fmt.Sprint(end.Unix())}}.Encode())
	b.wait("document.querySelector('#archive')?.textContent.includes('mean of 5 min')")
	stop := b.trace()
	for range max(1, *speedVisits/3) {
		b.zoom()
	}
	frames := stop()
	frames.report(t, "script of a frame, zooming", aimOfScript, frames.at(0.95), slower)
	many := b.heap()
	b.visitHash("explore")
	b.wait("document.querySelector('.found button') && document.querySelector('.tile canvas')")
	t.Logf("%.1f MB are used by scripts with ten series of 10,000 points, %.1f MB at the start", many, b.heap())
}

// zoom drags over the chart, slowly, waits for the new data, moves the chart, and goes back.
func (b *tab) zoom() {
	b.t.Helper()
	box := b.box(".u-over")
	mouse := func(kind input.DispatchMouseEventType, share float64, keys int64) {
		b.t.Helper()
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: box[0] + share*box[2],
			Y: box[1] + box[3]/2, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1, Modifiers: keys})
	}
	drag := func(from, to float64, keys int64) {
		b.t.Helper()
		before := eval[string](b, "location.hash")
		mouse(input.DispatchMouseEventTypeMouseMoved, from, keys)
		mouse(input.DispatchMouseEventTypeMousePressed, from, keys)
		const steps = 40
		for i := range steps {
			mouse(input.DispatchMouseEventTypeMouseMoved, from+(to-from)*float64(i+1)/steps, keys)
		}
		mouse(input.DispatchMouseEventTypeMouseReleased, to, keys)
		b.wait(
			fmt.Sprintf(
				"location.hash !== %q && document.querySelector('#archive').dataset.from === new URLSearchParams(location.hash.split('?')[1]).get('from')", before))
	}
	drag(0.02, 0.98, 0)
	const shift = 8
	drag(0.6, 0.5, shift)
	for range 2 {
		before := eval[string](b, "location.hash")
		b.act("history.back()")
		b.wait(
			fmt.Sprintf(
				"location.hash !== %q && document.querySelector('#archive').dataset.from === new URLSearchParams(location.hash.split('?')[1]).get('from')", before))
	}
}

// traced is a part of chromium's traces.
type traced struct {
	Name     string  `json:"name"`
	Start    float64 `json:"ts"` // in µs, as are durations
	Duration float64 `json:"dur"`
	CPU      float64 `json:"tdur"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
}

// isScript reports whether it is scripts that run, or what they need: collecting garbage.
func (e *traced) isScript() bool {
	return slices.Contains([]string{"FunctionCall", "EvaluateScript", "EventDispatch", "TimerFire", "RunMicrotasks",
		"FireAnimationFrame", "MinorGC", "MajorGC"}, e.Name)
}

// trace follows what the page does. The function that it returns says how much CPU time scripts took in each frame.
func (b *tab) trace() (stop func() times) {
	b.t.Helper()
	var mutex sync.Mutex
	var events []traced
	complete := make(chan struct{})
	ctx, cancel := context.WithCancel(b.context)
	check(b.t, chromedp.Listen(ctx, func(got any) {
		switch got := got.(type) {
		case *tracing.EventDataCollected:
			mutex.Lock()
			defer mutex.Unlock()
			for _, text := range got.Value {
				var e traced
				if json.Unmarshal(text, &e) == nil && (e.isScript() || e.Name == "Commit") {
					events = append(events, e)
				}
			}
		case *tracing.EventTracingComplete:
			close(complete)
		}
	}))
	call(b, tracing.Start,
		tracing.StartParams{TraceConfig: &tracing.TraceConfig{IncludedCategories: []string{"devtools.timeline",
			"disabled-by-default-devtools.timeline"}}})
	return func() times {
		b.t.Helper()
		defer cancel()
		call(b, tracing.End, cdp.Empty{})
		select {
		case <-complete:
		case <-time.After(patience):
			b.t.Fatal("the trace does not end")
		}
		mutex.Lock()
		defer mutex.Unlock()
		return scriptOfFrames(events)
	}
}

// scriptOfFrames adds up scripts between what the page's thread commits to be drawn.
func scriptOfFrames(events []traced) (frames times) {
	type thread struct{ process, thread int }
	commits := map[thread]int{}
	var page thread
	for _, e := range events {
		if at := (thread{e.Process, e.Thread}); e.Name == "Commit" {
			if commits[at]++; commits[at] > commits[page] {
				page = at
			}
		}
	}
	events = slices.DeleteFunc(events, func(e traced) bool { return page != thread{e.Process, e.Thread} })
	slices.SortFunc(events, func(a, b traced) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Duration, a.Duration))
	})
	var script, end float64
	for _, e := range events {
		switch {
		case e.Name == "Commit":
			frames = append(frames, time.Duration(script*1e3))
			script = 0
		case e.Start >= end: // else it is part of an earlier one
			script += e.CPU
			end = e.Start + e.Duration
		}
	}
	return frames
}

// A heat map of more metrics than it draws says so, and follows the mouse at once.
func TestManyCorrelations(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "#/server")
	end := time.Now().Truncate(time.Minute)
	resource, err := c.EnsureResource(t.Context(), "many")
	check(t, err)
	var names []string
	for k := range *speedCorrelated {
		names = append(names, fmt.Sprintf("metric.%03d", k))
	}
	ids, err := c.EnsureMetrics(t.Context(), resource, names, ofPolicy("console"))
	check(t, err)
	batch := map[string][]map[string]any{}
	for k, name := range names {
		for i := range 300 {
			x := float64(i)
			batch[ids[name]] = append(batch[ids[name]], map[string]any{"timestamp": end.Unix() - int64(299-i),
				"value": math.Sin(x/float64(5+k%20)) + 0.3*math.Sin(x*x*float64(k+1))})
		}
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	for _, name := range names { // the page may still show the backlog of before
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids[name]+"/measures?refresh=true&granularity=1", nil, nil))
	}
	var job correlation
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/correlations",
		map[string]any{"resource_type": "generic", "name": "metric.*", "granularity": 1}, &job))
	begin := time.Now()
	b.visitHash("correlations?job=" + job.ID)
	b.wait("document.querySelector('#heat')")
	t.Logf("a heat map of %d pairs after %v", job.Total, time.Since(begin).Round(time.Millisecond))
	b.waitText(fmt.Sprintf("the 200 of the strongest pairs, of %d metrics", *speedCorrelated))
	box := b.box("#heat")
	stop := b.trace()
	for i := range 60 {
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved,
			X: box[0] + box[2]*float64(i+1)/62, Y: box[1] + box[3]*float64(i+1)/70})
	}
	frames := stop()
	frames.report(t, "script of a frame, pointing", aimOfScript, frames.at(0.95), 1)
	t.Logf("%.1f MB are used by scripts", b.heap())
}

// heap is what the page's scripts hold, in MB.
func (b *tab) heap() float64 {
	call(b, heapprofiler.CollectGarbage, cdp.Empty{})
	return call(b, runtime.GetHeapUsage, cdp.Empty{}).UsedSize / 1e6
}
