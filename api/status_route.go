package api

import (
	"net/http"
	"slices"

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
func (a *api) getStatus(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	details, err := query.ParseBool(r.URL.Query(), "details", true)
	if err != nil {
		return err
	}
	var answer status
	answer.Metricd.Statistics = map[string]any{}
	byMetric := make(map[string]int)
	pending, err := a.options.Incoming.PendingByMetric()
	if err != nil {
		return err
	}
	for metric, bundles := range pending {
		byMetric[metric.String()] = bundles
		answer.Storage.Summary.Metrics++
		answer.Storage.Summary.Measures += bundles
	}
	if a.options.Cluster != nil {
		answer.add(a.options.Cluster(r.Context()))
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
