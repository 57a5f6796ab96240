package console_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/cluster"
	"github.com/gnocco-db/gnocco/internal/client"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/server"
)

// The page shows the figures of a whole cluster and of each process as GET /v1/status gives them.
func TestMembers(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	begin := func(role cluster.Role) *server.Server {
		s, err := server.Start(t.Context(), server.Options{Listen: "127.0.0.1:0", MemoryBytes: 64 << 20,
			Cluster: cluster.Options{Data: data, Role: role, Init: true, Sacks: 4, MinFreeBytes: 1 << 20,
				Lease: cluster.Lease{TTL: time.Minute}}})
		check(t, err)
		t.Cleanup(func() { check(t, s.Close(context.WithoutCancel(t.Context()))) })
		return s
	}
	s := begin(cluster.RoleAPI)
	begin(cluster.RoleMetricd)
	c, err := client.New(s.URL(), client.Options{User: "admin"})
	check(t, err)
	check(t, c.EnsureArchivePolicy(t.Context(), "console", map[string]any{"name": "console",
		"definition": []map[string]any{{"granularity": 1, "timespan": 86400},
			{"granularity": 60, "timespan": "30 days"}}}))
	b := open(t, s.URL(), "")
	// The answers that the page gets, the latest last.
	b.act(`window.answers = [], window.ask = window.fetch, window.fetch = async (...all) => {
		const answer = await ask(...all)
		if (answer.url.includes("/v1/status")) answers.push(await answer.clone().json())
		return answer
	}`)
	b.visitHash("server")
	b.wait("document.querySelectorAll('#members tbody tr').length === 2 && answers.length > 1")
	b.act(
		`window.cell = (id, name) => document.querySelector('[data-member="' + id + '"] [data-figure=' + name + ']').textContent`)
	b.act(`window.number = (text) => Number(text.split(" ")[0])`)
	ids := send(t, c, "host", time.Now(), 100, "a", "b")
	for _, total := range []string{"accepted", "processed"} {
		b.wait(fmt.Sprintf("document.querySelector('#all-%s').parentElement.textContent.includes('200 in all')", total))
	}
	b.wait("document.querySelector('#all-backlog').textContent === '0'")
	b.wait(
		`[...document.querySelectorAll("[data-figure=accepted], [data-figure=processed]")].every((cell) => cell.textContent.endsWith(" /s"))`)
	b.picture("members")
	b.wait(`(() => answers.at(-1).cluster.members.every((m) => {
		const [used, limit] = cell(m.id, "memory").split(" of ")
		return limit === "64 MiB" && used.endsWith(" MiB") && Math.abs(number(used) - m.figures.memory / 2 ** 20) <= 0.005 * number(used)
	}))()`)
	// The rates are those of the counters over the six latest answers, by each member's clock; while something comes
	// in, so that they are not nothing.
	b.act(`window.rate = (id, name) => {
		const of = answers.slice(-6).map((answer) => answer.cluster.members.find((m) => m.id === id)?.figures).filter(Boolean)
		return (of.at(-1)[name] - of[0][name]) / (of.at(-1).uptime - of[0].uptime)
	}, window.same = (text, want) => text.endsWith(" /s") && Math.abs(number(text) - want) <= 0.006 * want`)
	batch := map[string][]map[string]any{ids["a"]: {{"timestamp": time.Now().Unix(), "value": 1}}}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/batch/metrics/measures", batch, nil))
		if eval[bool](b, `["accepted", "processed"].every((name) => {
			const members = answers.at(-1).cluster.members, rates = members.map((m) => rate(m.id, name)), all = rates.reduce((a, b) => a + b)
			return all > 0 && members.every((m, i) => same(cell(m.id, name), rates[i])) && same(document.querySelector("#all-" + name).textContent, all)
		})`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the rates are never those of the counters: %q %q", b.texts("#members"),
				b.texts("#all-accepted, #all-processed"))
		}
	}
	var status struct{ Cluster *model.ClusterStatus }
	check(t, c.Do(t.Context(), http.MethodGet, "/v1/status?details=false", nil, &status))
	for _, m := range status.Cluster.Members {
		for name, want := range map[string]string{"device": string(m.Figures.Device), "version": m.Figures.Version} {
			if got := eval[string](b, fmt.Sprintf("cell(%q, %q)", m.ID, name)); got != want {
				t.Errorf("%s of %v: %q, not %q", name, m.Roles, got, want)
			}
		}
	}
	b.size(360, 800)
	b.wait("document.documentElement.scrollWidth <= 360")
	b.picture("members-narrow")
	b.size(1280, 860)
}
