package csvimport

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/imports"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
)

// Options of an Importer. Client is needed.
type Options struct {
	imports.Options
	Client *requests.Client

	zone *time.Location

	// Reject, unless nil, is called with each record, or field, that was not accepted.
	Reject func(file string, line int, reason string)
	// Note, unless nil, is called with other messages for the user.
	Note func(text string)
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.Resource = cmp.Or(o.Resource, "csv")
	o.Batch = cmp.Or(o.Batch, 10_000)
	o.Requests = cmp.Or(o.Requests, 4)
	if o.Reject == nil {
		o.Reject = func(string, int, string) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
}

// Validate lists every fault at once.
func (o *Options) Validate() error {
	var faults []error
	if o.Client == nil {
		faults = append(faults, errors.New("csvimport: no server"))
	}
	if o.Comma >= 0x80 || o.Comma == '"' || o.Comma == '\r' || o.Comma == '\n' {
		faults = append(faults, fmt.Errorf("csvimport: fields cannot be separated by %q", o.Comma))
	}
	if o.Timezone != "" {
		var err error
		if o.zone, err = time.LoadLocation(o.Timezone); err != nil {
			faults = append(faults, fmt.Errorf("csvimport: --timezone: %w", err))
		}
	}
	if o.TimeFormat != "" {
		if _, err := csv.NamedTimeForm(o.TimeFormat, nil); err != nil {
			faults = append(faults, fmt.Errorf("csvimport: %w", err))
		}
	}
	if o.Decimal != 0 && o.Decimal != ',' && o.Decimal != '.' {
		faults = append(faults, fmt.Errorf("csvimport: --decimal is , or ., not %q", o.Decimal))
	}
	if o.Batch < 0 || o.Requests < 0 {
		faults = append(faults, errors.New("csvimport: sizes and the number of requests must be positive"))
	}
	return errors.Join(faults...)
}
