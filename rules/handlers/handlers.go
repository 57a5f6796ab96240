package handlers

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
)

// Handlers serve recording rules. A user sees and changes those of their project; admins see all.
type Handlers struct {
	*web.Env
	Manager *rules.Manager
	engine  *promql.Engine
}

// New returns the handlers of rules, whose manager gets the rights of users from env. archives also answers Changes.
func New(env *web.Env, engine *promql.Engine, archives query.Archives, writer *series.Writer, sacks int) *Handlers {
	rights := func(owner json.RawMessage) (postings.Sees, ingest.Rights, error) {
		who := new(auth.Identity)
		if err := json.Unmarshal(owner, who); err != nil {
			return nil, nil, err
		}
		return env.VisibleSeries(who, "get measures"), env.RightsOf(who), nil
	}
	return &Handlers{env, rules.New(rules.Options{Index: env.Index, Engine: engine, Archives: archives, Writer: writer,
		Budget: env.Budget, Sacks: sacks, Rights: rights, Logger: env.Logger, Now: env.Now}), engine}
}

// Routes are ours, and one of Prometheus' API.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("POST", "/v1/rules", a.Authorized("create metric", a.apply))
	at("PATCH", "/v1/rules/{name}", a.Authenticated(a.pause))
	at("DELETE", "/v1/rules/{name}", a.Authenticated(a.delete))
	at("GET", "/api/v1/rules", a.Authenticated(a.list))
}

// Use lets a query of a user read the results of rules whose owner sees the same series.
func (a *Handlers) Use(who *auth.Identity, q *promql.Query) {
	a.Manager.Use(q, func(g *rules.Group) bool { return a.seeSame(who, g.Owner) })
}

// seeSame reports whether users see the same series: all, or they are one user, or, by Gnocchi's access rules, of one
// project with the same roles.
func (a *Handlers) seeSame(who *auth.Identity, of json.RawMessage) bool {
	const rule = "get measures"
	owner := new(auth.Identity)
	err, all := json.Unmarshal(of, owner), a.VisibleSeries(who, rule) == nil
	project := who.ProjectID != "" && !a.Policy.Overridden(rule)
	return err == nil && all == (a.VisibleSeries(owner, rule) == nil) && (all || owner.ProjectID == who.ProjectID &&
		(project || owner.User == who.User) && slices.Equal(owner.Credentials.Roles, who.Credentials.Roles) &&
		(project || maps.Equal(owner.Credentials.Attributes, who.Credentials.Attributes)))
}

// mostFile bounds a rule file in bytes.
const mostFile = 4 << 20

// list lists the groups that a user sees, in Prometheus' form.
func (a *Handlers) list(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	admin := a.Enforce(who, "list queries", nil) == nil
	all, err := a.Manager.Statuses(r.Context(), func(g *rules.Group) bool {
		return (admin || g.Project == model.ProjectOf(who.User)) && r.URL.Query().Get("type") != "alert"
	})
	answer := map[string]any{"status": "success", "data": map[string]any{"groups": web.OrEmpty(all)}}
	return web.Answer(w, answer, err)
}

// apply reads a rule file, or one in a JSON string.
func (a *Handlers) apply(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	body, err := a.ReadBody(w, r, min(a.MaxBodyBytes, mostFile), budget.Documents, web.MeasuresFactor, nil)
	if err != nil {
		return err
	}
	if file := ""; strings.HasPrefix(string(body), `"`) && json.Unmarshal(body, &file) == nil && !text.HasLoneSurrogate(body) {
		body = []byte(file)
	}
	groups, alerts, err := rules.Parse(body, a.engine.Parser())
	if err != nil {
		return err
	}
	owner, err := json.Marshal(who)
	names := []string{}
	for _, g := range groups {
		g.Project, g.Creator, g.Owner = model.ProjectOf(who.User), who.User, owner
		names = append(names, g.Name)
	}
	if err == nil {
		err = a.Manager.Apply(r.Context(), groups)
	}
	return web.Answer(w, map[string][]string{"groups": names, "alerts": web.OrEmpty(alerts)}, err)
}

// project returns the project of the group that a request names: the user's, or for admins another one.
func (a *Handlers) project(r *http.Request, who *auth.Identity) (string, error) {
	own := model.ProjectOf(who.User)
	if project := cmp.Or(r.URL.Query().Get("project"), own); project != own {
		return project, a.Enforce(who, "list queries", nil)
	}
	return own, nil
}

// pause lets the work of a group on earlier cells wait, or go on.
func (a *Handlers) pause(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	project, err := a.project(r, who)
	if err != nil {
		return err
	}
	fields, err := a.DecodeFields(w, r, "paused*")
	if err != nil {
		return err
	}
	paused, err := fields["paused"].Bool()
	if err == nil {
		err = a.Manager.Pause(r.Context(), project, web.Param(r, "name"), paused)
	}
	return web.NoContent(w, err)
}

func (a *Handlers) delete(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	project, err := a.project(r, who)
	if err == nil {
		err = a.Manager.Delete(r.Context(), project, web.Param(r, "name"))
	}
	return web.NoContent(w, err)
}
