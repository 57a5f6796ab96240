package heads

import (
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Timespan returns how long the archive keeps aggregates of a granularity, 0 for without limit. Aggregates that a new
// policy no longer keeps stay until the metric is rebuilt: the rebuild may make wider groups of them.
func (h *Head) Timespan(granularity time.Duration) time.Duration {
	if !h.matchesPolicy() {
		return 0
	}
	return h.metric.ArchivePolicy.Timespan(granularity)
}

// expire removes the splits of a granularity that are too old once the newest group starts at newest.
func expire(c *archive.Checkpoint, walk *archive.Walk, h *Head, granularity, timespan time.Duration,
	newest carbonara.Timestamp) error {
	from := archive.OldestKept(h.base.Timestamp.Floor(granularity), timespan)
	if !h.surveyed {
		first, ok, err := walk.Oldest(h.metric.ID, granularity)
		if err != nil || !ok {
			return err
		}
		from = min(from, first)
	}
	c.Expire(h.metric.ID, granularity, from, archive.OldestKept(newest, timespan))
	return nil
}
