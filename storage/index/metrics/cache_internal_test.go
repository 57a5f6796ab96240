package metrics

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

func randomMetrics(seed uint64, n int) []*model.Metric {
	random := rand.New(rand.NewPCG(seed, 0))
	metrics := make([]*model.Metric, n)
	for i := range metrics {
		m := &model.Metric{}
		binary.LittleEndian.PutUint64(m.ID[:8], random.Uint64())
		binary.LittleEndian.PutUint64(m.ID[8:], random.Uint64())
		metrics[i] = m
	}
	return metrics
}

// ask looks metrics up in turn, puts in what is missing, and returns how many were there.
func ask(c *cache, metrics []*model.Metric) (hits int) {
	for _, m := range metrics {
		id := m.ID
		if c.get(&id) != nil {
			hits++
		} else {
			c.insert(c.generation.Load(), m)
		}
	}
	return hits
}

// TestCacheOfMetricsAskedInTurn holds that of more metrics than there are places, each asked for once a round, most of
// those that have a place are found. If each took the place of another, a full bucket would find none.
func TestCacheOfMetricsAskedInTurn(t *testing.T) {
	c := newMetricCache(10_000)
	metrics := randomMetrics(1, 15_000)
	ask(c, metrics)
	for round := range 5 {
		if hits := ask(c, metrics); hits < 8_000 {
			t.Errorf("round %d: %d of 15,000 found in a cache for 10,000", round, hits)
		}
	}
}

// TestCacheFollowsWhatIsAsked holds that other metrics get in after some rounds.
func TestCacheFollowsWhatIsAsked(t *testing.T) {
	c := newMetricCache(10_000)
	ask(c, randomMetrics(1, 30_000))
	others := randomMetrics(2, 5_000)
	for range 60 {
		ask(c, others)
	}
	if hits := ask(c, others); hits < 4_500 {
		t.Errorf("%d of 5,000 found in a cache for 10,000 after 60 rounds", hits)
	}
}

func TestCacheForgets(t *testing.T) {
	c := newMetricCache(100)
	metrics := randomMetrics(1, 50)
	ask(c, metrics)
	id := metrics[7].ID
	c.remove([]uuid.UUID{id})
	if c.get(&id) != nil {
		t.Error("a removed metric is found")
	}
}

// A table that grows keeps almost all that it has, up to its limit.
func TestCacheGrows(t *testing.T) {
	c := newMetricCache(200_000)
	metrics := randomMetrics(1, 100_000)
	begun := len(*c.table.Load())
	ask(c, metrics)
	if hits := ask(c, metrics); hits < 99_000 {
		t.Errorf("%d of 100,000 are found", hits)
	}
	if n := len(*c.table.Load()); n < 16*begun || n > c.most {
		t.Errorf("%d buckets of at most %d, from %d", n, c.most, begun)
	}
	if entries := c.entries.Load(); entries < 99_000 || entries > 100_000 {
		t.Errorf("%d entries", entries)
	}
	ask(c, randomMetrics(2, 300_000))
	if n := len(*c.table.Load()); n != c.most {
		t.Errorf("%d buckets for all, want %d", n, c.most)
	}
}
