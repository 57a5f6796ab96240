package exemplars

import (
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/model"
)

// mostRunes is how long the labels of an exemplar are together, as OpenMetrics has it.
const mostRunes = 128

// Exemplar is an exemplar of the series that Creator pushed with the labels Series.
type Exemplar struct {
	Creator string `json:"creator"`
	Series  []byte `json:"series"` // model.Labels
	Labels  []byte `json:"labels"` // model.Labels
	Millis  int64  `json:"ms"`     // since 1970
	Bits    uint64 `json:"bits"`   // of the value
}

// Value returns the exemplar's value.
func (e *Exemplar) Value() float64 { return math.Float64frombits(e.Bits) }

// Valid reports whether the series has a name, and the exemplar's labels are as OpenMetrics allows.
func (e *Exemplar) Valid() bool {
	series, own, runes := model.Labels(e.Series), model.Labels(e.Labels), 0
	for name, value := range own.All() {
		runes += utf8.RuneCountInString(name) + utf8.RuneCountInString(value)
	}
	return runes <= mostRunes && own.Valid() && series.Valid() && series.Get(model.LabelName) != ""
}

// bytes is the memory of an exemplar.
func (e *Exemplar) bytes() int { return 150 + len(e.Creator) + len(e.Series) + len(e.Labels) }

// Span is a time from Start to End, both included, in milliseconds since 1970.
type Span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// A Ring has the newest exemplars.
type Ring struct {
	mu          sync.Mutex
	most, bytes int
	list        []Exemplar // the oldest first; those before first are gone
	first       int
}

// New returns an empty Ring for so many bytes.
func New(most int) *Ring { return &Ring{most: most} }

// Add keeps exemplars in place of the oldest ones. The texts become the ring's.
func (r *Ring) Add(list []Exemplar) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range list {
		r.bytes += list[i].bytes()
	}
	r.list = append(r.list, list...)
	for r.bytes > r.most {
		r.bytes -= r.list[r.first].bytes()
		r.list[r.first] = Exemplar{}
		r.first++
	}
	if r.first > len(r.list)/2 {
		r.list = slices.Delete(r.list, 0, r.first)
		r.first = 0
	}
}

// Within returns the exemplars of a time, the oldest first.
func (r *Ring) Within(s Span) (found []Exemplar) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.list[r.first:] {
		if e.Millis >= s.Start && e.Millis <= s.End {
			found = append(found, e)
		}
	}
	return found
}
