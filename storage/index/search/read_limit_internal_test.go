package search

import (
	"math"
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

// A search heeds the limit on each of its ways; a page reads at least twice its length in the page's order.
func TestEachWayOfASearchReadsLessThanAScan(t *testing.T) {
	resources := &Resources{log: commits.NewLog(nil, nil),
		limits: &keyspace.Costs{ScansPerRead: 6, FewCandidates: 50, StreamedRows: 80}}
	f := func(stored int64, page, few, many, streamed int) {
		t.Helper()
		resources.log.Resources.Store(stored)
		s := &search{resources: resources, query: Query{Limit: page}}
		if got, want := s.fewCandidates(), (candidateLimit{few, few}); got != want {
			t.Errorf("of %d resources: few are %v, want %v", stored, got, want)
		}
		if got, want := s.anyNumber(), (candidateLimit{many, math.MaxInt}); got != want {
			t.Errorf("of %d resources: any number is %v, want %v", stored, got, want)
		}
		if got := s.streamedRows(); got != streamed {
			t.Errorf("of %d resources, pages of %d: %d rows are streamed, want %d", stored, page, got, streamed)
		}
	}
	f(0, 0, 0, 0, 0)
	f(120, 5, 20, 20, 20)
	f(120, 15, 20, 20, 30)
	f(360, 15, 50, 60, 60)
	f(6000, 15, 50, 1000, 80)
}
