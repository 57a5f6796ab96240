package prometheus

import (
	"encoding/json"
	"slices"

	"github.com/gnocco-db/gnocco/model"
)

// warnOfSeriesPolicy names the methods that the archive policy of pushed series lacks if an earlier version created it.
// A policy that lacks others is an operator's choice.
func (a *Handlers) warnOfSeriesPolicy() {
	series := model.SeriesArchivePolicy()
	policy, err := a.Index.ArchivePolicy(series.Name)
	if err != nil {
		return // not yet needed
	}
	methods := policy.MethodNames()
	missing := slices.DeleteFunc(series.MethodNames(), func(m string) bool { return slices.Contains(methods, m) })
	if len(missing) == 0 || slices.ContainsFunc(missing, func(m string) bool { return m != "std" && m != "first" }) {
		return
	}
	body, _ := json.Marshal(map[string][]string{"aggregation_methods": append(methods, missing...)})
	a.Logger.Warn("archive policy of an earlier version lacks methods; stddev_over_time, stdvar_over_time and "+
		"first_over_time need them", "archive_policy", series.Name, "methods", missing,
		"to_add", "PATCH /v1/archive_policy/"+series.Name+"?rebuild=true "+string(body))
}
