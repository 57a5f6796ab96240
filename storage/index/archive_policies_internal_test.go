package index

import "testing"

// An archive policy's value says whether its schema is pending.
func TestSchemaPendingIsKept(t *testing.T) {
	f := func(field string, want bool) {
		t.Helper()
		p, err := decodeArchivePolicy("p", append([]byte{1},
			`{"back_window":0,"definition":[{"granularity_ns":60000000000}],`+
				`"aggregation_methods":["mean"]`+field+`}`...))
		if err != nil || p.SchemaPending != want {
			t.Errorf("%s: %+v, %v", field, p, err)
		}
	}
	f(``, false)
	f(`,"schema_pending":true`, true)
}
