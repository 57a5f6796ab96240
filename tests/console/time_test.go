package console_test

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"testing"
	"time"
)

// A metric whose groups are wide, or whose measures are old, shows a line at once.
func TestFirstContact(t *testing.T) {
	s, c := start(t, nil)
	metric := func(name, policy string, at time.Time) string {
		t.Helper()
		id, err := c.EnsureResource(t.Context(), "kitchen")
		check(t, err)
		ids, err := c.EnsureMetrics(t.Context(), id, []string{name}, ofPolicy(policy))
		check(t, err)
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", map[string]any{ids[name]: []any{
			map[string]any{"timestamp": at.Unix(), "value": 21.5}}}, nil))
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids[name]+"/measures?refresh=true", nil, nil))
		return ids[name]
	}
	metric("temperature", "low", time.Now().Add(-20*time.Minute))
	old := metric("humidity", "medium", time.Date(2026, 1, 1, 12, 5, 0, 0, time.UTC))
	b := open(t, s.URL(), "#/explore?tz=UTC")
	for _, name := range []string{"temperature", "humidity"} {
		b.wait(fmt.Sprintf("document.querySelector('.tile[data-name=%s] .now')?.textContent === '21.5'", name))
		b.wait(fmt.Sprintf("document.querySelector('.tile[data-name=%s] canvas')", name))
	}
	b.click(".found button", "temperature")
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value === '21.5'")
	b.visitHash("explore?tz=UTC&m=" + old)
	b.waitText("Newest measure 2026-01-01 12:05:00, and none since")
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value === '21.5'")
	b.visitHash("explore?tz=UTC&from=now-10m&m=" + old)
	b.waitText("Newest measure 2026-01-01 12:05:00:")
	b.click("#drawn .notice button", "Show it")
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value === '21.5'")
}

// The chart of a metric younger than the range begins at the first measure, unless the address names a time.
func TestYoungMetric(t *testing.T) {
	s, c := start(t, nil)
	begun := time.Now().Unix() - 60
	id := send(t, c, "host", time.Now(), 60, "load")["load"]
	b := open(t, s.URL(), "#/explore?live=0&m="+id)
	shownFrom := func() float64 {
		t.Helper()
		b.wait("document.querySelector('#drawn canvas')")
		b.drag("#drawn .u-over", 0.01, 0.9, 0)
		b.wait("location.hash.includes('to=')")
		return b.parameters("from")[0] - float64(begun)
	}
	if got := shownFrom(); math.Abs(got) > 10 {
		t.Errorf("the chart begins %.0f s after the first measure", got)
	}
	b.visitHash("explore?live=0&from=5m&m=" + id)
	if got := shownFrom(); got > -200 {
		t.Errorf("the chart of 5 minutes begins %.0f s after the first measure", got)
	}
}

// The time is typed, in any zone, and stands in the address.
func TestTimes(t *testing.T) {
	s, c := start(t, nil)
	end := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	id := send(t, c, "host", end, 60, "load")["load"]
	b := open(t, s.URL(), "#/explore?tz=Asia/Kathmandu&from=1h&m="+id)
	field := "document.querySelector('.times input')"
	write := func(text string) {
		t.Helper()
		b.wait(field)
		b.act(fmt.Sprintf("%s.focus(), %[1]s.value = %q, %[1]s.dispatchEvent(new Event('input', {bubbles: true}))",
			field, text))
		b.wait(fmt.Sprintf("%s.value === %q", field, text))
		b.act(field + ".form.requestSubmit()")
	}
	write("2026-03-04 20:40 to 20:50") // UTC+5:45
	b.wait("location.hash.includes('from=1772636100&to=1772636700')")
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value === '3'")
	b.wait(field + ".value === '2026-03-04 20:40:00 to 20:50:00'")
	write("yesterdayish")
	b.wait(field + ".getAttribute('aria-invalid') === 'true'")
	yesterday := eval[string](b, "new Date(Date.now() + 5.75 * 3600e3 - 864e5).toISOString().slice(0, 10)")
	for _, text := range []string{"yesterday 14:00 to 15:00", "yesterday 14:00-15:00", yesterday + " 14:00–15:00"} {
		write("now-90m")
		b.wait("location.hash.includes('from=now-90m')")
		write(text)
		b.wait(fmt.Sprintf("%s.value === %q", field, yesterday+" 14:00:00 to 15:00:00"))
	}
	write("today")
	b.wait(field + ".value.endsWith(' 00:00:00')")
	write("now-2h to now-1h")
	b.wait("location.hash.includes('from=now-2h&to=now-1h')")
	b.wait("document.querySelector('[aria-label=Refresh]')")
	b.visitHash("explore?tz=UTC&from=2026-03-04T14:55:00Z&to=2026-03-04T15:05:00Z&m=" + id)
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value === '3'")
	write("now-90m")
	b.wait("location.hash.includes('from=now-90m') && !location.hash.includes('to=')")
	b.wait("document.querySelectorAll('[aria-label=\"Time zone\"] option').length > 300")
}

