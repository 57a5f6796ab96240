package activity_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/query/activity"
)

func TestRunningQueriesAreListedAndKilled(t *testing.T) {
	tracker := activity.New(1 << 20)
	killer := ""
	q := &activity.Query{User: "anna", Project: "p", Route: "/v1/x", Kill: func(by string) { killer = by }}
	tracker.Begin(q)
	q.Describe("up")
	q.Wait(true)
	q.Read(uuid.New(), 7)
	q.Read(uuid.New(), 5)
	list := tracker.Answer(activity.Request{}).Running
	if len(list) != 1 || list[0].Query != "up" || list[0].User != "anna" || !list[0].Waiting ||
		list[0].Metrics != 2 || list[0].Groups != 12 {
		t.Fatalf("running: %+v", list)
	}
	tracker.Answer(activity.Request{Kill: "0", By: "root"})
	if killer != "" {
		t.Error("another ID killed the query")
	}
	if tracker.Answer(activity.Request{Kill: list[0].ID, By: "root"}); killer != "root" {
		t.Errorf("killed by %q", killer)
	}
	tracker.End(q)
	report := tracker.Answer(activity.Request{Costs: true})
	if len(report.Running) > 0 || len(report.Costs) != 1 || report.Costs[0].Groups != 12 || report.Costs[0].Count != 1 {
		t.Errorf("after the end: %+v", report)
	}
}

// A query that comes again and again keeps its row, however many others come once. The table is bounded.
func TestCostsKeepHeavyQueries(t *testing.T) {
	tracker := activity.New(1 << 20)
	run := func(text string) {
		q := &activity.Query{Route: "/api/v1/query"}
		tracker.Begin(q)
		q.Describe(text)
		tracker.End(q)
	}
	for i := range 5000 {
		run(fmt.Sprint("once ", i))
		for range 4 {
			run("heavy")
		}
	}
	costs := tracker.Answer(activity.Request{Costs: true}).Costs
	i := slices.IndexFunc(costs, func(c activity.Cost) bool { return c.Query == "heavy" })
	if len(costs) != 256 || i < 0 || costs[i].Count < 15_000 || costs[i].Seconds < costs[i].Over {
		t.Errorf("%d rows, heavy in row %d of them", len(costs), i)
	}
}

func TestReadMetricsAreNeverUnread(t *testing.T) {
	trackers := []*activity.Tracker{activity.New(1 << 20), activity.New(1 << 20)}
	var read []uuid.UUID
	for i := range 20_000 {
		q := &activity.Query{}
		trackers[i%2].Begin(q)
		read = append(read, uuid.New())
		q.Read(read[i], 1)
		trackers[i%2].End(q)
	}
	report := trackers[0].Answer(activity.Request{Reads: true})
	report.Merge(trackers[1].Answer(activity.Request{Reads: true}))
	for _, metric := range read {
		if !report.Reads.Has(metric) {
			t.Fatal("a metric that was read is unread")
		}
	}
	wrong := 0
	for range 20_000 {
		if report.Reads.Has(uuid.New()) {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of 20000 metrics are taken for read", wrong)
	}
	if activity.New(1 << 20).Answer(activity.Request{}).Reads.Has(read[0]) {
		t.Error("nothing was read")
	}
}

func TestNoQuery(t *testing.T) {
	q := activity.Of(context.Background())
	q.Describe("x")
	q.Wait(true)
	q.Read(uuid.New(), 1)
	if q.Metrics()+q.Groups() != 0 {
		t.Error("no query counts nothing")
	}
}
