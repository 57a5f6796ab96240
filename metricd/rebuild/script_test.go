package rebuild_test

import (
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/rebuild"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// start is second 0 of the scripts: it begins an hour.
const start = carbonara.Timestamp(416_666 * 3_600e9)

// TestScripts runs testdata/*.txt; -rewrite writes their outputs. Each has one sack's archives, without a server.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		store, err := archive.Open("sack", archive.Options{FS: vfs.NewMem()})
		fatal.If(t, err)
		s := &script{t: t, store: store, metrics: make(map[string]*metric)}
		datadriven.RunTest(t, path, s.run)
		fatal.If(t, store.Close())
	})
}

type script struct {
	t       *testing.T
	store   *archive.Store
	metrics map[string]*metric
	batch   rebuild.Batch
}

// metric is one with all measures that it ever counted, in an archive that has fewer.
type metric struct {
	model.Metric
	timestamps []carbonara.Timestamp
	values     []float64
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.t = t
	if d.Cmd == "rebuild" { // the named metrics by their policies, in one checkpoint
		return s.rebuild(d)
	}
	name := d.CmdArgs[0].Key
	m := s.metrics[name]
	switch d.Cmd {
	case "archive": // the measures of a metric, as a checkpoint leaves them
		m = &metric{Metric: model.Metric{ID: uuid.NewSHA1(uuid.Nil, []byte(name)), ArchivePolicy: s.policy(d)}}
		s.metrics[name] = m
		s.archive(m, d)
	case "policy": // another one for a metric
		m.ArchivePolicy = s.policy(d)
	case "damage": // a split of a granularity, or the raw series
		key := archive.RawKey(m.ID)
		var seconds int
		if d.MaybeScanArgs(t, "split", &seconds); seconds > 0 {
			key = archive.SplitKey(m.ID, carbonara.SplitKeyOf(start, time.Duration(seconds)*time.Second))
		}
		s.must(s.store.DB().Merge(key, []byte{1, 2, 3}, nil))
	case "compare": // the archive with a computation by the metric's policy from all measures
		return s.compare(m)
	case "partial":
		return s.partial(m)
	default:
		d.Fatalf(t, "no such command")
	}
	return ""
}

func (s *script) policy(d *datadriven.TestData) *model.ArchivePolicy {
	var definition []model.DefinitionInput
	backWindow := 0
	d.MaybeScanArgs(s.t, "back-window", &backWindow)
	arg, _ := d.Arg("granularities")
	for i := range arg.Vals {
		var seconds int64
		arg.Scan(s.t, i, &seconds)
		g := time.Duration(seconds) * time.Second
		item := model.DefinitionInput{Granularity: &g}
		if points, ok := d.Arg("points"); ok {
			item.Points = new(int64)
			points.Scan(s.t, 0, item.Points)
		}
		definition = append(definition, item)
	}
	methods, _ := d.Arg("methods")
	policy, err := model.NewArchivePolicy("p", backWindow, definition, methods.Vals)
	s.must(err)
	return policy
}

// archive writes measures of values that repeat after 17, from one second to another.
func (s *script) archive(m *metric, d *datadriven.TestData) {
	var from, to, every int
	d.ScanArgs(s.t, "from", &from)
	d.ScanArgs(s.t, "to", &to)
	d.ScanArgs(s.t, "every", &every)
	for second := from; second < to; second += every {
		m.timestamps = append(m.timestamps, start+carbonara.Timestamp(second)*1e9)
		m.values = append(m.values, float64(second/every*5%17))
	}
	c := s.store.NewCheckpoint()
	for _, groups := range s.computed(m) {
		c.PutGroups(m.ID, groups)
	}
	keepFrom := model.KeepFrom(m.ArchivePolicy.Plan(), m.ArchivePolicy.BackWindow, m.timestamps[len(m.timestamps)-1])
	c.AppendRaw(m.ID, keepFrom, m.timestamps, m.values)
	s.must(c.Commit())
}

// computed returns the groups of all measures by the metric's policy.
func (s *script) computed(m *metric) (all []*carbonara.Groups) {
	var result carbonara.Result
	plan := m.ArchivePolicy.Plan()
	s.must(carbonara.NewCPUResampler(1).Resample(s.t.Context(), &carbonara.Batch{Timestamps: m.timestamps,
		Values: m.values, Series: []carbonara.Series{{Plan: plan, To: len(m.values)}}}, &result))
	for j := range plan.Granularities {
		all = append(all, result.Groups(0, j))
	}
	return all
}

