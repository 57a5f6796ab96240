package console_test

import "testing"

// Each state of a correlation and of a rebuild is shown, and what can be done then. The page's requests are answered
// here: real ones are done too soon.
func TestStatesOfJobs(t *testing.T) {
	s, _ := start(t, nil)
	b := open(t, s.URL(), "")
	b.waitText("Nothing has come in yet")
	b.act(
		`window.said = [], window.job = null, window.rebuild = null, window.ask = window.fetch, window.fetch = async (url, options) => {
		const path = new URL(url).pathname, json = (value) => new Response(JSON.stringify(value))
		if (!path.startsWith("/v1/correlations") && !path.startsWith("/v1/rebuild")) return ask(url, options)
		if (options.method !== "GET") said.push(options.method + " " + path + " " + (options.body ?? ""))
		if (path.startsWith("/v1/rebuild")) {
			if (options.method !== "GET") rebuild = {...rebuild, state: options.method === "DELETE" ? "cancelled" : "running"}
			return options.method === "DELETE" ? new Response(null, {status: 204}) : json(options.method === "POST" ? rebuild : rebuild ? [rebuild] : [])
		}
		if (options.method === "DELETE") { job = null; return new Response(null, {status: 204}) }
		if (path === "/v1/correlations") return json(job ? [job] : [])
		return job ? json(job) : new Response("{}", {status: 404})
	}`)
	b.act(
		`window.job = {id: "j", state: "queued", progress: 0, aggregation: "mean", granularity: 60, started_at: "2026-01-02T03:04:05Z", start: null, stop: null,
		max_lag: 0, groups: 0, metrics: 5, constant: [], total: 0, truncated: false}`)
	b.visitHash("correlations?job=j")
	b.waitText("Another one is computed first.")
	b.wait("document.querySelector('#jobs [data-state=queued] button')?.textContent === 'Cancel'")
	b.act(`job = {...job, state: "running", progress: 0.255}`)
	b.waitText("25 % of the groups")
	b.wait("document.querySelectorAll('[role=progressbar][aria-valuenow=\"26\"]').length === 2")
	b.click("#jobs button", "Cancel")
	b.waitText("None yet.")
	b.wait("!location.hash.includes('job=') && said.join() === 'DELETE /v1/correlations/j '")
	b.act(
		`job = {id: "k", state: "failed", error: "<b>the device is gone", progress: 0.5, aggregation: "mean", granularity: 60, started_at: "2026-01-02T03:04:05Z",
		start: null, stop: null, max_lag: 0, groups: 0, metrics: 5, constant: [], total: 0, truncated: false}`)
	b.visitHash("correlations?job=k")
	b.waitText("The correlation of 5 metrics, mean of 1 min failed: <b>the device is gone")
	b.wait("document.querySelector('#jobs [data-state=failed] button')?.textContent === 'Remove'")

	b.act(
		`said = [], rebuild = {id: "r", archive_policy_name: "console", metric_id: null, state: "running", started_at: "2026-01-02T03:04:05Z", finished_at: null,
		metrics: 0, changed: 0, unchanged: 0, failed: 0, error: null}`)
	b.visitHash("policies")
	b.waitText("about to begin")
	b.act("rebuild = {...rebuild, metrics: 4, changed: 1}")
	b.waitText("1 of 4 metrics: 1 changed, 0 as they were")
	b.click("#rebuilds button", "Cancel")
	b.wait(
		"document.querySelector('[data-rebuild=console][data-state=cancelled] [role=progressbar]')?.getAttribute('aria-valuenow') === '1'")
	b.click("#rebuilds button", "Start again")
	b.wait("document.querySelector('[data-rebuild=console][data-state=running]') && said.length === 2")
	if got := eval[string](b,
		"said.join()"); got != `DELETE /v1/rebuild/r ,POST /v1/rebuild {"archive_policy_name":"console"}` {
		t.Errorf("asked: %s", got)
	}
}
