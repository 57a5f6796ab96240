package storage

import (
	"errors"

	"github.com/gnocco-db/gnocco/carbonara"
)

// ErrCorrupt is the kind of every error about bytes that do not decode, in any store. It is the kind of carbonara, a
// leaf that imports no storage: so errors.Is has one question to ask, whether a series, a block or a record is damaged.
var ErrCorrupt = carbonara.ErrCorrupt

// ErrLaterFormat is the kind of every error about a format that this program is too old for.
var ErrLaterFormat = errors.New("written by a later version of gnocco")
