package console_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gnocco-db/gnocco/internal/client"
)

// cost is what the API says of the cost of an archive policy.
type cost struct {
	Metrics        int     `json:"metrics"`
	MeasuresPerDay float64 `json:"measures_per_day"`
	StoredBytes    float64 `json:"stored_bytes"`
	RawBytes       float64 `json:"raw_bytes"`
	Bytes          float64 `json:"bytes"`
	Granularities  []struct {
		Bytes             *float64 `json:"bytes"`
		BytesPerAggregate float64  `json:"bytes_per_aggregate"`
	} `json:"granularities"`
}

// number returns what a data attribute of the page says.
func (b *tab) number(selector, attribute string) float64 {
	b.t.Helper()
	b.wait(fmt.Sprintf("document.querySelector(%q)", selector))
	return eval[float64](b, fmt.Sprintf("Number(document.querySelector(%q).dataset[%q])", selector, attribute))
}

// same fails the test unless the page says this number.
func (b *tab) same(selector, attribute string, want float64) {
	b.t.Helper()
	if got := b.number(selector, attribute); math.Abs(got-want) > 1e-9*math.Abs(want) {
		b.t.Errorf("%s: %v, the API says %v", selector, got, want)
	}
}

// write types into a field.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf("(e => e && (e.value = %q, e.dispatchEvent(new Event('input', {bubbles: true})), true))("+
		"document.querySelector(%q))", text, selector))
}

// narrow looks at the page with 360 pixels, and fails the test if it is wider.
func (b *tab) narrow(picture string) {
	b.t.Helper()
	b.size(360, 2400)
	b.wait("document.documentElement.clientWidth === 360")
	// charts are told their widths
	run(b,
		chromedp.Evaluate[bool](
			"new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))",
			chromedp.EvalAwaitPromise))
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
		b.t.Errorf("%s is %d pixels wide", picture, wide)
	}
	b.picture(picture)
}

// The page shows the cost and the losses of a change of an archive policy before anything is written, in the API's
// numbers; then archives are rebuilt, and the page says when that is done.
func TestPolicies(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	send(t, c, "host", end, 3000, "cpu.percent", "disk.bytes", "load")
	ask := func(path string, body any) (answer cost) {
		t.Helper()
		method := http.MethodGet
		if body != nil {
			method = http.MethodPost
		}
		check(t, c.Do(t.Context(), method, path, body, &answer))
		return answer
	}
	b := open(t, s.URL(), "")
	b.click("nav a", "Policies")
	b.wait(`document.querySelector('tr[data-policy="console"]')`)
	now := ask("/v1/archive_policy/console/cost", nil)
	row := `tr[data-policy="console"] `
	b.same(row+"[data-metrics]", "metrics", 3)
	b.same(row+"[data-measures]", "measures", 3*now.MeasuresPerDay)
	b.same(row+"[data-full]", "full", 3*now.Bytes)
	b.click(row+"a", "console")
	b.wait("document.querySelector('#bytes')")
	b.same("#bytes", "value", now.Bytes)
	b.same("#all-bytes", "value", 3*now.Bytes)
	b.same("[data-raw]", "raw", now.RawBytes)
	b.picture("policies")

	// Hours permanently and no seconds; min is not kept any more.
	b.write("[aria-label='Granularity 1']", "1 h")
	b.write("[aria-label='Timespan 1']", "1 year")
	b.click(".chips button", "min")
	b.wait("document.querySelector('#cost').dataset.of === 'draft' && document.querySelector('#history .notice.bad')")
	change := map[string]any{"definition": []map[string]any{{"granularity": 3600, "timespan": 31536000},
		{"granularity": 60, "timespan": 2592000}},
		"back_window": 100, "aggregation_methods": []string{"mean", "max", "count", "last", "95pct"}}
	then := ask("/v1/archive_policy/console/cost", change)
	b.same("#bytes", "value", then.Bytes)
	for i, granularity := range []int{3600, 60} {
		of := fmt.Sprintf(".cost-row[data-granularity=\"%d\"]", granularity)
		b.same(of, "bytes", *then.Granularities[i].Bytes)
		b.same(of, "each", then.Granularities[i].BytesPerAggregate)
	}
	if lost := b.texts("#history .notice.bad"); len(lost) != 1 ||
		!strings.Contains(lost[0], "all aggregates of 1 s; all of min") {
		t.Errorf("lost: %q", lost)
	}
	if made := b.texts("[data-from='moments'][data-granularity='3600']"); len(made) != 1 ||
		!strings.Contains(made[0], "from aggregates of 1 min, up to 30 days back") {
		t.Errorf("put together: %q", made)
	}
	b.size(1280, 1130)
	b.picture("policies-what-if")
	b.click("button", "☾")
	b.picture("policies-what-if-dark")
	b.narrow("policies-narrow-dark")
	b.click("button", "☀")
	b.narrow("policies-narrow")
	b.size(1280, 860)

	// The address holds the edited policy; no change was written so far.
	run(b, chromedp.Reload())
	b.wait("document.querySelector('#cost')?.dataset.of === 'draft' && document.querySelector('#history .notice.bad')")
	b.same("#bytes", "value", then.Bytes)
	if methods := policyMethods(t, c); len(methods) != 6 {
		t.Errorf("methods are %q before anything was confirmed", methods)
	}
	b.click(".actions button", "Change 3 metrics")
	b.click(".ask button", "Change and remove")
	b.wait(
		`document.querySelector('[data-rebuild="console"][data-state="done"]')?.textContent.includes("3 of 3 metrics")`)
	b.waitText("The archive policy is changed.")
	b.picture("policies-rebuilt")
	if methods := policyMethods(t, c); len(methods) != 5 {
		t.Errorf("methods are %q", methods)
	}
}

