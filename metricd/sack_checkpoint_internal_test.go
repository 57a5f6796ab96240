package metricd

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
)

// A sack counts the memory that waiting measures have, whatever becomes of their heads, and tells when a checkpoint
// finds enough of them.
func TestWaitingMeasuresAreCounted(t *testing.T) {
	s := &sack{heads: make(map[uuid.UUID]*head), intake: intake.New(intake.Options{}),
		parent: &Metricd{options: Options{Sacks: 1, HeadBytes: 1 << 20}}}
	s.recent.init(0)
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean})
	for i := range 10 {
		id := uuid.UUID{byte(i)}
		h := &head{judge: intake.NewJudge(plan, 0)}
		h.setMetric(&model.Metric{ID: id, ArchivePolicy: &model.ArchivePolicy{}})
		s.heads[id] = h
	}
	requireCounted := func() {
		t.Helper()
		measures, bytes := 0, 0
		for _, h := range s.heads {
			measures += h.pending.Len()
			bytes += h.pending.Bytes()
		}
		if s.pending != measures || s.bytes != bytes {
			t.Fatalf("%d measures in %d bytes are counted, and there are %d in %d", s.pending, s.bytes, measures, bytes)
		}
	}
	send := func(rounds int) {
		for range rounds {
			for _, h := range s.heads {
				s.accept(h, 0, nil, []carbonara.Timestamp{h.newest().Timestamp + 10e9}, []float64{1})
			}
		}
		requireCounted()
	}
	if !s.hasEnough() {
		t.Error("nothing waits, and a checkpoint that only tells sources so is put off")
	}
	if send(1); s.hasEnough() {
		t.Error("a measure a metric is enough")
	}
	if send(enoughMeasures - 1); !s.hasEnough() {
		t.Errorf("%d measures a metric are not enough", enoughMeasures)
	}
	var w written
	for _, h := range s.heads {
		w.heads, w.ends = append(w.heads, h), append(w.ends, 0)
	}
	s.finishCheckpoint(&w, nil)
	requireCounted()
	send(1)
	for id, h := range s.heads {
		s.pending -= h.pending.Len()
		s.dropHead(id, h)
		requireCounted()
	}
}
