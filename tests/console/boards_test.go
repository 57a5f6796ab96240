package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/internal/client"
)

// A view is saved on a board, which draws it and can be renamed, exported, imported and deleted.
func TestBoards(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 250, "cpu0.percent", "memory.used.bytes")
	b := open(t, s.URL(), `#/explore?q={"cpu0.percent"}&from=5m`)
	b.wait("document.querySelector('#drawn canvas')")
	b.click(".bar button", "Save")
	b.wait("document.querySelector('.save [name=name]')")
	b.write(".save [name=name]", "Machines")
	b.write(".save [name=title]", "Core")
	b.click(".save button", "Save")
	b.waitText("Saved on Machines")
	b.picture("saved")
	b.act("location.hash = document.querySelector('.notice a').getAttribute('href')")
	b.wait("document.querySelectorAll('.board-panels canvas').length === 1")
	if boards := stored(t, c); len(boards) != 1 || boards[0].Panels[0].Title != "Core" || boards[0].Panels[0].View !=
		"explore?q=%7B%22cpu0.percent%22%7D" || boards[0].Shared {
		t.Errorf("stored: %+v", boards)
	}

	// A view without an expression is a link; on a board of others it stays one.
	b.visitHash("explore?find=memory")
	b.wait("document.querySelector('.tile canvas')")
	b.click(".bar button", "Save")
	b.wait("document.querySelectorAll('.save select option').length === 2")
	// In one step, as a click is: a drawing in between would set the list back.
	b.act("(list => { list.selectedIndex = 1; list.dispatchEvent(new Event('change', {bubbles: true})) })" +
		"(document.querySelector('.save select'))")
	b.click(".save button", "Save")
	b.waitText("Saved on Machines")
	b.visitHash("boards")
	b.click("#boards a", "Machines")
	b.wait("document.querySelectorAll('.board-panels .panel').length === 2")
	b.waitText("A view of its own")
	b.picture("board")
	b.click(".board button", "Edit")
	b.write(".board [name=name]", "Hosts")
	b.click(".board button", "Rename")
	b.wait("document.querySelector('.board h2')?.textContent === 'Hosts'")
	b.click(".board button", "Shared")
	b.waitText("shared, of admin")
	b.click(".board button", "Edit")
	b.click(".board-panels button", "Remove")
	b.wait("document.querySelectorAll('.board-panels .panel').length === 1")
	if boards := stored(t, c); len(boards) != 1 || boards[0].Name != "Hosts" || !boards[0].Shared ||
		boards[0].Panels[0].View != "explore?find=memory" {
		t.Errorf("stored: %+v", boards)
	}
	b.act("window.saved = null, URL.createObjectURL = (blob) => { blob.text().then(text => { saved = text }) }, " +
		"HTMLAnchorElement.prototype.click = () => {}")
	b.click(".board button", "Export")
	b.wait("saved")
	file := eval[string](b, "saved")
	b.act("delete HTMLAnchorElement.prototype.click")
	b.click(".board button", "Delete")
	b.click(".board button", "Really delete")
	b.waitText("None yet.")
	upload(b, file)
	b.waitText("1 panel imported.")
	b.wait("document.querySelectorAll('#boards tbody tr').length === 1")
	if boards := stored(t, c); len(boards) != 1 || boards[0].Name != "Hosts" || boards[0].Shared {
		t.Errorf("imported: %+v", boards)
	}
	upload(b, "[1]")
	b.waitText("neither a board nor a dashboard of Grafana")
	upload(b, "{")
	b.waitText("The file is no JSON")
}

