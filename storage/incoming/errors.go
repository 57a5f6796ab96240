package incoming

import (
	"fmt"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
)

// Append refuses with errors of kind model.ErrUnavailable: the client may try again. After ErrTimeout, and after the
// end of a context, the measures may have been stored nevertheless.
var (
	ErrNoSpace = fmt.Errorf("%w: no disk space left for measures", model.ErrUnavailable)
	ErrBusy    = fmt.Errorf("%w: too many measures wait for the disk", model.ErrUnavailable)
	ErrTimeout = fmt.Errorf("%w: the disk took too long", model.ErrUnavailable)
	ErrClosed  = fmt.Errorf("%w: store is closed", model.ErrUnavailable)
	ErrFailed  = fmt.Errorf("%w: store failed", model.ErrUnavailable)
)

// errCorrupt is a storage.ErrCorrupt.
var errCorrupt = fmt.Errorf("incoming: %w", storage.ErrCorrupt)
