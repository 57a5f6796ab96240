package archive

import (
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// OldestKept returns the first timestamp of a group that is kept when the newest group starts at newest: a group is
// kept if its start > newest - timespan.
func OldestKept(newest carbonara.Timestamp, timespan time.Duration) carbonara.Timestamp {
	if carbonara.Timestamp(timespan) > newest {
		return 0
	}
	return newest - carbonara.Timestamp(timespan) + 1
}

// pointDeletes is the number of splits up to which they are deleted one by one: a range tombstone slows reads.
const pointDeletes = 16

// Expire deletes the splits of a granularity from the one that holds from up to the one that holds to, exclusive.
func (c *Checkpoint) Expire(metric uuid.UUID, granularity time.Duration, from, to carbonara.Timestamp) {
	first, last := carbonara.SplitKeyOf(from, granularity), carbonara.SplitKeyOf(to, granularity)
	if first.Start >= last.Start {
		return
	}
	width := last.Start - first.Start
	if step := carbonara.GroupsPerSplit * carbonara.Timestamp(granularity); width/step <= pointDeletes {
		for start := first.Start; start < last.Start; start += step {
			c.scratch = splitKey(c.scratch, metric, granularity, start)
			c.delete(c.scratch)
		}
		return
	}
	c.changes.deleteRange(splitKey(nil, metric, granularity, first.Start),
		splitKey(nil, metric, granularity, last.Start))
}
