package metricd

import (
	"errors"

	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// settleDirty forgets what is settled by now, before a checkpoint writes down the rest. work is held.
func (s *sack) settleDirty() {
	if s.intake.WasAlone() {
		return
	}
	s.hear()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.dirty {
		h.judge.Settle()
	}
}

// loadUnsettled reads what the archive keeps of a head's unsettled measures. If it does not decode, all count as
// settled. work is held.
func (s *sack) loadUnsettled(h *head) error {
	if !s.keepsUnsettled {
		return nil
	}
	kept, err := s.store.Unsettled(h.metric.ID)
	if errors.Is(err, storage.ErrCorrupt) {
		s.parent.instruments.corrupt.Inc()
		s.parent.options.Logger.Error("unsettled measures do not decode; late ones may be taken for too old",
			"metric", h.metric.ID, "error", err)
		return nil
	}
	if err != nil || kept == nil {
		return err
	}
	h.unsettledStored = true
	runs := make([]intake.Run, len(kept.Runs))
	for i, r := range kept.Runs {
		runs[i] = intake.Run{From: s.intake.Origin(r.Source, r.Clock), At: r.At, Timestamps: r.Timestamps}
	}
	h.judge.Restore(kept.Newest, runs)
	return nil
}

// writeUnsettled puts what the archive has to keep of a head's unsettled measures into a checkpoint.
func (s *sack) writeUnsettled(c *archive.Checkpoint, h *head) {
	newest, runs, ok := h.judge.Unsettled()
	if !ok {
		if h.unsettledStored {
			c.SetUnsettled(h.metric.ID, nil)
		}
		return
	}
	if !s.keepsUnsettled {
		c.KeepUnsettled()
	}
	kept := &archive.Unsettled{Newest: newest, Any: newest > 0}
	for _, r := range runs {
		kept.Runs = append(kept.Runs, archive.Run{Source: r.From.Source(), Clock: r.From.Clock(), At: r.At,
			Timestamps: r.Timestamps})
	}
	c.SetUnsettled(h.metric.ID, kept)
}
