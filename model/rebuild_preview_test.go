package model_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestPreviewRebuild(t *testing.T) {
	policy := func(backWindow int, methods []string, spans ...time.Duration) *model.ArchivePolicy {
		t.Helper()
		var definition []model.DefinitionInput
		for i := 0; i < len(spans); i += 2 {
			d := model.DefinitionInput{Granularity: &spans[i]}
			if spans[i+1] > 0 {
				d.Timespan = &spans[i+1]
			}
			definition = append(definition, d)
		}
		p, err := model.NewArchivePolicy("p", backWindow, definition, methods)
		fatal.If(t, err)
		return p
	}
	const day = 24 * time.Hour
	from := policy(2, []string{"mean", "max", "median"}, time.Minute, day, 10*time.Minute, 7*day)
	to := policy(0, []string{"mean", "sum", "median", "min"}, time.Minute, 2*day, time.Hour, 30*day, time.Second, 0)
	p := model.PreviewRebuild(from, to)
	f := func(g time.Duration, m carbonara.Method, want string) {
		t.Helper()
		for _, i := range p.Items {
			if i.Granularity == g && i.Method == m {
				if got := fmt.Sprintf("%s %v %v", i.From, i.Of, i.Reach); got != want {
					t.Errorf("%v at %v: %s, want %s", m, g, got, want)
				}
				return
			}
		}
		t.Errorf("nothing about %v at %v", m, g)
	}
	f(time.Minute, carbonara.Mean, "stored 0s 24h0m0s")
	f(time.Minute, carbonara.Sum, "stored 0s 24h0m0s") // a mean has it
	f(time.Minute, carbonara.Median, "stored 0s 24h0m0s")
	f(time.Minute, carbonara.Min, "raw 0s 20m0s")
	f(time.Hour, carbonara.Mean, "moments 10m0s 168h0m0s")
	f(time.Hour, carbonara.Median, "raw 0s 20m0s")
	f(time.Second, carbonara.Mean, "raw 0s 20m0s")
	if len(p.Removed) != 1 || p.Removed[0] != 10*time.Minute || len(p.Dropped) != 1 || p.Dropped[0] != carbonara.Max {
		t.Error(p.Removed, p.Dropped)
	}
}
