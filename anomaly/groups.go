package anomaly

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// groupsToCompare is how many groups a window has at least, if the archive policy has a granularity that is as fine.
const groupsToCompare = 20

// Granularity returns the coarsest granularity that gives a window from a time on enough groups, of those that still
// have the window before; else the finest of these, else the finest of all. asked is a time at which there were
// measures: archives of old ones reach back from the newest. It decides where a quarter as many groups are not there.
func Granularity(policy *model.ArchivePolicy, before, from, now, asked carbonara.Timestamp) time.Duration {
	all := slices.Sorted(slices.Values(policy.Granularities()))
	chosen := all[0]
	for _, now := range []carbonara.Timestamp{now, asked} {
		none := true
		for _, g := range all {
			timespan := policy.Timespan(g)
			if timespan > 0 && before < now-carbonara.Timestamp(timespan) {
				continue
			}
			if none || time.Duration(from-before) >= groupsToCompare*g {
				chosen, none = g, false
			}
		}
		if !none && time.Duration(from-before) >= groupsToCompare/4*chosen {
			break
		}
	}
	return chosen
}

// Rates makes rates of a counter's values, or of its increases, but for the first group and those after a reset, and
// leaves the starts of these. first is how many belong to the window before.
func Rates(starts []carbonara.Timestamp, values []float64, first int, increases bool) ([]float64, int) {
	n, before, last := 0, 0, 0.0
	for i, v := range values {
		step := v - last
		if last = v; increases {
			step = v
		}
		if i == 0 || step < 0 {
			continue
		}
		values[n] = step / time.Duration(starts[i]-starts[i-1]).Seconds()
		starts[n] = starts[i]
		if n++; i < first {
			before = n
		}
	}
	return values[:n], before
}
