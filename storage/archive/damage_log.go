package archive

import "sync"

// maxReported bounds the keys remembered as reported. Beyond, damage is only counted: there is enough to look at.
const maxReported = 1000

// reported are the keys whose damage was logged, so that a metric that is read every second does not fill the log.
type reported struct {
	mu   sync.Mutex
	keys map[string]bool
}

func (r *reported) first(key []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys[string(key)] || len(r.keys) >= maxReported {
		return false
	}
	if r.keys == nil {
		r.keys = make(map[string]bool)
	}
	r.keys[string(key)] = true
	return true
}

// reportCorrupt logs, once a key, that operands of a value do not decode. They are left out of the answer, and stay.
func (s *Store) reportCorrupt(key []byte, operands int) {
	if !s.reported.first(key) {
		return
	}
	metric, kind, split, _ := ParseKey(key)
	if kind == KindSplit {
		s.logger.Error("split does not decode", "metric", metric, "granularity", split.Granularity, "start",
			split.Start.Time(), "operands", operands)
		return
	}
	s.logger.Error("raw series does not decode", "metric", metric, "operands", operands)
}
