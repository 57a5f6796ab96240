package postings

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The catalog's file lets a process that starts answer without reading the index. It holds columns, little-endian:
//
//	magic       8 bytes, with the version
//	session, last   8 bytes each: the change of the index for which the file is true
//	counts      8 bytes each, as in fileCounts
//	texts       their lengths, 4 bytes each; then all of them
//	metrics     their IDs; then 4 bytes each: resource, name, unit, policy, creator, 16 x labels
//	            + 4 x type + 2 if gone + 1 if pushed
//	resources   their IDs; then 4 bytes each: original, creator, 2 x labels + 1 if gone; then their labels
//	pairs       labels of pushed series: name and value, 4 bytes each
//	of          the pairs of all pushed series, 4 bytes each
//	checksum    4 bytes, CRC-32C of all before
//
// Tables and lists follow from these, and are built while the file is read. A file that is damaged, of another version,
// or of a change that the index does not remember, is not used.
const (
	fileName  = "postings"
	fileMagic = "gnoccop\x02"
)

// errFile says that the file is of no use.
var errFile = errors.New("postings: the file is damaged or of another state of the index")

type fileCounts struct{ Texts, TextBytes, Metrics, Resources, ResourceLabels, Pairs, Of, Bytes uint64 }

type fileHeader struct {
	Magic         [len(fileMagic)]byte
	Session, Last uint64
	fileCounts
}

// metricTexts are the texts of a metric in their order.
var metricTexts = []func(m *metric) *symbol{func(m *metric) *symbol { return &m.name },
	func(m *metric) *symbol { return &m.unit }, func(m *metric) *symbol { return &m.policy },
	func(m *metric) *symbol { return &m.creator }}

// snapshot is a state for the file. It shares with the state what is only appended to, so it is written without a lock.
type snapshot struct {
	last, bytes uint64
	texts       []string
	metrics     []metric // but for gone
	gone        []bool
	resources   []resource
	pairs       []pair
	of          []uint32
}

// snapshot returns a state for the file. The catalog's lock is held.
func (s *state) snapshot() *snapshot {
	shot := &snapshot{last: s.last, bytes: uint64(s.size()), texts: s.texts, metrics: s.metrics,
		gone: make([]bool, len(s.metrics)), resources: slices.Clone(s.resources),
		pairs: s.pushed.pairs, of: s.pushed.of}
	for i := range s.metrics {
		shot.gone[i] = s.metrics[i].gone
	}
	return shot
}

// fileWriter writes numbers, and sums what it writes. bufio keeps its first error.
type fileWriter struct {
	*bufio.Writer
	scratch []byte
}

func (w *fileWriter) uint32s(n int, of func(int) uint32) {
	for i := range n {
		_, _ = w.Write(binary.LittleEndian.AppendUint32(w.scratch[:0], of(i)))
	}
}

func (w *fileWriter) pairs(pairs []pair) {
	for _, p := range pairs {
		w.scratch = binary.LittleEndian.AppendUint32(w.scratch[:0], uint32(p.name))
		_, _ = w.Write(binary.LittleEndian.AppendUint32(w.scratch, uint32(p.value)))
	}
}

func flag(is bool, bit uint32) uint32 {
	if is {
		return bit
	}
	return 0
}

