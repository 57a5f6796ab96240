package storage

import (
	"errors"

	"github.com/gnocco-db/gnocco/internal/corruption"
)

// ErrCorrupt is the kind of every error about bytes that do not decode, in any store. It is also the kind of package
// carbonara, so that one errors.Is asks whether a series, a block or a record is damaged.
var ErrCorrupt = corruption.Err

// ErrLaterFormat is the kind of every error about a format that this program is too old for.
var ErrLaterFormat = errors.New("written by a later version of gnocco")
