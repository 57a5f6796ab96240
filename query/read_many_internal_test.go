package query

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// evenArchives are the archives of one sack, in which each metric has so many groups.
type evenArchives struct {
	Archives
	groups int
}

func (a evenArchives) Sack(uuid.UUID) int { return 0 }

func (a evenArchives) Prefetch(context.Context, []model.Read, *Staleness) (GroupReader, error) {
	return a, nil
}

func (a evenArchives) EachGroups(ctx context.Context, reads []model.Read, _ *Staleness, dst *carbonara.Groups,
	use func(i int) error) error {
	for i := range reads {
		dst.Reset(reads[i].Granularity, reads[i].Columns)
		for j := range a.groups {
			dst.Starts = append(dst.Starts, carbonara.Timestamp(j)*carbonara.Timestamp(reads[i].Granularity))
			for c := range dst.Values {
				dst.Values[c] = append(dst.Values[c], 1)
			}
		}
		if err := budget.Of(ctx).Acquire(budget.Answers, int64(dst.Bytes())); err != nil {
			return err
		}
		if err := use(i); err != nil {
			return err
		}
	}
	return nil
}

// The memory that all series need is estimated by those read so far, also where it ends within the first run.
func TestNeedIsEstimatedBySeries(t *testing.T) {
	const metrics, groups = 20, 8 << 10
	minute := time.Minute
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: &minute}}, []string{"mean"})
	fatal.If(t, err)
	want := &tablesRead{Read: &Read{To: carbonara.MaxTimestamp, Values: new(Arena)},
		granularities: []time.Duration{minute}}
	for i := range metrics {
		want.operands = append(want.operands, Operand{Aggregation: "mean",
			Metric: &model.Metric{ID: uuid.UUID{byte(i)}, ArchivePolicy: policy}})
	}
	ctx := budget.New(2<<20, nil).Context(t.Context())
	defer ctx.Close()
	_, err = (&Reader{Archives: evenArchives{groups: groups}}).readTables(ctx, want)
	var tooLarge *budget.TooLargeError
	most := int64(metrics * groups * (aggregateBytes + startBytes))
	if !errors.As(err, &tooLarge) || tooLarge.Need < 1<<20 || tooLarge.Need > most {
		t.Errorf("error %v, want a need from 1 MiB to %d", err, most)
	}
}
