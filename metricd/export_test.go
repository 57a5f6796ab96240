package metricd

import "context"

// Compact checkpoints and then rewrites every store, as for measuring its size.
func (p *Metricd) Compact(ctx context.Context) error {
	if err := p.Checkpoint(ctx); err != nil {
		return err
	}
	for _, s := range p.open() {
		if err := s.store.Compact(); err != nil {
			return err
		}
	}
	return nil
}
