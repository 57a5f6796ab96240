package api

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// routes is the map of the API: openapi.yaml says the same, and a test compares the two.
func (a *api) routes(r chi.Router, prefix string, promql promqlHandlers) {
	at := func(method, path string, h http.HandlerFunc) { r.MethodFunc(method, prefix+path, h) }
	policies, rules, rebuilds := policyHandlers{a}, ruleHandlers{a}, rebuildHandlers{a}
	types, resources, metrics := typeHandlers{a}, resourceHandlers{a}, metricHandlers{a}
	batches, influx := batchHandlers{a}, influxHandlers{a}

	// HEAD is for those that check whether the server is there. Gnocchi refuses it on what else is below /v1.
	page := func(path string, h http.HandlerFunc) {
		r.Get(path, h)
		r.Head(path, h)
	}

	page(cmp.Or(prefix, "/"), consoleForBrowsers(a.acceptJSON(a.getVersions)))
	a.console(func(path string, h http.HandlerFunc) { page(prefix+path, h) })
	a.probes(func(path string, h http.HandlerFunc) { page(prefix+path, h) })
	page(prefix+"/openapi.yaml", a.public(getDescription))
	page(prefix+"/docs", a.public(getDocs))
	page(prefix+"/docs/{file}", a.public(getDocsFile))
	page(prefix+"/v1", a.public(a.redirectToV1))
	page(prefix+"/v1/", a.acceptJSON(a.getV1))
	at("GET", "/v1/authentication", a.acceptJSON(a.getAuthentication))
	at("GET", "/v1/capabilities", a.acceptJSON(getCapabilities))
	at("GET", "/v1/status", a.authorized("get status", a.getStatus))

	at("GET", "/v1/archive_policy", a.authorized("list archive policy", policies.list))
	at("POST", "/v1/archive_policy", a.authorized("create archive policy", policies.create))
	at("GET", "/v1/archive_policy/{name}", a.authorized("get archive policy", policies.get))
	at("PATCH", "/v1/archive_policy/{name}", a.authenticated(policies.update))
	at("DELETE", "/v1/archive_policy/{name}", a.authorized("delete archive policy", policies.delete))
	at("GET", "/v1/archive_policy/{name}/cost", a.authenticated(a.timed(policies.cost)))
	at("POST", "/v1/archive_policy/{name}/cost", a.authenticated(a.timed(policies.costOf)))

	at("GET", "/v1/archive_policy_rule", a.authorized("list archive policy rule", rules.list))
	at("POST", "/v1/archive_policy_rule", a.authorized("create archive policy rule", rules.create))
	at("GET", "/v1/archive_policy_rule/{name}", a.authorized("get archive policy rule", rules.get))
	at("PATCH", "/v1/archive_policy_rule/{name}", a.authenticated(rules.rename))
	at("DELETE", "/v1/archive_policy_rule/{name}", a.authenticated(rules.delete))

	at("GET", "/v1/metric", a.authorizedList("list metric", a.timed(metrics.list)))
	at("POST", "/v1/metric", a.authorized("create metric", metrics.create))
	at("GET", "/v1/metric/{id}", a.authenticated(a.withMetric("get metric", metrics.get)))
	at("PATCH", "/v1/metric/{id}", a.authenticated(a.withMetric("update metric", metrics.change)))
	at("DELETE", "/v1/metric/{id}", a.authenticated(a.withMetric("delete metric", metrics.delete)))
	at("GET", "/v1/metric/{id}/archive", a.authenticated(a.timed(a.withMetric("get measures", a.getArchive))))
	at("GET", "/v1/metric/{id}/measures", a.authenticated(a.timed(a.withMetric("get measures", a.getMeasures))))
	at("POST", "/v1/metric/{id}/measures", a.authenticated(a.withMetric("post measures", a.postMeasures)))
	at("POST", "/v1/metric/{id}/backfill",
		a.authorized("create metric", a.withMetric("post measures", metrics.createBackfill)))
	at("POST", "/v1/metric/{id}/backfill/{from}",
		a.authenticated(a.withMetric("post measures", metrics.backfill)))
	at("POST", "/v1/batch/metrics/measures", a.authenticated(a.postBatch))
	at("POST", "/v1/batch/resources/metrics/measures", a.authenticated(batches.post))

	at("GET", "/v1/rebuild", a.authorized("rebuild", rebuilds.list))
	at("POST", "/v1/rebuild", a.authorized("rebuild", rebuilds.create))
	at("GET", "/v1/rebuild/{id}", a.authorized("rebuild", rebuilds.get))
	at("DELETE", "/v1/rebuild/{id}", a.authorized("rebuild", rebuilds.cancel))

	at("GET", "/v1/resource_type", a.authorized("list resource type", types.list))
	at("POST", "/v1/resource_type", a.authorized("create resource type", types.create))
	at("GET", "/v1/resource_type/{name}", a.authorized("get resource type", types.get))
	at("PATCH", "/v1/resource_type/{name}", a.authenticated(types.update))
	at("DELETE", "/v1/resource_type/{name}", a.authenticated(types.delete))

	at("GET", "/v1/resource", a.authorizedList("list resource type", resources.listTypes))
	at("GET", "/v1/resource/{type}", a.authorizedList("list resource", a.timed(resources.list)))
	at("DELETE", "/v1/resource/{type}", a.authenticated(a.timed(resources.deleteMany)))
	at("POST", "/v1/resource/{type}", a.authorized("create resource", resources.create))
	at("POST", "/v1/batch/resources/{type}", a.authorized("create resource", resources.createMany))
	at("POST", "/v1/aggregates", a.authenticated(a.timed(a.postAggregates)))
	at("POST", "/v1/changes", a.authenticated(a.timed(promql.postChanges)))
	at("GET", "/v1/correlations", a.authenticated(a.listCorrelations))
	at("POST", "/v1/correlations", a.authenticated(a.timed(a.postCorrelation)))
	at("GET", "/v1/correlations/{id}", a.authenticatedAnyType(a.getCorrelation))
	at("DELETE", "/v1/correlations/{id}", a.authenticated(a.deleteCorrelation))
	at("GET", "/v1/correlations/{id}/metrics", a.authenticated(a.getCorrelatedMetrics))
	at("GET", "/v1/correlations/{id}/redundant", a.authenticated(a.timed(a.getRedundant)))
	at("GET", "/v1/aggregation/metric", a.authenticated(a.timed(a.getAggregation)))
	at("POST", "/v1/aggregation/metric", a.authenticated(a.timed(a.postAggregation)))
	at("POST", "/v1/aggregation/resource/{type}/metric", a.acceptJSON(refuseNoName))
	at("POST", "/v1/aggregation/resource/{type}/metric/{name}", a.authenticated(a.timed(a.postResourceAggregation)))

	at("POST", "/v1/search/metric", a.authenticated(a.timed(a.searchValues)))
	at("POST", "/v1/search/resource/{type}", a.authenticated(a.timed(resources.search)))
	at("GET", "/v1/resource/{type}/{id}", a.authenticated(a.readingResource(resources.get)))
	at("PATCH", "/v1/resource/{type}/{id}", a.authenticated(a.withResource("update resource", resources.update)))
	at("DELETE", "/v1/resource/{type}/{id}", a.authenticated(a.withResource("delete resource", resources.delete)))
	at("GET", "/v1/resource/{type}/{id}/history", a.authenticated(a.timed(resources.history)))
	at("GET", "/v1/resource/{type}/{id}/metric", a.authenticated(a.readingResource(resources.listMetrics)))
	at("POST", "/v1/resource/{type}/{id}/metric",
		a.authenticated(a.withResource("update resource", resources.createMetrics)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}", a.authenticated(a.withNamedMetric("get metric", metrics.get)))
	at("DELETE", "/v1/resource/{type}/{id}/metric/{name}",
		a.authenticated(a.withNamedMetric("delete metric", metrics.delete)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}/measures",
		a.authenticated(a.timed(a.withNamedMetric("get measures", a.getMeasures))))
	at("POST", "/v1/resource/{type}/{id}/metric/{name}/measures",
		a.authenticated(a.withNamedMetric("post measures", a.postMeasures)))

	page(prefix+"/v1/influxdb/ping", a.public(influx.ping))
	at("POST", "/v1/influxdb/query", a.authenticatedAnyType(influx.query))
	at("POST", "/v1/influxdb/write", a.authenticatedAnyType(influx.write))
	at("POST", "/v1/prometheus/write", a.authenticatedAnyType(a.postPrometheus))
	at("POST", "/api/v1/write", a.writeSeries)

	promql.routes(at)

	if prefix != "" {
		return
	}
	a.routesForOperators(r)
}

// routesForOperators are for who runs the server.
func (a *api) routesForOperators(r chi.Router) {
	if a.Gatherer != nil {
		figures := promhttp.HandlerFor(a.Gatherer, promhttp.HandlerOpts{})
		r.Method("GET", "/metrics", figures)
		r.Method("HEAD", "/metrics", figures)
	}
}

// param returns a segment of the path, unescaped. The router matches the path as the client escaped it where Go
// keeps that form, else the plain one.
func param(r *http.Request, name string) string { return unescapeParam(r, chi.URLParam(r, name)) }

func unescapeParam(r *http.Request, value string) string {
	if r.URL.RawPath != "" {
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}
