package heads

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
)

// Heads count the memory of waiting measures, in every outcome, and report when a checkpoint finds enough of them.
func TestWaitingMeasuresAreCounted(t *testing.T) {
	hs := &Heads{options: Options{Bytes: 1 << 20}, heads: make(map[uuid.UUID]*Head),
		lists: roster.NewTable[*Head](100)}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean})
	for i := range 10 {
		id := uuid.UUID{byte(i)}
		h := &Head{Judge: intake.NewJudge(plan, 0)}
		h.setMetric(&model.Metric{ID: id, ArchivePolicy: &model.ArchivePolicy{}})
		hs.heads[id] = h
	}
	requireCounted := func() {
		t.Helper()
		measures, bytes := 0, 0
		for _, h := range hs.heads {
			measures += h.pending.Len()
			bytes += h.pending.Bytes()
		}
		if hs.Pending() != measures || hs.bytes != bytes {
			t.Fatalf("%d measures in %d bytes are counted, and there are %d in %d", hs.pending, hs.bytes, measures, bytes)
		}
	}
	send := func(rounds int) {
		for range rounds {
			for _, h := range hs.heads {
				hs.add(h, 0, nil, []carbonara.Timestamp{h.Newest().Timestamp + 10e9}, []float64{1})
			}
		}
		requireCounted()
	}
	if !hs.HasEnough() {
		t.Error("nothing waits, and a checkpoint that only tells sources so is put off")
	}
	if send(1); hs.HasEnough() {
		t.Error("a measure a metric is enough")
	}
	if send(enoughMeasures - 1); !hs.HasEnough() {
		t.Errorf("%d measures a metric are not enough", enoughMeasures)
	}
	var b Batch
	for _, h := range hs.heads {
		b.written.heads, b.written.ends = append(b.written.heads, h), append(b.written.ends, 0)
	}
	hs.Checkpointed(&b)
	requireCounted()
	send(1)
	for id := range hs.heads {
		hs.Drop(id)
		requireCounted()
	}
}

// A list of metrics names its heads in one generation of the index, while all of them are there.
func TestListsNameHeadsThatAreThere(t *testing.T) {
	hs := &Heads{heads: make(map[uuid.UUID]*Head), lists: roster.NewTable[*Head](100)}
	var all []*Head
	for i := range 5 {
		h := &Head{}
		hs.heads[uuid.UUID{byte(i)}], all = h, append(all, h)
	}
	list, none := keyhash.Hash{1}, keyhash.Hash{}
	for range 2 { // a list is worth remembering when it comes again
		hs.Remember(list, 7, all)
		hs.Remember(none, 7, all)
	}
	want := func(list keyhash.Hash, generation uint64, want bool) {
		t.Helper()
		got, ok := hs.Listed(list, generation, all[:1:1])
		if ok != want || ok && !slices.Equal(got[1:], all) {
			t.Errorf("list %v of generation %d: %d heads, %t, want %t", list, generation, len(got)-1, ok, want)
		}
	}
	want(list, 7, true)
	want(list, 8, false)
	want(none, 7, false)
	hs.Drop(uuid.UUID{3})
	want(list, 7, false)
}

// A rebuild leaves out what the last checkpoint wrote by the policy as it is, and nothing else.
func TestWrittenByPolicy(t *testing.T) {
	policy := func(granularity time.Duration) *model.ArchivePolicy {
		p, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &granularity}}, []string{"mean"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	hs := &Heads{options: Options{Bytes: 1 << 20}, heads: make(map[uuid.UUID]*Head), lists: roster.NewTable[*Head](100)}
	id, was := uuid.UUID{1}, policy(time.Minute)
	h := &Head{Judge: intake.NewJudge(was.Plan(), 0), used: true}
	h.setMetric(&model.Metric{ID: id, ArchivePolicy: was})
	hs.heads[id] = h
	requireWritten := func(want bool, when string) {
		t.Helper()
		if hs.WritesByPolicy(id) != want {
			t.Errorf("%s: %v, want %v", when, !want, want)
		}
	}
	checkpoint := func() {
		hs.add(h, 0, nil, []carbonara.Timestamp{h.Newest().Timestamp + 10e9}, []float64{1})
		requireWritten(h.matchesPolicy(), "before a checkpoint")
		var b Batch
		b.written.heads, b.written.ends = append(b.written.heads, h), append(b.written.ends, 0)
		hs.Checkpointed(&b)
	}
	requireWritten(false, "as it was loaded")
	checkpoint()
	requireWritten(true, "after a checkpoint")
	hs.Follow(&model.Metric{ID: id, ArchivePolicy: policy(time.Minute)})
	requireWritten(false, "the policy was changed")
	hs.Follow(&model.Metric{ID: id, ArchivePolicy: policy(time.Hour)})
	checkpoint()
	requireWritten(false, "the archive has another schema")
	hs.Drop(id)
	requireWritten(false, "without a head")
}
