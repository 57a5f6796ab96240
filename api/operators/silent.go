package operators

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A sender is a resource, or the job and the instance of series that were pushed with labels.
type sender struct {
	ResourceID *uuid.UUID `json:"resource_id"`
	Resource   string     `json:"original_resource_id,omitempty"`
	Type       string     `json:"type,omitempty"`
	Job        string     `json:"job,omitempty"`
	Instance   string     `json:"instance,omitempty"`
	Metrics    int        `json:"metrics"`
	Newest     time.Time  `json:"newest"`
	newest     carbonara.Timestamp
}

// senderKey tells senders apart.
type senderKey struct {
	resource      uuid.UUID
	job, instance string
}

// senders returns all of them, with the newest measures of their metrics.
func (a *Handlers) senders(ctx context.Context) ([]*sender, error) {
	byKey := map[senderKey]*sender{}
	var ids []uuid.UUID
	var of []*sender
	err := a.Index.EachMetric(ctx, func(m *model.Metric) {
		key := senderKey{job: m.Labels.Get("job"), instance: m.Labels.Get("instance")}
		if m.ResourceID != nil {
			key = senderKey{resource: *m.ResourceID}
		}
		s := byKey[key]
		if s == nil {
			s = &sender{ResourceID: m.ResourceID, Job: key.job, Instance: key.instance}
			byKey[key] = s
		}
		s.Metrics++
		ids, of = append(ids, m.ID), append(of, s)
	})
	if err != nil {
		return nil, err
	}
	newest, err := a.LastMeasures(ctx, ids)
	if err != nil {
		return nil, err
	}
	for i, s := range of {
		s.newest = max(s.newest, newest[i])
	}
	return slices.AppendSeq(make([]*sender, 0, len(byKey)), maps.Values(byKey)), nil
}

// listSilent serves GET /v1/silent: how many senders have sent nothing for a time, and those that stopped last. One
// that never sent is none of them.
func (a *Handlers) listSilent(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	page, err := a.ParsePage(r.URL.Query())
	if err != nil {
		return err
	}
	age := time.Hour
	if text := r.URL.Query().Get("for"); text != "" {
		if age, err = model.ParseTimespan(text); err != nil {
			return web.BadArgument("for", err.Error())
		}
	}
	all, err := a.senders(r.Context())
	if err != nil {
		return err
	}
	before := carbonara.FromTime(time.Now()).Add(-age)
	silent := slices.DeleteFunc(slices.Clone(all), func(s *sender) bool { return s.newest == 0 || s.newest >= before })
	slices.SortFunc(silent, func(a, b *sender) int { return cmp.Compare(b.newest, a.newest) })
	answer := struct {
		Before  time.Time `json:"before"`
		Senders int       `json:"senders"`
		Silent  int       `json:"silent"`
		List    []*sender `json:"list"`
	}{before.Time(), len(all), len(silent), web.OrEmpty(silent[:min(page.Limit, len(silent))])}
	for _, s := range answer.List {
		s.Newest = s.newest.Time()
		if s.ResourceID == nil {
			continue
		}
		if resource, err := a.Index.Resource(model.GenericType, *s.ResourceID); err == nil { // else deleted meanwhile
			s.Resource, s.Type = resource.OriginalID, resource.Type
		}
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}