// write writes the file.
func (s *snapshot) write(to io.Writer, session uint64) error {
	sum := crc32.New(castagnoli)
	w := fileWriter{bufio.NewWriterSize(io.MultiWriter(sum, to), fileBuffer), make([]byte, 0, 8)}
	h := fileHeader{Session: session, Last: s.last, fileCounts: fileCounts{Texts: uint64(len(s.texts)),
		Metrics: uint64(len(s.metrics)), Resources: uint64(len(s.resources)), Pairs: uint64(len(s.pairs)),
		Of: uint64(len(s.of)), Bytes: s.bytes}}
	copy(h.Magic[:], fileMagic)
	for _, text := range s.texts {
		h.TextBytes += uint64(len(text))
	}
	for i := range s.resources {
		h.ResourceLabels += uint64(len(s.resources[i].labels))
	}
	_ = binary.Write(w, binary.LittleEndian, &h)
	w.uint32s(len(s.texts), func(i int) uint32 { return uint32(len(s.texts[i])) })
	for _, text := range s.texts {
		_, _ = w.WriteString(text)
	}
	for i := range s.metrics {
		_, _ = w.Write(s.metrics[i].id[:])
	}
	w.uint32s(len(s.metrics), func(i int) uint32 { return s.metrics[i].resource })
	for _, of := range metricTexts {
		w.uint32s(len(s.metrics), func(i int) uint32 { return uint32(*of(&s.metrics[i])) })
	}
	w.uint32s(len(s.metrics), func(i int) uint32 {
		return s.metrics[i].count<<4 | uint32(s.metrics[i].kind)<<2 | flag(s.gone[i], 2) | flag(s.metrics[i].pushed, 1)
	})
	for i := range s.resources {
		_, _ = w.Write(s.resources[i].id[:])
	}
	w.uint32s(len(s.resources), func(i int) uint32 { return uint32(s.resources[i].original) })
	w.uint32s(len(s.resources), func(i int) uint32 { return uint32(s.resources[i].creator) })
	w.uint32s(len(s.resources), func(i int) uint32 {
		return uint32(len(s.resources[i].labels))<<1 | flag(s.resources[i].gone, 1)
	})
	for i := range s.resources {
		w.pairs(s.resources[i].labels)
	}
	w.pairs(s.pairs)
	w.uint32s(len(s.of), func(i int) uint32 { return s.of[i] })
	if err := w.Flush(); err != nil {
		return err
	}
	return binary.Write(to, binary.LittleEndian, sum.Sum32())
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const fileBuffer = 256 << 10

// fileReader reads columns. After an error it reads nothing more.
type fileReader struct {
	*bufio.Reader
	err error
}

// each calls f for n items of a size.
func (r *fileReader) each(n uint64, size int, f func(i int, item []byte)) {
	for i := 0; uint64(i) < n && r.err == nil; {
		items, err := r.Peek(int(min(n-uint64(i), uint64(fileBuffer/size))) * size)
		r.err = err
		for at := 0; at+size <= len(items) && err == nil; at += size {
			f(i, items[at:at+size:at+size])
			i++
		}
		_, _ = r.Discard(len(items))
	}
}

func (r *fileReader) uint32s(n uint64, f func(i int, value uint32)) {
	r.each(n, 4, func(i int, item []byte) { f(i, binary.LittleEndian.Uint32(item)) })
}

func (r *fileReader) pairs(pairs []pair) {
	r.each(uint64(len(pairs)), 8, func(i int, item []byte) {
		pairs[i] = pair{symbol(binary.LittleEndian.Uint32(item)), symbol(binary.LittleEndian.Uint32(item[4:]))}
	})
}

// size returns the size of the file that a header begins, and false if there is none.
func (h *fileHeader) size() (uint64, bool) {
	if string(h.Magic[:]) != fileMagic {
		return 0, false
	}
	sum := uint64(binary.Size(h)) + 4
	for _, part := range [][2]uint64{{h.Texts, 4}, {h.TextBytes, 1}, {h.Metrics, 16 + 6*4}, {h.Resources, 16 + 3*4},
		{h.ResourceLabels, 8}, {h.Pairs, 8}, {h.Of, 4}} {
		if part[0] > 1<<36 {
			return 0, false
		}
		sum += part[0] * part[1]
	}
	return sum, true
}

// readState reads a file of a size, if sessionOf says that it is of a state that the index had.
func readState(file io.Reader, size int64, sessionOf func(number uint64) (uint64, bool)) (*state, error) {
	sum := crc32.New(castagnoli)
	r := fileReader{Reader: bufio.NewReaderSize(io.TeeReader(io.LimitReader(file, size-4), sum), fileBuffer)}
	var h fileHeader
	if err := binary.Read(r, binary.LittleEndian, &h); err != nil {
		return nil, err
	}
	if want, ok := h.size(); !ok || int64(want) != size {
		return nil, errFile
	}
	if session, ok := sessionOf(h.Last); !ok || session != h.Session {
		return nil, errFile
	}
	s := &state{last: h.Last, bytes: int64(h.Bytes)}
	s.textTable.read(&r, &h)
	s.readMetrics(&r, &h)
	s.resourceTable.read(&r, &h)
	s.pushed.pairs, s.pushed.of = make([]pair, h.Pairs), make([]uint32, h.Of)
	r.pairs(s.pushed.pairs)
	r.uint32s(h.Of, func(i int, value uint32) { s.pushed.of[i] = value })
	if err := cmp.Or(r.err, checkSum(file, sum)); err != nil {
		return nil, err
	}
	s.build()
	return s, nil
}

// checkSum compares a sum with the one that follows in the file.
func checkSum(file io.Reader, sum hash.Hash32) error {
	var want uint32
	if err := binary.Read(file, binary.LittleEndian, &want); err != nil {
		return err
	}
	if want != sum.Sum32() {
		return errFile
	}
	return nil
}

func (s *state) readMetrics(r *fileReader, h *fileHeader) {
	s.metrics = make([]metric, h.Metrics)
	r.each(h.Metrics, len(uuid.UUID{}), func(i int, item []byte) { s.metrics[i].id = uuid.UUID(item) })
	r.uint32s(h.Metrics, func(i int, value uint32) { s.metrics[i].resource = value })
	for _, of := range metricTexts {
		r.uint32s(h.Metrics, func(i int, value uint32) { *of(&s.metrics[i]) = symbol(value) })
	}
	labels := uint32(0)
	r.uint32s(h.Metrics, func(i int, value uint32) {
		m := &s.metrics[i]
		m.kind = uint8(value >> 2 & 3)
		if m.pushed, m.gone = value&1 != 0, value&2 != 0; m.pushed {
			m.labels, m.count = labels, value>>4
			labels += m.count
		}
	})
}

const (
	leastUnsaved  = 10_000           // changes, before the file is written again
	unsavedPart   = 16               // and so large a part of the catalog: a start reads them from the index
	betweenWrites = 10 * time.Second // at least
)

// file is where a Catalog is with its file. It is guarded by the catalog's lock.
type file struct {
	least   int // leastUnsaved
	unsaved int // changes since the file was read or written; all, if it is not there
	tried   bool
	writing bool
	written time.Time
}

// readFile sets the state to that of the file, if there is one that is of use. mu is held.
func (c *Catalog) readFile(ctx context.Context) error {
	c.file.tried = true
	if c.ceilometer { // its names are not in the file
		return nil
	}
	f, size, err := c.index.OpenDerived(fileName)
	if err == nil {
		c.state, err = readState(f, size, c.index.SessionOf)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.logger.Info("the labels are read from the index", "error", err)
		}
		c.state = nil
		return nil
	}
	if err := c.cover(ctx, c.state); err != nil {
		c.forget()
		return err
	}
	return nil
}

// isDue reports whether the file is to be written again.
func (c *Catalog) isDue() bool {
	f := &c.file
	many := max(f.least, (len(c.state.metrics)+len(c.state.resources))/unsavedPart)
	return !c.ceilometer && !f.writing && f.unsaved >= many && time.Since(f.written) >= betweenWrites
}

// changed notes changes, and writes the file once they are many. mu is held.
func (c *Catalog) changed(n int) {
	f := &c.file
	if f.unsaved += n; !c.isDue() {
		return
	}
	session, ok := c.index.SessionOf(c.state.last)
	if !ok {
		return
	}
	snapshot, unsaved := c.state.snapshot(), f.unsaved
	f.writing = true
	go func() {
		err := c.index.WriteDerived(fileName, func(w io.Writer) error { return snapshot.write(w, session) })
		if err != nil {
			c.logger.Info("the labels are not written to a file", "error", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if f.writing, f.written = false, time.Now(); err == nil {
			f.unsaved -= unsaved
		}
	}()
}
