package model

import (
	"time"

	"github.com/google/uuid"
)

// Reaggregation is the work of bringing archives into the form of an archive policy that has changed, or that a metric was given:
// of all metrics of a policy, or of one. There is one for each of these; changed again, it starts anew.
type Reaggregation struct {
	ID            uuid.UUID
	ArchivePolicy string    // whose metrics; "" for one metric
	Metric        uuid.UUID // zero for those of a policy
	State         ReaggregationState
	Started       time.Time
	Finished      time.Time // zero while it runs

	Metrics   int // how many there are, about: others may come and go
	Changed   int // metrics that were brought into form
	Unchanged int // metrics that were in form, or are gone
	Failed    int // metrics that keep their form, since something of them does not decode
	Fault     string

	Cursor uuid.UUID // metrics up to here are done
	Run    uint64    // raised when it starts anew
}

// ReaggregationState tells what a reaggregation is about.
type ReaggregationState string

// The states. One that is cancelled or has failures may be started again.
const (
	ReaggregationRunning   ReaggregationState = "running"
	ReaggregationCancelled ReaggregationState = "cancelled"
	ReaggregationDone      ReaggregationState = "done"
)

// reaggregations is the name space of their IDs.
var reaggregations = uuid.MustParse("7c1e3b7a-5d6f-4b39-9d5e-1f0f3a0c8e52")

// ReaggregationOfPolicy returns the ID of the one of a policy's metrics.
func ReaggregationOfPolicy(name string) uuid.UUID {
	return uuid.NewSHA1(reaggregations, []byte("archive policy "+name))
}

// ReaggregationOfMetric returns the ID of a metric's own one.
func ReaggregationOfMetric(id uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(reaggregations, []byte("metric "+id.String()))
}

// NounReaggregation begins sentences about one.
const NounReaggregation = "Reaggregation"

// Reaggregated counts metrics by what has become of them.
type Reaggregated struct {
	Changed   int `json:"changed"`   // they have the form of their policy now
	Unchanged int `json:"unchanged"` // they had it, or are gone
	Failed    int `json:"failed"`    // they keep their form: something of them does not decode
	// Fault says why the first one failed.
	Fault string `json:"fault,omitempty"`
}

// Add adds other to r.
func (r *Reaggregated) Add(other Reaggregated) {
	r.Changed += other.Changed
	r.Unchanged += other.Unchanged
	r.Failed += other.Failed
	if r.Fault == "" {
		r.Fault = other.Fault
	}
}

// Advance notes that metrics up to cursor are done, and what has become of them.
func (r *Reaggregation) Advance(cursor uuid.UUID, done Reaggregated) {
	r.Cursor = cursor
	r.Changed += done.Changed
	r.Unchanged += done.Unchanged
	r.Failed += done.Failed
	if r.Fault == "" {
		r.Fault = done.Fault
	}
}
