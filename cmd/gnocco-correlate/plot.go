package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/internal/pairplot"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/correlate/pairs"
)

// plotFlags are the flags that ask for drawings.
type plotFlags struct {
	heatMap string
	scatter string
	columns string
}

func (p *plotFlags) define(f *pflag.FlagSet) {
	f.StringVar(&p.heatMap, "heat-map", "",
		"draw all coefficients into this file (.png or .svg), with correlated columns side by side")
	f.StringVar(&p.scatter, "scatter", "",
		"draw the two columns of --scatter-columns into this file (.png or .svg); of a long file, 20,000 random rows")
	f.StringVar(&p.columns, "scatter-columns", "", "names of two columns, separated by a comma")
}

// plots is what is gathered for the drawings.
type plots struct {
	plotFlags
	names  []string
	matrix *pairplot.Matrix // nil for none
	sample *sample          // nil for none
}

// plots checks the flags against the columns that there are.
func (p *plotFlags) plots(names []string) (*plots, error) {
	result := &plots{plotFlags: *p, names: names}
	if p.heatMap != "" {
		if err := pairplot.CheckFile(p.heatMap); err != nil {
			return nil, fmt.Errorf("--heat-map: %w", err)
		}
		if len(names) > pairplot.MaxColumns {
			return nil, fmt.Errorf("--heat-map: the file has %d columns, more than %d", len(names), pairplot.MaxColumns)
		}
		result.matrix = pairplot.NewMatrix(len(names))
	}
	if (p.scatter == "") != (p.columns == "") {
		return nil, errors.New("--scatter and --scatter-columns need each other")
	}
	if p.scatter != "" {
		if err := pairplot.CheckFile(p.scatter); err != nil {
			return nil, fmt.Errorf("--scatter: %w", err)
		}
		first, second, _ := strings.Cut(p.columns, ",")
		x, y := slices.Index(names, strings.TrimSpace(first)), slices.Index(names, strings.TrimSpace(second))
		if x < 0 || y < 0 {
			return nil, fmt.Errorf("--scatter-columns: %q does not name two columns that hold numbers: %s",
				p.columns, pairs.ShortList(names))
		}
		result.sample = &sample{i: x, j: y, random: rand.New(rand.NewPCG(1, 2))}
	}
	return result, nil
}

// source returns what shows the plots the rows that are read.
func (p *plots) source(source correlate.Source) correlate.Source {
	if p.sample == nil {
		return source
	}
	p.sample.Source = source
	return p.sample
}

// pair shows the plots a pair, and then next.
func (p *plots) pair(next func(correlate.Pair) error) func(correlate.Pair) error {
	if p.matrix == nil {
		return next
	}
	return func(pair correlate.Pair) error {
		p.matrix.Set(pair)
		return next(pair)
	}
}

// draw writes the files.
func (p *plots) draw() error {
	var errs []error
	if p.matrix != nil {
		errs = append(errs, p.matrix.HeatMap(p.heatMap, p.names))
	}
	if p.sample != nil {
		errs = append(errs, pairplot.Scatter(p.scatter, p.names[p.sample.i], p.names[p.sample.j],
			p.sample.x, p.sample.y))
	}
	return errors.Join(errs...)
}

// sampleRows are drawn of a scatter.
const sampleRows = 20_000

// sample keeps rows of two columns as they are read, each with the same chance.
type sample struct {
	correlate.Source
	i, j   int
	random *rand.Rand
	x, y   []float64
	seen   int64
}

// Read implements correlate.Source.
func (s *sample) Read(ctx context.Context, add func([][]float64) error) error {
	s.x, s.y, s.seen = s.x[:0], s.y[:0], 0
	return s.Source.Read(ctx, func(columns [][]float64) error {
		for t, v := range columns[s.i] {
			s.seen++
			if len(s.x) < sampleRows {
				s.x, s.y = append(s.x, v), append(s.y, columns[s.j][t])
			} else if at := s.random.Int64N(s.seen); at < sampleRows {
				s.x[at], s.y[at] = v, columns[s.j][t]
			}
		}
		return add(columns)
	})
}
