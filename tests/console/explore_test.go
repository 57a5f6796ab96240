package console_test

import (
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"

	"github.com/gnocco-db/gnocco/internal/client"
)

// content is where the editor of PromQL has its text.
const content = "document.querySelector('.code')?.shadowRoot?.querySelector('.cm-content')"

// key presses a key.
func (b *tab) key(key string, code int64, modifiers int64) {
	b.t.Helper()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		call(b, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: key, Code: key,
			WindowsVirtualKeyCode: code, Modifiers: modifiers})
	}
}

// edit replaces what stands in the editor, as a person who types.
func (b *tab) edit(expression string) {
	b.t.Helper()
	b.wait(content)
	b.act(content + ".focus()")
	const control, a = 2, 65
	b.key("a", a, control)
	call(b, input.InsertText, input.InsertTextParams{Text: expression})
	b.wait(fmt.Sprintf("%s.textContent === %q", content, expression))
}

// typeExpression writes an expression into the editor, and runs it.
func (b *tab) typeExpression(expression string) {
	b.t.Helper()
	b.edit(expression)
	b.click(".query button", "Run")
}

// drag moves the mouse with its button down between two shares of an element's width.
func (b *tab) drag(selector string, from, to float64, modifiers int64) {
	b.t.Helper()
	box := b.box(selector)
	for i, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved,
		input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseMoved,
		input.DispatchMouseEventTypeMouseReleased} {
		share := from
		if i > 1 {
			share = to
		}
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: box[0] + share*box[2],
			Y: box[1] + box[3]/2, Button: input.MouseButtonLeft, ClickCount: 1, Modifiers: modifiers})
	}
}

// parameters returns numbers of the address.
func (b *tab) parameters(names ...string) (values []float64) {
	b.t.Helper()
	for _, name := range names {
		values = append(values, eval[float64](b,
			fmt.Sprintf("Number(new URLSearchParams(location.hash.split('?')[1]).get(%q))", name)))
	}
	return values
}