func policyMethods(t *testing.T, c *client.Client) []string {
	t.Helper()
	var policy struct {
		Methods []string `json:"aggregation_methods"`
	}
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/archive_policy/console", nil, &policy))
	return policy.Methods
}

// A policy is created and deleted; names are text, and a policy that is used is not deleted.
func TestPolicyIsCreatedAndDeleted(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 100, "a")
	name := "<img src=x onerror=alert(1)>/\u202e%📈" + strings.Repeat("long", 40)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/archive_policy_rule",
		map[string]any{"name": "<b>rule", "metric_pattern": "<i>*", "archive_policy_name": "console"}, nil))
	b := open(t, s.URL(), "#/policies")
	b.click("a", "New policy")
	b.write("#new-name", name)
	b.write("[aria-label='Granularity 1']", "1 parsec")
	b.waitText("is no granularity")
	b.write("[aria-label='Granularity 1']", "5 min")
	b.wait(
		"document.querySelector('#cost')?.dataset.of === 'draft' && document.querySelector('#bytes')?.dataset.value > 0")
	b.picture("policies-new")
	b.click(".actions button", "Create")
	b.wait(fmt.Sprintf("[...document.querySelectorAll('#policies a')].some(e => e.textContent === %q)", name))
	b.wait(fmt.Sprintf("document.querySelector('#editor .name')?.textContent === %q", name))
	if rule := b.texts("tr[data-rule=\"<b>rule\"] td"); fmt.Sprint(rule) != "[<i>* console <b>rule]" {
		t.Errorf("rules: %q", rule)
	}
	b.picture("policies-hostile")
	b.click(".actions button", "Delete")
	b.click(".ask button", "Delete")
	b.wait(fmt.Sprintf("![...document.querySelectorAll('#policies a')].some(e => e.textContent === %q)", name))
	b.visitHash("policies?policy=console")
	b.click(".actions button", "Delete")
	b.click(".ask button", "Delete")
	b.wait("document.querySelector('#editor .notice.bad')")
	b.visitHash("policies?policy=nothing")
	b.waitText("There is no archive policy nothing")
	b.allow = "status of 400" // the browser says so of refused requests
}

// A user who is no administrator sees the policies, and a note that their cost is not shown.
func TestPoliciesOfOthers(t *testing.T) {
	s, _ := start(t, nil)
	b := open(t, s.URL(), "#/policies")
	b.click(".settings button", "admin")
	b.write(".sign-in input", "somebody")
	b.click(".sign-in button", "Sign in")
	b.waitText("for administrators")
	b.wait(`document.querySelector('tr[data-policy="console"]')`)
	b.click(`tr[data-policy="console"] a`, "console")
	b.wait("document.querySelector('#editor fieldset').disabled")
	if n := eval[int](b, "document.querySelectorAll('.actions, #cost, [data-metrics]').length"); n != 0 {
		t.Errorf("%d parts are for administrators", n)
	}
	b.allow = "status of 403"
}
