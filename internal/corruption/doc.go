// Package corruption holds the kind of every error about bytes that do not decode. Package carbonara and package storage
// both name it as their ErrCorrupt, so that one errors.Is asks for either, and neither package imports the other.
package corruption

import "errors"

// Err is that kind.
var Err = errors.New("corrupt")
