package api

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// A sample of a policy's metrics estimates its cost.
const (
	defaultCostSample = 25
	maxCostSample     = 1000
)

// policyCostJSON is what an archive policy costs, as the API shows it. All but metrics, sampled and silent is of one
// metric.
type policyCostJSON struct {
	Policy         *model.ArchivePolicy `json:"archive_policy"`
	Metrics        int                  `json:"metrics"`
	Sampled        int                  `json:"sampled"`
	Silent         int                  `json:"silent"`
	MeasuresPerDay float64              `json:"measures_per_day"`
	StoredBytes    float64              `json:"stored_bytes"`
	RawBytes       float64              `json:"raw_bytes"`
	Bytes          float64              `json:"bytes"`
	BytesPerDay    float64              `json:"bytes_per_day"`
	Granularities  []granularityCost    `json:"granularities"`
	Assumed        []string             `json:"assumed_aggregation_methods"`
}

type granularityCost struct {
	Granularity       string   `json:"granularity"`
	Points            *int64   `json:"points"`
	AggregatesPerDay  float64  `json:"aggregates_per_day"`
	BytesPerAggregate float64  `json:"bytes_per_aggregate"`
	Bytes             *float64 `json:"bytes"`
	BytesPerDay       float64  `json:"bytes_per_day"`
	StoredBytes       float64  `json:"stored_bytes"`
	MeasuredOn        *string  `json:"measured_on"`
	Measured          int      `json:"measured_aggregates"`
}

// cost tells what a policy costs.
func (a policyHandlers) cost(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	policy, err := a.costly(r, who)
	if err != nil {
		return err
	}
	return a.writeCost(w, r, policy, policy)
}

// costOf estimates the cost of a policy's metrics under another policy. It changes nothing.
func (a policyHandlers) costOf(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	policy, err := a.costly(r, who)
	if err != nil {
		return err
	}
	fields, err := a.DecodeFields(w, r, policyChangeFields...)
	if err != nil {
		return err
	}
	change, err := parsePolicyChange(fields)
	if err != nil {
		return err
	}
	changed, err := change(policy)
	if err != nil {
		return err
	}
	return a.writeCost(w, r, policy, changed)
}

// costly returns the policy that the path names, if the user may know what it costs.
func (a policyHandlers) costly(r *http.Request, who *auth.Identity) (*model.ArchivePolicy, error) {
	policy, err := a.Index.ArchivePolicy(web.Param(r, "name"))
	if err != nil {
		return nil, err
	}
	return policy, a.Enforce(who, "get archive policy cost", web.NameTarget(policy.Name))
}

func (a policyHandlers) writeCost(w http.ResponseWriter, r *http.Request, has, policy *model.ArchivePolicy) error {
	sample, err := parseCostSample(r.URL.Query())
	if err != nil {
		return err
	}
	ids, err := a.Index.MetricsOfPolicy(r.Context(), has.Name, uuid.Nil, 0)
	if err != nil {
		return err
	}
	cost, err := query.CostOf(r.Context(), a.options.Archives, a.sampleMetrics(ids, sample), policy,
		carbonara.FromTime(a.Now()), web.StalenessOf(r.Context()))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, showPolicyCost(policy, len(ids), cost))
}

func parseCostSample(query url.Values) (int, error) {
	if !query.Has("sample") {
		return defaultCostSample, nil
	}
	n, err := strconv.Atoi(query.Get("sample"))
	if err != nil || n < 1 || n > maxCostSample {
		return 0, web.BadArgument("sample", "Must be a whole number from 1 to "+strconv.Itoa(maxCostSample))
	}
	return n, nil
}

// sampleMetrics returns up to n metrics, spread evenly over IDs, so that the same are taken each time.
func (a policyHandlers) sampleMetrics(ids []uuid.UUID, n int) (metrics []*model.Metric) {
	n = min(n, len(ids))
	for i := range n {
		if metric := a.Index.Lookup(ids[i*len(ids)/n]); metric != nil && !metric.Deleted {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

func showPolicyCost(policy *model.ArchivePolicy, metrics int, cost *query.PolicyCost) *policyCostJSON {
	shown := &policyCostJSON{Policy: policy, Metrics: metrics, Sampled: cost.Sampled, Silent: cost.Silent,
		MeasuresPerDay: cost.MeasuresPerDay, StoredBytes: cost.StoredBytes, RawBytes: cost.RawBytes,
		Bytes: cost.RawBytes, Assumed: []string{}}
	for _, item := range cost.Items {
		g := granularityCost{Granularity: model.FormatTimespan(item.Granularity),
			AggregatesPerDay: item.AggregatesPerDay, BytesPerAggregate: item.BytesPerAggregate,
			BytesPerDay: item.BytesPerDay(), StoredBytes: item.StoredBytes,
			Measured: item.Measured}
		if bytes, ok := item.Bytes(); ok {
			g.Points, g.Bytes = &item.Points, &bytes
			shown.Bytes += bytes
		} else {
			shown.BytesPerDay += g.BytesPerDay
		}
		if item.MeasuredOn > 0 {
			g.MeasuredOn = new(model.FormatTimespan(item.MeasuredOn))
		}
		shown.Granularities = append(shown.Granularities, g)
	}
	for _, method := range cost.Assumed {
		shown.Assumed = append(shown.Assumed, method.String())
	}
	return shown
}
