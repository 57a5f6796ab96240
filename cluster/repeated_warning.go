package cluster

import "time"

// repeatedWarning logs what fails again and again: at once, and the same error after longer and longer times, with how
// often it came. One goroutine uses it.
type repeatedWarning struct {
	warn    func(message string, args ...any)
	message string
	said    map[string]*saidError
}

type saidError struct {
	next  time.Time // when it is logged again
	wait  time.Duration
	times int
}

// note logs an error, or that there is none any more: then the next one is new.
func (r *repeatedWarning) note(err error) {
	if err == nil || r.said == nil || len(r.said) > 100 {
		r.said = make(map[string]*saidError)
	}
	if err == nil {
		return
	}
	s, now := r.said[err.Error()], time.Now()
	if s == nil {
		s = &saidError{wait: 10 * time.Second}
		r.said[err.Error()] = s
	}
	if s.times++; !now.Before(s.next) {
		r.warn(r.message, "error", err, "times", s.times)
		s.next, s.wait = now.Add(s.wait), min(2*s.wait, 10*time.Minute)
	}
}
