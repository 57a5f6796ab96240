package rules_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// Cells follow the labels of their inputs: a resource that gets another attribute, or is deleted, changes all of its
// history, and a query reads no result from before.
func TestCellsFollowLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	kind, err := model.NewResourceType("host", []*model.Attribute{{Name: "rack", Kind: model.KindString, MaxLength: 20}})
	w.check(err)
	w.check(w.Index.CreateResourceType(t.Context(), kind))
	policy, err := w.writer.Ingester.PolicyOfSeries(t.Context(), model.UnknownType)
	w.check(err)
	begin := w.now
	var hosts []uuid.UUID
	for i := range 4 {
		r := &model.Resource{ID: uuid.New(), Type: "host", Creator: "me", OriginalID: fmt.Sprint("host", i)}
		r.Attributes.Set("rack", fmt.Sprint("r", i%2))
		m := &model.Metric{ID: uuid.New(), Name: "load", ArchivePolicy: policy, Creator: "me"}
		w.check(w.Index.CreateResource(t.Context(), r, []*model.Metric{m}))
		hosts = append(hosts, r.ID)
		sent := &model.Measures{Metrics: []uuid.UUID{m.ID}, Offsets: []int{0, 30}}
		for i := range 30 {
			sent.Timestamps = append(sent.Timestamps, carbonara.FromTime(begin.Add(time.Duration(i)*time.Minute)))
			sent.Values = append(sent.Values, float64(rng.IntN(100)))
		}
		w.check(w.Post(sent))
	}
	w.now = w.now.Add(40 * time.Minute)
	w.apply("groups: [{name: g, interval: 1m, rules: [{record: 'rack:load', expr: 'sum by (rack) (load)'}]}]")
	for i := range 12 {
		w.settle()
		from, to := begin.Add(2*time.Minute), begin.Add(30*time.Minute)
		recorded := w.ask(`last_over_time({__name__="rack:load"}[1m])`, from, to, time.Minute)
		want := w.ask(`label_replace(sum by (rack) (load), "__name__", "rack:load", "", "")`, from, to, time.Minute)
		if err := same(recorded, want); err != nil || i < 11 && len(want) == 0 {
			t.Fatalf("after %d changes: %v; %d series", i, err, len(want))
		}
		id := hosts[rng.IntN(len(hosts))]
		if i == 10 {
			w.check(w.Index.DeleteResource(t.Context(), "host", id, nil))
			continue
		}
		_, err := w.Index.UpdateResource(t.Context(), "host", id, carbonara.FromTime(w.now),
			func(r *model.Resource) (*index.MetricSet, error) {
				r.Attributes.Set("rack", fmt.Sprint("r", rng.IntN(3)))
				return nil, nil
			})
		if i < 10 {
			w.check(err)
		}
		if rng.IntN(3) == 0 {
			w.open() // another process evaluates
		}
		// Until the sacks are asked, the rule has the labels of before; then it has those of now.
		w.fails = func(what string) error {
			if what == "rights" {
				return errors.New("planned")
			}
			return nil
		}
		w.now = w.now.Add(6 * time.Second)
		w.check(w.manager.Round(t.Context(), w.now))
		w.fails = nil
		w.compareUse("sum by (rack) (load)", from, to, time.Minute)
	}
}
