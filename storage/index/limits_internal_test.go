package index

import "testing"

// So many resources are read one by one that a scan of all of them takes no less, and no more than speaks for it.
func TestReadsAreFewerThanAScan(t *testing.T) {
	s := &Store{limits: limits{scansPerRead: 6}}
	for _, c := range []struct{ resources, most, want int }{
		{0, 10, 0}, {59, 10, 9}, {60, 10, 10}, {600, 10, 10}, {600, 1000, 100},
	} {
		s.resources.Store(int64(c.resources))
		if got := s.readLimit(c.most); got != c.want {
			t.Errorf("of %d resources and at most %d: %d are read, want %d", c.resources, c.most, got, c.want)
		}
	}
}
