package ingest

import (
	"fmt"

	"github.com/google/uuid"
)

// A ResourceIDError says that a name cannot be the ID of a resource.
type ResourceIDError struct{ Reason string }

func (e *ResourceIDError) Error() string { return "ingest: resource ID: " + e.Reason }

// A ResourceTypeError says that a resource exists and has another type than the protocol's.
type ResourceTypeError struct{ ID uuid.UUID }

func (e *ResourceTypeError) Error() string {
	return fmt.Sprintf("ingest: resource %s has another type", e.ID)
}

// A NoPolicyError says that there is no archive policy for a new metric.
type NoPolicyError struct {
	Metric string // its name
	Err    error
}

func (e *NoPolicyError) Error() string {
	return fmt.Sprintf("ingest: archive policy of metric %s: %v", e.Metric, e.Err)
}

func (e *NoPolicyError) Unwrap() error { return e.Err }

// An AttributeError says that something new cannot have such a name or attribute.
type AttributeError struct{ Name, Reason string }

func (e *AttributeError) Error() string {
	return fmt.Sprintf("ingest: attribute %s: %s", e.Name, e.Reason)
}
