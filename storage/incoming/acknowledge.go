package incoming

import "fmt"

// Acknowledge says that the records of the sack up to a sequence are not needed any more: a checkpoint holds what
// they led to. It does not wait: they are deleted with the next commit, unsynced, so that after a crash they may be
// back.
func (s *Store) Acknowledge(sack int, upTo uint64) error {
	err := s.failed()
	if err == nil {
		err = s.queue.acknowledge(sack, min(upTo, s.Last(sack)))
	}
	if err != nil {
		return fmt.Errorf("incoming: acknowledge: %w", err)
	}
	return nil
}
