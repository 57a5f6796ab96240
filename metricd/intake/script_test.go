package intake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// Second 0 of the measures, the start of a block. Clocks show a day later at their second 0, so that no measure is
// ahead.
const (
	start      = carbonara.Timestamp(1_500_000_000e9)
	clockStart = int64(start) + int64(24*time.Hour)
)

// TestScripts runs testdata/*.txt; -rewrite writes their outputs. A metric has groups of one minute and of five.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{clockErrors: make(map[uuid.UUID]time.Duration), stores: make(map[string]*store),
			metrics: make(map[string]*metric)}
		s.restart()
		datadriven.RunTest(t, path, s.run)
	})
}

// script is a sack without a store: records go in, verdicts come out.
type script struct {
	intake      *intake.Intake
	known       *intake.Sources
	clockErrors map[uuid.UUID]time.Duration
	stores      map[string]*store
	metrics     map[string]*metric
}

// store is an incoming store.
type store struct {
	cursor   *intake.Cursor
	clock    uuid.UUID
	last     uint64
	frontier int64 // 0 for none
}

// metric is a judge, and what the archive keeps of it.
type metric struct {
	plan       *carbonara.Plan
	backWindow int
	judge      intake.Judge
	counted    []carbonara.Timestamp // since the raw series begins
	partial    carbonara.Timestamp
}

func (s *script) restart() {
	s.intake = intake.New(intake.Options{Sources: func() *intake.Sources { return s.known },
		ClockError: func(clock uuid.UUID) time.Duration { return s.clockErrors[clock] }})
	for id, store := range s.stores {
		store.cursor, _ = s.intake.Attach(id, func(string) (uint64, error) { return store.last, nil })
	}
}

func clockOf(name string) uuid.UUID { return uuid.NewSHA1(uuid.Nil, []byte(name)) }

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	number := func(key string) (value int) {
		d.MaybeScanArgs(t, key, &value)
		return value
	}
	name := ""
	if len(d.CmdArgs) > 0 {
		name = d.CmdArgs[0].Key
	}
	switch d.Cmd {
	case "sources": // the stores that are waited for, each with its clock; "unknown" for others, which nobody has seen
		s.setSources(d)
	case "clock": // how far it may be off, in seconds
		s.clockErrors[clockOf(name)] = time.Duration(number("error")) * time.Second
	case "metric":
		m := &metric{backWindow: number("back-window"),
			plan: carbonara.NewPlan([]time.Duration{time.Minute, 5 * time.Minute}, []carbonara.Method{carbonara.Mean})}
		m.judge = intake.NewJudge(m.plan, m.backWindow)
		s.metrics[name] = m
	case "send": // from a store, to a metric, at a second of the store's clock
		return s.send(s.stores[name], s.metrics[d.CmdArgs[1].Key], clockStart+int64(number("at"))*1e9, seconds(t, d))
	case "frontier": // of a store: its next records are later
		s.stores[name].frontier = clockStart + int64(number("at"))*1e9
	case "widen": // the back window
		m := s.metrics[name]
		m.backWindow = number("back-window")
		m.judge.Follow(m.plan, m.backWindow)
		m.judge.Complete(m.partial)
	case "partial": // groups of the measures before a second
		m := s.metrics[name]
		m.partial = start + carbonara.Timestamp(number("before"))*1e9
		m.judge.Complete(m.partial)
	case "checkpoint": // of a metric
		return s.checkpoint(s.metrics[name])
	case "takeover": // by a process that has the archives only
		s.takeover()
	default:
		d.Fatalf(t, "no such command")
	}
	return ""
}

func seconds(t *testing.T, d *datadriven.TestData) (timestamps []carbonara.Timestamp) {
	t.Helper()
	for _, field := range strings.Fields(d.Input) {
		var second int64
		if _, err := fmt.Sscan(field, &second); err != nil {
			d.Fatalf(t, "second %q: %v", field, err)
		}
		timestamps = append(timestamps, start+carbonara.Timestamp(second)*1e9)
	}
	return timestamps
}

func (s *script) setSources(d *datadriven.TestData) {
	s.known = &intake.Sources{Complete: true}
	for _, arg := range d.CmdArgs {
		if arg.Key == "unknown" {
			s.known.Complete = false
			continue
		}
		s.known.Waited = append(s.known.Waited, arg.Key)
		if s.stores[arg.Key] == nil {
			added := &store{clock: clockOf(arg.Vals[0])}
			added.cursor, _ = s.intake.Attach(arg.Key, func(string) (uint64, error) { return 0, nil })
			s.stores[arg.Key] = added
		}
	}
}

