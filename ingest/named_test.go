package ingest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// rows have one measure each, of metric names in resource "r", whose value is the row's number.
type rows []string

func (r rows) Len() int { return len(r) }
func (r rows) Columns() ([]carbonara.Timestamp, []float64) {
	values := make([]float64, len(r))
	for i := range values {
		values[i] = float64(i)
	}
	return make([]carbonara.Timestamp, len(r)), values
}
func (r rows) Span(row int) (from, to int)          { return row, row + 1 }
func (r rows) AppendKey(dst []byte, row int) []byte { return append(dst, r[row]...) }
func (r rows) Name(row int) (*ingest.Name, error) {
	return &ingest.Name{Resource: "r", Metric: r[row]}, nil
}

// listedRows are rows in lists of five.
type listedRows struct{ rows }

func (r listedRows) ListEnd(row int) int { return min(row-row%5+5, len(r.rows)) }
func (r listedRows) AppendListKey(dst []byte, row, end int) []byte {
	return append(dst, strings.Join(r.rows[row:end], "\x00")...)
}

func pending(t *testing.T, s *incoming.Store) int {
	t.Helper()
	pending, err := s.PendingByMetric()
	fatal.If(t, err)
	return len(pending)
}

// forbidden are the rights of a user who may create metrics and not write to them.
type forbidden struct{ ingest.Unrestricted }

var errForbidden = errors.New("forbidden")

func (forbidden) PostMeasures(*model.Metric) error { return errForbidden }

// stores are an index with a policy for names that begin with "a", an incoming store, and an ingester.
func stores(t *testing.T) (*index.Store, *incoming.Store, *ingest.Ingester) {
	fs := vfs.NewMem()
	metrics, err := index.Open("index", index.Options{FS: fs, SkipDefaults: true})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, metrics.Close()) })
	store, err := incoming.Open("incoming", incoming.Options{FS: fs, Sacks: 2, FreeSpace: func() (uint64, error) {
		return 1 << 40, nil
	}})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, store.Close()) })
	second := time.Second
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &second}}, []string{"mean"})
	fatal.If(t, err)
	fatal.If(t, metrics.CreateArchivePolicy(t.Context(), policy))
	fatal.If(t, metrics.CreateArchivePolicyRule(t.Context(), &model.ArchivePolicyRule{Name: "a", MetricPattern: "a*",
		ArchivePolicyName: "p"}))
	return metrics, store, ingest.New(ingest.Options{Index: metrics, Incoming: store, Sacks: 2})
}

func TestAppendNamed(t *testing.T) {
	metrics, store, in := stores(t)
	var batch ingest.NamedBatch
	send := func(r rows, rights ingest.Rights, p ingest.Protocol) error {
		return in.AppendNamed(t.Context(), "me", rights, r, &p, &batch)
	}
	generic := ingest.Protocol{ResourceType: model.GenericType}

	// All or nothing: b has no policy.
	var noPolicy *ingest.NoPolicyError
	if err := send(rows{"a1", "b", "a2"}, ingest.Unrestricted{}, generic); !errors.As(err, &noPolicy) ||
		noPolicy.Metric != "b" {
		t.Errorf("error %v", err)
	}
	if _, err := metrics.MetricOfResource(resourceID(t), "a1"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a1 was created: %v", err)
	}
	// Or what can be stored.
	var dropped []int
	drop := generic
	drop.Drop = func(row int, _ error) { dropped = append(dropped, row) }
	fatal.If(t, send(rows{"a1", "b", "a2", "a1"}, ingest.Unrestricted{}, drop))
	if len(dropped) != 1 || dropped[0] != 1 {
		t.Errorf("dropped rows %v", dropped)
	}
	if n := pending(t, store); n != 2 {
		t.Errorf("measures of %d metrics wait, want 2", n)
	}
	a1, err := metrics.MetricOfResource(resourceID(t), "a1")
	fatal.If(t, err)
	if a1.Creator != "me" {
		t.Errorf("creator %q", a1.Creator)
	}
	// A name that was found is not believed for ever.
	fatal.If(t, metrics.DeleteMetric(t.Context(), a1.ID))
	fatal.If(t, send(rows{"a1"}, ingest.Unrestricted{}, generic))
	again, err := metrics.MetricOfResource(resourceID(t), "a1")
	if err != nil || again.ID == a1.ID {
		t.Errorf("metric %v, %v", again, err)
	}

	if err := send(rows{"a1"}, forbidden{}, generic); !errors.Is(err, errForbidden) {
		t.Errorf("error %v", err)
	}
	var other *ingest.ResourceTypeError
	if err := send(rows{"a3"}, ingest.Unrestricted{}, ingest.Protocol{ResourceType: "host"}); !errors.As(err, &other) {
		t.Errorf("error %v", err)
	}
}

