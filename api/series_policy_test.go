package api_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/api"
	"github.com/gnocco-db/gnocco/model"
)

// An API that starts over an earlier version's policy of pushed series says which methods that lacks, and what adds
// them. A policy of an operator's own is not spoken of.
func TestEarlierPolicyOfSeriesIsWarnedOf(t *testing.T) {
	f := func(want string, methods ...string) {
		t.Helper()
		var log bytes.Buffer
		newServer(t, func(o *api.Options) {
			o.Logger = slog.New(slog.NewJSONHandler(&log, nil))
			if len(methods) == 0 {
				return
			}
			minute := time.Minute
			policy, err := model.NewArchivePolicy("prometheus", 2, []model.DefinitionInput{{Granularity: &minute}}, methods)
			check(t, err)
			check(t, o.Index.CreateArchivePolicy(t.Context(), policy))
		})
		text := strings.ReplaceAll(log.String(), `\"`, `"`)
		if strings.Count(text, `"level":"WARN"`) != min(len(want), 1) || !strings.Contains(text, want) {
			t.Errorf("%v: %s", methods, text)
		}
	}
	earlier := []string{"mean", "min", "max", "sum", "count", "last", "95pct"}
	f("")
	f(`"methods":["std","first"],"to_add":"PATCH /v1/archive_policy/prometheus?rebuild=true {"aggregation_methods":`+
		`["mean","sum","last","max","min","count","95pct","std","first"]}"`, earlier...)
	f(`"methods":["first"]`, append(slices.Clone(earlier), "std", "median")...)
	f("", append(slices.Clone(earlier), "first", "std")...)
	f("", "mean", "last")
}