func (s *script) rebuild(d *datadriven.TestData) (text string) {
	var metrics []*model.Metric
	for _, arg := range d.CmdArgs {
		if m := s.metrics[arg.Key]; m != nil {
			metrics = append(metrics, &m.Metric)
		} else {
			metrics = append(metrics, nil)
		}
	}
	plain := carbonara.NewCPUResampler(1)
	var changed []uuid.UUID
	var outcomes []model.RebuildCounts
	for len(outcomes) < len(metrics) { // a batch that took its time leaves the others to the next one
		c := s.store.NewCheckpoint()
		rest := metrics[len(outcomes):]
		written, done, err := s.batch.Archives(s.t.Context(), rest, c, &rebuild.Options{Store: s.store,
			Resampler: plain, Plain: plain, Logger: slog.New(slog.DiscardHandler), Unchanged: func(m *model.Metric) {
				text += "has its schema: " + s.nameOf(m.ID) + "\n"
			}})
		s.must(err)
		s.must(c.Commit())
		changed, outcomes = append(changed, written...), append(outcomes, done...)
	}
	for i, outcome := range outcomes {
		text += fmt.Sprintf("%s: %d changed, %d unchanged, %d failed\n", d.CmdArgs[i].Key, outcome.Changed,
			outcome.Unchanged, outcome.Failed)
		if u := outcome.Unknown; u.Groups > 0 {
			text += fmt.Sprintf("%d groups of %d archives from %d to %d are unknown\n", u.Groups, u.Archives, (u.From-start)/1e9,
				(u.To-start)/1e9)
		}
	}
	for _, id := range changed {
		text += "written: " + s.nameOf(id) + "\n"
	}
	return text
}

func (s *script) nameOf(id uuid.UUID) string {
	for name, m := range s.metrics {
		if m.ID == id {
			return name
		}
	}
	return "unknown"
}

// compare prints, of each granularity and method of the policy, how many aggregates the archive has of those that a
// computation from all measures gives, and those that differ.
func (s *script) compare(m *metric) string {
	var text strings.Builder
	schema, err := s.store.Schema(m.ID)
	if err != nil {
		return "the schema does not decode\n"
	}
	for _, item := range schema {
		if !m.ArchivePolicy.HasGranularity(item.Granularity) {
			fmt.Fprintf(&text, "%v: not of the policy\n", item.Granularity)
		} else if n := s.splitsWithOthers(m, item.Granularity); n > 0 {
			fmt.Fprintf(&text, "%v: %d splits have other columns\n", item.Granularity, n)
		}
	}
	for _, want := range s.computed(m) {
		var got carbonara.Groups
		got.Reset(want.Granularity, m.ArchivePolicy.Plan().Columns)
		corrupt, err := s.store.Groups(m.ID, want.Granularity, 0, carbonara.MaxTimestamp, &got)
		s.must(err)
		if corrupt > 0 {
			fmt.Fprintf(&text, "%v: %d splits do not decode\n", want.Granularity, corrupt)
		}
		for _, method := range m.ArchivePolicy.Methods() {
			fmt.Fprintf(&text, "%v %v: %s\n", want.Granularity, method, difference(method, &got, want))
		}
	}
	return text.String()
}

// splitsWithOthers returns how many splits have a column that the policy does not.
func (s *script) splitsWithOthers(m *metric, g time.Duration) (n int) {
	columns := m.ArchivePolicy.Plan().Columns
	s.must(s.store.EachSplit(m.ID, g, func(_ carbonara.SplitKey, has []carbonara.Column, _ int) error {
		if slices.ContainsFunc(has, func(c carbonara.Column) bool { return !slices.Contains(columns, c) }) {
			n++
		}
		return nil
	}))
	return n
}

// difference prints how the aggregates of an archive differ from those that were computed.
func difference(method carbonara.Method, got, want *carbonara.Groups) string {
	gotStarts, gotValues := got.Aggregate(method, nil, nil)
	starts, values := want.Aggregate(method, nil, nil)
	expected := make(map[carbonara.Timestamp]float64)
	for i, at := range starts {
		expected[at] = values[i]
	}
	all := len(expected)
	var different []string
	for i, at := range gotStarts {
		value, ok := expected[at]
		delete(expected, at)
		if !ok || math.Abs(gotValues[i]-value) > 1e-9*math.Abs(value) {
			different = append(different, fmt.Sprintf(", at %d %v", (at-start)/1e9, gotValues[i]))
		}
	}
	text := fmt.Sprintf("%d of %d", len(gotStarts), all)
	if len(expected) > 0 {
		missing := slices.Sorted(maps.Keys(expected))
		text += fmt.Sprintf(", without %d to %d", (missing[0]-start)/1e9, (missing[len(missing)-1]-start)/1e9)
	}
	if len(different) > 0 {
		return text + strings.Join(different, "")
	}
	return text + ", as computed"
}

// partial prints the partial groups that late measures continue, and since when granularities are known.
func (s *script) partial(m *metric) string {
	partial, err := s.store.PartialGroups(m.ID)
	s.must(err)
	if partial == nil {
		return "none\n"
	}
	var text strings.Builder
	if partial.Before > 0 {
		fmt.Fprintf(&text, "before %d:", (partial.Before-start)/1e9)
		for i := range partial.Rows {
			fmt.Fprintf(&text, " %v at %d", partial.Rows[i].Granularity, (partial.Rows[i].Starts[0]-start)/1e9)
		}
		text.WriteString("\n")
	}
	for _, since := range partial.Since {
		fmt.Fprintf(&text, "%v since %d\n", since.Granularity, (since.From-start)/1e9)
	}
	return text.String()
}
