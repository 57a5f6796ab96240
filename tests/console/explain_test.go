package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
)

// importLines sends JSON lines, and waits until charts can show them.
func importLines(t *testing.T, c *client.Client, lines string) {
	t.Helper()
	check(t, c.Do(t.Context(), http.MethodPost, "/api/v1/import", json.RawMessage(lines), nil))
	for waits := 1; waits > 0; {
		var status struct {
			Storage struct{ Summary struct{ Measures int } }
		}
		check(t, c.Do(t.Context(), http.MethodGet, "/v1/status", nil, &status))
		waits = status.Storage.Summary.Measures
	}
}

// Metrics that moved before the drawn one come first, then those with it and after it. Names that moved alike are one
// row. The page says the labels of all that moved, and an address shows the same to others.
func TestWhatMovedBefore(t *testing.T) {
	s, c := start(t, nil)
	mark := time.Now().Truncate(time.Hour).Add(-2 * time.Hour)
	var lines strings.Builder
	for n, of := range []struct {
		name string
		at   int // minutes after the mark, on the hosts of one rack; 0: nowhere
	}{{"quiet", 0}, {"queue", 30}, {"latency_seconds", 12}, {"load", 13}, {"disk", 4}} {
		for host := range 8 {
			var times, values []string
			for i := range 120 {
				v := 10*n + (i*7+host)%5
				if of.at > 0 && host%4 == 1 && i >= 60+of.at {
					v += 40 - 3*n
				}
				times = append(times, fmt.Sprint(mark.Add(time.Duration(i-60)*time.Minute).UnixMilli()))
				values = append(values, fmt.Sprint(v))
			}
			fmt.Fprintf(&lines, `{"metric":{"__name__":%q,"host":"h%d","rack":"r%d"},"values":[%s],"timestamps":[%s]}`+"\n",
				of.name, host, host%4, strings.Join(values, ","), strings.Join(times, ","))
		}
	}
	importLines(t, c, lines.String())
	var found struct{ Data []map[string]string }
	check(t, c.Do(t.Context(), http.MethodGet, "/api/v1/series?ids=true&match[]=latency_seconds%7Bhost=%22h1%22%7D", nil,
		&found))
	from, to := mark.Unix(), mark.Unix()+3600
	b := open(t, s.URL(), fmt.Sprintf("#/explore?tz=UTC&from=%d&to=%d&w=%d-%d&m=%s", from-3600, to, from, to,
		found.Data[0]["metric_id"]))
	b.wait("document.querySelectorAll('#changes tr[data-id]').length === 4 && document.querySelectorAll('#changes svg polyline').length === 4")
	var got []string
	for _, text := range b.texts("#changes th[scope=rowgroup], #changes tr[data-id] > td > a, #changes summary, #changes details a") {
		got = append(got, strings.TrimSpace(text))
	}
	const want = "[Before it disk With it latency_seconds and 1 alike load h1 After it queue Not moved quiet]"
	if fmt.Sprint(got) != want && fmt.Sprint(got) != strings.ReplaceAll(want, "load h1", "load h5") {
		t.Errorf("%q", got)
	}
	if text := b.texts("#explained")[0]; !strings.Contains(text, "8 of 40 compared metrics moved far, 8 of 8 with rack=r1.") {
		t.Error(text)
	}
	if text := b.texts("small.why")[0]; !strings.Contains(text, "8 min earlier") {
		t.Error(text)
	}
	eval[bool](b, axe+"\n;true")
	b.accessible("explain")
	b.picture("explain")
	b.act("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
	b.click("#changed button", "Link")
	b.wait("window.copied")
	address := eval[string](b, "window.copied")
	other := b.beside(address[strings.Index(address, "#"):])
	other.wait("document.querySelectorAll('#changes tr[data-id]').length === 4")
	if got := other.parameters("from", "to"); got[0] != float64(from-3600) || got[1] != float64(to) {
		t.Errorf("the address shows %v", got)
	}
	// A comparison that takes longer than a second says how far it is.
	b.act(`(() => {
		const ask = window.fetch;
		window.fetch = async (address, options) => {
			if (address.endsWith('/v1/queries')) return new Response('[{"route": "/v1/changes", "metrics_read": 1234}]');
			if (address.endsWith('/v1/changes')) await new Promise(then => setTimeout(then, 5000));
			return ask(address, options);
		};
	})()`)
	b.visitHash(fmt.Sprintf("explore?tz=UTC&from=%d&to=%d&w=%d-%d&m=%s", from-3600, to, from+60, to,
		found.Data[0]["metric_id"]))
	b.wait("document.querySelector('#changed')?.innerText.includes('Comparing … 1,234 windows read')")
	b.wait("document.querySelectorAll('#changes tr[data-id]').length === 4")
	// A chart of an expression explains its mark.
	b.visitHash(fmt.Sprintf("explore?tz=UTC&from=%d&to=%d&q=sum(latency_seconds)", from-3600, to))
	b.click("#drawn button", "What changed here?")
	b.wait("document.querySelector('#changes') && location.hash.includes('w=')")
	b.visitHash(fmt.Sprintf("explore?tz=UTC&from=%d&to=%d&w=%d-%d&q=sum(latency_seconds)", from-3600, to, from, to))
	b.wait("[...document.querySelectorAll('#changes th[scope=rowgroup]')].some(e => e.textContent.startsWith('After 20'))")
}
