package api

import "time"

// SetNow sets the clock of an API.
func (o *Options) SetNow(now func() time.Time) { o.now = now }
