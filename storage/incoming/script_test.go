package incoming_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TestScripts runs testdata/*.txt; -rewrite writes their outputs. A sequence is printed as epoch.counter, a time in
// seconds after accepted.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := &script{fs: vfs.NewMem(), names: make(map[uuid.UUID]string)}
		datadriven.RunTest(t, path, s.run)
		if err := s.store.Close(); err != nil && !errors.Is(err, incoming.ErrClosed) {
			t.Error(err)
		}
	})
}

// script is the state of one script between its commands.
type script struct {
	fs    vfs.FS
	store *incoming.Store
	id    string // of the store when it was last opened
	names map[uuid.UUID]string
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	number := func(key string, value int) int {
		d.MaybeScanArgs(t, key, &value)
		return value
	}
	sequence := func(key string) uint64 {
		var text string
		d.MaybeScanArgs(t, key, &text)
		return parseSequence(text)
	}
	sack := number("sack", 0)
	switch d.Cmd {
	case "open":
		return s.open(number("sacks", sacks))
	case "close":
		return kind(s.store.Close())
	case "append": // lines of sack, metric and number of measures
		return s.append(t, d, accepted.Add(time.Duration(number("at", 0))*time.Second))
	case "drain": // reports everything up to after as processed
		return s.drain(t, sack, sequence("after"))
	case "acknowledge":
		return kind(s.store.Acknowledge(sack, sequence("upto")))
	case "last":
		return formatSequence(s.store.Last(sack)) + "\n"
	case "ready": // takes the tokens that wake readers
		var ready []string
		for sack := range sacks {
			select {
			case <-s.store.Ready(sack):
				ready = append(ready, fmt.Sprint(sack))
			default:
			}
		}
		return strings.Join(ready, " ") + "\n"
	case "backlog":
		return s.backlog(accepted.Add(time.Duration(number("now", 0)) * time.Second))
	case "pending":
		return s.pending(t)
	}
	d.Fatalf(t, "no such command")
	return ""
}

func (s *script) open(sacks int) string {
	store, err := incoming.Open("incoming", incoming.Options{FS: s.fs, Sacks: sacks})
	if err != nil {
		return kind(err)
	}
	s.store = store
	before := s.id
	if s.id = store.ID(); s.id == before {
		return "the same store\n"
	}
	return "a new store\n"
}

func (s *script) append(t *testing.T, d *datadriven.TestData, at time.Time) string {
	t.Helper()
	var blocks []incoming.Block
	for line := range strings.Lines(d.Input) {
		var sack, measures int
		var name string
		if _, err := fmt.Sscan(line, &sack, &name, &measures); err != nil {
			d.Fatalf(t, "%s: %v", line, err)
		}
		id := uuid.NewSHA1(uuid.Nil, []byte(name))
		s.names[id] = name
		m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, measures}, Values: make([]float64, measures)}
		for i := range measures {
			m.Timestamps = append(m.Timestamps, carbonara.FromTime(accepted).Add(time.Duration(i)*time.Minute))
		}
		block := incoming.AppendBlock(nil, m, []int{0}, at)
		if strings.Contains(line, "truncated") {
			block = block[:10]
		}
		blocks = append(blocks, incoming.Block{Sack: sack, Data: block})
	}
	err := s.store.Append(t.Context(), blocks)
	for _, b := range blocks {
		clear(b.Data) // it is the caller's again
	}
	return kind(err)
}

func (s *script) drain(t *testing.T, sack int, after uint64) string {
	t.Helper()
	records, err := s.store.Drain(sack, after, 1<<30)
	if err != nil {
		return kind(err)
	}
	var text strings.Builder
	for _, r := range records {
		var m model.Measures
		if _, err := incoming.DecodeBlock(r.Block, &m); err != nil {
			t.Fatal(err)
		}
		for i, id := range m.Metrics {
			fmt.Fprintf(&text, "%s %s %d\n", formatSequence(r.Sequence), s.names[id], m.Offsets[i+1]-m.Offsets[i])
		}
	}
	if len(records) == 0 {
		return "nothing\n"
	}
	return text.String()
}

func (s *script) backlog(now time.Time) string {
	var text strings.Builder
	show := func(label string, b incoming.SackBacklog) {
		oldest := "none"
		if !b.Oldest.IsZero() {
			oldest = fmt.Sprintf("at %v, %v old", b.Oldest.Sub(accepted).Seconds(), b.Age(now))
		}
		fmt.Fprintf(&text, "%s: %d measures, %d blocks, oldest %s\n", label, b.Measures, b.Blocks, oldest)
	}
	b := s.store.Backlog()
	for sack, one := range b.Sacks {
		if one != (incoming.SackBacklog{}) {
			show(fmt.Sprint("sack ", sack), one)
		}
	}
	show("in all", b.SackBacklog)
	return text.String()
}

func (s *script) pending(t *testing.T) string {
	t.Helper()
	pending, err := s.store.PendingByMetric()
	fatal.If(t, err)
	var lines []string
	for id, blocks := range pending {
		lines = append(lines, fmt.Sprintf("%s %d\n", s.names[id], blocks))
	}
	slices.Sort(lines)
	return strings.Join(lines, "") + fmt.Sprintf("%d metrics\n", len(pending))
}

// kind names what an error is; nothing for none.
func kind(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{{incoming.ErrClosed, "closed\n"}, {model.ErrInvalid, "invalid\n"}, {storage.ErrCorrupt, "corrupt\n"}, {nil, ""}} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return err.Error() + "\n"
}

const counterBits = 40 // of a sequence; the epoch is above

func formatSequence(sequence uint64) string {
	if sequence == 0 {
		return "none"
	}
	return fmt.Sprintf("%d.%d", sequence>>counterBits, sequence&(1<<counterBits-1))
}

// parseSequence reads what formatSequence wrote; "" is 0.
func parseSequence(text string) uint64 {
	var epoch, counter uint64
	_, _ = fmt.Sscanf(text, "%d.%d", &epoch, &counter)
	return epoch<<counterBits | counter
}