// The memory of a list is true of the metrics as they are now.
func TestAppendNamedInLists(t *testing.T) {
	metrics, store, in := stores(t)
	var batch ingest.NamedBatch
	sent, drained := 0, make([]uint64, 2)
	send := func(names ...string) {
		t.Helper()
		p := ingest.Protocol{ResourceType: model.GenericType}
		fatal.If(t, in.AppendNamed(t.Context(), "me", ingest.Unrestricted{}, listedRows{names}, &p, &batch))
		sent++
		want := map[uuid.UUID][]float64{}
		for row, name := range names {
			metric, err := metrics.MetricOfResource(resourceID(t), name)
			fatal.If(t, err)
			want[metric.ID] = append(want[metric.ID], float64(row))
		}
		for sack := range drained {
			records, err := store.Drain(sack, drained[sack], 1<<20)
			fatal.If(t, err)
			for _, r := range records {
				drained[sack] = r.Sequence
				var got model.Measures
				_, err := incoming.DecodeBlock(r.Block, &got)
				fatal.If(t, err)
				for i, id := range got.Metrics {
					if _, values := got.Of(i); !slices.Equal(values, want[id]) {
						t.Fatalf("request %d: values %v of a metric, want %v", sent, values, want[id])
					}
					delete(want, id)
				}
			}
		}
		if len(want) > 0 {
			t.Fatalf("request %d: %v were not stored", sent, want)
		}
	}
	lists := []string{"a1", "a2", "a3", "a4", "a5", "a1", "a6", "a7", "a6", "a2", "a8"}
	for range 4 {
		send(lists...)
	}
	send("a2", "a1", "a3", "a4", "a5") // in another order
	of := func(name string) uuid.UUID {
		t.Helper()
		metric, err := metrics.MetricOfResource(resourceID(t), name)
		fatal.If(t, err)
		return metric.ID
	}
	deleted := of("a6")
	fatal.If(t, metrics.DeleteMetric(t.Context(), deleted))
	for range 3 {
		send(lists...)
	}
	if of("a6") == deleted {
		t.Fatal("the deleted metric is back")
	}
	exchanged := map[string]uuid.UUID{"a1": of("a2"), "a2": of("a1")}
	_, err := metrics.UpdateResource(t.Context(), model.GenericType, resourceID(t), carbonara.FromTime(time.Now()),
		func(*model.Resource) (*index.MetricSet, error) {
			return &index.MetricSet{Attach: exchanged, Keep: true}, nil
		})
	fatal.If(t, err)
	if of("a1") != exchanged["a1"] {
		t.Fatal("the metrics have the names they had")
	}
	for range 3 {
		send(lists...)
	}
}

func resourceID(t *testing.T) uuid.UUID {
	t.Helper()
	id, err := model.ResourceID("r", "me")
	fatal.If(t, err)
	return id
}

// askedRows counts the rows of the lists that it is asked for.
type askedRows struct {
	listedRows
	lists []int
}

func (r *askedRows) AppendListKey(dst []byte, row, end int) []byte {
	r.lists = append(r.lists, end-row)
	return r.listedRows.AppendListKey(dst, row, end)
}

// Lists of few rows are looked up row by row.
func TestFewRowsAreNoList(t *testing.T) {
	_, _, in := stores(t)
	var batch ingest.NamedBatch
	for few := 1; few <= roster.MinListed; few++ {
		r := &askedRows{listedRows: listedRows{rows{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"}[:5+few]}}
		fatal.If(t, in.AppendNamed(t.Context(), "me", ingest.Unrestricted{}, r,
			&ingest.Protocol{ResourceType: model.GenericType}, &batch))
		if want := []int{5, few}[:1+few/roster.MinListed]; !slices.Equal(r.lists, want) {
			t.Errorf("a list of 5 rows and one of %d: those of %v are asked for, want %v", few, r.lists, want)
		}
	}
}
