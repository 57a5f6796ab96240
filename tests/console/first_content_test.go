package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// usesOfIntl makes a page keep which parts of Intl it uses. The list of time zones never comes.
const usesOfIntl = `window.used = [];
for (const [of, names] of [[Intl, Object.getOwnPropertyNames(Intl)], [Number.prototype, ["toLocaleString"]],
		[Date.prototype, ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"]], [String.prototype, ["localeCompare"]]])
	for (const name of names)
		if (typeof of[name] === "function")
			of[name] = new Proxy(of[name], {
				apply: (f, its, all) => (used.push(name), Reflect.apply(f, its, all)),
				construct: (f, all) => (used.push(name), Reflect.construct(f, all)),
			});
const { setTimeout } = window;
window.setTimeout = (then, ms, ...all) => (ms === 1500 ? 0 : setTimeout(then, ms, ...all));`

// Pages are drawn without Intl, whose first use takes a browser as long as all else until then.
func TestContentWithoutIntl(t *testing.T) {
	s, c := start(t, nil)
	ids := send(t, c, "host", time.Now(), 250, "cpu0.percent", "memory.used.bytes")
	b := open(t, s.URL(), "#/none")
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: usesOfIntl})
	for address, ready := range map[string]string{
		"policies": "document.querySelector('[data-policy=console] [data-metrics]')",
		"metric?id=" + ids["cpu0.percent"]: "document.querySelectorAll('.chart canvas').length > 0 && " +
			"document.querySelector('#resource')",
		"explore?m=" + ids["cpu0.percent"] + "&m=" + ids["memory.used.bytes"]: "document.querySelector('#drawn canvas')",
		"explore": "document.querySelector('#found') && document.querySelectorAll('.tile canvas').length === 2",
	} {
		run(b, chromedp.Navigate("about:blank"))
		run(b, chromedp.Navigate(b.server+"/ui/#/"+address))
		b.wait(ready)
		if used := eval[[]string](b, "used"); len(used) > 0 {
			t.Errorf("%s: %q is used", address, used)
		}
	}
	b.act("window.used = []")
	b.act("new Intl.Collator()")
	if used := eval[[]string](b, "used"); len(used) != 1 {
		t.Errorf("%q is used", used)
	}
}

// Tiles of resources that have all stopped together are read together, the first row before the others.
func TestTilesOfThePast(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Add(-time.Hour)
	for i := range 12 {
		send(t, c, fmt.Sprintf("host-%d", i), end, 3, "cpu.percent")
	}
	b := open(t, s.URL(), "#/explore?live=3600")
	b.wait("document.querySelectorAll('.tile canvas').length === 12")
	asked := eval[[]string](b, `performance.getEntriesByType("resource").map((r) => new URL(r.name).pathname)
		.filter((path) => /aggregates|archive$/.test(path)).map((path) => path.replace(/.*\//, ""))`)
	row := "[aggregates archive archive archive aggregates]"
	if len(asked) < 5 || fmt.Sprint(asked[:5]) != row || strings.Count(fmt.Sprint(asked), "aggregates") != 4 {
		t.Errorf("asked for %q", asked)
	}
}

// Filters get their options when they are entered, or when the browser has nothing else to do.
func TestFiltersComeLater(t *testing.T) {
	s, c := start(t, nil)
	for i := range 3 {
		send(t, c, fmt.Sprintf("host-%d", i), time.Now(), 3, "cpu.percent")
	}
	b := open(t, s.URL(), "#/none")
	call(b, page.AddScriptToEvaluateOnNewDocument,
		page.AddScriptToEvaluateOnNewDocumentParams{Source: "window.requestIdleCallback = () => 0"})
	run(b, chromedp.Navigate("about:blank"))
	run(b, chromedp.Navigate(b.server+"/ui/#/explore?l=original_resource_id%3Dhost-1"))
	b.wait("document.querySelector('.tile canvas') && document.querySelector('[data-label=original_resource_id]')")
	const filter = "[data-label=original_resource_id]"
	if got := strings.Join(b.texts(filter+" option"), "|"); got != "host-1 (1)" {
		t.Error(got)
	}
	b.act("document.querySelector('" + filter + " input').focus()")
	b.wait("document.querySelectorAll('" + filter + " option').length === 3")
}

// The page of a metric asks twice before its charts are drawn: for all groups, coarsely, and for the rest together.
// The answers of these are held back until the third is asked.
func TestMetricAsksTwice(t *testing.T) {
	s, c := start(t, nil)
	ids := send(t, c, "host", time.Now(), 250, "cpu.percent")
	b := open(t, s.URL(), "#/none")
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		window.asked = [];
		const ask = window.fetch, together = Promise.withResolvers();
		window.fetch = async (request, ...options) => {
			const url = request.url ?? String(request), groups = /measures.*granularity=1&.*start=/;
			asked.push(url);
			if (asked.filter((url) => groups.test(url)).length > 2) together.resolve();
			const answer = await ask(request, ...options);
			if (groups.test(url)) await together.promise;
			return answer;
		}`})
	run(b, chromedp.Navigate("about:blank"))
	run(b, chromedp.Navigate(b.server+"/ui/#/metric?id="+ids["cpu.percent"]))
	b.wait("document.querySelector('.chart canvas') && document.querySelector('#resource')")
	if n := eval[int](b, `asked.filter((url) => /v1.resource.generic.[^/]*$/.test(url)).length`); n != 1 {
		t.Errorf("the resource is asked for %d times", n)
	}
}