// figure returns a number of a row of the summary.
func (b *tab) figure(row, name string) float64 {
	b.t.Helper()
	find := fmt.Sprintf(
		"[...document.querySelectorAll('#summary tbody tr')].find(r => r.cells[0].textContent === %q)?.querySelector('[data-figure=%s]').dataset.value", row, name)
	b.wait(find)
	return eval[float64](b, "Number("+find+")")
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Each line of a chart says what the API says: of the metric, of the time before, of the percentiles of its policy, and
// of the raw measures.
func TestLines(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	from, to := end.Unix()-300, end.Unix()
	id := send(t, c, "host", end, 900, "load")["load"]
	b := open(t, s.URL(), fmt.Sprintf("#/explore?m=%s&from=%d&to=%d&tz=UTC&g=60", id, from, to))
	b.wait("document.querySelector('#drawn canvas')")
	if got := b.texts("#drawn h2"); len(got) != 1 || got[0] != "load · host" {
		t.Errorf("the chart of one metric is called %q", got)
	}
	for _, name := range []string{"Before", "Percentiles", "Raw"} {
		b.click("#drawn button", name)
		b.wait(
			fmt.Sprintf(
				"[...document.querySelectorAll('#drawn button')].find(e => e.textContent === %q).ariaPressed === 'true'", name))
	}
	window := fmt.Sprintf("start=%d&stop=%d&", from, to)
	same := func(row string, want []float64) {
		t.Helper()
		if got := b.figure(row, "mean"); math.Abs(got-mean(want)) > 1e-9 {
			t.Errorf("%s: mean %v, want %v of %d values", row, got, mean(want), len(want))
		}
	}
	same("load", rows(t, c, id, window+"granularity=60&aggregation=mean"))
	same("load 95pct", rows(t, c, id, window+"granularity=60&aggregation=95pct"))
	same("load, 5 min before", rows(t, c, id,
		fmt.Sprintf("start=%d&stop=%d&granularity=60&aggregation=mean", from-300, from)))
	// A measure a second: the groups of seconds are the measures.
	same("load, measures", rows(t, c, id, fmt.Sprintf("start=%d&stop=%d&granularity=1&aggregation=last", from+1, to+1)))
	b.picture("lines")
	if text := b.texts("#archive")[0]; !strings.Contains(text, "dots are raw measures, as far as kept") {
		t.Error(text)
	}

	// The chart moves with the mouse, by its axis or with Shift.
	before := eval[string](b, "location.hash")
	b.drag("#drawn .u-axis", 0.5, 0.7, 0)
	b.wait(fmt.Sprintf("location.hash !== %q", before))
	share := eval[float64](b,
		"document.querySelector('#drawn .u-axis').clientWidth / document.querySelector('#drawn .u-over').clientWidth")
	if got := b.parameters("from", "to"); math.Abs(got[0]-float64(from)+60*share) > 5 ||
		math.Abs(got[1]-float64(to)+60*share) > 5 {
		t.Errorf("moved to %.0f of %d to %d", got, from, to)
	}
	b.act("history.back()")
	b.wait(fmt.Sprintf("location.hash === %q", before))
	b.wait(fmt.Sprintf("document.querySelector('.times input').value.startsWith(%q)", // the chart is also back
		time.Unix(from, 0).UTC().Format(time.DateTime)+" to "))
	const shift = 8
	b.drag("#drawn .u-over", 0.5, 0.3, shift)
	b.wait(fmt.Sprintf("location.hash !== %q", before))
	if got := b.parameters("from", "to"); math.Abs(got[0]-float64(from+60)) > 5 || math.Abs(got[1]-float64(to+60)) > 5 {
		t.Errorf("moved to %.0f of %d to %d", got, from, to)
	}
}

// The copy as Python is a program that prints the API's answer; the copy saved as PNG is a picture.
func TestCopies(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	id := send(t, c, "host", end, 120, "load")["load"]
	b := open(t, s.URL(), fmt.Sprintf("#/explore?m=%s&from=%d&to=%d&tz=UTC&g=60", id, end.Unix()-60, end.Unix()+60))
	b.wait("document.querySelector('#drawn canvas')")
	b.act("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
	copied := func(name string) string {
		t.Helper()
		b.act("delete window.copied")
		b.click("#drawn .menu button", name)
		b.wait("window.copied !== undefined")
		return eval[string](b, "window.copied")
	}
	want := rows(t, c, id, fmt.Sprintf("start=%d&stop=%d&granularity=60&aggregation=mean",
		end.Unix()-60, end.Unix()+60))
	if command := copied("curl"); !strings.Contains(command, "/v1/metric/"+id+"/measures?") ||
		!strings.Contains(command, "granularity=60") {
		t.Error(command)
	}
	if command := copied("gnocchi"); !strings.HasPrefix(command,
		"gnocchi measures show "+id+" --aggregation mean --granularity 60 ") {
		t.Error(command)
	}
	program := strings.Replace(copied("Python"), `"USER", ""`, `"admin", "secret"`, 1)
	if python, err := exec.LookPath("python3"); err != nil {
		t.Log("python3 is not installed")
	} else {
		out, err := exec.CommandContext(t.Context(), python, "-c", program).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s\n%s", err, out, program)
		}
		var got []float64
		for line := range strings.Lines(string(out)) {
			var value float64
			_, err := fmt.Sscan(line[strings.LastIndexByte(strings.TrimSpace(line), ' ')+1:], &value)
			check(t, err)
			got = append(got, value)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("python prints %v, want %v", got, want)
		}
	}
	b.act(
		`(URL.createObjectURL = blob => { blob.arrayBuffer().then(b => window.saved = [blob.type, ...new Uint8Array(b.slice(1, 4))].join()); return "#/explore"; })`)
	b.act("HTMLAnchorElement.prototype.click = function() { window.file = this.download }")
	b.click("#drawn .menu button", "PNG")
	b.wait("window.saved === 'image/png,80,78,71' && window.file === 'load.png'")
}

// The filters count all metrics, and a filter that is set shows what else there is.
func TestFilters(t *testing.T) {
	s, c := start(t, nil)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type",
		map[string]any{"name": "host", "attributes": map[string]any{"rack": map[string]any{"type": "string",
			"required": true, "max_length": 20}}}, nil))
	metrics := map[string]map[string]string{}
	for i := range 25 {
		metrics[fmt.Sprintf("m%02d", i)] = map[string]string{"archive_policy_name": "console"}
	}
	for i := range 100 { // 2,500 metrics
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource/host",
			map[string]any{"id": fmt.Sprintf("host%d", i), "rack": fmt.Sprintf("r%d", i%3), "metrics": metrics}, nil))
	}
	b := open(t, s.URL(), "")
	b.wait("document.querySelector('#found')?.textContent === '2,500 metrics'")
	options := func(label string) string {
		t.Helper()
		b.wait(fmt.Sprintf("document.querySelector('[data-label=%s] option:nth-child(3)')", label))
		return strings.Join(b.texts(fmt.Sprintf("[data-label=%s] option", label)), "|")
	}
	if got := options("rack"); got != "r0 (850)|r1 (825)|r2 (825)" {
		t.Errorf("racks: %q", got)
	}
	if got := options("original_resource_id"); !strings.HasPrefix(got, "host0 (25)|host1 (25)|host10 (25)|") ||
		strings.Count(got, "|") != 49 {
		t.Errorf("resources: %q", got)
	}
	// A value behind the first 50 is taken as well.
	b.write("[data-label=original_resource_id] input", "host98")
	b.wait("document.querySelector('#found').textContent === '25 metrics'")
	b.act(
		"(e => { e.value = ''; e.dispatchEvent(new Event('input')); })(document.querySelector('[data-label=original_resource_id] input'))")
	b.wait("document.querySelector('#found').textContent === '2,500 metrics'")
	b.act(
		"(e => { e.value = 'r1'; e.dispatchEvent(new Event('change')); })(document.querySelector('[data-label=rack] input'))")
	b.wait("document.querySelector('#found').textContent === '825 metrics'")
	if got := options("rack"); got != "r0 (850)|r1 (825)|r2 (825)" {
		t.Errorf("racks: %q", got)
	}
	b.visitHash("explore?l=rack%3Dr1&find=m07")
	b.wait("document.querySelector('#found').textContent === '33 metrics'")
	b.picture("filters")
}

