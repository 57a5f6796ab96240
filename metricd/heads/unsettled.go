package heads

import (
	"errors"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// loadUnsettled reads what the archive keeps of a head's unsettled measures. If it does not decode, all count as
// settled.
func (hs *Heads) loadUnsettled(h *Head) error {
	if !hs.keepsUnsettled {
		return nil
	}
	kept, err := hs.options.Store.Unsettled(h.metric.ID)
	if errors.Is(err, storage.ErrCorrupt) {
		hs.options.Corrupt(1)
		hs.options.Logger.Error("unsettled measures do not decode; late ones may be taken for too old",
			"metric", h.metric.ID, "error", err)
		return nil
	}
	if err != nil || kept == nil {
		return err
	}
	h.unsettledStored = true
	runs := make([]intake.Run, len(kept.Runs))
	for i, r := range kept.Runs {
		runs[i] = intake.Run{From: hs.options.Intake.Origin(r.Source, r.Clock), At: r.At, Timestamps: r.Timestamps}
	}
	h.Restore(kept.Newest, runs)
	return nil
}

// SettleStored settles what is settled by now of the measures of a metric that has nothing pending. If the archive does
// not know yet that all are, it reports true. The next checkpoint then writes the newest measure again, and the raw
// series begins with the back window.
func (hs *Heads) SettleStored(metric uuid.UUID) bool {
	hs.Lock()
	defer hs.Unlock()
	h := hs.heads[metric]
	h.Judge.Settle()
	if !h.unsettledStored || !h.IsSettled() || h.HasAhead() {
		return false
	}
	newest := h.Newest()
	hs.add(h, int64(newest.Timestamp), nil, []carbonara.Timestamp{newest.Timestamp}, []float64{newest.Value})
	return true
}

// writeUnsettled puts what the archive has to keep of a head's unsettled measures into a checkpoint.
func (hs *Heads) writeUnsettled(c *archive.Checkpoint, h *Head) {
	newest, runs, ok := h.Unsettled()
	if !ok {
		if h.unsettledStored {
			c.SetUnsettled(h.metric.ID, nil)
		}
		return
	}
	if !hs.keepsUnsettled {
		c.KeepUnsettled()
	}
	kept := &archive.Unsettled{Newest: newest, Any: newest > 0}
	for _, r := range runs {
		kept.Runs = append(kept.Runs, archive.Run{Source: r.From.Source(), Clock: r.From.Clock(), At: r.At,
			Timestamps: r.Timestamps})
	}
	c.SetUnsettled(h.metric.ID, kept)
}
