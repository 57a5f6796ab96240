package api

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"net/url"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// routes is the map of the API: openapi.yaml says the same, and a test compares the two.
func (a *api) routes(r chi.Router, prefix string) {
	at := func(method, path string, h http.HandlerFunc) { r.MethodFunc(method, prefix+path, h) }

	r.Get(cmp.Or(prefix, "/"), a.json(a.getVersions))
	at("GET", "/healthcheck", a.open(getHealth))
	at("HEAD", "/healthcheck", a.open(getHealth))
	at("GET", "/openapi.yaml", a.open(getDescription))
	at("GET", "/docs", a.open(getDocs))
	at("GET", "/docs/{file}", a.open(getDocsFile))
	at("GET", "/v1", a.open(a.redirectToV1))
	at("GET", "/v1/", a.json(a.getV1))
	at("GET", "/v1/capabilities", a.json(getCapabilities))
	at("GET", "/v1/status", a.allowed("get status", a.getStatus))

	at("GET", "/v1/archive_policy", a.allowed("list archive policy", a.listArchivePolicies))
	at("POST", "/v1/archive_policy", a.allowed("create archive policy", a.createArchivePolicy))
	at("GET", "/v1/archive_policy/{name}", a.allowed("get archive policy", a.getArchivePolicy))
	at("PATCH", "/v1/archive_policy/{name}", a.as(a.updateArchivePolicy))
	at("DELETE", "/v1/archive_policy/{name}", a.allowed("delete archive policy", a.deleteArchivePolicy))

	at("GET", "/v1/archive_policy_rule", a.allowed("list archive policy rule", a.listArchivePolicyRules))
	at("POST", "/v1/archive_policy_rule", a.allowed("create archive policy rule", a.createArchivePolicyRule))
	at("GET", "/v1/archive_policy_rule/{name}", a.allowed("get archive policy rule", a.getArchivePolicyRule))
	at("PATCH", "/v1/archive_policy_rule/{name}", a.as(a.renameArchivePolicyRule))
	at("DELETE", "/v1/archive_policy_rule/{name}", a.as(a.deleteArchivePolicyRule))

	at("GET", "/v1/metric", a.listed("list metric", a.listMetrics))
	at("POST", "/v1/metric", a.allowed("create metric", a.createMetric))
	at("GET", "/v1/metric/{id}", a.as(a.withMetric("get metric", a.getMetric)))
	at("PATCH", "/v1/metric/{id}", a.as(a.withMetric("update metric", a.changeMetric)))
	at("DELETE", "/v1/metric/{id}", a.as(a.withMetric("delete metric", a.deleteMetric)))
	at("GET", "/v1/metric/{id}/measures", a.as(a.withMetric("get measures", a.getMeasures)))
	at("POST", "/v1/metric/{id}/measures", a.as(a.withMetric("post measures", a.postMeasures)))
	at("POST", "/v1/batch/metrics/measures", a.as(a.postBatch))
	at("POST", "/v1/batch/resources/metrics/measures", a.as(a.postResourcesBatch))

	at("GET", "/v1/reaggregation", a.allowed("reaggregate", a.listReaggregations))
	at("POST", "/v1/reaggregation", a.allowed("reaggregate", a.createReaggregation))
	at("GET", "/v1/reaggregation/{id}", a.allowed("reaggregate", a.getReaggregation))
	at("DELETE", "/v1/reaggregation/{id}", a.allowed("reaggregate", a.cancelReaggregation))

	at("GET", "/v1/resource_type", a.allowed("list resource type", a.listResourceTypes))
	at("POST", "/v1/resource_type", a.allowed("create resource type", a.createResourceType))
	at("GET", "/v1/resource_type/{name}", a.allowed("get resource type", a.getResourceType))
	at("PATCH", "/v1/resource_type/{name}", a.as(a.updateResourceType))
	at("DELETE", "/v1/resource_type/{name}", a.as(a.deleteResourceType))

	at("GET", "/v1/resource", a.listed("list resource type", a.listResourcesByType))
	at("GET", "/v1/resource/{type}", a.listed("list resource", a.listResources))
	at("DELETE", "/v1/resource/{type}", a.as(a.deleteResources))
	at("POST", "/v1/resource/{type}", a.allowed("create resource", a.createResource))
	at("POST", "/v1/batch/resources/{type}", a.allowed("create resource", a.createResources))
	at("POST", "/v1/aggregates", a.as(a.postAggregates))
	at("POST", "/v1/correlations", a.as(a.postCorrelation))
	at("GET", "/v1/correlations/{id}", a.inAnyForm(a.getCorrelation))
	at("DELETE", "/v1/correlations/{id}", a.as(a.deleteCorrelation))
	at("GET", "/v1/correlations/{id}/redundant", a.as(a.getRedundant))
	at("GET", "/v1/aggregation/metric", a.as(a.getAggregation))
	at("POST", "/v1/aggregation/metric", a.as(a.postAggregation))
	at("POST", "/v1/aggregation/resource/{type}/metric", a.json(refuseNoName))
	at("POST", "/v1/aggregation/resource/{type}/metric/{name}", a.as(a.postResourceAggregation))

	at("POST", "/v1/search/metric", a.as(a.searchValues))
	at("POST", "/v1/search/resource/{type}", a.as(a.searchResources))
	at("GET", "/v1/resource/{type}/{id}", a.as(a.readingResource(a.getResource)))
	at("PATCH", "/v1/resource/{type}/{id}", a.as(a.withResource("update resource", a.updateResource)))
	at("DELETE", "/v1/resource/{type}/{id}", a.as(a.withResource("delete resource", a.deleteResource)))
	at("GET", "/v1/resource/{type}/{id}/history", a.as(a.readingResource(a.getHistory)))
	at("GET", "/v1/resource/{type}/{id}/metric", a.as(a.readingResource(a.listResourceMetrics)))
	at("POST", "/v1/resource/{type}/{id}/metric", a.as(a.withResource("update resource", a.createResourceMetrics)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}", a.as(a.withNamedMetric("get metric", a.getMetric)))
	at("DELETE", "/v1/resource/{type}/{id}/metric/{name}", a.as(a.withNamedMetric("delete metric", a.deleteMetric)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}/measures", a.as(a.withNamedMetric("get measures", a.getMeasures)))
	at("POST", "/v1/resource/{type}/{id}/metric/{name}/measures", a.as(a.withNamedMetric("post measures", a.postMeasures)))

	at("GET", "/v1/influxdb/ping", a.open(a.pingInflux))
	at("HEAD", "/v1/influxdb/ping", a.open(a.pingInflux))
	at("POST", "/v1/influxdb/query", a.inAnyForm(a.postInfluxQuery))
	at("POST", "/v1/influxdb/write", a.inAnyForm(a.postInfluxWrite))
	at("POST", "/v1/prometheus/write", a.inAnyForm(a.postPrometheus))

	if prefix != "" {
		return
	}
	a.routesForOperators(r)
}

// routesForOperators are for who runs the server.
func (a *api) routesForOperators(r chi.Router) {
	if a.Gatherer != nil {
		r.Method("GET", "/metrics", promhttp.HandlerFor(a.Gatherer, promhttp.HandlerOpts{}))
	}
	if a.Pprof {
		r.HandleFunc("/debug/pprof", pprof.Index)
		r.HandleFunc("/debug/pprof/*", pprof.Index)
		r.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		r.HandleFunc("/debug/pprof/profile", pprof.Profile)
		r.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		r.HandleFunc("/debug/pprof/trace", pprof.Trace)
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
