package prometheus

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// writeSeries answers a remote write that keeps all labels. Prometheus logs the first line of an error: there is one,
// unless the client asks for JSON.
func (a *Handlers) writeSeries(w http.ResponseWriter, r *http.Request) {
	err := a.WithIdentity(a.postSeries)(w, r)
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		a.Fail(w, r, err)
		return
	}
	answer := web.AsError(err)
	if r.Context().Err() == nil {
		a.LogFailure(r, answer, err)
	}
	if answer.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	shown := web.Error{Detail: web.Bounded(answer.Detail)}
	http.Error(w, cmp.Or(shown.Description(), http.StatusText(answer.Status)), answer.Status)
}

// postSeries accepts a remote write. A fault of one series does not keep the others from being stored: a sender does
// not repeat a request that was answered with 400.
func (a *Handlers) postSeries(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	s := a.pool.Get()
	defer func() { a.pool.Put(s, s.bytes()) }()
	if err := a.readRemoteWrite(w, r, s); err != nil {
		return err
	}
	var first error
	dropped := 0
	p := ingest.Protocol{Labels: true, Drop: func(_ int, err error) {
		// Errors that another attempt may mend go first: a sender does not repeat a request that was answered with 400.
		if first == nil || isBadRequest(first) && !isBadRequest(err) {
			first = err
		}
		dropped++
	}}
	rows := labelledRows{&s.rows}
	if err := a.ingester.AppendNamed(r.Context(), who.User, &seriesRights{a.RightsOf(who), who, a}, rows, &p,
		&s.batch); err != nil {
		return err
	}
	a.metadata.add(who, s.rows.request.Metadata)
	switch {
	case first != nil && !isBadRequest(first):
		return first
	case first != nil:
		return web.BadRequest("%d of %d series were refused, the others stored: %s", dropped, rows.Len(),
			web.AsError(first).Description())
	case s.rows.request.NativeHistogram != "":
		return web.BadRequest("native histograms are not supported, everything else was stored: %s",
			s.rows.request.NativeHistogram)
	case s.rows.request.WrongTime != "":
		return s.wrongTime()
	}
	return nil
}

func isBadRequest(err error) bool { return web.AsError(err).Status == http.StatusBadRequest }

// labelledRows are a remote write's series, each set of labels being a metric.
type labelledRows struct{ *gnocchiRows }

// Name is of ingest.Rows.
func (r labelledRows) Name(row int) (*ingest.Name, error) {
	labels, err := r.request.Labels(row)
	if err != nil {
		return nil, invalidInput(err)
	}
	return &ingest.Name{Metric: labels.Get(model.LabelName), Labels: labels}, nil
}

// seriesRights are those of a sender of series: of new ones, so many a minute.
type seriesRights struct {
	ingest.Rights
	who      *auth.Identity
	handlers *Handlers
}

// CreateSeries is of ingest.Rights.
func (r *seriesRights) CreateSeries(metrics []*model.Metric) error {
	if err := r.Rights.CreateSeries(metrics); err != nil || len(metrics) == 0 {
		return err
	}
	most := r.handlers.Limits.NewSeries
	if r.handlers.newSeries.admit(web.ProjectOf(r.who), len(metrics), most, r.handlers.Now()) {
		return nil
	}
	return &web.Error{Status: http.StatusTooManyRequests, Detail: fmt.Sprintf(
		"a project may begin %d series in a minute: of these, label %s has the most values", most,
		widestLabel(metrics))}
}

// newSeries counts the series that projects begin in a minute. A label that is new in each measure would fill disk and
// memory with series of one measure each.
type newSeries struct {
	mu       sync.Mutex
	minute   int64
	projects map[string]int
}

// admit reports whether a project may begin n more series.
func (s *newSeries) admit(project string, n, most int, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if minute := now.Unix() / 60; minute != s.minute || s.projects == nil {
		s.minute, s.projects = minute, map[string]int{}
	}
	if s.projects[project]+n > most {
		return false
	}
	s.projects[project] += n
	return true
}

// widestLabel returns the label that has the most values, and their number.
func widestLabel(metrics []*model.Metric) string {
	values := map[string]map[string]bool{}
	widest := ""
	for _, m := range metrics {
		for name, value := range m.Labels.All() {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			if values[name][value] = true; len(values[name]) > len(values[widest]) {
				widest = name
			}
		}
	}
	return widest + " (" + strconv.Itoa(len(values[widest])) + ")"
}

// seriesMetadata is what senders said of their series, who say it every minute. It is kept in memory, by project and
// name.
type seriesMetadata struct {
	mu    sync.Mutex
	known map[string]map[string]Metadata
	count int
}

// maxMetadata is the most names of which metadata is kept.
const maxMetadata = 20_000

func (s *seriesMetadata) add(who *auth.Identity, list []Metadata) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[string]map[string]Metadata{}
	}
	project := web.ProjectOf(who)
	for _, m := range list {
		names := s.known[project]
		if names == nil {
			names = map[string]Metadata{}
			s.known[project] = names
		}
		if _, ok := names[m.Name]; !ok {
			if s.count >= maxMetadata {
				continue
			}
			s.count++
		}
		names[m.Name] = m
	}
}

// of returns what senders of the user's project said.
func (s *seriesMetadata) of(who *auth.Identity) map[string]Metadata {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.known[web.ProjectOf(who)])
}
