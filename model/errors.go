package model

import (
	"errors"
	"fmt"
)

// The kinds of errors that callers tell apart, by errors.Is. The api package gives each its status code.
var (
	ErrNotFound    = errors.New("not found")
	ErrExists      = errors.New("already exists")
	ErrInvalid     = errors.New("invalid")
	ErrInUse       = errors.New("in use")
	ErrUnavailable = errors.New("unavailable")
	ErrForbidden   = errors.New("forbidden")
)

// A FieldError says which field from a client is invalid, and why. It is an ErrInvalid.
type FieldError struct {
	Field  string // as in JSON: "definition", "aggregation_methods", "sort"
	Reason string // a sentence for the client
}

// Error returns the reason: it is the text that clients see, and it names the field where that helps.
func (e *FieldError) Error() string { return e.Reason }

func (e *FieldError) Unwrap() error { return ErrInvalid }

// A RefusedError says why an archive does not take content, or a correction. It is an ErrInvalid.
type RefusedError struct{ Reason string }

// Error returns the reason: it is the text that clients see.
func (e *RefusedError) Error() string { return e.Reason }

func (e *RefusedError) Unwrap() error { return ErrInvalid }

// Refused returns a RefusedError.
func Refused(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

// StoreFault says why a store of the data folder is not served. The zero value is StoreDamaged.
type StoreFault string

// The kinds of a StoreFault.
const (
	StoreDamaged  StoreFault = "damaged"
	StoreMissing  StoreFault = "missing"  // there was a store, and its folder is gone, or empty
	StoreLater    StoreFault = "later"    // a later version of gnocco has opened it
	StoreLocked   StoreFault = "locked"   // a program has it open; this passes when the program ends
	StoreUnopened StoreFault = "unopened" // it could not be opened, and the error fits none of these
)

// Predicate returns the rest of a sentence that begins with the store.
func (f StoreFault) Predicate() string {
	switch f {
	case StoreMissing:
		return "is missing"
	case StoreLater:
		return "was written by a later version of gnocco"
	case StoreLocked:
		return "is locked by a program that has it open"
	case StoreUnopened:
		return "could not be opened"
	}
	return "is damaged"
}

// A DamagedError says that a store of the data folder is damaged, or cannot be opened for another reason, so that what
// it holds cannot be served. It is an ErrUnavailable, but waiting does not help: an operator has to act.
type DamagedError struct {
	Store  string // as it lies in the data folder: "index", "incoming/<name>", "sacks/005"
	Fault  StoreFault
	Reason string // for the operator
}

// Error names the store first.
func (e *DamagedError) Error() string { return e.Store + " " + e.Fault.Predicate() + ": " + e.Reason }

func (e *DamagedError) Unwrap() error { return ErrUnavailable }

// IsDamaged reports whether an error is, or wraps, a DamagedError.
func IsDamaged(err error) bool {
	return errors.As(err, new(*DamagedError))
}

// The nouns of an ObjectError, as they begin a sentence for the client.
const (
	NounArchivePolicy     = "Archive policy"
	NounArchivePolicyRule = "Archive policy rule"
	NounCorrelation       = "Correlation"
	NounMetric            = "Metric"
	NounNamedMetric       = "Named metric" // one within a resource
	NounResource          = "Resource"
	NounResourceType      = "Resource type"
)

// An ObjectError says that one object is missing, in the way, or in use. Its text is Gnocchi's, on which clients rely.
type ObjectError struct {
	Kind error  // ErrNotFound, ErrExists or ErrInUse
	Noun string // one of the Noun constants
	ID   string // its name or ID
}

// NotFound returns the error for a missing object.
func NotFound(noun, id string) error { return &ObjectError{ErrNotFound, noun, id} }

// Exists returns the error for a name or ID that is taken.
func Exists(noun, id string) error { return &ObjectError{ErrExists, noun, id} }

// InUse returns the error for an object that others still refer to.
func InUse(noun, id string) error { return &ObjectError{ErrInUse, noun, id} }

// Error returns a sentence such as "Archive policy low already exists".
func (e *ObjectError) Error() string { return e.Noun + " " + e.ID + " " + e.predicate() }

// Cause returns the sentence without the ID, for error bodies that show the ID apart: "Named metric already exists".
func (e *ObjectError) Cause() string { return e.Noun + " " + e.predicate() }

func (e *ObjectError) Unwrap() error { return e.Kind }

func (e *ObjectError) predicate() string {
	switch e.Kind {
	case ErrNotFound:
		return "does not exist"
	case ErrInUse:
		return "is still in use"
	}
	return e.Kind.Error()
}
