package measures_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/measures"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestDecodeResources(t *testing.T) {
	var d measures.Decoder
	var m measures.ResourceMeasures
	body := []byte(`{"foobar": {"auto.test": [{"timestamp": 1, "value": 43.1}, {"timestamp": 2, "value": 12}],
		"empty": [], "unit": {"unit": "B", "archive_policy_name": "l\u006fw", "measures": [{"timestamp": "1970-01-01", "value": "NaN"}]}},
		"` + idText + `": {"x": [{"timestamp": 3, "value": 4}]}, "none": {}}`)
	fatal.If(t, d.DecodeResources(body, now, &m))
	clear(body) // the result is its own
	want := []measures.ResourceMetric{{"foobar", "auto.test", "", ""}, {"foobar", "empty", "", ""},
		{"foobar", "unit", "low", "B"}, {idText, "x", "", ""}}
	if !slices.Equal(m.Names, want) {
		t.Errorf("got %+v", m.Names)
	}
	if !slices.Equal(m.Measures.Offsets, []int{0, 2, 2, 3, 4}) ||
		!slices.Equal(m.Measures.Metrics, make([]uuid.UUID, 4)) {
		t.Errorf("got %+v", m.Measures)
	}
	if ts, values := m.Measures.Of(0); ts[1] != 2e9 || values[0] != 43.1 {
		t.Errorf("got %v, %v", ts, values)
	}

	f := func(body, reason string, path ...string) {
		t.Helper()
		err := d.DecodeResources([]byte(body), now, &m)
		var fault *measures.DecodeError
		if !errors.As(err, &fault) || fault.Reason != reason || !slices.Equal(fault.Path, path) {
			t.Errorf("%s: got %+v", body, fault)
		}
		if len(m.Names) != 0 || len(m.Measures.Metrics) != 0 || m.Measures.Len() != 0 {
			t.Errorf("%s: left %+v", body, m)
		}
	}
	const format = "unexpected measures format for dictionary value @ data"
	f(`[]`, "expected a dictionary")
	f(`{"r":[]}`, "expected a dictionary for dictionary value @ data['r']", "r")
	f(`{"r":{"m":[["2015-03-06T14:33:57", 43.1]]}}`, format+"['r']['m']", "r", "m")
	f(`{"r":{"m":{"unit":"B"}}}`, format+"['r']['m']", "r", "m")
	f(`{"r":{"m":{"measures":[1]}}}`, format+"['r']['m']['measures']", "r", "m", "measures")
	f(`{"r":{"m":{"measures":[],"unit":1}}}`, "expected str for dictionary value @ data['r']['m']['unit']", "r", "m",
		"unit")
	f(`{"r":{"m":{"measures":[],"x":1}}}`, "extra keys not allowed @ data['r']['m']['x']", "r", "m", "x")
	twice := func(path string) string { return "the key stands there twice for dictionary value @ data" + path }
	f(`{"r":{"m":[]},"q":{},"r":{}}`, twice("['r']"), "r")
	f(`{"r":{"m":[],"m":[]}}`, twice("['r']['m']"), "r", "m")
	f(`{"r":{"m":{"measures":[],"measures":[]}}}`, twice("['r']['m']['measures']"), "r", "m", "measures")
	f(`{"r":{"m":{"measures":[],"unit":"a","unit":"a"}}}`, twice("['r']['m']['unit']"), "r", "m", "unit")
	f(`{"ok":{"m":[{"timestamp":1,"value":1}]},"r":{"m":5}}`, format+"['r']['m']", "r", "m")
}
