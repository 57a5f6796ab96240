package carbonara

import (
	"math"
	"time"
)

// Timestamp is a point in time: nanoseconds since 1970-01-01T00:00:00Z. Valid ones are never negative.
type Timestamp int64

// MaxTimestamp is the last instant that a Timestamp holds, in the year 2262.
const MaxTimestamp Timestamp = math.MaxInt64

// FromTime converts t; times before 1970 come out negative, which Valid refuses.
func FromTime(t time.Time) Timestamp { return Timestamp(t.UnixNano()) }

// Time returns t in UTC.
func (t Timestamp) Time() time.Time { return time.Unix(0, int64(t)).UTC() }

// Valid reports whether t lies between 1970 and 2262.
func (t Timestamp) Valid() bool { return t >= 0 }

// Floor returns the start of the group of width granularity (> 0) that t falls into.
func (t Timestamp) Floor(granularity time.Duration) Timestamp { return t - t%Timestamp(granularity) }

// Ceil returns the first multiple of a granularity (> 0) at or after t, no later than MaxTimestamp.
func (t Timestamp) Ceil(granularity time.Duration) Timestamp {
	if floor := t.Floor(granularity); floor < t {
		return floor.Add(granularity)
	}
	return t
}

// Add returns t + d, held at the ends of the valid range instead of wrapping around.
func (t Timestamp) Add(d time.Duration) Timestamp {
	sum := t + Timestamp(d)
	switch {
	case d > 0 && sum < t:
		return MaxTimestamp
	case sum < 0:
		return 0
	}
	return sum
}
