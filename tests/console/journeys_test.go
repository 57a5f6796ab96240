package console_test

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/bcrypt"

	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/server"
)

// rows asks the API for aggregates.
func rows(t *testing.T, c *client.Client, metric, query string) (values []float64) {
	t.Helper()
	var answer [][3]any
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/metric/"+metric+"/measures?"+query, nil, &answer))
	for _, row := range answer {
		values = append(values, row[2].(float64))
	}
	return values
}

// The chart's table shows the API's answer: for the address, after a reload, after a zoom and back, in both themes and
// on a narrow screen.
func TestExplore(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	from, to := end.Unix()-600, end.Unix()
	id := send(t, c, "host", end, 600, "a.bytes", "b.bytes")["b.bytes"]
	b := open(t, s.URL(), fmt.Sprintf("#/explore?m=%s&from=%d&to=%d&tz=UTC", id, from, to))
	same := func(query string) {
		t.Helper()
		want := rows(t, c, id, fmt.Sprintf("start=%d&stop=%d&%s", from, to, query))
		sum := 0.0
		for _, value := range want {
			sum += value
		}
		mean := eval[float64](b, "Number(document.querySelector('[data-figure=mean]').dataset.value)")
		last := eval[float64](b, "Number(document.querySelector('[data-figure=last]').dataset.value)")
		if math.Abs(mean-sum/float64(len(want))) > 1e-9 || last != want[len(want)-1] {
			t.Errorf("%s: mean %v, last %v of %d values; want %v, %v", query, mean, last, len(want),
				sum/float64(len(want)), want[len(want)-1])
		}
	}
	drawn := func(what string) {
		t.Helper()
		b.wait(fmt.Sprintf("document.querySelector('#archive')?.textContent.startsWith(%q)", "Drawn from "+what))
		b.wait("document.querySelector('[data-figure=mean]')?.dataset.value")
	}
	drawn("mean of 1 s, kept for 1 day (archive policy console)")
	same("granularity=1&aggregation=mean")
	b.act("location.hash += '&g=60&agg=max'")
	drawn("max of 1 min, kept for 30 days")
	same("granularity=60&aggregation=max")
	run(b, chromedp.Reload())
	drawn("max of 1 min")
	same("granularity=60&aggregation=max")

	// The values of the table, in the chosen time zone, are those of the API.
	b.click("button", "Table")
	b.wait("document.querySelectorAll('#values tbody tr').length > 0")
	want := rows(t, c, id, fmt.Sprintf("start=%d&stop=%d&granularity=60&aggregation=max", from, to))
	if got := eval[[]float64](b,
		"[...document.querySelectorAll('#values [data-value]')].map(e => Number(e.dataset.value)).reverse()"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("table %v, API %v", got, want)
	}
	if got := b.texts("#values tbody tr:last-child td:first-child")[0]; got != time.Unix(from,
		0).UTC().Format(time.DateTime) {
		t.Errorf("the first row is of %s", got)
	}
	b.act("history.back()")
	b.wait("document.querySelector('#drawn canvas')")

	// A drag over the chart zooms, and back is back.
	before := eval[string](b, "location.hash")
	box := b.box(".u-over")
	for i, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMouseMoved,
		input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseMoved,
		input.DispatchMouseEventTypeMouseReleased} {
		share := 0.25
		if i > 1 {
			share = 0.75
		}
		call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: box[0] + share*box[2],
			Y: box[1] + box[3]/2, Button: input.MouseButtonLeft, ClickCount: 1})
	}
	b.wait(fmt.Sprintf("location.hash !== %q", before))
	zoomed := eval[[]float64](b,
		"['from', 'to'].map(n => Number(new URLSearchParams(location.hash.split('?')[1]).get(n)))")
	if math.Abs(zoomed[0]-float64(from+150)) > 5 || math.Abs(zoomed[1]-float64(from+450)) > 5 {
		t.Errorf("zoomed to %v of %d to %d", zoomed, from, to)
	}
	b.act("history.back()")
	b.wait(fmt.Sprintf("location.hash === %q", before))

	b.click("button", "☾")
	b.wait("document.documentElement.dataset.theme === 'dark'")
	b.picture("overlay-dark")
	b.size(360, 740)
	b.wait("document.documentElement.clientWidth === 360")
	if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	b.picture("overlay-narrow")
	call(b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
}

func TestMetricPage(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	id := send(t, c, "host", end, 1000, "load")["load"]
	b := open(t, s.URL(), "#/metric?tz=UTC&id="+id)
	b.wait("document.querySelectorAll('[data-first]:not([data-first=\"\"])').length === 2")
	for _, granularity := range []int64{1, 60} {
		find := fmt.Sprintf("document.querySelector('[data-granularity=\"%d\"]').dataset", granularity)
		first, last := eval[string](b, find+".first"), eval[string](b, find+".last")
		wantFirst, wantLast := (end.Unix()-999)/granularity*granularity, end.Unix()/granularity*granularity
		if first != fmt.Sprint(wantFirst) || last != fmt.Sprint(wantLast) {
			t.Errorf("granularity %d: %s to %s, want %d to %d", granularity, first, last, wantFirst, wantLast)
		}
	}
	values := rows(t, c, id, "granularity=1")
	if got := b.texts("#last"); fmt.Sprint(got) != fmt.Sprintf("[%v]", values[len(values)-1]) {
		t.Errorf("last %q, want %v", got, values[len(values)-1])
	}
	b.wait("document.querySelector('#resource')?.innerText.includes('host')")
	b.picture("metric")
}

