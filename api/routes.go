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
	at("GET", "/v1", a.open(redirectToV1))
	at("GET", "/v1/", a.json(a.getV1))
	at("GET", "/v1/capabilities", a.json(getCapabilities))
	at("GET", "/v1/status", a.asAdmin(a.getStatus))

	at("GET", "/v1/archive_policy", a.as(a.listArchivePolicies))
	at("POST", "/v1/archive_policy", a.asAdmin(a.createArchivePolicy))
	at("GET", "/v1/archive_policy/{name}", a.as(a.getArchivePolicy))
	at("PATCH", "/v1/archive_policy/{name}", a.as(a.updateArchivePolicy))
	at("DELETE", "/v1/archive_policy/{name}", a.asAdmin(a.deleteArchivePolicy))

	at("GET", "/v1/archive_policy_rule", a.as(a.listArchivePolicyRules))
	at("POST", "/v1/archive_policy_rule", a.asAdmin(a.createArchivePolicyRule))
	at("GET", "/v1/archive_policy_rule/{name}", a.as(a.getArchivePolicyRule))
	at("PATCH", "/v1/archive_policy_rule/{name}", a.as(a.renameArchivePolicyRule))
	at("DELETE", "/v1/archive_policy_rule/{name}", a.as(a.deleteArchivePolicyRule))

	at("GET", "/v1/metric", a.json(a.listMetrics))
	at("POST", "/v1/metric", a.as(a.createMetric))
	at("GET", "/v1/metric/{id}", a.as(a.withMetric(a.getMetric)))
	at("DELETE", "/v1/metric/{id}", a.as(a.withMetric(a.deleteMetric)))
	at("GET", "/v1/metric/{id}/measures", a.as(a.withMetric(a.getMeasures)))
	at("POST", "/v1/metric/{id}/measures", a.as(a.withMetric(a.postMeasures)))
	at("POST", "/v1/batch/metrics/measures", a.as(a.postBatch))

	at("GET", "/v1/resource", a.json(a.listResourceTypes))
	at("GET", "/v1/resource/{type}", a.json(a.listResources))
	at("POST", "/v1/resource/{type}", a.as(a.createResource))
	at("GET", "/v1/resource/{type}/{id}", a.as(a.withResource(a.getResource)))
	at("DELETE", "/v1/resource/{type}/{id}", a.as(a.withResource(a.deleteResource)))
	at("GET", "/v1/resource/{type}/{id}/metric", a.as(a.withResource(a.listResourceMetrics)))
	at("POST", "/v1/resource/{type}/{id}/metric", a.as(a.withResource(a.createResourceMetrics)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}", a.as(a.withNamedMetric(a.getMetric)))
	at("DELETE", "/v1/resource/{type}/{id}/metric/{name}", a.as(a.withNamedMetric(a.deleteMetric)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}/measures", a.as(a.withNamedMetric(a.getMeasures)))
	at("POST", "/v1/resource/{type}/{id}/metric/{name}/measures", a.as(a.withNamedMetric(a.postMeasures)))

	if prefix != "" {
		return // what follows is for who runs the server
	}
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
func param(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath != "" {
		if plain, err := url.PathUnescape(value); err == nil {
			return plain
		}
	}
	return value
}
