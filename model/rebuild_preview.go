package model

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Where aggregates come from when a policy changes.
const (
	FromStored  = "stored"  // they are there
	FromMoments = "moments" // of a finer granularity: whose counts, sums and so on are put together
	FromRaw     = "raw"     // of measures, as far as these are kept to accept late ones
)

// RebuildPreview says what a change of policy makes of archives.
type RebuildPreview struct {
	Policy   *ArchivePolicy
	Items    []RebuildItem
	Removed  []time.Duration    // granularities whose aggregates are removed
	Dropped  []carbonara.Method // methods that are no longer answered
	Affected int                // metrics
}

// RebuildItem says where the aggregates of one granularity and method come from, and how far back from the newest
// measure they reach. Older ones cannot be recomputed.
type RebuildItem struct {
	Granularity time.Duration
	Method      carbonara.Method
	From        string
	Of          time.Duration // FromMoments: the finer granularity
	Reach       time.Duration // 0: as far as the source does, without limit
}

// PreviewRebuild returns what a change of policy does to archives that have the schema of from.
func PreviewRebuild(from, to *ArchivePolicy) *RebuildPreview {
	p := &RebuildPreview{Policy: to}
	for _, g := range to.Granularities() {
		for _, m := range to.Methods() {
			p.Items = append(p.Items, previewItem(from, to, g, m))
		}
	}
	for _, g := range from.Granularities() {
		if !to.HasGranularity(g) {
			p.Removed = append(p.Removed, g)
		}
	}
	for _, m := range from.Methods() {
		if !to.HasMethod(m) {
			p.Dropped = append(p.Dropped, m)
		}
	}
	return p
}

// Loses reports whether archives lose granularities or methods.
func (p *RebuildPreview) Loses() bool { return len(p.Removed)+len(p.Dropped) > 0 }

func previewItem(from, to *ArchivePolicy, g time.Duration, m carbonara.Method) RebuildItem {
	item := RebuildItem{Granularity: g, Method: m, From: FromRaw, Reach: rawReach(from)}
	percentile := false
	for _, c := range m.Columns() {
		percentile = percentile || c.Percentile() > 0
		if !slices.Contains(from.Plan().Columns, c) {
			return item.within(to)
		}
	}
	if from.HasGranularity(g) {
		item.From, item.Reach = FromStored, from.Timespan(g)
		return item.within(to)
	}
	if percentile {
		return item.within(to)
	}
	for _, finer := range from.Granularities() {
		if finer >= g || g%finer != 0 {
			continue
		}
		if span := from.Timespan(finer); item.From == FromRaw || span == 0 || item.Reach != 0 && span >= item.Reach {
			item.From, item.Of, item.Reach = FromMoments, finer, span
		}
	}
	return item.within(to)
}

// rawReach is how far the raw series reaches back at least: the back window, and what of the open block there is.
func rawReach(p *ArchivePolicy) time.Duration {
	return time.Duration(p.BackWindowBlocks()) * p.Plan().Coarsest()
}

// within cuts the reach to the policy's timespan.
func (i RebuildItem) within(to *ArchivePolicy) RebuildItem {
	if span := to.Timespan(i.Granularity); span > 0 && (i.Reach == 0 && i.From != FromRaw || span < i.Reach) {
		i.Reach = span
	}
	return i
}

// MarshalJSON shows p as the REST API does.
func (p *RebuildPreview) MarshalJSON() ([]byte, error) {
	type item struct {
		Granularity string  `json:"granularity"`
		Method      string  `json:"aggregation_method"`
		From        string  `json:"from"`
		Of          *string `json:"of_granularity"`
		Reach       *string `json:"reaches_back"`
	}
	out := struct {
		Policy   *ArchivePolicy `json:"archive_policy"`
		Affected int            `json:"metrics"`
		Items    []item         `json:"aggregates"`
		Removed  []string       `json:"removed_granularities"`
		Dropped  []string       `json:"removed_aggregation_methods"`
	}{Policy: p.Policy, Affected: p.Affected, Removed: []string{}, Dropped: []string{}}
	for _, i := range p.Items {
		shown := item{Granularity: FormatTimespan(i.Granularity), Method: i.Method.String(), From: i.From}
		if i.From == FromMoments {
			shown.Of = new(FormatTimespan(i.Of))
		}
		if i.Reach > 0 || i.From == FromRaw {
			shown.Reach = new(FormatTimespan(i.Reach))
		}
		out.Items = append(out.Items, shown)
	}
	for _, g := range p.Removed {
		out.Removed = append(out.Removed, FormatTimespan(g))
	}
	for _, m := range p.Dropped {
		out.Dropped = append(out.Dropped, m.String())
	}
	return json.Marshal(out)
}
