package console_test

import (
	"net/url"
	"testing"
	"time"
)

// An expression that is drawn is kept as a rule. The page of policies shows how far it is, and its error, and removes
// it.
func TestRecordings(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now().Truncate(time.Minute), 600, "load")
	b := open(t, s.URL(), "#/explore?q="+url.QueryEscape("sum(load) * 2"))
	b.wait(`document.querySelector('#drawn form[aria-label="Keep this"]')`)
	b.click("#drawn summary", "Keep")
	b.write(`#drawn input[name="record"]`, "load:twice")
	b.click("#drawn form button", "Record")
	b.wait(`document.querySelector('#drawn form')?.textContent.includes('Recorded each minute')`)
	b.visitHash("policies")
	b.wait(`document.querySelector('[data-recording="load:twice"]')?.textContent.includes('sum(load) * 2')`)
	b.wait(`document.querySelector('[data-recording="load:twice"]')?.textContent.includes(' 0 times to do')`)
	b.picture("recordings")
	b.narrow("recordings-narrow")
	b.size(1440, 900)

	// A rule that cannot be evaluated says why.
	check(t, c.Do(t.Context(), "POST", "/v1/rules", "groups: [{name: b, rules: [{record: same, expr: "+
		"'label_replace(vector(1), \"x\", \"1\", \"\", \"\") or label_replace(vector(2), \"x\", \"2\", \"\", \"\")', "+
		"labels: {x: y}}]}]", nil))
	b.wait(`document.querySelector('[data-recording="same"] .badly')?.textContent.includes('same labels')`)
	b.click(`[data-recording="load:twice"] button`, "Pause")
	b.wait(`document.querySelector('[data-recording="load:twice"]')?.textContent.includes(', paused')`)
	b.click(`[data-recording="load:twice"] button`, "Resume")
	b.wait(`!document.querySelector('[data-recording="load:twice"]')?.textContent.includes(', paused')`)
	b.click(`[data-recording="load:twice"] button`, "Remove")
	b.wait(`!document.querySelector('[data-recording="load:twice"]')`)
}