// One field finds names, IDs and values of labels, the best first, and Enter opens it.
func TestFindsWhatPeopleKnow(t *testing.T) {
	s, c := start(t, nil)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type",
		map[string]any{"name": "vm", "attributes": map[string]any{"display_name": map[string]any{"type": "string",
			"required": true, "max_length": 20}}}, nil))
	ids := map[string]string{}
	for i := range 60 {
		name := fmt.Sprintf("web-%d", i)
		var made struct{ ID string }
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource/vm", map[string]any{"id": fmt.Sprintf("%08d-1111-4111-8111-111111111111", i),
			"display_name": name, "metrics": map[string]any{"cpu": map[string]any{"archive_policy_name": "console"},
				"uptime": map[string]any{"archive_policy_name": "console"}, "setup": map[string]any{"archive_policy_name": "console"},
				"up": map[string]any{"archive_policy_name": "console"}}}, &made))
		ids[name] = made.ID
	}
	b := open(t, s.URL(), "")
	b.wait("document.querySelector('#found')?.textContent === '240 metrics'")
	b.waitText("Charts of 12 of 240 metrics")
	find := func(text, first string) {
		t.Helper()
		b.act("(e => { e.value = " + fmt.Sprintf("%q", text) + "; e.dispatchEvent(new Event('input', {bubbles: true})); })(document.querySelector('.search input'))")
		b.wait(fmt.Sprintf("document.querySelector('.found > li button')?.textContent.startsWith(%q)", first))
	}
	b.visitHash("explore?l=nothing") // a label without a value
	b.waitText("240 metrics")
	b.visitHash("explore")
	find("up", "▸up60")
	if got := strings.Join(b.texts(".found > li > button > span"), "|"); got != "▸up|▸uptime|▸setup" {
		t.Errorf("names: %q", got)
	}
	find("WEB-5", "display_name web-5") // and not web-50, which more begin like
	b.picture("find-value")
	b.act("document.querySelector('.search input').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))")
	b.wait("document.querySelector('#found').textContent === '4 metrics' && location.hash.includes('display_name')")
	b.visitHash("explore")
	find(ids["web-7"], "Resource "+ids["web-7"])
	b.wait("document.querySelector('#found').textContent === '4 metrics'")
	find("display_name=web-5", "display_name web-5") // as lists name it
	b.wait("document.querySelector('#found').textContent === '44 metrics'")

	// Enter opens what was found, by words of a name and of a label together, and an expression as one.
	enter := "document.querySelector('.search input').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}))"
	find("web-7 cpu", "cpu")
	b.wait("document.querySelector('#found').textContent === '1 metric'")
	b.act(enter)
	b.wait("document.querySelectorAll('#summary tbody tr').length === 1 && !location.hash.includes('q=')")
	b.visitHash("explore")
	find("web-1 cpu", "▸cpu11")
	b.act(enter)
	b.wait("new URLSearchParams(location.hash.split('?')[1]).getAll('m').length === 11")
	b.visitHash("explore")
	b.act("(e => { e.value = 'cpu{display_name=\"web-7\"}'; e.dispatchEvent(new Event('input', {bubbles: true})); })(document.querySelector('.search input'))")
	b.waitText("Enter draws it as an expression in PromQL")
	b.act(enter)
	b.wait("new URLSearchParams(location.hash.split('?')[1]).get('q') === 'cpu{display_name=\"web-7\"}'")
}

