package console_test

import (
	"flag"
	"net/http"
	"net/url"
	"testing"

	"github.com/gnocco-db/gnocco/internal/client"
)

var pictured = flag.String("pictured", "", "URL of a running demo, of which the README's picture is taken")

// The README's picture and those of docs/how-to/console.md are of a demo that has run for some minutes.
// docs/explain/testing.md has the command.
func TestPicture(t *testing.T) {
	if *pictured == "" {
		t.Skip("-pictured: no demo is named")
	}
	b := open(t, *pictured, "#/explore?tz=UTC")
	state := b.beside("#/server?tz=UTC") // its chart begins now
	b.size(1280, 830)
	b.wait("document.querySelectorAll('.tile canvas').length >= 6 && document.querySelectorAll('.tile .now').length >= 6")
	b.picture("console")

	b.size(1280, 1000)
	b.visitHash("policies?tz=UTC&policy=demo&methods=mean,max,last,increase&def=" +
		url.QueryEscape("1 s:1 day,1 min:30 days,1 h:1 year"))
	b.wait("document.querySelector('#cost')?.dataset.of === 'draft' && document.querySelector('#history .notice.bad')")
	b.picture("console-policies")

	b.size(1280, 1960)
	b.visitHash("correlations?tz=UTC")
	b.wait("document.querySelectorAll('.ask-form select option').length > 0")
	b.write(".ask-form input", "*.bytes")
	b.click(".ask-form button", "Correlate")
	b.wait("document.querySelector('#heat') && document.querySelector('#saved, #redundant .hint')")
	b.click("#strongest .pair", "memory.used")
	b.wait("document.querySelectorAll('#pair canvas').length === 2")
	b.act("scrollTo(0, 0)")
	b.picture("console-correlations")

	b.size(1400, 740)
	b.visitHash("explore?tz=UTC&from=3m&stack=1&" + url.Values{"q": {`{"memory.used.bytes"}`,
		`{"memory.available.bytes"}`}}.Encode())
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2 && " + content)
	b.picture("console-query")

	b.size(1280, 780)
	c, err := client.New(*pictured, client.Options{User: "admin"})
	check(t, err)
	type panel struct {
		Title string `json:"title"`
		View  string `json:"view"`
	}
	view := func(title string, queries ...string) panel {
		return panel{title, "explore?" + url.Values{"q": queries}.Encode()}
	}
	var board struct{ ID string }
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/boards", map[string]any{"name": "This machine", "shared": true,
		"panels": []panel{view("Processors", `{"cpu0.percent"}`, `{"cpu1.percent"}`), view("Load", `{__name__=~"load.*"}`),
			view("Memory", `{"memory.used.bytes"}`, `{"memory.available.bytes"}`),
			view("Network", `rate({"network.lo.sent.bytes"}[1m])`, `rate({"network.eth0.sent.bytes"}[1m])`),
			view("Written", `rate({"disk.vda.written.bytes"}[1m])`), view("Root", `{"mount.root.used.bytes"}`)}}, &board))
	b.visitHash("boards?tz=UTC&from=3m&id=" + board.ID)
	b.wait("document.querySelectorAll('.board-panels canvas').length === 6")
	b.picture("console-board")
	check(t, c.Do(t.Context(), http.MethodDelete, "/v1/boards/"+board.ID, nil, nil))

	state.size(1280, 830)
	state.wait("document.querySelectorAll('#members tbody tr').length === 1")
	state.wait("document.querySelector('#processed').textContent !== '–' && performance.now() > 1e5")
	state.picture("console-server")
}
