package search

import (
	"testing"

	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// So many resources are read one by one that a scan of all of them takes no less, and no more than speaks for it.
func TestReadsAreFewerThanAScan(t *testing.T) {
	s := &Resources{log: commits.NewLog(nil, nil), limits: &keyspace.Costs{ScansPerRead: 6}}
	for _, c := range []struct{ resources, most, want int }{
		{0, 10, 0}, {59, 10, 9}, {60, 10, 10}, {600, 10, 10}, {600, 1000, 100},
	} {
		s.log.Resources.Store(int64(c.resources))
		if got := s.readLimit(c.most); got != c.want {
			t.Errorf("of %d resources and at most %d: %d are read, want %d", c.resources, c.most, got, c.want)
		}
	}
}
