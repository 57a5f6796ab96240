package commits

import (
	"sync"

	"github.com/google/uuid"
)

// maxLoggedChanges is how many changes are remembered, 17 bytes each. A reader that falls behind by more reads all
// again.
const maxLoggedChanges = 1 << 16

// changeLog remembers which metrics and resources changed last, for those that keep in memory what the store says of
// them. It remembers nothing until somebody asks: many servers have nobody who does.
type changeLog struct {
	mu     sync.Mutex
	asked  bool
	before uint64 // number of changes that are forgotten
	log    []changed
}

// changed names one metric or resource that was created, changed or deleted.
type changed struct {
	resource bool
	id       uuid.UUID
}

// add notes changes that are in the store now.
func (l *changeLog) add(changes []changed) {
	if len(changes) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asked {
		return
	}
	if len(l.log)+len(changes) > maxLoggedChanges {
		l.before += uint64(len(l.log) + len(changes))
		l.log = nil
		return
	}
	l.log = append(l.log, changes...)
}

// addAll notes that anything may have changed.
func (l *changeLog) addAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before += uint64(len(l.log)) + 1
	l.log = nil
}

// ChangesSince returns the metrics and resources that were created, changed or deleted after a change of this number,
// and the number of the last one. ok is false if that is not known: all has to be read again, after the call. Zero is
// the number before the first call.
func (log *Log) ChangesSince(number uint64) (metrics, resources []uuid.UUID, last uint64, ok bool) {
	l := &log.changes
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.asked {
		l.asked = true
		l.before++
	}
	last = l.before + uint64(len(l.log))
	if number < l.before || number > last {
		return nil, nil, last, false
	}
	for _, c := range l.log[number-l.before:] {
		if c.resource {
			resources = append(resources, c.id)
		} else {
			metrics = append(metrics, c.id)
		}
	}
	return metrics, resources, last, true
}
