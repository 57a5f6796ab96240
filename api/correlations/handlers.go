package correlations

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/correlations"
	"github.com/gnocco-db/gnocco/query/postings"
	evaluation "github.com/gnocco-db/gnocco/query/promql"

	"github.com/google/uuid"
)

// Handlers compare metrics: with each other, and with their own past.
type Handlers struct {
	*web.Env
	Jobs   *correlations.Jobs
	Reader *query.Reader
	Engine *evaluation.Engine
	Series *postings.Catalog
	// TypeOf decides the type of a metric.
	TypeOf func(*model.Metric) (model.SeriesType, model.TypeSource)
}

// Routes are those of correlations and of changes.
func (a *Handlers) Routes(at func(method, path string, h http.HandlerFunc)) {
	at("POST", "/v1/changes", a.Authenticated(a.Timed(a.postChanges)))
	at("GET", "/v1/correlations", a.Authenticated(a.list))
	at("POST", "/v1/correlations", a.Authenticated(a.Timed(a.create)))
	at("GET", "/v1/correlations/{id}", a.AuthenticatedAnyType(a.withJob(a.get)))
	at("DELETE", "/v1/correlations/{id}", a.Authenticated(a.withJob(a.delete)))
	at("GET", "/v1/correlations/{id}/metrics", a.Authenticated(a.withJob(a.metrics)))
	at("GET", "/v1/correlations/{id}/redundant", a.Authenticated(a.Timed(a.withJob(a.redundant))))
}

// ownerOf names the only user who may see a job, or learn that it exists.
func ownerOf(who *auth.Identity) string { return who.User + "\x00" + who.ProjectID }

// withJob finds the user's job that the path names.
func (a *Handlers) withJob(h func(http.ResponseWriter, *http.Request, *correlations.Job) error) web.UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		job, err := a.Jobs.Find(web.Param(r, "id"), ownerOf(who))
		if err != nil {
			return err
		}
		return h(w, r, job)
	}
}

// create reads the metrics' aggregates, while the client waits, and correlates them. A job that takes longer than Wait
// is answered with 202, and the client asks again.
func (a *Handlers) create(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	release, err := a.AwaitTurn(r.Context(), who) // until all is read: from there on one job is computed at a time
	if err != nil {
		return err
	}
	defer release()
	request, err := a.parseRequest(r.Context(), who, body)
	if err != nil {
		return err
	}
	page, err := parsePage(r, a.MaxLimit)
	if err != nil {
		return err
	}
	job, err := a.Jobs.Start(r.Context(), request, ownerOf(who))
	if err != nil {
		return err
	}
	release()
	status := http.StatusOK
	select {
	case <-job.Done():
	case <-time.After(a.Jobs.Wait):
		status = http.StatusAccepted
	case <-r.Context().Done(): // the client has not heard of the job, and will not ask for it
		a.Jobs.Remove(job)
		return r.Context().Err()
	}
	w.Header().Set("Location", a.BaseURL(r)+"/v1/correlations/"+job.ID.String())
	return web.WriteJSON(w, status, showJob(job, page))
}

