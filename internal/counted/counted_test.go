package counted_test

import (
	"testing"

	"github.com/gnocco-db/gnocco/internal/counted"
)

func TestOf(t *testing.T) {
	for _, one := range []struct {
		n          uint64
		noun, want string
	}{
		{0, "metric", "0 metrics"}, {1, "metric", "1 metric"}, {2, "raw measure", "2 raw measures"},
		{1, "series", "1 series"}, {12, "raw series", "12 raw series"}, {3, "archive policy", "3 archive policies"}, {2, "day", "2 days"}, {0, "pass", "0 passes"},
	} {
		if got := counted.Of(one.n, one.noun); got != one.want {
			t.Errorf("Of(%d, %q) = %q, want %q", one.n, one.noun, got, one.want)
		}
	}
}
