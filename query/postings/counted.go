package postings

import "sync"

// counted keeps the last answers of Counts for clients who see everything, since consoles ask again and again. It is
// for many goroutines at once.
type counted struct {
	mu      sync.Mutex
	answers map[string]*Counts
}

// The bounds of counted.
const (
	mostAnswers  = 16
	mostCounts   = 1000 // of an answer
	mostQuestion = 4 << 10
)

// get returns the answer to a question; nil if it has none.
func (c *counted) get(question string) *Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[question]
}

func (c *counted) keep(question string, answer *Counts) {
	if len(question) > mostQuestion {
		return
	}
	n := 0
	for _, label := range answer.Labels {
		n += len(label.Counts)
	}
	if n > mostCounts {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil || len(c.answers) >= mostAnswers {
		c.answers = map[string]*Counts{}
	}
	c.answers[question] = answer
}

// forget is called whenever what is counted changes.
func (c *counted) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers = nil
}
