package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"gnocco/api/policy"
	"gnocco/model"
)

// authenticate returns who sent r, or the error of a 401.
func (a *api) authenticate(w http.ResponseWriter, r *http.Request) (*Identity, error) {
	who, err := a.Auth.Authenticate(r)
	if err == nil {
		return who, nil
	}
	answer := asError(err)
	if answer.Status == http.StatusInternalServerError {
		answer = &Error{Status: http.StatusUnauthorized, Err: err}
	}
	if challenge := a.Auth.Challenge(); challenge != "" && answer.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", challenge)
	}
	return nil, answer
}

// allowed serves h to who the rule lets pass, whatever the request is about. Rules that depend on that are for the
// handlers to enforce.
func (a *api) allowed(rule string, h userHandler) http.HandlerFunc {
	return a.as(func(w http.ResponseWriter, r *http.Request, who *Identity) error {
		if err := a.enforce(who, rule, nil); err != nil {
			return err
		}
		return h(w, r, who)
	})
}

// listed serves a list, of which everyone sees what the rule lets them see: see sees. Where that is all of it, for
// everyone, no credentials are asked for, and who is nil.
func (a *api) listed(rule string, h userHandler) http.HandlerFunc {
	if a.unrestricted(rule) {
		return a.json(func(w http.ResponseWriter, r *http.Request) error { return h(w, r, nil) })
	}
	return a.as(h)
}

// unrestricted tells whether a rule about reading counts for nothing: so it is in Gnocchi's open modes, unless the
// operator has put another in its place.
func (a *api) unrestricted(rule string) bool { return a.Auth.Open() && !a.Policy.Overridden(rule) }

// enforce returns errForbidden unless the rule lets who do this to the target.
func (a *api) enforce(who *Identity, rule string, target policy.Target) error {
	if !a.Policy.Allows(rule, &who.credentials, target) {
		return errForbidden
	}
	return nil
}

// sees returns what tells the resources that a rule shows to who; nil if it is all of them.
func (a *api) sees(who *Identity, rule string) func(*model.Resource) bool {
	if a.unrestricted(rule) || a.enforce(who, rule, nil) == nil {
		return nil
	}
	return func(r *model.Resource) bool { return a.enforce(who, rule, resourceTarget(r)) == nil }
}

// seesMetrics is sees for metrics.
func (a *api) seesMetrics(who *Identity, rule string) func(*model.Metric) bool {
	if a.unrestricted(rule) || a.enforce(who, rule, nil) == nil {
		return nil
	}
	return a.permits(who, rule)
}

// permits returns what tells the metrics that a rule lets who use. Many metrics have one creator: where no more than that
// counts, the last answer is remembered. It is for one goroutine.
func (a *api) permits(who *Identity, rule string) func(*model.Metric) bool {
	creatorCounts := true
	for _, key := range a.Policy.Keys(rule) {
		_, ok := creatorTarget("", key)
		creatorCounts = creatorCounts && ok
	}
	asked, creator, allowed := false, "", false
	return func(m *model.Metric) bool {
		if !asked || !creatorCounts || m.Creator != creator {
			asked, creator, allowed = true, m.Creator, a.enforce(who, rule, a.metricTarget(m)) == nil
		}
		return allowed
	}
}

// enforceAll returns errForbidden unless the rule lets who do this to all of the metrics.
func (a *api) enforceAll(who *Identity, rule string, metrics []*model.Metric) error {
	permit := a.permits(who, rule)
	for _, metric := range metrics {
		if !permit(metric) {
			return errForbidden
		}
	}
	return nil
}

// checkRouteType returns the error of a 404 if r's path, which a route has with another method, names a resource type
// that does not exist.
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

// enforceRead is enforce for one resource that is read. To who might see others by this rule, one that they may not see
// does not exist.
func (a *api) enforceRead(who *Identity, rule string, r *model.Resource) error {
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
func (a *api) metricTarget(m *model.Metric) policy.Target {
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
				if m.ResourceID != nil && a.Index != nil {
					if r, err := a.Index.Resource(model.GenericType, *m.ResourceID); err == nil {
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
