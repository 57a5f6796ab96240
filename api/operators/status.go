package operators

import (
	"net/http"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// status is the answer of GET /v1/status. As in Gnocchi, measures counts the bundles in which the measures of a
// metric came, not the measures themselves.
type status struct {
	Storage struct {
		Summary struct {
			Metrics  int `json:"metrics"`
			Measures int `json:"measures"`
		} `json:"summary"`
		MeasuresToProcess *map[string]int `json:"measures_to_process,omitempty"` // by metric; nil without details
	} `json:"storage"`
	Metricd struct {
		Processors []string       `json:"processors"` // null: there is no coordinator that knows them
		Statistics map[string]any `json:"statistics"`
	} `json:"metricd"`
	Cluster *model.ClusterStatus `json:"cluster,omitempty"` // ours; absent if there is no cluster
}

// getStatus serves GET /v1/status: how much waits to be processed.
func (a *Handlers) getStatus(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	details := true
	if err := query.ParseBool(r.URL.Query(), "details", &details); err != nil {
		return err
	}
	var answer status
	answer.Metricd.Statistics = map[string]any{}
	byMetric := make(map[string]int)
	pending, err := a.Incoming.PendingByMetric()
	if err != nil {
		return err
	}
	for metric, bundles := range pending {
		byMetric[metric.String()] = bundles
		answer.Storage.Summary.Metrics++
		answer.Storage.Summary.Measures += bundles
	}
	if a.Cluster != nil {
		answer.add(a.Cluster(r.Context()))
	}
	if details {
		answer.Storage.MeasuresToProcess = &byMetric
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// add adds what the cluster's other processes say.
func (s *status) add(cluster *model.ClusterStatus) {
	s.Cluster = cluster
	s.Storage.Summary.Measures += cluster.Bundles
	s.Metricd.Processors = []string{}
	for _, m := range cluster.Members {
		if slices.Contains(m.Roles, "metricd") {
			s.Metricd.Processors = append(s.Metricd.Processors, m.ID)
		}
	}
}

// ServeLive says that the process answers, and asks nothing. A process that does not say so should be started again.
func ServeLive(w http.ResponseWriter, _ *http.Request) {
	_ = web.WriteJSON(w, http.StatusOK, struct{}{})
}

// readiness is the answer of GET /ready.
type readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons"` // why not
	// Missing names stores that no process of the cluster holds, such as "index" and "sacks/003". That is no reason to
	// send requests elsewhere: other processes also lack them.
	Missing []string `json:"missing"`
}

// ServeReady says whether requests should be sent to this process: if there are no reasons against it.
func ServeReady(w http.ResponseWriter, reasons, missing []string) {
	_ = web.WriteJSON(w, unready(w, reasons), readiness{len(reasons) == 0, append([]string{}, reasons...),
		append([]string{}, missing...)})
}

// ServeHealth says the same as Gnocchi does, whose health check a file can make fail.
func ServeHealth(w http.ResponseWriter, r *http.Request, reasons []string) {
	status := unready(w, reasons)
	switch {
	case r.Method == http.MethodHead:
		if status == http.StatusOK {
			status = http.StatusNoContent
		}
		w.WriteHeader(status)
	case strings.Contains(r.Header.Get("Accept"), "application/json"):
		_ = web.WriteJSON(w, status, struct {
			Detailed bool     `json:"detailed"`
			Reasons  []string `json:"reasons"`
		}{Reasons: append([]string{}, reasons...)})
	default:
		w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
		web.WriteBody(w, status, []byte(strings.Join(reasons, "\n")))
	}
}

// unready returns the status of a process that is not ready for these reasons.
func unready(w http.ResponseWriter, reasons []string) (status int) {
	if len(reasons) == 0 {
		return http.StatusOK
	}
	w.Header().Set("Retry-After", "1")
	return http.StatusServiceUnavailable
}
