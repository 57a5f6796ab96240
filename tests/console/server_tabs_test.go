package console_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// The sub-pages of Server count series, show quotas, list and end queries, and show metrics without readers and the
// ledger. All are free of serious and critical findings of axe-core.
func TestServerTabs(t *testing.T) {
	s, c := start(t, nil)
	ids := send(t, c, "host", time.Now(), 60, "a", "b")
	host, err := c.EnsureResource(t.Context(), "host")
	check(t, err)
	_, err = c.EnsureMetrics(t.Context(), host, []string{"never"}, ofPolicy("console"))
	check(t, err)
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/measures/delete", map[string]any{"metrics": []string{ids["b"]},
		"start": 1, "stop": 2, "reason": "a spike"}, nil))
	for range 2 {
		check(t, c.Do(t.Context(), http.MethodGet, "/api/v1/query?query=a", nil, nil))
	}
	check(t, c.Do(t.Context(), http.MethodPut, "/v1/quotas/small", map[string]any{"series": 2000}, nil))
	b := open(t, s.URL(), "#/server?tab=series")
	eval[bool](b, axe+"\n;true")
	b.wait("document.querySelector('#names tbody tr')")
	if got := b.texts("#names tbody tr:first-child td"); fmt.Sprint(got) != "[a 1 33 %]" {
		t.Errorf("the first name: %q", got)
	}
	b.waitText("3 series")
	if got := eval[string](b, "document.querySelector('.tabs [aria-current]').textContent"); got != "Series" {
		t.Errorf("the tab is %s", got)
	}
	b.wait("document.querySelector('#grown tbody tr')?.textContent === 'a133 %'")
	b.accessible("server-series")
	b.click(".tabs a", "Projects")
	b.wait("[...document.querySelectorAll('#quotas tbody tr')].some(r => r.cells[0].textContent === 'small' && " +
		"r.cells[1].textContent === '0 of 2,000 (0 %)' && r.cells[4].textContent === 'its own')")
	b.accessible("server-projects")
	b.click(".tabs a", "Queries")
	b.waitText("None runs now.")
	b.wait("[...document.querySelectorAll('#costs tbody tr')].some(r => r.querySelector('code').textContent === 'a' && " +
		"r.cells[1].textContent === '2')")
	b.accessible("server-queries")
	b.click(".tabs a", "Never read")
	b.wait("[...document.querySelectorAll('#unread tbody a')].some(a => a.textContent === 'never')")
	b.accessible("server-unread")
	b.click(".tabs a", "Silent")
	b.waitText("All send.")
	send(t, c, "gone", time.Now().Add(-2*time.Hour), 5, "a")
	b.click(".tabs a", "Changes")
	b.click(".tabs a", "Silent")
	b.wait("document.querySelector('#silent tbody tr')?.cells[0].textContent === 'gone'")
	b.waitText("1 of 2 have sent nothing for")
	b.accessible("server-silent")
	b.click(".tabs a", "Changes")
	b.wait("document.querySelector('#ledger tbody tr')?.textContent.includes('a spike')")
	b.accessible("server-changes")
	b.click(".tabs a", "Backups")
	b.waitText("No backup was made: gnocco backup makes one.")
	b.waitText("there is none")
	// Others see what their own project uses.
	other := open(t, s.URL(), "#/server?tab=projects")
	other.allow = "status of 403"
	eval[bool](other, axe+"\n;true")
	other.click(".settings button", "admin")
	other.write(".sign-in input", "somebody")
	other.click(".sign-in button", "Sign in")
	other.waitText("Your project")
	other.wait("document.querySelectorAll('#quotas tbody tr').length === 1 && " +
		"document.querySelector('#quotas tbody tr').cells[1].textContent === '0'")
	other.accessible("server-own-project")
	// A query that runs can be ended: the requests are answered here.
	b.act(`window.ended = "", window.ask = window.fetch, window.fetch = async (url, options) => {
		const path = new URL(url).pathname
		if (options.method === "DELETE") { ended = path; return new Response(null, {status: 204}) }
		if (path !== "/v1/queries") return ask(url, options)
		return new Response(ended ? "[]" : JSON.stringify([{id: "7", user: "jd", query: "sum(up)", seconds: 4.5, waiting: true,
			metrics_read: 1200, groups_read: 5}]))
	}`)
	// Backups are answered here as well: the last one failed, the one before is a day old.
	b.act(`window.answer = window.fetch, window.fetch = async (url, options) => {
		if (new URL(url).pathname !== "/v1/backups") return answer(url, options)
		const at = s => new Date(Date.now() - 1000 * s).toISOString()
		const one = {user: "gnocco@a", to: "/mnt/b", files: 1200, bytes: 5368709120, new_bytes: 1048576, incremental: true}
		return new Response(JSON.stringify([{...one, begun_at: at(20), ended_at: at(10), error: "no space left"},
			{...one, begun_at: at(86410), ended_at: at(86400), error: ""}]))
	}`)
	b.click(".tabs a", "Changes")
	b.click(".tabs a", "Backups")
	b.waitText("the last one is 1 day old")
	b.wait("[...document.querySelectorAll('#backups tbody tr')].map(r => [...r.cells].slice(1).map(c => c.textContent).join(" +
		"'|')).join() === '10 s|gnocco@a|/mnt/b|1,200|5 GiB|1 MiB|no space left,10 s|gnocco@a|/mnt/b|1,200|5 GiB|1 MiB|incremental'")
	b.accessible("server-backups")
	b.click(".tabs a", "Queries")
	b.waitText("4.5, waits")
	b.waitText("1,200")
	b.click("#running button", "End")
	b.waitText("None runs now.")
	if got := eval[string](b, "ended"); got != "/v1/queries/7" {
		t.Errorf("ended %s", got)
	}
}

