package api

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// ownerOf is who may see a job: nobody else knows that it is there.
func ownerOf(who *Identity) string { return who.User + "\x00" + who.ProjectID }

// postCorrelation reads the metrics' aggregates, while the client waits, and correlates them: what takes longer than Wait is
// answered with 202, and to be asked for again.
func (a *api) postCorrelation(w http.ResponseWriter, r *http.Request, who *Identity) error {
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	request, err := a.parseCorrelation(r.Context(), who, body)
	if err != nil {
		return err
	}
	page, err := parseCorrelationPage(r, a.MaxLimit)
	if err != nil {
		return err
	}
	if err := a.correlations.reserve(); err != nil {
		return err
	}
	values, err := a.readCorrelated(r.Context(), request)
	if err != nil {
		a.correlations.release()
		return err
	}
	job := &correlationJob{correlationRequest: request, id: uuid.New(), owner: ownerOf(who), groups: len(values[0]),
		done: make(chan struct{}), state: jobQueued}
	a.correlations.start(job, values, &a.Correlations)
	timer := time.NewTimer(a.Correlations.Wait)
	defer timer.Stop()
	status := http.StatusOK
	select {
	case <-job.done:
	case <-timer.C:
		status = http.StatusAccepted
	case <-r.Context().Done(): // who has not heard of the job will not ask for it
		a.correlations.remove(job)
		return r.Context().Err()
	}
	w.Header().Set("Location", a.baseURL(r)+"/v1/correlations/"+job.id.String())
	return writeJSON(w, status, job.show(page))
}

// getCorrelation shows a job, and a page of its pairs.
func (a *api) getCorrelation(w http.ResponseWriter, r *http.Request, who *Identity) error {
	job, err := a.correlations.find(param(r, "id"), ownerOf(who))
	if err != nil {
		return err
	}
	page, err := parseCorrelationPage(r, a.MaxLimit)
	if err != nil {
		return err
	}
	switch format := r.URL.Query().Get("format"); {
	case format == "csv", format == "" && strings.Contains(r.Header.Get("Accept"), "text/csv"):
		return job.writeCSV(w)
	case format != "" && format != "json":
		return badArgument("format", "Must be json or csv")
	case !acceptsJSON(r):
		return &Error{Status: http.StatusNotAcceptable}
	}
	return writeJSON(w, http.StatusOK, job.show(page))
}

// deleteCorrelation cancels a job, or forgets its result.
func (a *api) deleteCorrelation(w http.ResponseWriter, r *http.Request, who *Identity) error {
	job, err := a.correlations.find(param(r, "id"), ownerOf(who))
	if err != nil {
		return err
	}
	a.correlations.remove(job)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// correlationPage is which pairs are shown: limit of them from number marker on.
type correlationPage struct{ limit, marker int }

func parseCorrelationPage(r *http.Request, maxLimit int) (correlationPage, error) {
	page := correlationPage{limit: maxLimit}
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
			return page, badArgument(part.name, "Must be a whole number of at least "+strconv.Itoa(part.least))
		}
		*part.value = n
	}
	page.limit = min(page.limit, maxLimit)
	return page, nil
}

// shownCorrelation is a job in JSON.
type shownCorrelation struct {
	ID          uuid.UUID   `json:"id"`
	State       string      `json:"state"`
	Fault       string      `json:"fault,omitempty"`
	Progress    float64     `json:"progress"`
	Aggregation string      `json:"aggregation"`
	Granularity float64     `json:"granularity"`
	Groups      int         `json:"groups"`
	Metrics     int         `json:"metrics"`
	Constant    []uuid.UUID `json:"constant"`
	Total       int         `json:"total"`
	Cut         bool        `json:"cut"`
	Pairs       []shownPair `json:"pairs"`
	Next        *int        `json:"next"`
}

// shownPair is a pair in JSON.
type shownPair struct {
	X       uuid.UUID `json:"x"`
	Y       uuid.UUID `json:"y"`
	R       float64   `json:"r"`
	Lag     int       `json:"lag"`
	Overlap int64     `json:"overlap"`
}

func (j *correlationJob) show(page correlationPage) *shownCorrelation {
	j.mu.Lock()
	defer j.mu.Unlock()
	shown := &shownCorrelation{
		ID: j.id, State: j.state, Fault: j.fault, Progress: math.Floor(1000*j.progress()) / 1000, Aggregation: j.aggregation,
		Granularity: j.granularity.Seconds(), Groups: j.groups, Metrics: len(j.metrics), Constant: []uuid.UUID{}, Pairs: []shownPair{},
	}
	if j.state != jobDone {
		return shown
	}
	for _, column := range j.constant {
		shown.Constant = append(shown.Constant, j.metric(column).ID)
	}
	shown.Total, shown.Cut = len(j.pairs), j.cut
	from := min(page.marker, len(j.pairs))
	to := from + min(page.limit, len(j.pairs)-from)
	for _, p := range j.pairs[from:to] {
		shown.Pairs = append(shown.Pairs, shownPair{j.metric(p.I).ID, j.metric(p.J).ID, p.R, p.Lag, p.Overlap})
	}
	if to < len(j.pairs) {
		shown.Next = &to
	}
	return shown
}

// writeCSV writes all pairs.
func (j *correlationJob) writeCSV(w http.ResponseWriter) error {
	j.mu.Lock()
	state, pairs := j.state, j.pairs // which does not change any more once done
	j.mu.Unlock()
	if state != jobDone {
		return &Error{Status: http.StatusConflict, Detail: "The correlation is " + state}
	}
	body := []byte("x,y,r,lag,overlap\n")
	for _, p := range pairs {
		body = append(body, j.metric(p.I).ID.String()...)
		body = append(append(append(body, ','), j.metric(p.J).ID.String()...), ',')
		body = append(strconv.AppendFloat(body, p.R, 'g', 17, 64), ',')
		body = append(strconv.AppendInt(body, int64(p.Lag), 10), ',')
		body = append(strconv.AppendInt(body, p.Overlap, 10), '\n')
	}
	w.Header().Set("Content-Type", "text/csv; charset=UTF-8")
	writeBody(w, http.StatusOK, body)
	return nil
}
