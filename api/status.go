package api

import (
	"net/http"
	"slices"
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
	Cluster *Cluster `json:"cluster,omitempty"` // ours; absent where there is one process only that tells nothing
}

// Cluster is what the processes of a cluster say of themselves.
type Cluster struct {
	Members []Member  `json:"members"`
	Claims  []Claim   `json:"claims"`
	Sacks   []SackLag `json:"sacks"`            // those with measures that wait
	Silent  []string  `json:"silent,omitempty"` // members that did not answer: what they hold is left out

	Bundles int `json:"-"` // in other processes' backlogs: which metrics they are of is not told
}

// Member is a process of a cluster.
type Member struct {
	ID      string   `json:"id"`
	Address string   `json:"address"`
	Roles   []string `json:"roles"`
}

// Claim is a store that a member holds.
type Claim struct {
	Name   string `json:"name"` // such as "sacks/003"
	Epoch  uint64 `json:"epoch"`
	Member string `json:"member"` // its ID
}

// SackLag is how far behind the processing of a sack is.
type SackLag struct {
	Sack     int     `json:"sack"`
	Measures int     `json:"measures"`
	Seconds  float64 `json:"seconds"` // since the oldest was accepted
}

// getStatus tells how much waits to be processed.
func (a *api) getStatus(w http.ResponseWriter, r *http.Request, _ *Identity) error {
	details, err := parseBool(r.URL.Query(), "details", true)
	if err != nil {
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
	return writeJSON(w, http.StatusOK, answer)
}

// add adds what the cluster's other processes say.
func (s *status) add(cluster *Cluster) {
	s.Cluster = cluster
	s.Storage.Summary.Measures += cluster.Bundles
	s.Metricd.Processors = []string{}
	for _, m := range cluster.Members {
		if slices.Contains(m.Roles, "metricd") {
			s.Metricd.Processors = append(s.Metricd.Processors, m.ID)
		}
	}
}
