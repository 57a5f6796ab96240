package metamorphic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/golden"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// TestGoldenScenarios sends what the real Gnocchi was sent, with checkpoints and restarts at random between requests.
func TestGoldenScenarios(t *testing.T) {
	scenarios, err := golden.Scenarios()
	fatal.If(t, err)
	for i, s := range scenarios {
		t.Run(s.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 3))
			n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1 + rng.IntN(3), Workers: 1})
			defer n.Stop(context.Background())
			id := metricIDs(rng, 1)[0]
			policy := scenarioPolicy(t, s.Policy)
			createMetrics(t, n, []*model.ArchivePolicy{policy}, metricIDs(rng, 1))
			fatal.If(t, n.Index.CreateMetric(context.Background(), &model.Metric{ID: id, ArchivePolicy: policy,
				Creator: "admin"}))
			var largest float64
			for _, r := range s.Requests {
				largest = max(largest, golden.Largest(r.Values))
				m := model.Measures{Offsets: []int{0, len(r.Values)}, Timestamps: r.Timestamps, Values: r.Values}
				m.Metrics = append(m.Metrics, id)
				fatal.If(t, n.Post(&m))
				switch rng.IntN(4) {
				case 0:
					fatal.If(t, n.Metricd.Checkpoint(context.Background()))
				case 1:
					n.Restart(rng.IntN(2) == 0)
				}
			}
			for _, g := range s.Granularities {
				groups := n.Read(id, g.Granularity)
				for _, want := range g.Aggregates {
					var got golden.Answer
					got.Starts, got.Values = groups.Aggregate(want.Method, nil, nil)
					if err := golden.Compare(want.Method, want.Answer, got, largest); err != nil {
						t.Errorf("%v at %v: %v", want.Method, g.Granularity, err)
					}
				}
			}
		})
	}
}

func scenarioPolicy(t *testing.T, p golden.Policy) *model.ArchivePolicy {
	t.Helper()
	var definition []model.DefinitionInput
	for _, d := range p.Definition {
		input := model.DefinitionInput{Granularity: new(time.Duration)}
		*input.Granularity = d.Granularity
		if d.Points > 0 {
			input.Points = &d.Points
		}
		definition = append(definition, input)
	}
	var methods []string
	for _, m := range p.Methods {
		methods = append(methods, fmt.Sprint(m))
	}
	policy, err := model.NewArchivePolicy("scenario", p.BackWindow, definition, methods)
	fatal.If(t, err)
	return policy
}
