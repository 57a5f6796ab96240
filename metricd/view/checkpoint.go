package view

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/heads"
)

// Parts are groups of a checkpoint that recent groups lack. With them, recent groups continue after the checkpoint as
// if they had been read just before it.
type Parts struct {
	cache *recentCache
	parts []recentPart
}

type recentPart struct {
	of     *recentGroups
	start  carbonara.Timestamp // of the first group that has all its measures
	groups carbonara.Groups
}

// Parts returns none, before a checkpoint.
func (v *View) Parts() *Parts { return &Parts{cache: &v.recent} }

// Note keeps the groups that a checkpoint writes of a head, if its recent groups lack them. The lock of the heads is
// held, by reads.
func (p *Parts) Note(h *heads.Head, j int, start carbonara.Timestamp, groups *carbonara.Groups) {
	r := p.cache.find(h, j)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lacksPending() {
		part := recentPart{of: r, start: start}
		part.groups.Reset(groups.Granularity, groups.Columns)
		part.groups.Append(groups)
		p.parts = append(p.parts, part)
	}
}

// Checkpointed makes recent groups continue a durable checkpoint of these heads, which still have the measures as
// pending. The lock of the heads is held.
func (p *Parts) Checkpointed(written []*heads.Head) {
	var scratch carbonara.Groups
	for i := range p.parts {
		p.parts[i].overlay(&scratch)
	}
	for _, h := range written {
		if r := p.cache.find(h, ofMeasures); r != nil {
			r.checkpointedMeasures(p.cache.mostMeasures())
			p.cache.count(r)
		}
		for j := range h.Plan().Granularities {
			if r := p.cache.find(h, j); r != nil {
				r.checkpointed()
				p.cache.count(r)
			}
		}
	}
}

// lacksPending reports whether pending measures are not in r, which was read. mu is held, or the lock of the heads, for
// writing.
func (r *recentGroups) lacksPending() bool { return r.plan != nil && r.taken < r.head.Pending() }

// overlay puts the part's groups into the recent groups, unless a read took the measures meanwhile.
func (p *recentPart) overlay(scratch *carbonara.Groups) {
	if r := p.of; r.lacksPending() {
		r.overlay(&p.groups, p.start, scratch)
		r.taken = r.head.Pending()
	}
}
