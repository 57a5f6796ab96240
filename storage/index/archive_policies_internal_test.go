package index

import "testing"

// An archive policy whose schema was pending before the field had its name of today still waits.
func TestSchemaPendingUnderItsEarlierName(t *testing.T) {
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
	f(`,"unsettled":true`, true)
	f(`,"schema_pending":true`, true)
}