// A name offers the highest percentile of its archive policy, and its lines have the names of services. The charts end
// now, though the first service stopped three hours ago.
func TestPercentileOfEach(t *testing.T) {
	s, c := start(t, nil)
	check(t, c.EnsureArchivePolicy(t.Context(), "latency", object{"name": "latency",
		"aggregation_methods": []string{"mean", "95pct", "99pct"},
		"definition":          []object{{"granularity": 60, "timespan": "7 days"}}}))
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type", object{"name": "service",
		"attributes": object{"service": object{"type": "string", "required": false}}}, nil))
	now := time.Now()
	for n, name := range []string{"heat", "nova"} {
		id := uuid(8, n)
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource/service", object{"id": id, "service": name,
			"project_id": uuid(9, n), "metrics": object{"latency": object{"archive_policy_name": "latency"}}}, nil))
		var all []object
		for minute := range 60 {
			at := now.Add(-time.Duration(1-n)*3*time.Hour - time.Duration(minute)*time.Minute).Unix()
			all = append(all, object{"timestamp": at, "value": 2 + n})
		}
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/resources/metrics/measures",
			object{id: object{"latency": all}}, nil))
	}
	b := open(t, s.URL(), "#/explore?tz=UTC&find=latency")
	b.wait("document.querySelectorAll('.tile canvas').length === 2")
	b.wait(fmt.Sprintf("Date.parse(document.querySelector('.times input').value.slice(0, 19) + 'Z') > %d",
		now.Add(-90*time.Minute).UnixMilli()))
	b.click(".found button", "latency")
	b.click(".found ul button", "99th percentile of each")
	b.act("location.hash += '&from=6h'")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")
	for _, name := range []string{"{service=heat}", "{service=nova}"} {
		b.waitText("latency" + name)
	}
}

// On a phone one row above the first chart says the time and moves it. It opens the other controls until a span is
// chosen.
func TestTimeOnAPhone(t *testing.T) {
	s, c := start(t, nil)
	id := send(t, c, "host", time.Now(), 250, "cpu0.percent")["cpu0.percent"]
	b := open(t, s.URL(), "#/explore?m="+id)
	b.size(390, 860)
	b.wait("document.querySelector('#drawn canvas') && document.documentElement.clientWidth === 390")
	const row = 60 // a row and its margin
	if box := b.box("[aria-label=Time]"); box[3] > row {
		t.Errorf("the controls take %v pixels", box[3])
	}
	if got := eval[string](b, "document.querySelector('.window').innerText"); got != "Last 5 min" {
		t.Errorf("the time is %q", got)
	}
	b.picture("phone-closed")
	b.click(".window", "")
	b.wait("document.querySelector('[aria-label=\"Aggregation method\"]').offsetParent && " +
		"document.querySelector('.times').offsetParent")
	b.picture("phone-open")
	b.click(".group button", "10m")
	b.wait("document.querySelector('.window').innerText === 'Last 10 min' && !document.querySelector('.times').offsetParent")
	b.visitHash("explore?tz=UTC&from=1764252000&to=1764255600&m=" + id)
	b.wait("document.querySelector('.window').innerText === '2025-11-27 14:00 to 15:00'")
	if box := b.box("[aria-label=Time]"); box[3] > row {
		t.Errorf("the controls of a chosen time take %v pixels", box[3])
	}
	b.size(1280, 860)
	b.wait("document.querySelector('.times').offsetParent && !document.querySelector('.window').offsetParent")
	b.visitHash("explore")
	b.wait("document.querySelector('.tile .now')?.offsetParent") // has its figure
}

// Beside wide values, a small chart of five minutes still names several minutes; a job's cells take two lines at most.
func TestTilesAndJobsOnAPhone(t *testing.T) {
	s, c := start(t, nil)
	now := time.Now()
	ids := send(t, c, "host", now, 2, "a.bytes", "b.bytes")
	batch := map[string][]map[string]any{}
	for i := range 250 {
		batch[ids["a.bytes"]] = append(batch[ids["a.bytes"]], map[string]any{"timestamp": now.Unix() - int64(i),
			"value": 1e9 + float64(i)})
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids["a.bytes"]+"/measures?refresh=true&granularity=60", nil,
		nil))
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/correlations",
		map[string]any{"resource_type": "generic", "name": "*", "granularity": 60}, nil))
	b := open(t, s.URL(), "#/none")
	b.size(390, 860)
	b.act(`texts = new Set(), CanvasRenderingContext2D.prototype.fillText = (text) => texts.add(text)`)
	b.visitHash("explore?tz=UTC&find=a.bytes")
	b.wait("document.querySelector('.tile canvas') && [...texts].some((text) => /MiB/.test(text))")
	if got := eval[[]string](b, `[...texts].filter((text) => /^\d\d:\d\d$/.test(text))`); len(got) < 4 {
		t.Errorf("the axis has %q beside %q", got, eval[[]string](b, "[...texts]"))
	}
	b.picture("phone-tile")
	b.visitHash("correlations?tz=UTC")
	b.wait("document.querySelector('#jobs td')")
	if heights := eval[[]float64](b, "[...document.querySelectorAll('#jobs td')].map((e) => e.clientHeight)"); slices.Max(
		heights) > 45 {
		t.Errorf("cells have heights of %v", heights)
	}
	b.picture("phone-jobs")
}
