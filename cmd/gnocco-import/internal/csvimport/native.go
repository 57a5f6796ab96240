package csvimport

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/ingest/parts"
	"github.com/gnocco-db/gnocco/model"
)

// native is a series of native histograms: of each part a metric.
type native struct {
	labels map[string]string
	parts  map[string]uint32 // numbers of metrics, by model.LabelHistogram
	newest int64             // ms
	until  int64             // newest of earlier blocks
	fault  error             // of the labels; nil: none
}

func newNative(set map[string]string) *native {
	longest := maps.Clone(set)
	longest[model.LabelHistogram] = strings.Repeat("-", 64)
	return &native{labels: set, parts: make(map[string]uint32), fault: withLabels(longest).check()}
}

// removes is set beside the number of the metric in a row that removes earlier ones of its time.
const removes = 1 << 31

// histogram adds the parts of a native histogram, as remote write does. Where an earlier block has histograms, there
// may be one of the same time, whose other parts it removes.
func (b *block) histogram(name seriesName, s *native, ms int64, h *histogram.FloatHistogram) error {
	err := h.Validate()
	err = cmp.Or(err, s.fault)
	if err == nil && (!(h.ZeroThreshold >= 0) || math.IsInf(h.ZeroThreshold, 1)) {
		err = fmt.Errorf("zero threshold %v", h.ZeroThreshold)
	}
	if err != nil {
		b.result.Rejected++
		b.options.Reject(b.folder, 0, fmt.Sprintf("native histogram of series %s at %d ms: %v", name, ms, err))
		return nil
	}
	t, ok := b.timeOf(b.folder, name, ms)
	if !ok {
		return nil
	}
	b.histograms++
	others := map[string]uint32{}
	if ms <= s.until {
		others = maps.Clone(s.parts)
	}
	err = parts.Each(h, func(of model.HistogramPart, v float64) error {
		part := string(of.Append(nil))
		number, ok := s.parts[part]
		if !ok {
			labels := maps.Clone(s.labels)
			labels[model.LabelHistogram] = part
			number = b.number(withLabels(labels), nil)
			s.parts[part] = number
		}
		delete(others, part)
		return b.add(number, t, v)
	})
	if err != nil {
		return err
	}
	for _, number := range others {
		b.removing = true
		if err := b.rows.add(t, 0, number|removes); err != nil {
			return err
		}
	}
	s.newest = max(s.newest, ms)
	return nil
}

// findNewest finds the newest measure of each metric of native histograms among those that are not removed.
func (i *Importer) findNewest() error {
	if !i.removing {
		return nil
	}
	for _, s := range i.natives {
		for _, number := range s.parts {
			i.metrics[number].newest = 0
		}
	}
	return i.eachRow(func(r *row) error {
		m := i.metrics[r.metric]
		m.newest = max(m.newest, r.time)
		return nil
	})
}

// eachRow calls use with the rows in order of time, and counts those that are removed.
func (i *Importer) eachRow(use func(*row) error) error {
	i.removed = 0
	var same []row // of one time
	removed := make(map[uint32]bool)
	flush := func() error {
		for n := len(same) - 1; n >= 0 && len(i.natives) > 0; n-- {
			of := &same[n]
			if of.metric&removes != 0 {
				removed[of.metric&^removes] = true
			} else if removed[of.metric] {
				of.metric |= removes
				i.removed++
			}
		}
		clear(removed)
		for n := range same {
			if same[n].metric&removes == 0 {
				if err := use(&same[n]); err != nil {
					return err
				}
			}
		}
		same = same[:0]
		return nil
	}
	err := i.rows.each(func(r *row) error {
		if len(same) > 0 && same[0].time != r.time {
			if err := flush(); err != nil {
				return err
			}
		}
		same = append(same, *r)
		return nil
	})
	return errors.Join(err, flush())
}
