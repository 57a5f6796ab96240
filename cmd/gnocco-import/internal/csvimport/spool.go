package csvimport

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
)

// row is one measure of a file. Its number is that within its run: of equal timestamps the last one counts.
type row struct {
	time   carbonara.Timestamp
	value  float64
	metric uint32 // index in Importer.metrics
	number uint32
}

// rowsInMemory is how many measures are sorted in memory. More are kept in a temporary file.
const rowsInMemory = 1 << 20

// spool keeps rows until all are read, and returns them in order of time. Up to runRows stay in memory; more go to a
// temporary file as sorted runs. A run that begins where the last one ends continues it, so that rows in order of time
// make a single run. The zero value is empty. Close removes the file.
type spool struct {
	runRows  int
	byMetric bool  // in the order of metrics, each in order of time
	rows     []row // of the run in memory
	ordered  bool  // rows ascend

	file *os.File // nil while all rows fit in memory
	out  *bufio.Writer
	runs []section
	last row // of the last of runs
}

// compare compares the places of rows.
func (s *spool) compare(a, b *row) int {
	if s.byMetric && a.metric != b.metric {
		return cmp.Compare(a.metric, b.metric)
	}
	return cmp.Compare(a.time, b.time)
}

// section is where a run lies in the file.
type section struct{ from, to int64 }

const (
	leastRows   = 4 << 10  // that memory is taken for
	rowBytes    = 20       // in the file: time, value, metric
	mergeBytes  = 16 << 20 // of all buffers of a merge
	leastBuffer = 4 << 10
	mostBuffer  = 256 << 10
)

func (s *spool) add(t carbonara.Timestamp, value float64, metric uint32) error {
	if len(s.rows) == s.runRows {
		if err := s.write(); err != nil {
			return fmt.Errorf("csvimport: temporary file: %w", err)
		}
	}
	n := len(s.rows)
	if n == cap(s.rows) {
		s.rows = slices.Grow(s.rows, min(max(n, leastRows), s.runRows-n))
	}
	s.rows = append(s.rows, row{t, value, metric, uint32(n)})
	s.ordered = n == 0 || s.ordered && s.compare(&s.rows[n-1], &s.rows[n]) <= 0
	return nil
}

// sort sorts the rows in memory.
func (s *spool) sort() {
	if !s.ordered {
		slices.SortFunc(s.rows, func(a, b row) int {
			return cmp.Or(s.compare(&a, &b), cmp.Compare(a.number, b.number))
		})
		s.ordered = true
	}
}

// write moves the rows in memory to the file.
func (s *spool) write() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp("", "gnocco-import-*"); err != nil {
			return err
		}
		s.out = bufio.NewWriterSize(s.file, mostBuffer)
	}
	s.sort()
	if len(s.runs) == 0 {
		s.runs = append(s.runs, section{})
	} else if last := s.runs[len(s.runs)-1].to; s.compare(&s.rows[0], &s.last) < 0 {
		s.runs = append(s.runs, section{last, last})
	}
	var encoded [rowBytes]byte
	for _, r := range s.rows {
		binary.LittleEndian.PutUint64(encoded[:], uint64(r.time))
		binary.LittleEndian.PutUint64(encoded[8:], math.Float64bits(r.value))
		binary.LittleEndian.PutUint32(encoded[16:], r.metric)
		if _, err := s.out.Write(encoded[:]); err != nil {
			return err
		}
	}
	s.runs[len(s.runs)-1].to += int64(len(s.rows)) * rowBytes
	s.last = s.rows[len(s.rows)-1]
	s.rows = s.rows[:0]
	return nil
}

// each calls use with all rows in order of time, of equal times in the order in which they were added. It may be called
// again.
func (s *spool) each(use func(*row) error) error {
	s.sort()
	if s.file == nil {
		for i := range s.rows {
			if err := use(&s.rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.out.Flush(); err != nil {
		return fmt.Errorf("csvimport: temporary file: %w", err)
	}
	merge := runHeap{spool: s}
	size := min(max(mergeBytes/len(s.runs), leastBuffer), mostBuffer)
	for i, at := range s.runs {
		section := io.NewSectionReader(s.file, at.from, at.to-at.from)
		merge.runs = append(merge.runs, &runReader{number: i, source: bufio.NewReaderSize(section, size)})
	}
	merge.runs = append(merge.runs, &runReader{number: len(s.runs), memory: s.rows})
	merge.runs = slices.DeleteFunc(merge.runs, func(r *runReader) bool { return !r.next() && r.err == nil })
	heap.Init(&merge)
	for len(merge.runs) > 0 {
		first := merge.runs[0]
		if first.err != nil {
			return fmt.Errorf("csvimport: temporary file: %w", first.err)
		}
		if err := use(&first.row); err != nil {
			return err
		}
		if !first.next() && first.err == nil {
			heap.Pop(&merge)
		} else if len(merge.runs) > 1 {
			heap.Fix(&merge, 0)
		}
	}
	return nil
}

func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return errors.Join(s.file.Close(), os.Remove(s.file.Name()))
}

// runReader reads the rows of one run.
type runReader struct {
	row
	number int
	source *bufio.Reader // nil: memory
	memory []row
	err    error
}

// next reads the next row. It returns false at the end, and with err.
func (r *runReader) next() bool {
	if r.source == nil {
		if len(r.memory) == 0 {
			return false
		}
		r.row, r.memory = r.memory[0], r.memory[1:]
		return true
	}
	encoded, err := r.source.Peek(rowBytes)
	if err != nil {
		if err != io.EOF || len(encoded) > 0 {
			r.err = err
		}
		return false
	}
	r.time = carbonara.Timestamp(binary.LittleEndian.Uint64(encoded))
	r.value = math.Float64frombits(binary.LittleEndian.Uint64(encoded[8:]))
	r.metric = binary.LittleEndian.Uint32(encoded[16:])
	_, r.err = r.source.Discard(rowBytes)
	return r.err == nil
}

// runHeap orders runs by their next row, equal places by their age.
type runHeap struct {
	*spool
	runs []*runReader
}

func (h runHeap) Len() int { return len(h.runs) }
func (h runHeap) Less(i, j int) bool {
	a, b := h.runs[i], h.runs[j]
	return cmp.Or(h.compare(&a.row, &b.row), cmp.Compare(a.number, b.number)) < 0
}
func (h runHeap) Swap(i, j int) { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }
func (h *runHeap) Push(x any)   { h.runs = append(h.runs, x.(*runReader)) }
func (h *runHeap) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