// list shows the user's jobs, without their pairs.
func (a *Handlers) list(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	shown := []*shownJob{}
	for _, job := range a.Jobs.Of(ownerOf(who)) {
		shown = append(shown, showJob(job, page{}))
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

// correlatedMetric is one of a job's metrics in JSON.
type correlatedMetric struct {
	ID         uuid.UUID  `json:"id"`
	Name       *string    `json:"name"`
	ResourceID *uuid.UUID `json:"resource_id"`
}

// metrics names a job's metrics, in the order of their IDs.
func (a *Handlers) metrics(w http.ResponseWriter, _ *http.Request, job *correlations.Job) error {
	shown := make([]correlatedMetric, len(job.Metrics))
	for i, metric := range job.Metrics {
		shown[i] = correlatedMetric{metric.ID, web.OrNull(metric.Name), metric.ResourceID}
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

// get shows a job, and a page of its pairs.
func (a *Handlers) get(w http.ResponseWriter, r *http.Request, job *correlations.Job) error {
	page, err := parsePage(r, a.MaxLimit)
	if err != nil {
		return err
	}
	switch format := r.URL.Query().Get("format"); {
	case format == "csv", format == "" && strings.Contains(r.Header.Get("Accept"), "text/csv"):
		return writeCSV(w, job)
	case format != "" && format != "json":
		return web.BadArgument("format", "Must be json or csv")
	case !web.AcceptsJSON(r):
		return &web.Error{Status: http.StatusNotAcceptable}
	}
	return web.WriteJSON(w, http.StatusOK, showJob(job, page))
}

// delete cancels a job, or forgets its result.
func (a *Handlers) delete(w http.ResponseWriter, _ *http.Request, job *correlations.Job) error {
	a.Jobs.Remove(job)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// page is which pairs are shown: limit of them from number marker on.
type page struct{ limit, marker int }

func parsePage(r *http.Request, maxLimit int) (page, error) {
	page := page{limit: maxLimit}
	query := r.URL.Query()
	for _, part := range []struct {
		name  string
		value *int
		least int
	}{{"limit", &page.limit, 1}, {"marker", &page.marker, 0}} {
		if !query.Has(part.name) {
			continue
		}
		n, err := strconv.Atoi(query.Get(part.name))
		if err != nil || n < part.least {
			return page, web.BadArgument(part.name, "Must be a whole number of at least "+strconv.Itoa(part.least))
		}
		*part.value = n
	}
	page.limit = min(page.limit, maxLimit)
	return page, nil
}

// shownJob is a job in JSON.
type shownJob struct {
	ID          uuid.UUID   `json:"id"`
	State       string      `json:"state"`
	Error       string      `json:"error,omitempty"`
	Progress    float64     `json:"progress"`
	Aggregation string      `json:"aggregation"`
	Granularity float64     `json:"granularity"`
	StartedAt   time.Time   `json:"started_at"`
	Start       *string     `json:"start"` // of the measures, null for no bound
	Stop        *string     `json:"stop"`
	Lag         int         `json:"max_lag"`
	Groups      int         `json:"groups"`
	Metrics     int         `json:"metrics"`
	Constant    []uuid.UUID `json:"constant"`
	Counters    []uuid.UUID `json:"counters"` // whose increases were correlated
	Total       int         `json:"total"`
	Truncated   bool        `json:"truncated"`
	Pairs       []shownPair `json:"pairs"`
	Next        *int        `json:"next"`
}

// shownPair is a pair in JSON.
type shownPair struct {
	X       uuid.UUID `json:"x"`
	Y       uuid.UUID `json:"y"`
	R       float64   `json:"r"`
	Changes *float64  `json:"r_changes"` // null for none
	Lag     int       `json:"lag"`
	Overlap int64     `json:"overlap"`
}

func showPair(j *correlations.Job, p *correlate.Pair, changes float64) shownPair {
	shown := shownPair{X: j.Metric(p.I).ID, Y: j.Metric(p.J).ID, R: p.R, Lag: p.Lag, Overlap: p.Overlap}
	if !math.IsNaN(changes) {
		shown.Changes = &changes
	}
	return shown
}

// boundOf shows a time, unless it is none.
func boundOf(t, none carbonara.Timestamp) *string {
	if t == none {
		return nil
	}
	return new(t.Time().Format(time.RFC3339Nano))
}

func showJob(j *correlations.Job, page page) *shownJob {
	result := j.Result()
	shown := &shownJob{
		ID: j.ID, State: result.State, Error: result.Error, Progress: math.Floor(1000*result.Progress) / 1000,
		Aggregation: j.Aggregation,
		Granularity: j.Granularity.Seconds(), StartedAt: j.Started.UTC(), Start: boundOf(j.From, 0),
		Stop: boundOf(j.To, carbonara.MaxTimestamp), Lag: j.Lag, Groups: j.Groups, Metrics: len(j.Metrics),
		Constant: []uuid.UUID{}, Counters: []uuid.UUID{}, Pairs: []shownPair{},
	}
	for column, counter := range j.Counters {
		if counter {
			shown.Counters = append(shown.Counters, j.Metric(column).ID)
		}
	}
	if result.State != correlations.Done {
		return shown
	}
	for _, column := range result.Constant {
		shown.Constant = append(shown.Constant, j.Metric(column).ID)
	}
	shown.Total, shown.Truncated = len(result.Pairs), result.Truncated
	from := min(page.marker, len(result.Pairs))
	to := from + min(page.limit, len(result.Pairs)-from)
	for i := from; i < to; i++ {
		shown.Pairs = append(shown.Pairs, showPair(j, &result.Pairs[i], result.Changes[i]))
	}
	if to < len(result.Pairs) && page.limit > 0 {
		shown.Next = &to
	}
	return shown
}

// writeCSV writes all pairs.
func writeCSV(w http.ResponseWriter, j *correlations.Job) error {
	result := j.Result()
	if result.State != correlations.Done {
		return &web.Error{Status: http.StatusConflict, Detail: "The correlation is " + result.State}
	}
	body := []byte("x,y,r,lag,overlap,r_changes\n")
	for i, p := range result.Pairs {
		body = append(body, j.Metric(p.I).ID.String()...)
		body = append(append(append(body, ','), j.Metric(p.J).ID.String()...), ',')
		body = append(strconv.AppendFloat(body, p.R, 'g', 17, 64), ',')
		body = append(strconv.AppendInt(body, int64(p.Lag), 10), ',')
		body = append(strconv.AppendInt(body, p.Overlap, 10), ',')
		if changes := result.Changes[i]; !math.IsNaN(changes) {
			body = strconv.AppendFloat(body, changes, 'g', 17, 64)
		}
		body = append(body, '\n')
	}
	w.Header().Set("Content-Type", "text/csv; charset=UTF-8")
	web.WriteBody(w, http.StatusOK, body)
	return nil
}
