package carbonara_test

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

func TestTimestampCeil(t *testing.T) {
	f := func(at carbonara.Timestamp, granularity time.Duration, want carbonara.Timestamp) {
		t.Helper()
		if got := at.Ceil(granularity); got != want {
			t.Errorf("%d up to %d is %d, want %d", at, granularity, got, want)
		}
	}
	f(0, 60, 0)
	f(1, 60, 60)
	f(59, 60, 60)
	f(60, 60, 60)
	f(61, 60, 120)
	f(carbonara.MaxTimestamp, 1e9, carbonara.MaxTimestamp)
}