// hear tells the intake of the frontiers.
func (s *script) hear() {
	for _, store := range s.stores {
		if store.frontier != 0 {
			store.cursor.Hear(incoming.Stamp{Clock: store.clock, At: store.frontier})
		}
	}
	s.intake.Settle()
}

// send prints a verdict a measure.
func (s *script) send(from *store, m *metric, at int64, timestamps []carbonara.Timestamp) string {
	alone := s.intake.Alone(from.cursor)
	if !alone || m.judge.WaitsForOthers(from.cursor.ID()) {
		s.hear()
		alone = false
	}
	var origin *intake.Origin
	if !alone {
		origin = s.intake.Origin(from.cursor.ID(), from.clock)
	}
	var text strings.Builder
	var limits intake.Limits
	m.judge.SetLimits(&limits, at, origin)
	counted := false
	for _, timestamp := range timestamps {
		verdict := limits.Verdict(timestamp)
		if limits.InOrder(timestamp) && verdict != intake.Counts {
			return "in order, and " + words(verdict)
		}
		if verdict&intake.Counts != 0 {
			m.judge.Add(carbonara.Measure{Timestamp: timestamp})
			m.counted = append(m.counted, timestamp)
			counted = true
		}
		fmt.Fprintf(&text, "%d %s\n", (timestamp-start)/1e9, words(verdict))
	}
	if counted {
		m.judge.Counted(&limits, timestamps)
	}
	from.last++
	from.cursor.Advance(&incoming.Record{Sequence: from.last, Stamp: incoming.Stamp{Clock: from.clock, At: at}})
	from.frontier = 0
	return text.String()
}

func words(v intake.Verdict) string {
	switch v {
	case intake.Counts:
		return "counts"
	case intake.Counts | intake.Late:
		return "counts, late"
	case intake.Late:
		return "replaced, late"
	case intake.TooOld:
		return "too old"
	default:
		return "replaced"
	}
}

// checkpoint prints the seconds of the raw series that the archive keeps, and what is not settled.
func (s *script) checkpoint(m *metric) string {
	s.hear()
	m.judge.Settle()
	from := m.judge.KeepFrom()
	slices.Sort(m.counted)
	m.counted = slices.DeleteFunc(slices.Compact(m.counted), func(t carbonara.Timestamp) bool { return t < from })
	m.judge.Trim()
	m.judge.Complete(m.partial)
	s.intake.Apply()
	text := "raw:" + list(m.counted)
	if newest, runs, ok := m.judge.Unsettled(); ok {
		text += "\nsettled: none"
		if newest > 0 {
			text = strings.TrimSuffix(text, " none") + list([]carbonara.Timestamp{newest})
		}
		for _, run := range runs {
			text += fmt.Sprintf("\nunsettled, %s at %d:%s", run.From.Source(), (run.At-clockStart)/1e9, list(run.Timestamps))
		}
	}
	return text + "\n"
}

func list(timestamps []carbonara.Timestamp) (text string) {
	for _, t := range timestamps {
		text += fmt.Sprintf(" %d", (t-start)/1e9)
	}
	return text
}

// takeover makes all judges anew, of the state that a checkpoint left.
func (s *script) takeover() {
	before := make(map[string]intake.Judge)
	for name, m := range s.metrics {
		before[name] = m.judge
	}
	s.restart()
	for name, m := range s.metrics {
		was := before[name]
		newest, any := was.Newest(), was.HasMeasures()
		m.judge = intake.NewJudge(m.plan, m.backWindow)
		present := was.Present()
		m.judge.Load(carbonara.RawEnd{Newest: newest.Timestamp, Any: any, KeptFrom: was.Kept(), Present: present},
			slices.DeleteFunc(slices.Clone(m.counted), func(t carbonara.Timestamp) bool { return t < present }), newest)
		if settled, runs, ok := was.Unsettled(); ok {
			for i, run := range runs {
				runs[i].From = s.intake.Origin(run.From.Source(), run.From.Clock())
			}
			m.judge.Restore(settled, runs)
		}
		m.judge.Complete(m.partial)
	}
}
