package metricd

import (
	"errors"
	"fmt"

	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/model"
)

// ErrNotOwned says that a sack is not open in this process: another one may have it. It is a model.ErrUnavailable.
var ErrNotOwned = fmt.Errorf("%w: sack is not held by this process", model.ErrUnavailable)

func notOwned(sack int) error { return &SackError{sack, ErrNotOwned} }

// SackError says in which sack a call failed.
type SackError struct {
	Sack int
	Err  error
}

// Error names the sack.
func (e *SackError) Error() string { return fmt.Sprintf("metricd: sack %d: %v", e.Sack, e.Err) }

func (e *SackError) Unwrap() error { return e.Err }

// error makes an error, or nil, one of this sack, unless it is.
func (s *sack) error(err error) error {
	if errors.Is(err, view.ErrClosed) {
		return notOwned(s.number)
	}
	if err == nil || errors.As(err, new(*SackError)) {
		return err
	}
	return &SackError{s.number, err}
}
