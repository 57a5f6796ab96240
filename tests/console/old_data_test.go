package console_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
)

// Where measures ended long ago, each button of the time ends at the newest, on a chart and on tiles, and All begins at
// the first group. A button whose time has measures ends now.
func TestRangesOfOldData(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Add(-400 * 24 * time.Hour).Truncate(time.Hour)
	old := send(t, c, "gone", end, 3600, "load")["load"]
	b := open(t, s.URL(), "#/explore?tz=UTC&m="+old)
	b.wait("document.querySelector('#drawn canvas')")
	shown := "(document.querySelector('.times input')?.value ?? '')"
	last := end.UTC().Format("2006-01-02 15:04")
	for _, button := range []string{"5m", "1h", "1d", "30d", "1y"} {
		b.click(".bar button", button)
		b.wait(fmt.Sprintf("document.querySelector('.bar button[aria-pressed=true]')?.textContent === %q", button))
		b.wait(fmt.Sprintf("%s.includes('to %s') || %s.endsWith(' to %s')", shown, last, shown, last[11:]+":01"))
		b.wait("document.querySelector('[data-figure=last]')?.dataset.value > 0")
	}
	b.picture("old-1y")
	b.click(".bar button", "All")
	first := end.Add(-3599 * time.Second).UTC().Format("2006-01-02 15:04:05")
	b.wait(fmt.Sprintf("%s.startsWith(%q)", shown, first[:15]))
	b.picture("old-all")
	b.visitHash("explore?tz=UTC&find=load")
	b.wait("document.querySelector('.tile canvas')")
	for _, button := range []string{"1d", "All"} {
		b.click(".bar button", button)
		b.wait(fmt.Sprintf("%s.includes('%s')", shown, end.UTC().Format("2006-01-02")))
		b.wait("!document.querySelector('.tile .now').textContent.includes('no values')")
	}
	b.visitHash("explore?tz=UTC&q=" + url.QueryEscape(`max_over_time({"load"}[1m]) * 2`))
	b.waitText("Newest measure " + last)
	b.click(".bar button", "1h")
	b.wait(fmt.Sprintf("%s.includes('to %s')", shown, last[11:]))
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value > 0")
	b.picture("old-expression")
	now := send(t, c, "here", time.Now(), 60, "fresh")["fresh"]
	b.visitHash("explore?tz=UTC&from=1h&m=" + now)
	b.wait(fmt.Sprintf("%s.includes('%s')", shown, time.Now().UTC().Format("2006-01-02")))
	// An end that the address names stays.
	b.visitHash(fmt.Sprintf("explore?tz=UTC&from=now-2h&to=now-1h&m=%s", old))
	b.waitText("Newest measure")
	b.click("#drawn .notice button", "Show it")
	b.wait("document.querySelector('[data-figure=last]')?.dataset.value > 0")
}

// After an expression that cannot be evaluated there is its error, and no chart of the one before, nor the unit of the
// new one on the old line.
func TestWrongExpressionLeavesNoChart(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 60, "load")
	b := open(t, s.URL(), "#/explore")
	b.allow = "the server responded with a status of 4"
	for _, wrong := range []string{"rate(", "rate(load)", "no_function(load)", "sum by"} {
		b.visitHash("explore?q=load")
		b.wait("document.querySelector('#drawn canvas')")
		b.edit(wrong)
		b.act("document.querySelector('form.query').requestSubmit()")
		b.wait("document.querySelector('.notice.bad') && !document.querySelector('#drawn canvas') && !document.querySelector('#summary')")
	}
	b.picture("wrong-expression")
}

// A press of ƒ(x) leads to the editor: the next letters stand there, behind the chosen metrics, and Enter runs them.
func TestExpressionTakesTheFocus(t *testing.T) {
	s, c := start(t, nil)
	id := send(t, c, "host", time.Now(), 60, "load")["load"]
	for _, address := range []string{"explore", "explore?m=" + id} {
		b := open(t, s.URL(), "#/"+address)
		b.wait("document.querySelector('.found button') && document.querySelector('canvas')")
		b.tabTo(".search button", "ƒ(x)", 0)
		b.press("Enter", 0)
		b.wait(content)
		b.wait("document.activeElement?.matches('.code, textarea') ")
		text := "load"
		if address != "explore" {
			text = " * 2"
		}
		call(b, input.InsertText, input.InsertTextParams{Text: text})
		b.wait(fmt.Sprintf("%s.textContent.endsWith(%q)", content, text))
		b.press("Enter", 0)
		b.wait("location.hash.includes('q=') && document.querySelector('#drawn canvas')")
	}
}

