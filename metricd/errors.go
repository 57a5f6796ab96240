package metricd

import (
	"fmt"

	"gnocco/model"
)

// ErrNotOwned says that a sack is not open in this process: another one may have it. It is a model.ErrUnavailable.
var ErrNotOwned = fmt.Errorf("%w: sack is not held by this process", model.ErrUnavailable)

func notOwned(sack int) error { return fmt.Errorf("metricd: sack %d: %w", sack, ErrNotOwned) }
