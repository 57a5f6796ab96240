package promql

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// selection is what a selector asks of the series that it finds.
type selection struct {
	source      *source
	start, end  int64 // ms, of samples; both inclusive
	first, step int64 // ms: the first time of an evaluation, and how far apart they are; 0: one time
	length      int64 // ms, of a range; 0: a selector of instants
	function    string
	selector    string              // as the client wrote it, about
	extended    bool                // the range is longer than length, by its modifier
	offset      *int64              // of a selector in a subquery, whose times are multiples of step, before the offset
	method      carbonara.Method    // chosen by __aggregation__; 0: rule 6
	methods     []*labels.Matcher   // of __aggregation__, other than =: those that all match, each as a series
	percentile  carbonara.Method    // of quantile_over_time, or min or max; 0: none
	granularity time.Duration       // chosen by __granularity__; 0: rule 3
	coarsest    time.Duration       // that may serve; 0: rule 3
	now         carbonara.Timestamp // no group ends later
	lookback    int64               // ms; 0: rule 5

	ahead   *readAhead
	current *iterator // the series through which the engine goes: it takes one after the other
	notes   annotations.Annotations
	origins []time.Duration // that served samples
	known   map[readingKey]*reading
}

// readingKey is what a reading follows from.
type readingKey struct {
	policy *model.ArchivePolicy
	method carbonara.Method // 0: rule 6
	native bool             // of a part of native histograms
}

// newSelection returns what a selector of this query asks, before its matchers are known.
func (s *source) newSelection(hints *storage.SelectHints) *selection {
	sel := &selection{
		source: s, start: hints.Start, end: hints.End, step: hints.Step, length: hints.Range, function: hints.Func,
		coarsest: s.Granularity, now: carbonara.FromTime(s.now), lookback: s.Lookback.Milliseconds(),
		known: map[readingKey]*reading{},
	}
	sel.first = hints.Start + hints.Range - 1
	if hints.Range == 0 {
		sel.first = hints.Start + s.longest - 1
		sel.function = "" // it is around something else than a range
	}
	return sel
}

// prepare takes the matchers that say how to read, and returns the others.
func (sel *selection) prepare(matchers []*labels.Matcher) ([]*labels.Matcher, error) {
	real, err := sel.popPseudo(matchers)
	sel.selector = selectorText(real)
	return real, err
}

// popPseudo removes the matchers that say how to read, and undoes the escapes of label names.
func (sel *selection) popPseudo(matchers []*labels.Matcher) ([]*labels.Matcher, error) {
	var real []*labels.Matcher
	for _, m := range matchers {
		var err error
		if m.Name == granularityMatcher && m.Type != labels.MatchEqual {
			return nil, fmt.Errorf("%s says how to read series: it takes = only", m.Name)
		}
		switch m.Name {
		case aggregationMatcher:
			if m.Type != labels.MatchEqual {
				sel.methods = append(sel.methods, m)
			} else if sel.method, err = carbonara.ParseMethod(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		case quantileMatcher:
			if sel.percentile, err = carbonara.ParseMethod(m.Value); err != nil {
				return nil, fmt.Errorf("%s: %w", m.Name, err)
			}
		case granularityMatcher:
			if sel.granularity, err = model.ParseTimespan(m.Value); err != nil || sel.granularity <= 0 {
				return nil, fmt.Errorf("%s: %q is no granularity", m.Name, m.Value)
			}
		case extendedMatcher:
			sel.extended = true
		case offsetMatcher:
			offset, err := strconv.ParseInt(m.Value, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %q is no number of milliseconds", m.Name, m.Value)
			}
			sel.offset = &offset
		default:
			if plain := common.UnescapeName(m.Name, common.ValueEncodingEscaping); plain != m.Name {
				if m, err = labels.NewMatcher(m.Type, plain, m.Value); err != nil {
					return nil, err
				}
			}
			real = append(real, m)
		}
	}
	return real, nil
}

// selectorText shows matchers.
func selectorText(matchers []*labels.Matcher) string {
	name := ""
	var rest []string
	for _, m := range matchers {
		plainName := m.Name == common.MetricNameLabel && m.Type == labels.MatchEqual
		if plainName && common.LegacyValidation.IsValidMetricName(m.Value) {
			name = m.Value
		} else {
			rest = append(rest, m.String())
		}
	}
	if len(rest) == 0 {
		return name
	}
	return name + "{" + strings.Join(rest, ",") + "}"
}

// divides reports whether ranges of the selector may have parts of groups of a granularity.
func (sel *selection) divides(granularity time.Duration) bool {
	return sel.length > 0 && sel.function != "" && !sel.extended && !sel.isAligned(granularity)
}

// isAligned reports whether the range and all times of a selector over time are multiples of a granularity. Ranges that
// end in the future are not: their last group has not ended.
func (sel *selection) isAligned(granularity time.Duration) bool {
	if sel.length == 0 || sel.end > int64(sel.now/1e6) || granularity%time.Millisecond != 0 {
		return false
	}
	g := granularity.Milliseconds()
	if sel.length%g != 0 || sel.step%g != 0 {
		return false
	}
	if sel.offset != nil {
		return sel.step > 0 && *sel.offset%g == 0
	}
	return sel.first%g == 0
}
