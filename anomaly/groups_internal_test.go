package anomaly

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// The coarsest granularity is chosen that gives a window enough groups and is kept: by the clock or, where that leaves
// no window of several groups, by the time asked about, as archives of old measures reach back from these.
func TestGranularity(t *testing.T) {
	const day = 24 * time.Hour
	var items []model.DefinitionInput
	for granularity, timespan := range map[time.Duration]time.Duration{10 * time.Second: day, time.Minute: 31 * day,
		time.Hour: 400 * day} {
		items = append(items, model.DefinitionInput{Granularity: &granularity, Timespan: &timespan})
	}
	policy, err := model.NewArchivePolicy("p", 0, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := carbonara.FromTime(time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	f := func(ago, window, want time.Duration) {
		t.Helper()
		to := now.Add(-ago)
		from := to.Add(-window)
		if got := Granularity(policy, from.Add(-window), from, now, to); got != want {
			t.Errorf("%v before %v: %v, want %v", window, ago, got, want)
		}
	}
	f(0, time.Hour, time.Minute)
	f(0, 10*time.Minute, 10*time.Second)
	f(2*day, time.Hour, time.Minute)
	f(2*day, 10*time.Minute, time.Minute) // the finer one has gone
	f(0, 30*day, time.Hour)
	f(100*day, 30*day, time.Hour)
	f(100*day, time.Hour, time.Minute) // measures of then are the newest, or there is nothing to compare
	f(100*day, time.Minute, 10*time.Second)
	f(1000*day, time.Hour, time.Minute)
}
