package api

import "net/http"

// Routes are those of Gnocchi's own API. openapi.yaml says the same of these and of the rooms', and a test compares the
// two.
func (a *api) Routes(at func(method, path string, h http.HandlerFunc)) {
	policies, rules, rebuilds := policyHandlers{a}, ruleHandlers{a}, rebuildHandlers{a}
	types, resources, metrics := typeHandlers{a}, resourceHandlers{a}, metricHandlers{a}
	batches := batchHandlers{a}

	at("GET", "/v1/capabilities", a.AcceptJSON(getCapabilities))

	at("GET", "/v1/archive_policy", a.Authorized("list archive policy", policies.list))
	at("POST", "/v1/archive_policy", a.Authorized("create archive policy", policies.create))
	at("GET", "/v1/archive_policy/{name}", a.Authorized("get archive policy", policies.get))
	at("PATCH", "/v1/archive_policy/{name}", a.Authenticated(policies.update))
	at("DELETE", "/v1/archive_policy/{name}", a.Authorized("delete archive policy", policies.delete))
	at("GET", "/v1/archive_policy/{name}/cost", a.Authenticated(a.Timed(policies.cost)))
	at("POST", "/v1/archive_policy/{name}/cost", a.Authenticated(a.Timed(policies.costOf)))

	at("GET", "/v1/archive_policy_rule", a.Authorized("list archive policy rule", rules.list))
	at("POST", "/v1/archive_policy_rule", a.Authorized("create archive policy rule", rules.create))
	at("GET", "/v1/archive_policy_rule/{name}", a.Authorized("get archive policy rule", rules.get))
	at("PATCH", "/v1/archive_policy_rule/{name}", a.Authenticated(rules.rename))
	at("DELETE", "/v1/archive_policy_rule/{name}", a.Authenticated(rules.delete))

	at("GET", "/v1/metric", a.AuthorizedList("list metric", a.Timed(metrics.list)))
	at("POST", "/v1/metric", a.Authorized("create metric", metrics.create))
	at("GET", "/v1/metric/{id}", a.Authenticated(a.withMetric("get metric", metrics.get)))
	at("PATCH", "/v1/metric/{id}", a.Authenticated(a.withMetric("update metric", metrics.change)))
	at("DELETE", "/v1/metric/{id}", a.Authenticated(a.withMetric("delete metric", metrics.delete)))
	at("GET", "/v1/metric/{id}/archive", a.Authenticated(a.Timed(a.withMetric("get measures", a.getArchive))))
	at("GET", "/v1/metric/{id}/measures", a.AuthenticatedRows(a.Timed(a.withMetric("get measures", a.getMeasures))))
	at("POST", "/v1/metric/{id}/measures", a.Authenticated(a.withMetric("post measures", a.postMeasures)))
	at("PUT", "/v1/metric/{id}/measures", a.Authenticated(a.withMetric("post measures", metrics.putMeasures)))
	at("POST", "/v1/measures/delete", a.Authenticated(metrics.deleteMeasures))
	at("GET", "/v1/metric/{id}/archive/content",
		a.Authenticated(a.Timed(a.withMetric("get measures", metrics.getContent))))
	at("PUT", "/v1/metric/{id}/archive/content",
		a.Authenticated(a.Timed(a.withMetric("put archive", metrics.putContent))))
	at("POST", "/v1/batch/metrics/measures", a.Authenticated(a.postBatch))
	at("POST", "/v1/batch/resources/metrics/measures", a.Authenticated(batches.post))

	at("GET", "/v1/rebuild", a.Authorized("rebuild", rebuilds.list))
	at("POST", "/v1/rebuild", a.Authorized("rebuild", rebuilds.create))
	at("GET", "/v1/rebuild/{id}", a.Authorized("rebuild", rebuilds.get))
	at("DELETE", "/v1/rebuild/{id}", a.Authorized("rebuild", rebuilds.cancel))

	at("GET", "/v1/resource_type", a.Authorized("list resource type", types.list))
	at("POST", "/v1/resource_type", a.Authorized("create resource type", types.create))
	at("GET", "/v1/resource_type/{name}", a.Authorized("get resource type", types.get))
	at("PATCH", "/v1/resource_type/{name}", a.Authenticated(types.update))
	at("DELETE", "/v1/resource_type/{name}", a.Authenticated(types.delete))

	at("GET", "/v1/resource", a.AuthorizedList("list resource type", resources.listTypes))
	at("GET", "/v1/resource/{type}", a.AuthorizedList("list resource", a.Timed(resources.list)))
	at("DELETE", "/v1/resource/{type}", a.Authenticated(a.Timed(resources.deleteMany)))
	at("POST", "/v1/resource/{type}", a.Authorized("create resource", resources.create))
	at("POST", "/v1/batch/resources/{type}", a.Authorized("create resource", resources.createMany))
	at("POST", "/v1/aggregates", a.AuthenticatedRows(a.Timed(a.postAggregates)))
	at("GET", "/v1/aggregation/metric", a.AuthenticatedRows(a.Timed(a.getAggregation)))
	at("POST", "/v1/aggregation/metric", a.AuthenticatedRows(a.Timed(a.postAggregation)))
	at("POST", "/v1/aggregation/resource/{type}/metric", a.AcceptJSON(refuseNoName))
	at("POST", "/v1/aggregation/resource/{type}/metric/{name}", a.AuthenticatedRows(a.Timed(a.postResourceAggregation)))

	at("POST", "/v1/search/metric", a.Authenticated(a.Timed(a.searchValues)))
	at("POST", "/v1/search/resource/{type}", a.Authenticated(a.Timed(resources.search)))
	at("GET", "/v1/resource/{type}/{id}", a.Authenticated(a.readingResource(resources.get)))
	at("PATCH", "/v1/resource/{type}/{id}", a.Authenticated(a.withResource("update resource", resources.update)))
	at("DELETE", "/v1/resource/{type}/{id}", a.Authenticated(a.withResource("delete resource", resources.delete)))
	at("GET", "/v1/resource/{type}/{id}/history", a.Authenticated(a.Timed(resources.history)))
	at("GET", "/v1/resource/{type}/{id}/metric", a.Authenticated(a.readingResource(resources.listMetrics)))
	at("POST", "/v1/resource/{type}/{id}/metric",
		a.Authenticated(a.withResource("update resource", resources.createMetrics)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}", a.Authenticated(a.withNamedMetric("get metric", metrics.get)))
	at("DELETE", "/v1/resource/{type}/{id}/metric/{name}",
		a.Authenticated(a.withNamedMetric("delete metric", metrics.delete)))
	at("GET", "/v1/resource/{type}/{id}/metric/{name}/measures",
		a.AuthenticatedRows(a.Timed(a.withNamedMetric("get measures", a.getMeasures))))
	at("POST", "/v1/resource/{type}/{id}/metric/{name}/measures",
		a.Authenticated(a.withNamedMetric("post measures", a.postMeasures)))
}