// A thousand names are one Tab stop. Arrows, Home and End walk through them, right opens a name and left closes it, and
// down leads from the field into the list.
func TestArrows(t *testing.T) {
	s, _ := start(t, nil)
	push(t, s.URL(), func(line func(format string, args ...any)) {
		for i := range 1000 {
			line(`name_%04d{job="a",instance="x"} 1`, i)
			line(`name_%04d{job="a",instance="y"} 1`, i)
		}
	})
	b := open(t, s.URL(), "#/explore")
	b.wait("document.querySelectorAll('.found > li > button').length === 1000")
	stops := func(want int) {
		t.Helper()
		b.wait(fmt.Sprintf("[...document.querySelectorAll('.found button')].filter(e => e.tabIndex >= 0).length === %d", want))
	}
	at := func(name string) {
		t.Helper()
		b.wait(fmt.Sprintf("document.activeElement.closest('.found') && document.activeElement.textContent.includes(%q)", name))
	}
	stops(1)
	b.tabTo("input[type=search]", "", 0)
	b.press("ArrowDown", 0)
	at("name_0000")
	b.press("ArrowDown", 0)
	b.press("ArrowDown", 0)
	at("name_0002")
	b.press("ArrowUp", 0)
	at("name_0001")
	b.press("End", 0)
	at("name_0999")
	b.press("ArrowDown", 0)
	at("name_0999")
	b.press("Home", 0)
	at("name_0000")
	b.press("ArrowRight", 0)
	b.wait("document.querySelectorAll('.found ul button').length > 2")
	stops(1)
	b.press("ArrowDown", 0)
	b.wait("document.activeElement.closest('.found ul')")
	b.press("ArrowUp", 0)
	b.press("ArrowLeft", 0)
	b.wait("!document.querySelector('.found ul')")
	b.press("ArrowDown", 0)
	at("name_0001")
	b.press("Tab", 0)
	b.wait("!document.activeElement.closest('.found')")
	b.press("Tab", 8)
	at("name_0001") // where it was left
	b.picture("arrows")
}

// A rate is as fine as groups are: one that begins at once is no ramp of a minute. Where measures are rarer, the chart
// says over which time it is.
func TestRatesAreAsFineAsGroups(t *testing.T) {
	s, c := start(t, nil)
	now := time.Now().Truncate(time.Second)
	check(t, c.EnsureArchivePolicy(t.Context(), "counters", map[string]any{"name": "counters", "back_window": 1000,
		"definition":          []map[string]any{{"granularity": 1, "timespan": 86400}},
		"aggregation_methods": []string{"last", "increase"}}))
	id, err := c.EnsureResource(t.Context(), "host")
	check(t, err)
	ids, err := c.EnsureMetrics(t.Context(), id, []string{"fast.total", "slow.total"}, ofPolicy("counters"))
	check(t, err)
	var fast, slow []map[string]any
	for i := range 240 {
		at := now.Add(time.Duration(i-240) * time.Second)
		fast = append(fast, map[string]any{"timestamp": at.Unix(), "value": 1000 * max(0, i-200)})
		if i%15 == 0 {
			slow = append(slow, map[string]any{"timestamp": at.Unix(), "value": i})
		}
	}
	check(t, c.Do(t.Context(), "POST", "/v1/batch/metrics/measures", map[string]any{ids["fast.total"]: fast,
		ids["slow.total"]: slow}, nil))
	for _, id := range ids {
		check(t, c.Do(t.Context(), "GET", "/v1/metric/"+id+"/measures?refresh=true&aggregation=last", nil, nil))
	}
	b := open(t, s.URL(), fmt.Sprintf("#/explore?agg=rate&view=table&from=%d&to=%d&m=%s", now.Unix()-240, now.Unix(),
		ids["fast.total"]))
	b.wait("document.querySelectorAll('#values tbody tr').length > 100")
	if hint := b.texts("#archive")[0]; !strings.Contains(hint, "rate a second, by 1 s") {
		t.Error(hint)
	}
	// Of the rates, few lie between nothing and all.
	between := eval[int](b, `[...document.querySelectorAll('#values tbody td.number')].map(e => parseFloat(e.dataset.value ?? e.textContent)).filter(v => v > 1 && v < 900).length`)
	if between > 3 {
		b.picture("rates")
		t.Errorf("%d groups of a ramp", between)
	}
	b.visitHash(fmt.Sprintf("explore?agg=rate&from=%d&to=%d&m=%s", now.Unix()-240, now.Unix(), ids["slow.total"]))
	b.wait("document.querySelector('#archive')?.textContent.includes('each over 1 min')")
	b.picture("rate-window")
}
