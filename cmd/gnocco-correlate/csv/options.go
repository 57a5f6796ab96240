package csv

import (
	"errors"
	"fmt"
	"runtime"
)

// Options say how text is read.
type Options struct {
	Comma    byte     // between fields; 0: by the lines
	NoHeader bool     // columns are called 1, 2, 3 …
	Skip     []string // columns to leave out, by name; one that is not there is an error
	// TimestampColumn is left out, as no series; "date,clock" are two. "": the one whose cells are times.
	TimestampColumn string
	Decimal         byte // decimal separator of numbers; 0: by the cells

	BadIsError bool          // a bad cell ends the reading; else it is missing
	Report     func(BadCell) // is told of bad cells, in order, when the text is read for the first time; nil: nobody
	Workers    int           // goroutines that parse; 0: one a core
	BlockBytes int           // text parsed at once; 0: 1 MiB
	Bytes      int64         // of the text, if that is known: rows can be estimated then
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	if o.Report == nil {
		o.Report = func(BadCell) {}
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.BlockBytes == 0 {
		o.BlockBytes = 1 << 20
	}
}

// Validate reports every fault of o at once.
func (o *Options) Validate() error {
	var faults []error
	if c := o.Comma; c == '"' || c == '\n' || c == '\r' || c >= 0x80 {
		faults = append(faults, fmt.Errorf("csv: %q cannot stand between fields", c))
	}
	if o.Workers < 0 {
		faults = append(faults, errors.New("csv: Workers is negative"))
	}
	if o.BlockBytes < 0 {
		faults = append(faults, errors.New("csv: BlockBytes is negative"))
	}
	return errors.Join(faults...)
}

// BadCell is a text where a number should be, or a record with too few or too many fields.
type BadCell struct {
	Line, Column int    // from 1; of a record, Column is the first field that lacks, or that is too many
	Name         string // of the column; "" for a record
	Text         string // cut off after 40 bytes
	Reason       string
}

// Error implements error.
func (b BadCell) Error() string {
	if b.Name == "" {
		return fmt.Sprintf("csv: line %d: %s", b.Line, b.Reason)
	}
	return fmt.Sprintf("csv: line %d, column %d (%s): %q %s", b.Line, b.Column, b.Name, b.Text, b.Reason)
}