// Projects are called by the attribute project_name of their resources, else by the beginning of a UUID; the whole is
// in the title.
func TestProjectsByName(t *testing.T) {
	s, c := start(t, nil)
	const billing, other = "6f1d2c3b4a59687786950a1b2c3d4e5f", "1e9b8a3c-5d47-4f60-9a2b-7c8d9e0f1a2b"
	const dashless = "2b1a0f9e8d7c4b2a9f607d475c3a8b9e"
	check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource_type", map[string]any{"name": "box",
		"attributes": map[string]any{"project_name": map[string]any{"type": "string", "required": false}}}, nil))
	for _, resource := range []struct{ kind, id, project string }{{"box", "b", billing},
		{"generic", "g", other}, {"generic", "h", dashless}} {
		body := map[string]any{"id": resource.id, "project_id": resource.project,
			"metrics": map[string]any{"load": map[string]any{"archive_policy_name": "console"}}}
		if resource.kind == "box" {
			body["project_name"] = "billing"
		}
		check(t, c.Do(t.Context(), http.MethodPost, "/v1/resource/"+resource.kind, body, nil))
		check(t, c.Do(t.Context(), http.MethodPut, "/v1/quotas/"+resource.project, map[string]any{"series": 5}, nil))
	}
	b := open(t, s.URL(), "#/server?tab=series")
	shown := func(table string) string {
		return fmt.Sprintf("[...document.querySelectorAll('%s tbody td:first-child span')].map("+
			"e => e.textContent + '=' + e.title).filter(t => !t.startsWith('admin')).sort().join(' ')", table)
	}
	want := "1e9b8a3c…=" + other + " 2b1a0f9e…=" + dashless + " billing=" + billing
	b.wait(shown("#projects") + " === '" + want + "'")
	b.click(".tabs a", "Projects")
	b.wait(shown("#quotas") + " === '" + want + "'")
	b.visitHash("explore")
	b.wait("document.querySelector('[data-label=project_id] [title=\"" + other + "\"]')?.textContent === '1e9b8a3c… (1)'")
}
