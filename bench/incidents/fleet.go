package incidents

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gnocco-db/gnocco/anomaly"
	"github.com/gnocco-db/gnocco/carbonara"
)

// Options say how a fleet is.
type Options struct {
	Seed   uint64
	Series int
	Season float64 // by how many standard deviations most series rise from the hour before to the hour asked about
	Quiet  bool    // without an incident
	Week   Week
}

// Week says on which of Days the series rise.
type Week string

// The days are of one kind, or the last one is the first after a quiet weekend, or the first of it, or series rise once
// a week.
const (
	EveryDay Week = ""
	Monday   Week = "Monday"
	Saturday Week = "Saturday"
	Weekly   Week = "weekly"
)

// rises reports whether series rise so many days ago.
func (w Week) rises(day int) bool {
	switch w {
	case Monday:
		return day%7 != 1 && day%7 != 2
	case Saturday:
		return day%7 != 0 && day%7 != 6
	case Weekly:
		return day%7 == 0
	default:
		return true
	}
}

// Effects is how many series follow the cause, a few minutes after it.
const Effects = 5

// Days are how many days before the incident each part of a series is, the hour asked about first.
var Days = []int{0, 1, 2, 3, 7, 14}

// minutes is the length of a window, in groups.
const minutes = 60

// A Series has, for each of Days, the groups of the window and of the one before.
type Series struct {
	Before, After [][]float64
	windows       []*anomaly.Windows
}

// A Fleet's series 0 is the cause of the incident, and the next ones are its effects.
type Fleet struct {
	Series []Series
	Onset  int // of the cause, in groups from the begin of the window
}

// New makes a fleet, the same for the same options.
func New(o Options) *Fleet {
	random := rand.New(rand.NewPCG(o.Seed, 130))
	fleet := &Fleet{Onset: random.IntN(minutes / 4)}
	for i := range o.Series {
		sigma := math.Exp(random.NormFloat64() * 2)
		level := sigma * (10 + 100*random.Float64())
		season := 0.0
		if random.Float64() < 0.7 {
			season = o.Season * sigma * (0.5 + random.Float64()/2)
		}
		trend := 0.0
		if random.Float64() < 0.2 { // in an hour
			trend = 0.3 * sigma * random.NormFloat64()
		}
		counter := random.Float64() < 0.2
		memory := 0.6 * random.Float64() // of the noise
		deploy, step := 1+random.IntN(14), 0.0
		if random.Float64() < 0.3 { // so many days ago, and from then on
			step = 8 * sigma * random.NormFloat64()
		}
		jump, from := 0.0, fleet.Onset
		switch {
		case o.Quiet || i > Effects:
		case i == 0:
			jump = sigma * (8 + 12*random.Float64())
		default:
			jump, from = sigma*(4+4*random.Float64()), fleet.Onset+1+random.IntN(5)
		}
		if random.IntN(2) == 0 {
			jump = -jump
		}
		s := Series{windows: make([]*anomaly.Windows, len(Days))}
		for _, day := range Days {
			late, strength := 2*random.NormFloat64(), 1+0.05*random.NormFloat64() // of today's rise
			noise := 0.0
			var values []float64
			var starts []carbonara.Timestamp
			first := 0
			for minute := range 2 * minutes {
				noise = memory*noise + math.Sqrt(1-memory*memory)*random.NormFloat64()
				if random.Float64() < 0.03 {
					continue // a gap
				}
				at := carbonara.Timestamp(minute) * carbonara.Timestamp(time.Minute)
				v := level + sigma*noise - trend*float64(24*day)
				v += trend * float64(minute) / minutes
				if o.Week.rises(day) {
					v += season * strength / (1 + math.Exp(-(float64(minute)-late-minutes)/8))
				}
				if day < deploy {
					v += step
				}
				if day == 0 && minute >= minutes+from {
					v += jump
				}
				if random.Float64() < 0.005 {
					v *= 3 // an outlier
				}
				if counter { // of so much a second, and it is reset now and then
					v = max(0, v) * 60
					if len(values) > 0 && random.Float64() > 0.005 {
						v = values[len(values)-1] + v*float64(at-starts[len(starts)-1])/float64(time.Minute)
					}
				}
				values, starts = append(values, v), append(starts, at)
				if minute < minutes {
					first = len(values)
				}
			}
			if counter {
				values, first = anomaly.Rates(starts, values, first, false)
			}
			s.Before, s.After = append(s.Before, values[:first]), append(s.After, values[first:])
		}
		fleet.Series = append(fleet.Series, s)
	}
	return fleet
}