// changesOf asks the API what the page asks.
func changesOf(t *testing.T, c *client.Client, from, to int64) (changes []changed) {
	t.Helper()
	answer := struct{ Changes any }{&changes}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/changes", map[string]any{"start": from, "stop": to, "at": from}, &answer))
	return changes
}

type changed struct {
	ID                   string
	Score, Before, After float64
}

// A time that is marked on the chart shows the metrics that moved most, with the API's numbers; a click draws one of
// them.
func TestWhatChanged(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	ids := send(t, c, "host", end, 600, "a", "b", "c")
	jump := []map[string]any{}
	for i := range int64(100) {
		jump = append(jump, map[string]any{"timestamp": end.Unix() - 99 + i, "value": 500 + i%5})
	}
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/metric/"+ids["b"]+"/measures", jump, nil))
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+ids["b"]+
		"/measures?refresh=true&granularity=60", nil, nil))
	b := open(t, s.URL(), fmt.Sprintf("#/explore?m=%s&from=%d&to=%d&tz=UTC", ids["a"], end.Unix()-300, end.Unix()))
	b.click("#drawn button", "What changed here?")
	b.wait("document.querySelectorAll('#changes tr[data-id]').length === 3")
	same := func() {
		t.Helper()
		w := regexp.MustCompile(`[?&]w=(\d+)-(\d+)`).FindStringSubmatch(eval[string](b, "location.hash"))
		var from, to int64
		_, err := fmt.Sscan(w[1]+" "+w[2], &from, &to)
		check(t, err)
		want := []float64{}
		for _, change := range changesOf(t, c, from, to) {
			want = append(want, change.Before, change.After, change.Score)
		}
		b.wait(
			fmt.Sprintf(
				"JSON.stringify([...document.querySelectorAll('#changes [data-value]')].map(e => Number(e.dataset.value))) === JSON.stringify(%s)", strings.ReplaceAll(fmt.Sprint(want), " ", ",")))
	}
	same()
	if first := b.texts("#changes tbody:first-of-type tr[data-id] a"); fmt.Sprint(first) != "[b]" {
		t.Errorf("moved most: %q", first)
	}
	b.picture("changed")
	before := eval[string](b, "location.hash")
	b.drag("#drawn .u-over", 0.7, 0.9, 0)
	b.wait(fmt.Sprintf("location.hash !== %q", before))
	if got := b.parameters("from", "to"); got[0] != float64(end.Unix()-300) || got[1] != float64(end.Unix()) {
		t.Errorf("the chart moved to %v", got)
	}
	same()
	b.click("#changes tbody:first-of-type tr[data-id] button", "+")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")
	b.act("document.querySelector('[aria-label=\"Mark earlier\"]').click()")
	same()
	b.click("button", "☾")
	b.wait("document.documentElement.dataset.theme === 'dark'")
	b.picture("changed-dark")
	b.size(360, 1500)
	b.wait("document.documentElement.clientWidth === 360")
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	b.picture("changed-narrow")
	b.act("document.querySelector('#changed [aria-label=Close]').click()")
	b.wait("!document.querySelector('#changed')")
}