func TestExpressions(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Truncate(time.Minute)
	ids := send(t, c, "host", end, 300, "x", "y")
	b := open(t, s.URL(), fmt.Sprintf("#/explore?q=&from=%d&to=%d", end.Unix()-240, end.Unix()))
	b.typeExpression("sum(x) * 0 + 42")
	b.wait("document.querySelector('[data-figure=mean]')?.dataset.value === '42'")
	b.typeExpression("sum(")
	b.wait("document.querySelector('.notice.bad')?.textContent.includes('parse error')")
	b.wait("(e => e && getComputedStyle(e).textDecorationStyle === 'wavy')" +
		"(document.querySelector('.code').shadowRoot.querySelector('.cm-lintRange-error'))")
	b.act("location.hash = location.hash + '&lang=aggregates'")
	b.wait("document.querySelector('.query select').value === 'aggregates'")
	write := func(expression string) {
		t.Helper()
		b.wait("document.querySelector('textarea')")
		b.act(
			fmt.Sprintf(
				"(e => { e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); })(document.querySelector('textarea'))", expression))
		b.wait(fmt.Sprintf("document.querySelector('textarea').value === %q", expression))
		b.click(".query button", "Run")
	}
	write(fmt.Sprintf("(aggregate max (metric (%s max) (%s max)))", ids["x"], ids["y"]))
	b.wait("document.querySelector('[data-figure=max]')?.dataset.value === '16'")
	b.picture("expression")
	b.allow = "status of 400" // a browser says so of the expression that does not parse
}

// Names are text, with any characters.
func TestHostileNames(t *testing.T) {
	s, c := start(t, nil)
	names := []string{"<script>document.title='hit'<script>", "<img src=x onerror=alert(1)>", "\u202egnirts 📈",
		strings.Repeat("long", 60), `quote"\back`}
	ids := send(t, c, "host", time.Now(), 60, names...)
	b := open(t, s.URL(), "")
	b.wait(fmt.Sprintf("document.querySelectorAll('.tile canvas').length === %d", len(names)))
	for _, name := range names {
		b.visitHash("explore?m=" + ids[name])
		b.wait(
			fmt.Sprintf(
				"document.querySelector('#drawn h2')?.textContent === %q && document.querySelector('#summary a')",
				name+" · host"))
		b.visitHash("metric?id=" + ids[name])
		b.wait(fmt.Sprintf("document.querySelector('h1')?.textContent === %q", name))
	}
	if title := eval[string](b, "document.title"); title == "hit" {
		t.Error("a name was run as a script")
	}
}

// Mode htpasswd asks for a password, which no script finds afterwards, once for all tabs, and again when it is no
// longer valid. The page goes on where it was.
func TestSignIn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	password := func(text string) {
		hash, err := bcrypt.GenerateFromPassword([]byte(text), bcrypt.MinCost)
		check(t, err)
		check(t, os.WriteFile(file, []byte("admin:"+string(hash)+"\n"), 0o600))
	}
	password("secret")
	s, c := start(t, func(o *server.Options) { o.Auth.Mode, o.Auth.HtpasswdFile = "htpasswd", file })
	send(t, c, "host", time.Now(), 60, "a")
	b := open(t, s.URL(), "")
	b.allow = "status of 401"
	signIn := func(secret string) {
		t.Helper()
		b.wait("document.querySelector('.sign-in')")
		b.act(
			fmt.Sprintf(
				"['admin', %q].forEach((v, i) => { const e = document.querySelectorAll('.sign-in input')[i]; e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); })", secret))
		b.wait(fmt.Sprintf("document.querySelectorAll('.sign-in input')[1].value === %q", secret))
		b.click(".sign-in button", "Sign in")
	}
	b.wait("document.querySelector('.sign-in input')")
	b.picture("sign-in")
	signIn("wrong")
	b.waitText("Wrong user or password")
	signIn("secret")
	b.wait("document.querySelectorAll('.tile canvas').length === 1")
	if stored := eval[string](b, "JSON.stringify([localStorage, sessionStorage, document.cookie])"); stored !=
		`[{"user of /":"admin"},{},""]` {
		t.Errorf("scripts find %s", stored)
	}
	drawn := "document.querySelectorAll('.tile canvas').length === 1"
	run(b, chromedp.Reload())
	b.wait(drawn)
	second := b.beside("#/explore")
	second.wait(drawn)
	password("other")
	b.waitText("Your sign-in has expired")
	second.waitText("Your sign-in has expired")
	signIn("other")
	b.wait(drawn)
	second.wait(drawn)
	second.click(".settings button", "admin")
	b.wait("document.querySelector('.sign-in')")
	b.act("fetch('/v1/metric', {headers: {'X-Gnocco-Session': '1'}}).then(a => { window.answered = a.status })")
	b.wait("window.answered === 401") // the cookie is gone
}
