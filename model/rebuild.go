package model

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Rebuild is the work of giving archives the schema of an archive policy that has changed, or that a metric was given:
// of all metrics of a policy, or of one. There is one for each of these. After another change it starts anew.
type Rebuild struct {
	ID            uuid.UUID
	ArchivePolicy string    // whose metrics, or planned for one metric; else ""
	Metric        uuid.UUID // zero for those of a policy
	State         RebuildState
	Started       time.Time // if planned, the time at which it starts
	Finished      time.Time // zero while it runs

	Metrics int // how many there are, about: others may come and go
	RebuildCounts

	Cursor uuid.UUID // metrics up to here are done
	Run    uint64    // raised when it starts anew
}

// RebuildState is what a rebuild is doing.
type RebuildState string

// The states. One that is cancelled or has failures may be started again.
const (
	RebuildPlanned   RebuildState = "planned" // until then the metric has its old archive policy
	RebuildRunning   RebuildState = "running"
	RebuildCancelled RebuildState = "cancelled"
	RebuildDone      RebuildState = "done"
)

// rebuilds is the name space of their IDs.
var rebuilds = uuid.MustParse("7c1e3b7a-5d6f-4b39-9d5e-1f0f3a0c8e52")

// RebuildOfLateTypes is the ID of the rebuild of series that moved to the policy of counters.
var RebuildOfLateTypes = uuid.NewSHA1(rebuilds, []byte("late types"))

// RebuildOfPolicy returns the ID of the rebuild of a policy's metrics.
func RebuildOfPolicy(name string) uuid.UUID {
	return uuid.NewSHA1(rebuilds, []byte("archive policy "+name))
}

// RebuildOfMetric returns the ID of the rebuild of a single metric.
func RebuildOfMetric(id uuid.UUID) uuid.UUID {
	return uuid.NewSHA1(rebuilds, []byte("metric "+id.String()))
}

// NounRebuild begins sentences about a rebuild.
const NounRebuild = "Rebuild"

// RebuildCounts counts the archives of a rebuild by result.
type RebuildCounts struct {
	Changed   int `json:"changed"`   // archives that got the schema of their policy
	Unchanged int `json:"unchanged"` // archives that had it, or are gone
	Failed    int `json:"failed"`    // archives that keep their schema, because a part of them does not decode
	// Fault says why the first one failed.
	Fault   string        `json:"fault,omitempty"`
	Unknown UnknownGroups `json:"unknown,omitzero"`
}

// UnknownGroups are the groups of changed archives that lack a method of their policy: neither kept measures nor other
// groups tell it.
type UnknownGroups struct {
	Archives int                 `json:"archives"`
	Groups   int                 `json:"groups"`
	From     carbonara.Timestamp `json:"from"` // the earliest begins
	To       carbonara.Timestamp `json:"to"`   // the latest ends
}

// Add adds other to u.
func (u *UnknownGroups) Add(other UnknownGroups) {
	if u.Groups == 0 {
		u.From = other.From
	}
	if other.Groups > 0 {
		u.From, u.To = min(u.From, other.From), max(u.To, other.To)
	}
	u.Archives += other.Archives
	u.Groups += other.Groups
}

// Add adds other to r.
func (r *RebuildCounts) Add(other *RebuildCounts) {
	r.Changed += other.Changed
	r.Unchanged += other.Unchanged
	r.Failed += other.Failed
	r.Fault = cmp.Or(r.Fault, other.Fault)
	r.Unknown.Add(other.Unknown)
}

// Advance notes that metrics up to cursor are done, and what has become of them.
func (r *Rebuild) Advance(cursor uuid.UUID, done RebuildCounts) {
	r.Cursor = cursor
	r.Add(&done)
}
