package commits

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// Change is one write: the keys that it sets, and its additions to the counts.
type Change struct {
	*pebble.Batch
	Live, Deleted, Resources int64
	Projects                 map[string]int64 // the part of Live of each project

	db   *pebble.DB
	look *pebble.Iterator // of Has; nil before

	// IDs that it took and that the store does not show yet.
	TakenResources map[uuid.UUID]bool // created
	TakenMetrics   map[uuid.UUID]bool // created, or attached
	Listed         map[uuid.UUID]bool // resources whose values list their new metrics
	Unlisted       map[uuid.UUID]bool // those that listed their metrics before
	LabelsKeys     [][]byte           // of the metrics that it creates, in their order; nil: to be made
	Key            []byte             // scratch

	touched []changed // metrics and resources that are no longer as they were
}

// Has reports whether a key is in the store, without what c adds. Mostly it is not, so the filters of all levels are
// asked; Get leaves out that of the last, where most keys are. Keys that ascend cost less.
func (c *Change) Has(key []byte) (_ bool, err error) {
	if c.look == nil {
		if c.look, err = c.db.NewIter(&pebble.IterOptions{UseL6Filters: true}); err != nil {
			return false, err
		}
	}
	return c.look.SeekPrefixGE(key), c.look.Error()
}

// endLook closes what has opened.
func (c *Change) endLook() error {
	if c.look == nil {
		return nil
	}
	return c.look.Close()
}

// AddLive adds to the live metrics of a project.
func (c *Change) AddLive(project string, n int64) {
	c.Live += n
	if c.Projects == nil {
		c.Projects = make(map[string]int64)
	}
	c.Projects[project] += n
}

// TouchMetric notes a metric that is no longer as it was.
func (c *Change) TouchMetric(id uuid.UUID) { c.touched = append(c.touched, changed{id: id}) }

// TouchResource notes a resource that is no longer as it was.
func (c *Change) TouchResource(id uuid.UUID) {
	c.touched = append(c.touched, changed{resource: true, id: id})
}
