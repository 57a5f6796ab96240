package promql

import (
	"fmt"
	"sync"

	"github.com/prometheus/prometheus/util/annotations"
)

// olderGroups are notes about groups from before their archive policy had the columns that a query reads. Only the
// reading of groups shows that, after the engine has taken the notes of selectors.
type olderGroups struct {
	sync.Mutex
	notes annotations.Annotations
}

// noteOlder warns that the answer has such groups, and how they count.
func (s *series) noteOlder(format string, args ...any) {
	s.note(warning("groups from before archive policy %q had its aggregation methods %s. To compute them from "+
		"measures or finer groups, where these are kept: gnocco rebuild", s.metric.ArchivePolicy.Name,
		fmt.Sprintf(format, args...)))
}

// note adds what the groups that were read say about the answer.
func (s *series) note(note error) {
	older := &s.selection.source.older
	older.Lock()
	defer older.Unlock()
	older.notes.Add(note)
}

// noteLeftOut warns that such groups have no part in the answer.
func (s *series) noteLeftOut(method string) { s.noteOlder("have no %s, and are left out", method) }