// The editor completes names of metrics, also those that PromQL wants in quotes, labels and their values.
func TestCompletion(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 60, "cpu0.percent", "cpu1.percent", "disk")
	b := open(t, s.URL(), "#/explore?q=&from=5m")
	offered := func(text, want string) {
		t.Helper()
		b.edit(text)
		b.wait(
			fmt.Sprintf(
				"[...document.querySelector('.code').shadowRoot.querySelectorAll('.cm-tooltip-autocomplete li')].some(e => e.textContent.includes(%q))", want))
	}
	offered("cpu0", "cpu0.percent")
	offered("cpu1.per", "cpu1.percent")
	b.picture("completion")
	b.act(
		"[...document.querySelector('.code').shadowRoot.querySelectorAll('.cm-tooltip-autocomplete li')].find(e => e.textContent.includes('cpu1.percent')).dispatchEvent(new MouseEvent('mousedown', {bubbles: true, cancelable: true}))")
	b.wait(content + `.textContent === '{"cpu1.percent"}'`)
	offered("avg_over", "avg_over_time")
	offered(`disk{resource_t`, "resource_type")
	offered(`disk{resource_type="`, "generic")
	b.click("button", "☾")
	b.wait("document.documentElement.dataset.theme === 'dark'")
	offered("cpu", "cpu0.percent")
	b.picture("completion-dark")
	b.typeExpression(`{"cpu1.percent"} * 0 + 7`)
	b.wait("document.querySelector('[data-figure=mean]')?.dataset.value === '7'")
}

// A click fills an empty server with sample data, which the API then shows.
func TestSampleData(t *testing.T) {
	s, c := start(t, nil)
	b := open(t, s.URL(), "")
	b.waitText("Nothing has come in yet")
	b.click("button", "Fill in sample data")
	b.wait("document.querySelectorAll('.tile canvas').length === 5")
	var metrics []struct{ Name string }
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/resource/generic/sample/metric", nil, &metrics))
	if len(metrics) != 8 {
		t.Errorf("%d metrics", len(metrics))
	}
	b.wait("document.querySelector('#found')?.textContent === '8 metrics'") // counted after the charts are drawn
	b.click(".tile", "cpu*.percent")
	b.click("button", "10m")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 4")
	if first := b.texts("#summary tbody tr:first-child a"); fmt.Sprint(first) != "[cpu1.percent]" {
		t.Errorf("the busiest core: %q", first)
	}
	b.picture("sample")
}

// The page of a metric says what its archives take, what was dropped or late, and has the history of its resource on
// the charts.
func TestMetricArchive(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	id := send(t, c, "host", end, 1000, "load")["load"]
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/metric/"+id+"/measures",
		[]map[string]any{{"timestamp": end.Unix() - 100*60*2, "value": 1}, {"timestamp": end.Unix() - 1, "value": 1}},
		nil))
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+id+"/measures?refresh=true&granularity=60", nil, nil))
	check(t, c.Do(t.Context(), http.MethodPatch, "/v1/resource/generic/host",
		map[string]any{"project_id": "moved"}, nil))
	spike := end.Unix() - 500
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/measures/delete", map[string]any{"metrics": []string{id},
		"start": spike, "stop": spike + 1, "reason": "a spike"}, nil))
	var archive struct {
		Bytes    int64
		Archives []struct {
			Granularity float64
			Bytes       int64
		}
		Dropped int `json:"dropped_measures"`
		Late    int `json:"late_measures"`
	}
	b := open(t, s.URL(), "#/metric?tz=UTC&id="+id)
	b.wait("document.querySelectorAll('[data-first]:not([data-first=\"\"])').length === 2")
	b.wait(
		"document.querySelector('#dropped')?.textContent === '1' && document.querySelector('#late')?.textContent === '1'")
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+id+"/archive", nil, &archive))
	if archive.Dropped != 1 || archive.Late != 1 || len(archive.Archives) != 2 {
		t.Errorf("%+v", archive)
	}
	if got := b.texts("#newest"); fmt.Sprint(got) != "["+end.UTC().Format(time.TimeOnly)+"]" {
		t.Errorf("newest measure %q, want %s", got, end)
	}
	b.wait("document.querySelector('#history')?.textContent.includes('project_id: – → moved')")
	// the ledger's entry is a flag of the chart, which the mouse finds
	b.wait(`(() => {
		const chart = document.querySelector('.u-over'), box = chart?.getBoundingClientRect();
		if (!box) return false; // it is being drawn anew
		window.share = ((window.share ?? 0.4) + 0.005) % 1;
		chart.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + box.width * share, clientY: box.top + 9}));
		return document.body.textContent.includes('deletion by admin: a spike');
	})()`)
	b.picture("metric-archive")
	b.click("button", "☾")
	b.wait("document.documentElement.dataset.theme === 'dark'")
	b.size(360, 1500)
	b.wait("document.documentElement.clientWidth === 360")
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	b.picture("metric-archive-narrow")
}
