package api

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
)

// An authorizer decides who may do what.
type authorizer struct {
	auth   auth.Authenticator
	policy *policy.Rules
	index  *index.Store // nil: rules about a metric's resource permit nothing by it
}

// authenticate returns who sent r, or the error of a 401.
func (a *authorizer) authenticate(w http.ResponseWriter, r *http.Request) (*auth.Identity, error) {
	who, err := a.auth.Authenticate(r)
	if err == nil {
		return who, nil
	}
	var logins *auth.TooManyLoginsError
	if errors.As(err, &logins) {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(logins.RetryAfter.Seconds()))))
	}
	answer := asError(err)
	if answer.Status == http.StatusInternalServerError {
		answer = &Error{Status: http.StatusUnauthorized, Err: err}
	}
	if challenge := a.auth.Challenge(); answer.Status == http.StatusUnauthorized && wantsChallenge(r, challenge) {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	return nil, answer
}

// wantsChallenge reports whether a 401 to r should carry a challenge. A browser asks the user for a password by itself
// when it gets one of scheme Basic; a page that fetches asks in its own way.
func wantsChallenge(r *http.Request, challenge string) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); mode != "" && mode != "navigate" &&
		strings.HasPrefix(challenge, "Basic ") {
		return false
	}
	return challenge != ""
}

// authorized serves h to users whom the rule permits, whatever the request is about. Handlers enforce the rules that
// depend on a target.
func (a *api) authorized(rule string, h userHandler) http.HandlerFunc {
	return a.authenticated(func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		if err := a.enforce(who, rule, nil); err != nil {
			return err
		}
		return h(w, r, who)
	})
}

// authorizedList serves a list, cut to what the rule lets the user see: h calls visibleResources or visibleMetrics. If
// everyone sees all of it, no credentials are needed and h gets no user.
func (a *api) authorizedList(rule string, h userHandler) http.HandlerFunc {
	if a.unrestricted(rule) {
		return a.acceptJSON(func(w http.ResponseWriter, r *http.Request) error { return h(w, r, nil) })
	}
	return a.authenticated(h)
}

// unrestricted reports whether a rule about reading is void: Gnocchi's open modes ignore it, unless the operator has
// replaced it.
func (a *authorizer) unrestricted(rule string) bool {
	return a.auth.Open() && !a.policy.Overridden(rule)
}

// enforce returns errForbidden unless the rule permits the user this target.
func (a *authorizer) enforce(who *auth.Identity, rule string, target policy.Target) error {
	if !a.policy.Allows(rule, &who.Credentials, target) {
		return errForbidden
	}
	return nil
}

// visibleResources returns a function that reports whether a rule shows a resource to the user; nil if it shows all.
func (a *authorizer) visibleResources(who *auth.Identity, rule string) func(*model.Resource) bool {
	if a.unrestricted(rule) || a.enforce(who, rule, nil) == nil {
		return nil
	}
	return func(r *model.Resource) bool { return a.enforce(who, rule, resourceTarget(r)) == nil }
}

// visibleMetrics is visibleResources for metrics.
func (a *authorizer) visibleMetrics(who *auth.Identity, rule string) func(*model.Metric) bool {
	if a.unrestricted(rule) || a.enforce(who, rule, nil) == nil {
		return nil
	}
	return a.permittedMetrics(who, rule)
}

// permittedMetrics returns a function that reports whether a rule lets the user use a metric. It is for one goroutine.
// Many metrics share a creator: if a rule depends on nothing else, the function remembers its last answer.
func (a *authorizer) permittedMetrics(who *auth.Identity, rule string) func(*model.Metric) bool {
	creatorCounts := a.creatorCounts(rule)
	asked, creator, allowed := false, "", false
	return func(m *model.Metric) bool {
		if !asked || !creatorCounts || m.Creator != creator {
			asked, creator, allowed = true, m.Creator, a.enforce(who, rule, a.metricTarget(m)) == nil
		}
		return allowed
	}
}

// creatorCounts reports whether a rule about metrics depends on nothing but their creators.
func (a *authorizer) creatorCounts(rule string) bool {
	for _, key := range a.policy.Keys(rule) {
		if _, ok := creatorTarget("", key); !ok {
			return false
		}
	}
	return true
}

// visibleSeries is visibleMetrics for series, whose resources need not be read; what is asked is the metrics' measures,
// so the rule is never void. What the rule depends on mostly is the same for many: the function remembers its answers.
func (a *authorizer) visibleSeries(who *auth.Identity, rule string) postings.Sees {
	if a.enforce(who, rule, nil) == nil {
		return nil
	}
	keys := a.policy.Keys(rule)
	answers := map[string]bool{}
	var question []byte
	return func(c postings.Candidate) bool {
		target := seriesTarget(c)
		question = question[:0]
		for _, key := range keys {
			value, ok := target(key)
			question = fmt.Appendf(question, "%t %v\x00", ok, value)
		}
		answer, known := answers[string(question)]
		if !known {
			answer = a.enforce(who, rule, target) == nil
			answers[string(question)] = answer
		}
		return answer
	}
}

// seriesTarget shows a series to the rules, as metricTarget shows its metric.
func seriesTarget(c postings.Candidate) policy.Target {
	return func(key string) (any, bool) {
		switch key {
		case "id":
			return c.Metric().String(), true
		case "name":
			return c.Name(), true
		case "unit":
			return c.Unit(), true
		case "archive_policy_name", "archive_policy.name":
			return c.ArchivePolicy(), true
		}
		key, ofResource := strings.CutPrefix(key, "resource.")
		if !ofResource {
			return creatorTarget(c.Creator(), key)
		}
		id, creator, ok := c.Resource()
		if !ok {
			return nil, false
		}
		if value, ok := creatorTarget(creator, key); ok {
			return value, true
		}
		switch key {
		case "id":
			return id.String(), true
		case "resource_type":
			key = "type"
		}
		return c.Attribute(key), true
	}
}

