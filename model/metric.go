package model

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Metric is a series of measures with an archive policy, perhaps named within a resource.
type Metric struct {
	ID            uuid.UUID
	Name          string // "" for none
	Unit          string // "" for none
	Creator       string
	ArchivePolicy *ArchivePolicy // shared; never modified
	ResourceID    *uuid.UUID     // nil for none
	Labels        Labels         // of a series that was pushed with labels; no two metrics of a creator have the same
	Type          SeriesType     // that was set; "": TypeOf decides
	Replicas      bool           // measures are of several senders: internal/replica says which count

	// ResourceEndedAt is when its resource ended, nil if it did not, or there is none. Only lookups for incoming
	// measures set it: a measure that is no older revives the resource.
	ResourceEndedAt *carbonara.Timestamp

	Deleted bool // marked by DELETE; gone once expunged
	// OwnSchemaPending says of this metric what ArchivePolicy.SchemaPending says of all metrics of a policy: it had
	// another policy.
	OwnSchemaPending bool
}

// SeriesName returns the name by which PromQL knows the metric, "" for none.
func (m *Metric) SeriesName() string {
	if m.Labels != "" {
		return m.Labels.Get(LabelName)
	}
	return m.Name
}

// SchemaPending reports whether the metric's archive may have another schema than its archive policy asks for.
func (m *Metric) SchemaPending() bool { return m.OwnSchemaPending || m.ArchivePolicy.SchemaPending }

const (
	maxUnitLength   = 31       // in characters
	maxLabelsLength = 16 << 10 // in bytes, of all labels of a series
)

// Validate returns a *FieldError if m cannot be kept. It may be without an ID still.
func (m *Metric) Validate() error {
	switch {
	case m.ArchivePolicy == nil:
		return &FieldError{"archive_policy_name", "archive_policy_name must be given"}
	case strings.Contains(m.Name, "/") && m.Labels == "":
		return &FieldError{"name", "'/' is not supported in metric name"}
	case m.Name == "" && m.ResourceID != nil:
		return &FieldError{"name", "Name cannot be null if resource_id is not null"}
	case len(m.Labels) > maxLabelsLength:
		return &FieldError{"labels", fmt.Sprintf("labels must not be longer than %d bytes", maxLabelsLength)}
	case utf8.RuneCountInString(m.Unit) > maxUnitLength:
		return &FieldError{"unit", fmt.Sprintf("unit must not be longer than %d characters", maxUnitLength)}
	}
	if m.Name == "" {
		return nil
	}
	return checkName("name", m.Name)
}

// Sack returns the sack that a metric's measures and archives fall into, of sacks many: its ID modulo sacks.
func Sack(metric uuid.UUID, sacks int) int {
	low := uint64(metric[12])<<24 | uint64(metric[13])<<16 | uint64(metric[14])<<8 | uint64(metric[15])
	return int(low % uint64(sacks))
}

// UniqueMetrics sorts metrics by ID and leaves out repetitions.
func UniqueMetrics(metrics []*Metric) []*Metric {
	slices.SortFunc(metrics, func(a, b *Metric) int { return CompareIDs(a.ID, b.ID) })
	return slices.CompactFunc(metrics, func(a, b *Metric) bool { return a.ID == b.ID })
}

// NewMetricID returns a new ID that sorts after those made before, by this process at least: a UUID of version 7.
// Stores thus hold metrics in the order of creation, and new metrics are written side by side rather than all over. Its
// end, which decides on the sack, is random.
func NewMetricID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// MadeAt returns when NewMetricID made an ID, to the millisecond, and whether it did.
func MadeAt(id uuid.UUID) (made time.Time, known bool) {
	seconds, nanoseconds := id.Time().UnixTime()
	return time.Unix(seconds, nanoseconds), id.Version() == 7
}

// CompareIDs orders IDs by their bytes, as stores do.
func CompareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
