package model_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Placed groups come back with their columns. Those without a threshold are one byte each in base64, as they were
// before there were thresholds.
func TestPlacedGroupsKeepThresholds(t *testing.T) {
	for name, want := range map[string]string{"share_above(90)": "", "increase": `"columns":"AAUGCQ=="`} {
		m, err := carbonara.ParseMethod(name)
		fatal.If(t, err)
		columns := slices.Compact(append([]carbonara.Column{carbonara.ColumnCount}, m.Columns()...))
		g := carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{0}, Columns: columns}
		for i := range columns {
			g.Values = append(g.Values, []float64{float64(i)})
		}
		text, err := json.Marshal(model.PlacedGroups{g})
		fatal.If(t, err)
		var got model.PlacedGroups
		fatal.If(t, json.Unmarshal(text, &got))
		if len(got) != 1 || !slices.Equal(got[0].Columns, columns) || !slices.Equal(got[0].Starts, g.Starts) {
			t.Errorf("%s: %v", text, got)
		}
		if !slices.EqualFunc(got[0].Values, g.Values, slices.Equal) {
			t.Errorf("%s: values %v, want %v", text, got[0].Values, g.Values)
		}
		if want != "" && !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}
