package ingest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/ingest"
	"gnocco/model"
	"gnocco/storage/incoming"
	"gnocco/storage/index"
)

// rows have one measure each, of metric names in resource "r".
type rows []string

func (r rows) Len() int { return len(r) }
func (r rows) Columns() ([]carbonara.Timestamp, []float64) {
	return make([]carbonara.Timestamp, len(r)), make([]float64, len(r))
}
func (r rows) Span(row int) (from, to int)          { return row, row + 1 }
func (r rows) AppendKey(dst []byte, row int) []byte { return append(dst, r[row]...) }
func (r rows) Name(row int) (*ingest.Name, error) {
	return &ingest.Name{Resource: "r", Metric: r[row]}, nil
}
func pending(t *testing.T, s *incoming.Store) int {
	t.Helper()
	pending, err := s.PendingByMetric()
	check(t, err)
	return len(pending)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// forbidden are the rights of a user who may create metrics and not write to them.
type forbidden struct{ ingest.Unrestricted }

var errForbidden = errors.New("forbidden")

func (forbidden) PostMeasures(*model.Metric) error { return errForbidden }

func TestAppendNamed(t *testing.T) {
	fs := vfs.NewMem()
	metrics, err := index.Open("index", index.Options{FS: fs, SkipDefaults: true})
	check(t, err)
	defer func() { check(t, metrics.Close()) }()
	store, err := incoming.Open("incoming", incoming.Options{FS: fs, Sacks: 2, FreeSpace: func() (uint64, error) { return 1 << 40, nil }})
	check(t, err)
	defer func() { check(t, store.Close()) }()
	second := time.Second
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &second}}, []string{"mean"})
	check(t, err)
	check(t, metrics.CreateArchivePolicy(t.Context(), policy))
	check(t, metrics.CreateArchivePolicyRule(t.Context(), &model.ArchivePolicyRule{Name: "a", MetricPattern: "a*", ArchivePolicyName: "p"}))
	in := ingest.New(ingest.Options{Index: metrics, Incoming: store, Sacks: 2})
	var batch ingest.NamedBatch
	send := func(r rows, rights ingest.Rights, p ingest.Protocol) error {
		return in.AppendNamed(t.Context(), "me", rights, r, &p, &batch)
	}
	generic := ingest.Protocol{ResourceType: model.GenericType}

	// All or nothing: b has no policy.
	var noPolicy *ingest.NoPolicyError
	if err := send(rows{"a1", "b", "a2"}, ingest.Unrestricted{}, generic); !errors.As(err, &noPolicy) || noPolicy.Metric != "b" {
		t.Errorf("error %v", err)
	}
	if _, err := metrics.MetricOfResource(resourceID(t), "a1"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a1 was created: %v", err)
	}
	// Or what can be stored.
	var dropped []int
	drop := generic
	drop.Drop = func(row int, _ error) { dropped = append(dropped, row) }
	check(t, send(rows{"a1", "b", "a2", "a1"}, ingest.Unrestricted{}, drop))
	if len(dropped) != 1 || dropped[0] != 1 {
		t.Errorf("dropped rows %v", dropped)
	}
	if n := pending(t, store); n != 2 {
		t.Errorf("measures of %d metrics wait, want 2", n)
	}
	a1, err := metrics.MetricOfResource(resourceID(t), "a1")
	check(t, err)
	if a1.Creator != "me" {
		t.Errorf("creator %q", a1.Creator)
	}
	// A name that was found is not believed for ever.
	check(t, metrics.DeleteMetric(t.Context(), a1.ID))
	check(t, send(rows{"a1"}, ingest.Unrestricted{}, generic))
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

func resourceID(t *testing.T) uuid.UUID {
	t.Helper()
	id, err := model.ResourceID("r", "me")
	check(t, err)
	return id
}
