package operators

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
)

// LoadQuotas gives the book the default, and the quotas that the index has. A process without the index gets them from
// its holder.
func (a *Handlers) LoadQuotas() error {
	if a.Index == nil {
		return nil
	}
	a.Index.BoundSeries(func(project string) int64 { return a.Quotas.Of(project).Series })
	return a.changeQuotas(context.Background(), func() error { return nil })
}

// changeQuotas changes the quotas in the index, and then those in force.
func (a *Handlers) changeQuotas(ctx context.Context, change func() error) error {
	a.quotasMu.Lock()
	defer a.quotasMu.Unlock()
	if err := change(); err != nil {
		return err
	}
	own, err := a.Index.Quotas(ctx)
	if err == nil {
		a.Quotas.Set(a.Quota, own)
	}
	return err
}

// maxProjectBytes is what an ID of a project may have: as much as a user's name.
const maxProjectBytes = 255

// quotaHandlers serve the quotas and the usage of projects.
type quotaHandlers struct{ *Handlers }

// usageJSON is the usage of a project.
type usageJSON struct {
	Project  string       `json:"project"`
	Quota    model.Quota  `json:"quota"`     // in force; -1: no bound
	OwnQuota *model.Quota `json:"own_quota"` // null: it has the default
	Series   int64        `json:"series"`
	Measures float64      `json:"measures_per_second"` // the mean of the last 10 s
	Requests float64      `json:"requests_per_second"`
}

// usages returns a function that returns the usage of a project, and all projects that have series or a quota.
func (a quotaHandlers) usages(ctx context.Context) (of func(project string) usageJSON, projects []string, err error) {
	series, err := a.Index.SeriesOfProjects()
	if err != nil {
		return nil, nil, err
	}
	own, err := a.Index.Quotas(ctx)
	if err != nil {
		return nil, nil, err
	}
	of = func(project string) usageJSON {
		u := usageJSON{Project: project, Quota: a.Quotas.Of(project), Series: series[project],
			Measures: a.Quotas.Rate(quota.Measures, project), Requests: a.Quotas.Rate(quota.Requests, project)}
		for _, bound := range []*int64{&u.Quota.Series, &u.Quota.Measures, &u.Quota.Requests} {
			*bound = cmp.Or(*bound, model.Unlimited)
		}
		if q, ok := own[project]; ok {
			u.OwnQuota = &q
		}
		return u
	}
	maps.DeleteFunc(series, func(_ string, n int64) bool { return n == 0 })
	projects = slices.AppendSeq(slices.Collect(maps.Keys(series)), maps.Keys(own))
	slices.Sort(projects)
	return of, slices.Compact(projects), nil
}

// own shows a project its usage.
func (a quotaHandlers) own(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	return a.show(w, r, model.ProjectOf(who.User), true)
}

func (a quotaHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	return a.show(w, r, web.Param(r, "project"), false)
}

// show shows a project; empty allows one without series and quota.
func (a quotaHandlers) show(w http.ResponseWriter, r *http.Request, project string, empty bool) error {
	of, projects, err := a.usages(r.Context())
	if err != nil {
		return err
	}
	if _, known := slices.BinarySearch(projects, project); !known && !empty {
		return model.NotFound(model.NounProject, project)
	}
	return web.WriteJSON(w, http.StatusOK, of(project))
}

func (a quotaHandlers) list(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	page, err := a.ParsePage(r.URL.Query())
	if err != nil {
		return err
	}
	of, projects, err := a.usages(r.Context())
	if err != nil {
		return err
	}
	shown := []usageJSON{}
	for _, project := range projects {
		if project > page.Marker && len(shown) < page.Limit {
			shown = append(shown, of(project))
		}
	}
	if len(shown) == page.Limit {
		a.SetLink(w, r, r.URL.Query(), page, shown[len(shown)-1].Project)
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

// replace gives a project a quota of its own.
func (a quotaHandlers) replace(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "series", "measures_per_second", "requests_per_second")
	if err != nil {
		return err
	}
	var own model.Quota
	for name, bound := range map[string]*int64{"series": &own.Series, "measures_per_second": &own.Measures,
		"requests_per_second": &own.Requests} {
		field, ok := fields[name]
		if !ok {
			continue
		}
		if number, ok := field.Value.(json.Number); !ok || strings.ContainsAny(number.String(), ".eE") {
			return field.Fault("expected an integer") // ours, and not as lenient as Gnocchi's
		}
		if *bound, err = field.Integer(model.Unlimited); err != nil {
			return err
		}
		if *bound == 0 {
			return field.Fault("value must be at least 1, or %d for no bound", model.Unlimited)
		}
	}
	project := web.Param(r, "project")
	if len(project) > maxProjectBytes {
		return web.BadRequest("A project's ID has %d bytes at most", maxProjectBytes)
	}
	err = a.changeQuotas(r.Context(), func() error { return a.Index.PutQuota(r.Context(), project, own) })
	if err != nil {
		return err
	}
	return a.show(w, r, project, true)
}

// delete gives a project the default quota.
func (a quotaHandlers) delete(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	project := web.Param(r, "project")
	own, err := a.Index.Quotas(r.Context())
	if err != nil {
		return err
	}
	if _, ok := own[project]; !ok {
		return model.NotFound(model.NounQuota, project)
	}
	err = a.changeQuotas(r.Context(), func() error { return a.Index.DeleteQuota(r.Context(), project) })
	if err != nil {
		return err
	}
	web.WriteBody(w, http.StatusNoContent, nil)
	return nil
}