// enforceMetrics returns errForbidden unless the rule permits the user all of the metrics.
func (a *authorizer) enforceMetrics(who *auth.Identity, rule string, metrics []*model.Metric) error {
	permit := a.permittedMetrics(who, rule)
	for _, metric := range metrics {
		if !permit(metric) {
			return errForbidden
		}
	}
	return nil
}

// asksResource reports whether a rule depends on the metric's resource, which only the holder of the index knows.
func (a *authorizer) asksResource(rule string) bool {
	for _, key := range a.policy.Keys(rule) {
		if strings.HasPrefix(key, "resource.") {
			return true
		}
	}
	return false
}

// checkRouteType returns the error of a 404 if r's path, which other methods have, names a resource type that does not
// exist.
func (a *api) checkRouteType(router chi.Routes, r *http.Request) error {
	for _, method := range allowedMethods(router, r) {
		route := chi.NewRouteContext()
		if router.Match(route, method, routePath(r)) {
			if kind := unescapeParam(r, route.URLParam("type")); kind != "" {
				_, err := a.Index.ResourceType(kind)
				return err
			}
		}
	}
	return nil
}

// enforceRead is enforce for reading one resource. To a user who may see others by this rule, a hidden one does not
// exist.
func (a *authorizer) enforceRead(who *auth.Identity, rule string, r *model.Resource) error {
	if a.unrestricted(rule) || a.enforce(who, rule, resourceTarget(r)) == nil {
		return nil
	}
	for _, own := range []struct{ key, value string }{
		{"project_id", who.ProjectID}, {"created_by_project_id", who.ProjectID}, {"creator", who.User},
	} {
		if a.enforce(who, rule, func(key string) (any, bool) { return own.value, key == own.key }) == nil {
			return model.NotFound(model.NounResource, r.ID.String())
		}
	}
	return errForbidden
}

// resourceTarget shows a resource to the rules.
func resourceTarget(r *model.Resource) policy.Target {
	return func(key string) (any, bool) {
		switch key {
		case "id":
			return r.ID.String(), true
		case "type", "resource_type":
			return r.Type, true
		case "original_resource_id":
			return r.OriginalID, true
		case "user_id":
			return orNil(r.UserID), true
		case "project_id":
			return orNil(r.ProjectID), true
		case "started_at":
			return showTime(r.StartedAt), true
		}
		if value, ok := creatorTarget(r.Creator, key); ok {
			return value, true
		}
		return r.Attributes.Get(key)
	}
}

// metricTarget shows a metric to the rules; its resource is read if they ask for it, as "resource.project_id".
func (a *authorizer) metricTarget(m *model.Metric) policy.Target {
	var resource policy.Target
	return func(key string) (any, bool) {
		switch key {
		case "id":
			return m.ID.String(), true
		case "name":
			return m.Name, true
		case "unit":
			return m.Unit, true
		case "archive_policy_name", "archive_policy.name":
			return m.ArchivePolicy.Name, true
		}
		if key, ok := strings.CutPrefix(key, "resource."); ok {
			if resource == nil {
				resource = func(string) (any, bool) { return nil, false }
				if m.ResourceID != nil && a.index != nil {
					if r, err := a.index.Resource(model.GenericType, *m.ResourceID); err == nil {
						resource = resourceTarget(r)
					}
				}
			}
			return resource(key)
		}
		return creatorTarget(m.Creator, key)
	}
}

// creatorTarget shows who made an object.
func creatorTarget(creator, key string) (any, bool) {
	user, project, _ := strings.Cut(creator, ":")
	switch key {
	case "creator":
		return creator, true
	case "created_by_user_id":
		return user, true
	case "created_by_project_id":
		return project, true
	}
	return nil, false
}

// nameTarget shows an object that has a name to the rules.
func nameTarget(name string) policy.Target {
	return func(key string) (any, bool) { return name, key == "name" }
}

func orNil(text *string) any {
	if text == nil {
		return nil
	}
	return *text
}

// rights are what a user may do when their measures create what is missing. They are for one goroutine.
type rights struct {
	*authorizer
	who     *auth.Identity
	mayPost func(*model.Metric) bool
}

// rightsOf returns the rights of a user, for package ingest.
func (a *authorizer) rightsOf(who *auth.Identity) ingest.Rights {
	return &rights{a, who, a.permittedMetrics(who, "post measures")}
}

// CreateResource implements ingest.Rights, as all of these do.
func (r *rights) CreateResource(resource *model.Resource) error {
	return r.enforce(r.who, "create resource", resourceTarget(resource))
}

// UpdateResource is of ingest.Rights.
func (r *rights) UpdateResource(resource *model.Resource) error {
	return r.enforce(r.who, "update resource", resourceTarget(resource))
}

// CreateResourceType is of ingest.Rights.
func (r *rights) CreateResourceType(name string) error {
	return r.enforce(r.who, "create resource type", nameTarget(name))
}

// CreateSeries is of ingest.Rights.
func (r *rights) CreateSeries([]*model.Metric) error { return r.enforce(r.who, "create metric", nil) }

// PostMeasures is of ingest.Rights.
func (r *rights) PostMeasures(metric *model.Metric) error {
	if !r.mayPost(metric) {
		return errForbidden
	}
	return nil
}