// Panels of a dashboard of Grafana become panels of a board; the others are listed.
func TestBoardOfGrafana(t *testing.T) {
	s, c := start(t, nil)
	send(t, c, "host", time.Now(), 250, "cpu0.percent", "cpu1.percent")
	b := open(t, s.URL(), "#/boards")
	b.waitText("None yet.")
	upload(b, `{"title": "Nodes", "panels": [
		{"type": "timeseries", "title": "Cores", "targets": [{"expr": "{\"cpu0.percent\"}"}, {"expr": "{\"cpu1.percent\"}"},
			{"expr": "hidden", "hide": true}], "fieldConfig": {"defaults": {"unit": "percentunit",
			"custom": {"stacking": {"mode": "normal"}, "scaleDistribution": {"type": "linear"}}}}},
		{"type": "row", "panels": [{"type": "graph", "title": "Rate", "yaxes": [{"format": "Bps", "logBase": 10}],
			"targets": [{"expr": "rate(a{instance=~\"$node\",job!=\"$job\"}[$__rate_interval])"},
			{"expr": "rate(b{instance!~\"${node:regex}\"}[$__rate_interval])"}]}]},
		{"type": "stat", "title": "Up", "targets": [{"expr": "up"}], "fieldConfig": {"defaults": {"unit": "parsec"}}},
		{"type": "graph", "title": "Other", "targets": [{"expr": "topk($n, up)"}]},
		{"type": "text", "title": "Words"}]}`)
	b.waitText("3 panels imported.")
	want := []string{"Rate: the filter of instance by $node, which matches everything now",
		"Rate: the filter of job by $job, which matches everything now", "Rate: $__rate_interval, taken as 5m",
		"Rate: the filter of instance by ${node:regex}, which matches everything now", "Up: the unit parsec", "Up: a stat, drawn as a chart", "Other: the variable in topk($n, up)",
		"Other: no query in PromQL", "Words: a panel of type text"}
	if got := b.texts("#imported li"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("what did not fit: %q", got)
	}
	boards := stored(t, c)
	if len(boards) != 1 || len(boards[0].Panels) != 3 || boards[0].Panels[0].View !=
		"explore?q=%7B%22cpu0.percent%22%7D&q=%7B%22cpu1.percent%22%7D&unit=ratio&stack=1" || boards[0].Panels[1].View !=
		"explore?q=rate%28a%7Binstance%3D%7E%22.*%22%2Cjob%3D%7E%22.*%22%7D%5B5m%5D%29"+
			"&q=rate%28b%7Binstance%3D%7E%22.*%22%7D%5B5m%5D%29&unit=bytes%2Fs&scale=log" {
		t.Errorf("stored: %+v", boards)
	}
	b.click("#imported a", "Nodes")
	b.wait("document.querySelectorAll('.board-panels canvas').length === 1")
	eval[bool](b, axe+"\n;true")
	b.accessible("board")
	b.click(".board-panels a", "Cores")
	b.wait("document.querySelectorAll('#summary tbody tr').length === 2")
	b.picture("queries")
}

type storedBoard struct {
	Name   string
	Shared bool
	Panels []struct{ Title, View string }
}

// stored returns the boards as the API has them.
func stored(t *testing.T, c *client.Client) (boards []storedBoard) {
	t.Helper()
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/boards", nil, &boards))
	return boards
}

// upload gives the page a file.
func upload(b *tab, text string) {
	b.t.Helper()
	b.wait("document.querySelector('input[type=file]')")
	quoted, err := json.Marshal(text)
	check(b.t, err)
	b.act("((input, data) => { data.items.add(new File([" + string(quoted) + "], 'board.json')); " +
		"input.files = data.files; input.dispatchEvent(new Event('change', {bubbles: true})) })" +
		"(document.querySelector('input[type=file]'), new DataTransfer())")
}

// Charts of a board have flags where their resources changed and the ledger has entries, which a list below them names.
// Events that lie close together share a flag, and those of other metrics are not on the chart.
func TestFlagsOnBoards(t *testing.T) {
	s, c := start(t, nil)
	end := time.Now().Add(-time.Minute)
	ids := send(t, c, "host", end, 250, "a", "b")
	send(t, c, "another", end, 250, "c")
	host, err := c.EnsureResource(t.Context(), "host")
	check(t, err)
	check(t, c.Do(t.Context(), http.MethodPatch, "/v1/resource/generic/"+host, map[string]any{"project_id": "moved"}, nil))
	for i := range 2 {
		spike := end.Unix() - 100 + int64(i)
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/measures/delete", map[string]any{"metrics": []string{ids["a"]},
			"start": spike, "stop": spike + 1, "reason": fmt.Sprintf("spike %d", i)}, nil))
	}
	var panels []map[string]string
	for _, name := range []string{"a", "b", "c"} {
		panels = append(panels, map[string]string{"title": name, "view": "explore?q=sum(" + name + "%2B0)"})
	}
	var board struct{ ID string }
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/boards", map[string]any{"name": "Flags", "panels": panels}, &board))
	b := open(t, s.URL(), "#/boards?from=10m&id="+board.ID)
	b.size(390, 1500)
	b.wait("document.querySelectorAll('.board-panels canvas').length === 3 && document.querySelector('.flags')")
	moved := "host: project_id: – → moved"
	want := []string{"deletion by admin: spike 0|deletion by admin: spike 1|" + moved, moved, ""}
	got := eval[[]string](b, "[...document.querySelectorAll('.board-panels .panel')].map("+
		"p => [...p.querySelectorAll('.flags li span')].map(e => e.textContent).join('|'))")
	if !slices.Equal(got, want) {
		t.Errorf("events: %q, want %q", got, want)
	}
	b.click(".flags summary", "3 events")
	if wide := b.box(".flags li:last-child span"); wide[2] < 150 || wide[0]+wide[2] > 390 {
		t.Errorf("an event is drawn at %v", wide)
	}
	b.wait(`(() => {
		const chart = document.querySelector('.board-panels .u-over'), box = chart?.getBoundingClientRect();
		if (!box) return false; // it is being drawn anew
		window.share = ((window.share ?? 0.4) + 0.005) % 1;
		chart.dispatchEvent(new MouseEvent('mousemove', {clientX: box.left + box.width * share, clientY: box.top + 9}));
		return document.body.textContent.includes('deletion by admin: spike 0 and 1 more');
	})()`)
	b.picture("flags")
}
