package web

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/policy"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
)

// An Authorizer decides who may do what.
type Authorizer struct {
	Auth   auth.Authenticator
	Policy *policy.Rules
	Index  *index.Store // nil: rules about a metric's resource permit nothing by it
	Quotas *quota.Book  // charged for each request
}

// Authenticate returns who sent r, or the error of a 401, or of a 429 if the project sends more than it may.
func (a *Authorizer) Authenticate(w http.ResponseWriter, r *http.Request) (*auth.Identity, error) {
	who, err := a.Auth.Authenticate(r)
	if err == nil {
		noteUser(r.Context(), who)
		if err := a.Quotas.Charge(quota.Requests, model.ProjectOf(who.User), 1); err != nil {
			answer := AsError(err)
			answer.noteAfter(w.Header())
			return nil, answer
		}
		return who, nil
	}
	if logins, ok := errors.AsType[*auth.TooManyLoginsError](err); ok {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(logins.RetryAfter.Seconds()))))
	}
	answer := AsError(err)
	if answer.Status == http.StatusInternalServerError {
		answer = &Error{Status: http.StatusUnauthorized, Err: err}
	}
	if challenge := a.Auth.Challenge(); answer.Status == http.StatusUnauthorized && wantsChallenge(r, challenge) {
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

// unrestricted reports whether a rule about reading is void: Gnocchi's open modes ignore it, unless the operator has
// replaced it.
func (a *Authorizer) unrestricted(rule string) bool {
	return a.Auth.Open() && !a.Policy.Overridden(rule)
}

// Enforce returns model.ErrForbidden unless the rule permits the user this target.
func (a *Authorizer) Enforce(who *auth.Identity, rule string, target policy.Target) error {
	if !a.Policy.Allows(rule, &who.Credentials, target) {
		return model.ErrForbidden
	}
	return nil
}

// VisibleResources returns a function that reports whether a rule shows a resource to the user; nil if it shows all.
func (a *Authorizer) VisibleResources(who *auth.Identity, rule string) func(*model.Resource) bool {
	if a.unrestricted(rule) || a.Enforce(who, rule, nil) == nil {
		return nil
	}
	return func(r *model.Resource) bool { return a.Enforce(who, rule, ResourceTarget(r)) == nil }
}

// VisibleMetrics is visibleResources for metrics.
func (a *Authorizer) VisibleMetrics(who *auth.Identity, rule string) func(*model.Metric) bool {
	if a.unrestricted(rule) || a.Enforce(who, rule, nil) == nil {
		return nil
	}
	return a.PermittedMetrics(who, rule)
}

// PermittedMetrics returns a function that reports whether a rule lets the user use a metric. It is for one goroutine.
// Many metrics share a creator: if a rule depends on nothing else, the function remembers its last answer.
func (a *Authorizer) PermittedMetrics(who *auth.Identity, rule string) func(*model.Metric) bool {
	creatorCounts := a.CreatorCounts(rule)
	asked, creator, allowed := false, "", false
	return func(m *model.Metric) bool {
		if !asked || !creatorCounts || m.Creator != creator {
			asked, creator, allowed = true, m.Creator, a.Enforce(who, rule, a.MetricTarget(m)) == nil
		}
		return allowed
	}
}

// CreatorCounts reports whether a rule about metrics depends on nothing but their creators.
func (a *Authorizer) CreatorCounts(rule string) bool {
	return !slices.ContainsFunc(a.Policy.Keys(rule), func(key string) bool {
		_, ok := creatorTarget("", key)
		return !ok
	})
}

// VisibleSeries is visibleMetrics for series, whose resources need not be read. The request is for the metrics'
// measures, so the rule is never void. Many series mostly share the attributes that the rule depends on: the function
// remembers its answers.
func (a *Authorizer) VisibleSeries(who *auth.Identity, rule string) postings.Sees {
	if a.Enforce(who, rule, nil) == nil {
		return nil
	}
	keys := a.Policy.Keys(rule)
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
			answer = a.Enforce(who, rule, target) == nil
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

// EnforceMetrics returns model.ErrForbidden unless the rule permits the user all of the metrics.
func (a *Authorizer) EnforceMetrics(who *auth.Identity, rule string, metrics []*model.Metric) error {
	permit := a.PermittedMetrics(who, rule)
	if slices.ContainsFunc(metrics, func(m *model.Metric) bool { return !permit(m) }) {
		return model.ErrForbidden
	}
	return nil
}

// MetricsByID returns the metrics of these IDs, in their order. All have to exist, and the user may get each.
func (a *Authorizer) MetricsByID(who *auth.Identity, ids []uuid.UUID) ([]*model.Metric, error) {
	metrics := make([]*model.Metric, len(ids))
	var missing []string
	for i, id := range ids {
		if metrics[i] = a.Index.Lookup(id); metrics[i] == nil {
			missing = append(missing, id.String())
		}
	}
	if missing != nil {
		slices.Sort(missing)
		return nil, &Error{Status: http.StatusNotFound, Detail: Cause{
			Cause: "Unknown metrics", Reason: "Provided metrics don't exists", Detail: slices.Compact(missing),
		}}
	}
	return metrics, a.EnforceMetrics(who, "get metric", metrics)
}

// AsksResource reports whether a rule depends on the metric's resource, which only the holder of the index knows.
func (a *Authorizer) AsksResource(rule string) bool {
	return slices.ContainsFunc(a.Policy.Keys(rule), func(k string) bool { return strings.HasPrefix(k, "resource.") })
}

// EnforceRead is enforce for reading one resource. To a user who may see others by this rule, a hidden one does not
// exist.
func (a *Authorizer) EnforceRead(who *auth.Identity, rule string, r *model.Resource) error {
	if a.unrestricted(rule) || a.Enforce(who, rule, ResourceTarget(r)) == nil {
		return nil
	}
	for _, own := range []struct{ key, value string }{
		{"project_id", who.ProjectID}, {"created_by_project_id", who.ProjectID}, {"creator", who.User},
	} {
		if a.Enforce(who, rule, func(key string) (any, bool) { return own.value, key == own.key }) == nil {
			return model.NotFound(model.NounResource, r.ID.String())
		}
	}
	return model.ErrForbidden
}

// ResourceTarget shows a resource to the rules.
func ResourceTarget(r *model.Resource) policy.Target {
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
			return ShowTime(r.StartedAt), true
		}
		if value, ok := creatorTarget(r.Creator, key); ok {
			return value, true
		}
		return r.Attributes.Get(key)
	}
}

