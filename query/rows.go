package query

import (
	"fmt"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/model"
)

// Rows is how many rows an answer may have. All reads of a request share it, from several goroutines. A nil Rows is no
// limit.
type Rows struct {
	most  int
	taken atomic.Int64
}

// NewRows returns a limit of most rows.
func NewRows(most int) *Rows { return &Rows{most: most} }

// reset forgets the rows of an attempt that failed.
func (r *Rows) reset() {
	if r != nil {
		r.taken.Store(0)
	}
}

func (r *Rows) charge(n int) error {
	if r == nil || r.taken.Add(int64(n)) <= int64(r.most) {
		return nil
	}
	return &TooManyRowsError{r.most}
}

// A TooManyRowsError says that an answer would have more rows than it may. It is a model.ErrInvalid.
type TooManyRowsError struct{ Most int }

func (e *TooManyRowsError) Error() string {
	return fmt.Sprintf("query: the answer has more than %d rows", e.Most)
}

// Unwrap returns model.ErrInvalid.
func (e *TooManyRowsError) Unwrap() error { return model.ErrInvalid }
