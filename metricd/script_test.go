package metricd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// TestScripts runs testdata/*.txt; -rewrite writes their outputs. Times are in seconds after start. A metric has
// aggregates of one minute and of five minutes, both kept for the same number of hours.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{fs: vfs.NewMem(), metrics: make(map[string]uuid.UUID), sources: make(map[string]*stampedSource),
			clockErrors: make(map[uuid.UUID]time.Duration)}
		datadriven.RunTest(t, path, s.run)
		if s.node != nil {
			s.node.Stop(context.Background())
		}
	})
}

// script is the state of one script between its commands.
type script struct {
	fs      *vfs.MemFS
	node    *testnode.Node // nil while it is stopped
	sacks   int
	metrics map[string]uuid.UUID

	// Of the scripts of several incoming stores: see order_test.go.
	sources     map[string]*stampedSource
	known       *intake.Sources
	clockErrors map[uuid.UUID]time.Duration
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	ctx := context.Background()
	var id uuid.UUID
	if len(d.CmdArgs) > 0 && len(d.CmdArgs[0].Vals) == 0 {
		id = s.metrics[d.CmdArgs[0].Key]
	}
	number := func(key string, value int) int {
		d.MaybeScanArgs(t, key, &value)
		return value
	}
	var err error
	switch d.Cmd {
	case "start":
		s.sacks = number("sacks", 1)
		s.node = testnode.Start(t, testnode.Options{FS: s.fs, Sacks: s.sacks, Workers: number("workers", 1),
			ClockError: func(clock uuid.UUID) time.Duration { return s.clockErrors[clock] }})
	case "metric":
		s.metrics[d.CmdArgs[0].Key] = newMetric(t, s.node, number("back-window", 0), number("hours", 1))
	case "policy": // changes the metric's policy
		err = s.changePolicy(id, number("back-window", 0), time.Duration(number("minutes", 0))*time.Minute)
	case "post":
		err = s.node.Post(parseMeasures(t, d, id))
	case "read":
		return s.read(t, d, id)
	case "refresh":
		err = s.node.Metricd.Refresh(ctx, []uuid.UUID{id})
	case "checkpoint":
		const groups = "gnocco_metricd_checkpoint_groups_total"
		before := s.node.Value(groups)
		checkpoint(t, s.node)
		return fmt.Sprintf("%v groups written\n", s.node.Value(groups)-before)
	case "delete":
		err = s.node.Index.DeleteMetric(ctx, id)
	case "expunge":
		err = s.node.Metricd.Expunge(ctx)
	case "restart":
		s.node.Restart(true)
		s.attach(t)
	case "crash": // without a last checkpoint
		s.node.Restart(false)
		s.attach(t)
	case "sources": // which incoming stores there are; "unknown" for others that this process has not seen
		s.setSources(t, d)
	case "clock": // how far it may be off, in seconds
		s.clockErrors[clockOf(d.CmdArgs[0].Key)] = time.Duration(number("error", 0)) * time.Second
	case "send": // from a source, at a time of its clock
		s.send(t, d, parseMeasures(t, d, s.metrics[d.CmdArgs[1].Key]), number("at", 0))
	case "frontier": // of a source: unsent records are later
		s.sources[d.CmdArgs[0].Key].setFrontier(number("at", 0))
	case "stop":
		s.node.Stop(ctx)
		s.node = nil
	case "archive": // what a stopped node has on disk of a metric, in any sack
		return s.archive(t, id)
	default:
		d.Fatalf(t, "no such command")
	}
	if err != nil {
		return fmt.Sprintln("error:", err)
	}
	return ""
}

// parseMeasures reads one request, second=value.
func parseMeasures(t *testing.T, d *datadriven.TestData, id uuid.UUID) *model.Measures {
	t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{id}}
	for _, measure := range strings.Fields(d.Input) {
		var second int
		var value float64
		if _, err := fmt.Sscanf(measure, "%d=%g", &second, &value); err != nil {
			d.Fatalf(t, "measure %q: %v", measure, err)
		}
		m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(second)*1e9)
		m.Values = append(m.Values, value)
	}
	m.Offsets = []int{0, len(m.Values)}
	return m
}

// read prints the aggregates of a granularity and a method, second=value.
func (s *script) read(t *testing.T, d *datadriven.TestData, id uuid.UUID) string {
	t.Helper()
	if _, err := s.node.Index.Metric(id); errors.Is(err, model.ErrNotFound) {
		return "no such metric\n"
	}
	granularity, err := time.ParseDuration(d.CmdArgs[1].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	method, err := carbonara.ParseMethod(d.CmdArgs[2].Key)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	var text []string
	starts, values := s.node.Read(id, granularity).Aggregate(method, nil, nil)
	for i, at := range starts {
		text = append(text, fmt.Sprintf("%d=%g", (at-start)/1e9, values[i]))
	}
	return strings.Join(text, " ") + "\n"
}

func (s *script) changePolicy(id uuid.UUID, backWindow int, timespan time.Duration) error {
	metric, err := s.node.Index.Metric(id)
	if err != nil {
		return err
	}
	change := func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		minute, five := time.Minute, 5*time.Minute
		return old.Update(&backWindow, []model.DefinitionInput{
			{Granularity: &minute, Timespan: &timespan}, {Granularity: &five, Timespan: &timespan}})
	}
	_, err = s.node.Index.UpdateArchivePolicy(context.Background(), metric.ArchivePolicy.Name, change)
	return err
}

func (s *script) archive(t *testing.T, id uuid.UUID) string {
	t.Helper()
	second := func(at carbonara.Timestamp, found bool, err error) string {
		fatal.If(t, err)
		if !found {
			return "none"
		}
		return fmt.Sprint((at - start) / 1e9)
	}
	var raw, dropped, late int
	oldest, newest := "none", "none"
	for sack := range s.sacks {
		store, err := archive.Open(fmt.Sprintf("sacks/%03d/e1", sack), archive.Options{FS: s.fs})
		fatal.If(t, err)
		timestamps, _, _, err := store.Raw(id, nil, nil)
		fatal.If(t, err)
		n, err := store.Dropped(id)
		fatal.If(t, err)
		raw, dropped = raw+len(timestamps), dropped+int(n)
		n, err = store.Late(id)
		fatal.If(t, err)
		late += int(n)
		if at := second(store.Oldest(id, time.Minute)); at != "none" {
			oldest = at
		}
		if at := second(store.Newest(id, time.Minute)); at != "none" {
			newest = at
		}
		fatal.If(t, store.Close())
	}
	return fmt.Sprintf(
		"raw measures: %d\ndropped: %d\nlate: %d\noldest split of one minute: %s\nnewest group of one minute: %s\n",
		raw, dropped, late, oldest, newest)
}