// MetricTarget shows a metric to the rules; its resource is read if they ask for it, as "resource.project_id".
func (a *Authorizer) MetricTarget(m *model.Metric) policy.Target {
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
						resource = ResourceTarget(r)
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

// NameTarget shows an object that has a name to the rules.
func NameTarget(name string) policy.Target {
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
	*Authorizer
	who     *auth.Identity
	mayPost func(*model.Metric) bool
}

// RightsOf returns the rights of a user, for package ingest.
func (a *Authorizer) RightsOf(who *auth.Identity) ingest.Rights {
	return &rights{a, who, a.PermittedMetrics(who, "post measures")}
}

// CreateResource implements ingest.Rights, as all of these do.
func (r *rights) CreateResource(resource *model.Resource) error {
	return r.Enforce(r.who, "create resource", ResourceTarget(resource))
}

func (r *rights) UpdateResource(resource *model.Resource) error {
	return r.Enforce(r.who, "update resource", ResourceTarget(resource))
}

func (r *rights) CreateResourceType(name string) error {
	return r.Enforce(r.who, "create resource type", NameTarget(name))
}

func (r *rights) CreateSeries([]*model.Metric) error { return r.Enforce(r.who, "create metric", nil) }

func (r *rights) PostMeasures(metric *model.Metric) error {
	if !r.mayPost(metric) {
		return model.ErrForbidden
	}
	return nil
}
