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

// Explore is drawn without Intl, whose first use takes a browser as long as all else until then.
func TestContentWithoutIntl(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 250, "cpu0.percent", "memory.used.bytes")
	b := open(t, s.URL(), "#/none")
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: usesOfIntl})
	run(b, chromedp.Navigate("about:blank"))
	run(b, chromedp.Navigate(b.server+"/ui/#/explore"))
	b.wait("document.querySelector('#found') && document.querySelectorAll('.tile canvas').length === 2")
	if used := eval[[]string](b, "used"); len(used) > 0 {
		t.Errorf("%q is used", used)
	}
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
