package carbonara

import (
	"fmt"
	"math"
	"time"
)

// GroupsPerSplit is how many periods a split spans. It is Gnocchi's number, and part of the format.
const GroupsPerSplit = 3600

// SplitKey says which split of a metric is meant: the one of this granularity that begins at Start.
type SplitKey struct {
	Granularity time.Duration
	Start       Timestamp
}

// SplitKeyOf returns the key of the split that the group of t falls into; t is valid and granularity > 0.
func SplitKeyOf(t Timestamp, granularity time.Duration) SplitKey {
	key := SplitKey{Granularity: granularity}
	if span := key.span(); span != math.MaxInt64 {
		key.Start = t - t%span
	}
	return key
}

// span is the time that a split covers. From a granularity of about 30 days on it would overflow: then fewer than
// GroupsPerSplit periods fit between 1970 and MaxTimestamp, and one split that starts in 1970 holds them all.
func (k SplitKey) span() Timestamp {
	if k.Granularity > math.MaxInt64/GroupsPerSplit {
		return math.MaxInt64
	}
	return Timestamp(k.Granularity) * GroupsPerSplit
}

// Contains reports whether t falls into the split.
func (k SplitKey) Contains(t Timestamp) bool {
	return t >= k.Start && (k.span() == math.MaxInt64 || t-k.Start < k.span())
}

// End returns the first instant after the split, or MaxTimestamp if that is out of range.
func (k SplitKey) End() Timestamp { return k.Start.Add(time.Duration(k.span())) }

// Next returns the key of the split that follows. After the last one its Start is MaxTimestamp, which ends a loop over
// "key.Start < to".
func (k SplitKey) Next() SplitKey { return SplitKey{Granularity: k.Granularity, Start: k.End()} }

// String names the split in errors and inspect: "1m0s@2024-01-01T00:00:00Z".
func (k SplitKey) String() string {
	return fmt.Sprintf("%v@%s", k.Granularity, k.Start.Time().Format(time.RFC3339Nano))
}

// lastPosition is the greatest position whose group starts at or before MaxTimestamp.
func (k SplitKey) lastPosition() int {
	return int(min((MaxTimestamp-k.Start)/Timestamp(k.Granularity), GroupsPerSplit-1))
}

// at returns the start of the group at a position, 0 <= position <= lastPosition.
func (k SplitKey) at(position uint16) Timestamp {
	return k.Start + Timestamp(position)*Timestamp(k.Granularity)
}

// positionFrom returns the first position whose group starts at or after t; GroupsPerSplit if none does.
func (k SplitKey) positionFrom(t Timestamp) int {
	if t <= k.Start {
		return 0
	}
	granularity := Timestamp(k.Granularity)
	return int(min((t-k.Start-1)/granularity+1, GroupsPerSplit))
}
