package promql

import (
	"context"
	"slices"
	"strings"
	"time"

	common "github.com/prometheus/common/model"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// rawEnd asks since when raw measures are complete, and for the newest one.
func (s *series) rawEnd() model.Read {
	return model.Read{Metric: &s.metric, Columns: rawColumns}
}

var rawColumns = []carbonara.Column{carbonara.ColumnLast}

func (s *series) staleness() *query.Staleness { return s.selection.source.Staleness }

// mostFirst is how much time of raw measures is read before it is known which ones are kept.
const mostFirst = 3 * time.Hour

// firstRead asks as rawEnd does and, unless that may be for nothing, for the raw measures that the series may need.
func (s *series) firstRead() model.Read {
	read := s.rawEnd()
	from, to := s.startOf(0), timestampOf(s.selection.end).Add(time.Millisecond)
	if s.reading.raw && to-from <= carbonara.Timestamp(mostFirst) && from < to {
		read.From, read.To = from, to
	}
	return read
}

// complete reports whether a read answered a planned series: all that it reads, if it reads anything, is the part that
// is returned.
func (s *series) complete(read *model.Read) (only *part, ok bool) {
	for i := range s.parts {
		p := &s.parts[i]
		switch {
		case p.from >= p.to:
		case only != nil || p.granularity != 0 || p.from < read.From || p.to > read.To:
			return nil, false
		default:
			only = p
		}
	}
	return only, true
}

// readOf asks for a part's groups.
func (s *series) readOf(p part) model.Read {
	if p.granularity == 0 {
		return model.Read{Metric: &s.metric, Columns: rawColumns, From: p.from, To: p.to}
	}
	from := p.from.Floor(p.granularity)
	return model.Read{Metric: &s.metric, Granularity: p.granularity, Columns: s.reading.columns, From: from, To: p.to,
		Lead: s.reading.method.IsCounter()}
}

// prefetch plans the series that are read, and asks other processes for theirs, at once. Shown are the selector's.
func (sel *selection) prefetch(ctx context.Context, all, shown []*series) error {
	archives, staleness := sel.source.engine.options.Archives, sel.source.Staleness
	reads := make([]model.Read, 0, len(all))
	for _, s := range all {
		reads = append(reads, s.rawEnd())
	}
	ends, err := archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return err
	}
	err = eachRun(ctx, all, func(ctx context.Context, memory *scratch, run []*series) error {
		var reads []model.Read
		for _, s := range run {
			reads = append(reads, s.rawEnd())
		}
		return ends.EachGroups(ctx, reads, staleness, &memory.groups, func(i int) error {
			run[i].plan(memory.groups.Raw)
			budget.Of(ctx).Release(budget.Answers, int64(memory.groups.Bytes()))
			return nil
		})
	})
	if err != nil {
		return err
	}
	for _, s := range shown {
		s.alignParts()
	}
	found, err := archives.Prefetch(ctx, sel.readsOf(all), staleness)
	for _, s := range all {
		s.archives = found
	}
	return err
}

// readsOf returns what planned series read, and notes what the answer should say of it.
func (sel *selection) readsOf(all []*series) []model.Read {
	var reads []model.Read
	for _, s := range all {
		sel.note(s)
		reads = s.appendReads(reads)
	}
	sel.noteOrigins()
	return reads
}

// appendReads appends what reads the parts of a planned series.
func (s *series) appendReads(reads []model.Read) []model.Read {
	for _, p := range s.parts {
		if p.from < p.to {
			reads = append(reads, s.readOf(p))
		}
	}
	return reads
}

// note notes what the answer should say of a planned series.
func (sel *selection) note(s *series) {
	served := timestampOf(sel.first) // what is older is only looked back at
	if sel.length > 0 {
		served = timestampOf(sel.start)
	}
	for _, p := range s.parts {
		if p.from >= p.to {
			continue
		}
		ended := p.to.Add(p.granularity)
		if s.reading.note != nil && p.granularity > 0 && (sel.length == 0 || ended > served.Add(-time.Millisecond)) {
			sel.notes.Add(s.reading.note)
		}
		if ended > served && !slices.Contains(sel.origins, p.granularity) {
			sel.origins = append(sel.origins, p.granularity)
		}
	}
}

// noteOrigins says which granularities a selector was answered from, unless it was measures themselves.
func (sel *selection) noteOrigins() {
	origins := sel.origins
	slices.Sort(origins)
	if !sel.source.Origins || len(origins) == 0 || origins[len(origins)-1] == 0 {
		return
	}
	var list []string
	for _, g := range origins {
		if g == 0 {
			list = append(list, "raw measures")
		} else {
			list = append(list, "granularity "+common.Duration(g).String())
		}
	}
	sel.notes.Add(info("%s is answered from %s", sel.selector, strings.Join(list, ", ")))
}
