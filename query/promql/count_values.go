package promql

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/schema"
)

// countValues is nil if the engine has to report a wrong label.
func countValues(e *parser.AggregateExpr) resultFunction {
	name, ok := unwrap(e.Param).(*parser.StringLiteral)
	if !ok || !areLabelNames(name.Val) {
		return nil
	}
	grouping := slices.Clone(e.Grouping)
	if !e.Without {
		grouping = append(grouping, name.Val)
	}
	builder := labels.NewBuilder(labels.EmptyLabels())
	shown := func(of labels.Labels, v float64) labels.Labels {
		builder.Reset(of)
		builder.Set(name.Val, strconv.FormatFloat(v, 'f', -1, 64))
		if !e.Without {
			return builder.Keep(grouping...).Labels()
		}
		builder.Del(grouping...)
		schema.Metadata{}.SetToLabels(builder)
		return builder.Labels()
	}
	type counted struct { // a value of a series
		series int
		bits   uint64
	}
	return func(ctx context.Context, s *source, in *computed) (*computed, error) {
		out, known, places := in.like(), map[counted]int{}, map[uint64]int{}
		for i := range in.at.N {
			t, more := in.at.At(i), 0
			for j := range in.matrix {
				points := in.matrix[j].Floats
				if len(points) == 0 || points[0].T != t {
					continue
				}
				key := counted{j, math.Float64bits(points[0].F)}
				place, ok := known[key]
				if !ok {
					of := shown(in.matrix[j].Metric, points[0].F)
					hash := of.Hash()
					if place, ok = places[hash]; !ok {
						place = len(out.matrix)
						places[hash], out.matrix = place, append(out.matrix, upstream.Series{Metric: of})
					}
					known[key] = place
				}
				counts := &out.matrix[place].Floats
				if n := len(*counts); n > 0 && (*counts)[n-1].T == t {
					(*counts)[n-1].F++
				} else {
					*counts = append(*counts, upstream.FPoint{T: t, F: 1})
					more++
				}
				in.matrix[j].Floats = points[1:]
			}
			if err := s.chargePoints(ctx, &out.points, more); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
}
