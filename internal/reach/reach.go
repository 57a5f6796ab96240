package reach

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/internal/counted"
)

// Holder is a process that holds a store.
type Holder struct {
	ID, Address string
	Index       bool // the store is the index, not a sack
	Answers     bool
}

// Reach is which holders of stores do not answer this process, although they live.
type Reach struct {
	After time.Duration // of silence, until it counts

	mu     sync.Mutex
	since  map[string]time.Time // when a holder was first silent, by ID
	reason string
	worse  bool // than another process that answers requests
}

// Note notes the holders of all stores that other processes hold, and returns why this process can answer next to
// nothing: it does not reach the holder of the index, or none of those of the sacks. "" is that it can.
func (r *Reach) Note(now time.Time, holders []Holder) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	since, silent := make(map[string]time.Time), make(map[string]int)
	sacks, lost, index := 0, 0, false
	for _, h := range holders {
		if !h.Index {
			sacks++
		}
		if h.Answers {
			continue
		}
		if since[h.ID] = r.since[h.ID]; since[h.ID].IsZero() {
			since[h.ID] = now
		}
		if now.Sub(since[h.ID]) <= r.After {
			continue
		}
		if who := h.ID + " at " + h.Address; h.Index {
			silent[who+" (the index)"], index = 0, true
		} else {
			silent[who]++
			lost++
		}
	}
	if r.since, r.reason = since, ""; index || lost > 0 && lost == sacks {
		var who []string
		for name, n := range silent {
			who = append(who, strings.TrimSuffix(fmt.Sprintf("%s (%s)", name, counted.Of(n, "sack")), " (0 sacks)"))
		}
		slices.Sort(who)
		r.reason = fmt.Sprintf("does not reach %s, which another API reaches, so it can ask %d of %s elsewhere; it "+
			"accepts measures of known metrics", strings.Join(who, ", "), sacks-lost,
			counted.Of(sacks, "sack"))
	}
	return r.reason
}

// Compare notes whether another process reaches what this one does not. If none does, requests had better come here
// than nowhere.
func (r *Reach) Compare(worse bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.worse = worse
}

// Why returns why this process can answer next to nothing, and whether requests should therefore go to another one.
func (r *Reach) Why() (reason string, elsewhere bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reason, r.worse && r.reason != ""
}
