package postings_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func createNamed(t *testing.T, store *index.Store, n int, prefix string) (ids []uuid.UUID) {
	t.Helper()
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	metrics := make([]*model.Metric, n)
	for i := range metrics {
		metrics[i] = &model.Metric{ID: uuid.New(), Name: fmt.Sprint(prefix, i), ArchivePolicy: policy, Creator: "me"}
		ids = append(ids, metrics[i].ID)
	}
	fatal.If(t, store.CreateMetrics(t.Context(), metrics))
	return ids
}

// Labels come from the memory that requests share. Where it does not suffice, all of it comes back.
func TestLabelsShareMemory(t *testing.T) {
	store := openIndex(t)
	createNamed(t, store, 20_000, "m")
	const limit = 1 << 20
	shared := budget.New(limit, nil)
	catalog := postings.New(store, postings.Options{Bytes: 1 << 30, Budget: shared})
	if _, err := catalog.Names(t.Context(), nil); !errors.Is(err, budget.ErrExhausted) {
		t.Errorf("the labels of 20,000 metrics in 1 MiB: %v, want %v", err, budget.ErrExhausted)
	}
	account := shared.Account()
	defer account.Close()
	if err := account.Acquire(budget.Measures, limit); err != nil {
		t.Errorf("after the labels did not fit: %v", err)
	}
}

// Labels wait for memory that other requests use.
func TestLabelsWaitForMemory(t *testing.T) {
	store := openIndex(t)
	createNamed(t, store, 100, "m")
	synctest.Test(t, func(t *testing.T) {
		shared := budget.New(1<<20, nil)
		catalog := postings.New(store, postings.Options{Bytes: 1 << 30, Budget: shared})
		others := make([]*budget.Account, 15)
		for i := range others {
			others[i] = shared.Account()
			fatal.If(t, others[i].Acquire(budget.Answers, 64<<10))
		}
		if _, err := catalog.Names(t.Context(), nil); !errors.Is(err, budget.ErrExhausted) {
			t.Errorf("the memory stays in use: %v", err)
		}
		time.AfterFunc(time.Second, func() {
			for _, other := range others {
				other.Close()
			}
		})
		began := time.Now()
		names, err := catalog.Names(t.Context(), nil)
		if err != nil || len(names) == 0 || time.Since(began) != time.Second {
			t.Errorf("after %v: %d names, error %v", time.Since(began), len(names), err)
		}
	})
}

// The texts of metrics that are gone make no catalog too large.
func TestTextsOfTheGone(t *testing.T) {
	store := openIndex(t)
	catalog := postings.New(store, postings.Options{Bytes: 56 << 10}) // 300 metrics take about 35 KB
	for round := range 4 {
		ids := createNamed(t, store, 300, fmt.Sprintf("round%d_", round))
		if names, err := catalog.Values(t.Context(), nil, "__name__"); err != nil || len(names) != 300 {
			t.Fatalf("round %d: %d names, %v", round, len(names), err)
		}
		for _, id := range ids {
			fatal.If(t, store.DeleteMetric(t.Context(), id))
		}
		if names, err := catalog.Values(t.Context(), nil, "__name__"); err != nil || len(names) != 0 {
			t.Fatalf("round %d, all gone: %d names, %v", round, len(names), err)
		}
	}
}
