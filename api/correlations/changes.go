package correlations

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/anomaly"
	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// shownChanges is what POST /v1/changes answers.
type shownChanges struct {
	Before   string        `json:"before"`
	Start    string        `json:"start"`
	Stop     string        `json:"stop"`
	Metrics  int           `json:"metrics"`
	Compared int           `json:"compared"`
	Changes  []shownChange `json:"changes"`
}

type shownChange struct {
	ID          uuid.UUID      `json:"id"`
	Labels      labels.Labels  `json:"labels"`
	Granularity text.Seconds   `json:"granularity"`
	Score       text.Seconds   `json:"score"`
	Before      text.Seconds   `json:"before"`
	After       text.Seconds   `json:"after"`
	Usual       text.Seconds   `json:"usual"`
	PerSecond   bool           `json:"per_second"`
	Quantile    *float64       `json:"quantile"`
	MovedAt     string         `json:"moved_at"`
	Seasons     []string       `json:"seasons"`
	Series      int            `json:"series"`
	Moved       int            `json:"moved"` // of them
	Where       []anomaly.Pair `json:"where"` // that these have and others don't
}

// postChanges says which metrics moved most from the window before to a window. It finds metrics as PromQL does, those
// of which the user may get measures.
func (a *Handlers) postChanges(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "match", "aggregation", "start*", "stop*", "limit", "each_series")
	if err != nil {
		return err
	}
	read, matchers, err := a.parseChanges(fields)
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		read.Metrics = nil
		return a.answerChanges(w, r, who, read, matchers)
	})
}

func (a *Handlers) answerChanges(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	read *query.ChangesRead, matchers []*labels.Matcher) error {
	found, err := a.Series.Select(r.Context(), a.VisibleSeries(who, "get measures"), matchers...)
	if err != nil {
		return err
	}
	shown, named := make(map[uuid.UUID]labels.Labels, len(found)), make(map[string][]*model.Metric)
	for _, s := range found {
		shown[s.Metric.ID] = s.Labels
		read.Metrics = append(read.Metrics, s.Metric)
		name := s.Metric.SeriesName()
		named[name] = append(named[name], s.Metric)
	}
	read.Staleness = web.StalenessOf(r.Context())
	changes, compared, err := a.Reader.Changes(r.Context(), read)
	if err != nil {
		return err
	}
	answer := shownChanges{web.ShowTime(read.Before()), web.ShowTime(read.From), web.ShowTime(read.To), len(found),
		compared, []shownChange{}}
	for _, c := range changes {
		change := shownChange{c.Metric.ID, shown[c.Metric.ID], text.Seconds(c.Granularity.Seconds()),
			text.Seconds(c.Score), text.Seconds(c.Before), text.Seconds(c.After), text.Seconds(c.Usual), c.PerSecond,
			nil, web.ShowTime(c.Onset), []string{}, c.Series, len(c.Moved),
			separate(&c, shown, named[c.Metric.SeriesName()])}
		for _, from := range c.Seasons {
			change.Seasons = append(change.Seasons, web.ShowTime(from))
		}
		if c.Quantile > 0 {
			change.Quantile = &c.Quantile
			change.Labels = labels.NewBuilder(change.Labels).Del(labels.BucketLabel, model.LabelHistogram).Labels()
		}
		answer.Changes = append(answer.Changes, change)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// separate returns the labels by which the series of a change's name that moved differ from the others.
func separate(c *query.Change, shown map[uuid.UUID]labels.Labels, named []*model.Metric) []anomaly.Pair {
	if c.Series < 2 {
		return []anomaly.Pair{}
	}
	return web.OrEmpty(anomaly.Separate(len(named),
		func(i int) bool { return c.Moved[named[i].ID] },
		func(i int) labels.Labels { return shown[named[i].ID] }))
}

func (a *Handlers) parseChanges(fields map[string]web.Node) (
	read *query.ChangesRead, matchers []*labels.Matcher, err error) {
	read = &query.ChangesRead{Now: carbonara.FromTime(a.Now()), Method: carbonara.Mean, TypeOf: a.TypeOf}
	if in, ok := fields["match"]; ok {
		selector, err := in.Text(0)
		if err != nil {
			return nil, nil, err
		}
		lists, err := a.Engine.Matchers(selector)
		if err != nil {
			return nil, nil, in.Fault("%v", err)
		}
		matchers = lists[0]
	}
	most := int64(20)
	web.Take(&err, fields, "aggregation", &read.Method, parseMethod)
	web.Take(&err, fields, "each_series", &read.EachSeries, web.Node.Bool)
	web.Take(&err, fields, "limit", &most, web.AtLeast(1))
	web.Take(&err, fields, "start", &read.From, web.TimestampAt(read.Now))
	web.Take(&err, fields, "stop", &read.To, web.TimestampAt(read.Now))
	if err != nil {
		return nil, nil, err
	}
	read.Most = int(min(most, int64(a.MaxLimit)))
	if read.To <= read.From {
		return nil, nil, fields["stop"].Fault("not after start")
	}
	if width := read.To - read.From; width < 0 || read.Before() > read.From {
		return nil, nil, fields["start"].Fault("there is no time before as long as this")
	}
	return read, matchers, nil
}

func parseMethod(in web.Node) (m carbonara.Method, err error) {
	name, err := in.Text(0)
	if err != nil {
		return m, err
	}
	if m, err = carbonara.ParseMethod(name); err != nil {
		return m, in.Fault("%q is not an aggregation method", name)
	}
	return m, nil
}
