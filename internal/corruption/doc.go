// Package corruption holds the kind of every error about bytes that do not decode. Packages carbonara and
// storage both name it as their ErrCorrupt, so that one errors.Is asks for either, and neither imports the other.
package corruption

import "errors"

// Err is that kind.
var Err = errors.New("corrupt")
