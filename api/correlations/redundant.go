package correlations

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/correlations"
)

// defaultRedundancy is the strength above which metrics are taken to say the same.
const defaultRedundancy = 0.99

type shownMember struct {
	Metric uuid.UUID `json:"metric"`
	Name   string    `json:"name"`
	R      float64   `json:"r"`
	// Changes is the coefficient of changes.
	Changes float64 `json:"r_changes"`
	Lag     int     `json:"lag"`
	correlations.Saving
}

type shownGroup struct {
	Keep                uuid.UUID     `json:"keep"`
	KeepName            string        `json:"keep_name"`
	Drop                []shownMember `json:"drop"`
	correlations.Saving               // of all to drop
}

// redundant groups a job's metrics that say the same, and answers what dropping or coarsening all but one of each
// would save.
func (a *Handlers) redundant(w http.ResponseWriter, r *http.Request, job *correlations.Job) error {
	threshold := max(defaultRedundancy, job.Selection.MinAbs)
	if query := r.URL.Query(); query.Has("threshold") {
		v, err := strconv.ParseFloat(query.Get("threshold"), 64)
		if err != nil || !(v > 0 && v <= 1) {
			return web.BadArgument("threshold", "Must be a number above 0, and 1 at most")
		}
		threshold = v
	}
	if state := job.Result().State; state != correlations.Done {
		return &web.Error{Status: http.StatusConflict, Detail: "The correlation is " + state}
	}
	if job.Selection.TopPerColumn > 0 {
		return &web.Error{Status: http.StatusConflict,
			Detail: "The correlation has the strongest pairs of each metric only: ask for one without top_per_metric"}
	}
	if least := job.Least(); threshold < least {
		return web.BadArgument("threshold", fmt.Sprintf("The result has no pairs below %v", least))
	}
	groups, trends := job.Redundant(threshold)
	var dropped []*model.Metric
	for _, group := range groups {
		for _, other := range group.Others {
			dropped = append(dropped, job.Metric(other.Column))
		}
	}
	costs, err := a.Jobs.Costs(r.Context(), dropped, web.StalenessOf(r.Context()))
	if err != nil {
		return err
	}
	answer := struct {
		Threshold float64      `json:"threshold"`
		Groups    []shownGroup `json:"groups"`
		correlations.Saving
		Trends      []shownPair `json:"shared_trends"`
		TrendsTotal int         `json:"shared_trends_total"`
	}{Threshold: threshold, Groups: []shownGroup{}, Trends: []shownPair{}, TrendsTotal: len(trends)}
	for _, t := range trends[:min(len(trends), 100)] {
		answer.Trends = append(answer.Trends, showPair(job, &t.Pair, t.Changes))
	}
	for _, group := range groups {
		keep := job.Metric(group.Keep)
		shown := shownGroup{Keep: keep.ID, KeepName: keep.Name}
		for _, other := range group.Others {
			metric := job.Metric(other.Column)
			shown.Drop = append(shown.Drop,
				shownMember{metric.ID, metric.Name, other.R, other.Changes, other.Lag, costs[0]})
			shown.Add(costs[0])
			costs = costs[1:]
		}
		answer.Add(shown.Saving)
		answer.Groups = append(answer.Groups, shown)
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}
