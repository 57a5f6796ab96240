package correlations

import (
	"cmp"
	"net/http"
	"slices"
	"time"

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
	Before   string         `json:"before"`
	Start    string         `json:"start"`
	Stop     string         `json:"stop"`
	Metrics  int            `json:"metrics"`
	Compared int            `json:"compared"`
	Moved    int            `json:"moved"` // far, of them
	Where    []anomaly.Pair `json:"where"` // that these have and others don't
	Changes  []shownChange  `json:"changes"`
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
	Lag         *text.Seconds  `json:"lag"`
	Seasons     []string       `json:"seasons"`
	Series      int            `json:"series"`
	Moved       int            `json:"moved"` // of them
	Where       []anomaly.Pair `json:"where"` // that these have and others don't
	Alike       []shownChange  `json:"alike"`

	onset carbonara.Timestamp
	exact time.Duration // how far the onset may be off
	order int           // before a moment, with it or after it; else 2
}

// movedFar is the score from which on a metric counts as moved among those of all names. Few metrics reach it in a
// quiet hour.
const movedFar = 4

// postChanges says which metrics moved most from the window before to a window, when, and in which labels they differ
// from others. It finds metrics as PromQL does, those of which the user may get measures.
func (a *Handlers) postChanges(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "match", "aggregation", "start*", "stop*", "at", "limit", "each_series")
	if err != nil {
		return err
	}
	read := &query.ChangesRead{Now: carbonara.FromTime(a.Now()), Method: carbonara.Mean, TypeOf: a.TypeOf}
	most, at := int64(20), carbonara.Timestamp(0)
	var matchers []*labels.Matcher
	web.Take(&err, fields, "match", &matchers, func(in web.Node) ([]*labels.Matcher, error) {
		selector, err := in.Text(0)
		if err != nil {
			return nil, err
		}
		lists, err := a.Engine.Matchers(selector)
		if err != nil {
			return nil, in.Fault("%v", err)
		}
		return lists[0], nil
	})
	web.Take(&err, fields, "aggregation", &read.Method, parseMethod)
	web.Take(&err, fields, "each_series", &read.EachSeries, web.Node.Bool)
	web.Take(&err, fields, "limit", &most, web.AtLeast(1))
	web.Take(&err, fields, "start", &read.From, web.TimestampAt(read.Now))
	web.Take(&err, fields, "stop", &read.To, web.TimestampAt(read.Now))
	web.Take(&err, fields, "at", &at, web.TimestampAt(read.Now))
	read.Most = int(min(most, int64(a.MaxLimit)))
	if width := read.To - read.From; err == nil && read.To <= read.From {
		err = fields["stop"].Fault("not after start")
	} else if err == nil && (width < 0 || read.Before() > read.From) {
		err = fields["start"].Fault("there is no time before as long as this")
	}
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		read.Metrics = nil
		return a.answerChanges(w, r, who, read, matchers, at)
	})
}

func (a *Handlers) answerChanges(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	read *query.ChangesRead, matchers []*labels.Matcher, at carbonara.Timestamp) error {
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
	changes, moved, compared, err := a.Reader.Changes(r.Context(), read)
	if err != nil {
		return err
	}
	// separate returns the labels by which the metrics that moved so far differ from the others.
	separate := func(metrics []*model.Metric, least float64) []anomaly.Pair {
		return web.OrEmpty(anomaly.Separate(len(metrics),
			func(i int) bool { score, ok := moved[metrics[i].ID]; return ok && score >= least },
			func(i int) labels.Labels { return shown[metrics[i].ID] }))
	}
	answer := shownChanges{web.ShowTime(read.Before()), web.ShowTime(read.From), web.ShowTime(read.To), len(found),
		compared, 0, nil, []shownChange{}}
	var among []*model.Metric // of names some of which moved far
	for _, metrics := range named {
		before := answer.Moved
		for _, m := range metrics {
			if moved[m.ID] >= movedFar {
				answer.Moved++
			}
		}
		if answer.Moved > before {
			among = append(among, metrics...)
		}
	}
	answer.Where = separate(among, movedFar)
	for _, c := range changes {
		change := shownChange{c.Metric.ID, shown[c.Metric.ID], text.Seconds(c.Granularity.Seconds()),
			text.Seconds(c.Score), text.Seconds(c.Before), text.Seconds(c.After), text.Seconds(c.Usual), c.PerSecond,
			nil, web.ShowTime(c.Onset), nil, []string{}, c.Series, c.Moved, []anomaly.Pair{}, []shownChange{},
			c.Onset, 2 * c.Granularity, 2}
		for _, from := range c.Seasons {
			change.Seasons = append(change.Seasons, web.ShowTime(from))
		}
		if c.Series > 1 {
			change.Where = separate(named[c.Metric.SeriesName()], 0)
		}
		if c.Quantile > 0 {
			change.Quantile = &c.Quantile
			change.Labels = labels.NewBuilder(change.Labels).Del(labels.BucketLabel, model.LabelHistogram).Labels()
		}
		if at > 0 && c.Moved > 0 {
			lag := text.Seconds(time.Duration(c.Onset - at).Seconds())
			if time.Duration(c.Onset-at).Abs() <= change.exact {
				lag = 0
			}
			change.Lag, change.order = &lag, cmp.Compare(lag, 0)
		}
		if i := slices.IndexFunc(answer.Changes, change.alike); i >= 0 && at > 0 && !read.EachSeries {
			answer.Changes[i].Alike = append(answer.Changes[i].Alike, change)
		} else {
			answer.Changes = append(answer.Changes, change)
		}
	}
	slices.SortStableFunc(answer.Changes, func(a, b shownChange) int { return a.order - b.order })
	return web.WriteJSON(w, http.StatusOK, answer)
}

// alike reports whether series of two names moved at the same time, and the same labels say which, or all did.
func (c *shownChange) alike(of shownChange) bool {
	same := func(a, b anomaly.Pair) bool { return a.Label == b.Label && a.Value == b.Value }
	return c.Moved > 0 && of.Moved > 0 && time.Duration(c.onset-of.onset).Abs() <= max(c.exact, of.exact) &&
		slices.EqualFunc(c.Where, of.Where, same) && (len(c.Where) > 0 || c.Moved == c.Series && of.Moved == of.Series)
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
