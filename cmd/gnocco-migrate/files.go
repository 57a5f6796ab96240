package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/pierrec/lz4/v4"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// fileStorage is the folder of Gnocchi's file driver:
//
//	tmp/gnocchi-storage-config                  {"subdir_len": 2}
//	<2 digits>/…/<metric>/none_v3               raw series
//	<2 digits>/…/<metric>/agg_<method>/<start>_<granularity>_v3   splits; both in seconds
//	incoming<sacks>-<number>/<metric>/<name>    measures that wait: of each, time in ns and value, 8 bytes each
//
// All numbers are little-endian.
type fileStorage struct {
	base, incoming string
	subdirLength   int
}

const defaultSubdirLength = 2

func openFiles(base, incoming string) (*fileStorage, error) {
	s := &fileStorage{base: base, incoming: incoming, subdirLength: defaultSubdirLength}
	content, err := os.ReadFile(filepath.Join(base, "tmp", "gnocchi-storage-config"))
	if err != nil {
		return nil, fmt.Errorf("%s is not a folder of Gnocchi's file driver: %w", base, err)
	}
	var config struct {
		SubdirLength *int `json:"subdir_len"`
	}
	if err := json.Unmarshal(content, &config); err != nil {
		return nil, err
	}
	if config.SubdirLength != nil {
		s.subdirLength = *config.SubdirLength
	}
	return s, nil
}

func (s *fileStorage) metricDir(id uuid.UUID) string {
	parts := []string{s.base}
	if s.subdirLength > 0 {
		for digits := hex.EncodeToString(id[:]); digits != ""; {
			n := min(s.subdirLength, len(digits))
			parts, digits = append(parts, digits[:n]), digits[n:]
		}
	}
	return filepath.Join(append(parts, id.String())...)
}

func (s *fileStorage) rawPath(id uuid.UUID) string { return filepath.Join(s.metricDir(id), "none_v3") }

// read returns what there is of a metric. It counts splits that do not decode, and leaves out a raw series that does
// not.
func (s *fileStorage) read(m *model.Metric) (*archived, error) {
	a := &archived{aggregates: make(map[time.Duration]map[carbonara.Method]series)}
	for _, g := range m.ArchivePolicy.Granularities() {
		a.aggregates[g] = make(map[carbonara.Method]series)
	}
	content, err := os.ReadFile(s.rawPath(m.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil // nothing was processed yet
	}
	if err != nil {
		return nil, err
	}
	var scratch []byte
	raw := new(series)
	if scratch, err = decodeRaw(content, scratch, raw); err == nil {
		a.raw = raw
	} else {
		a.unread++
	}
	for _, method := range m.ArchivePolicy.Methods() {
		if scratch, err = s.readMethod(m, method, a, scratch); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// readMethod reads a method's splits of all granularities into a. It returns scratch, grown.
func (s *fileStorage) readMethod(m *model.Metric, method carbonara.Method, a *archived, scratch []byte) (
	[]byte, error) {
	dir := filepath.Join(s.metricDir(m.ID), "agg_"+method.String())
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return scratch, err
	}
	for _, e := range entries { // ordered by name: starts have ten digits from 2001 on
		start, granularity, ok := parseSplitName(e.Name())
		methods := a.aggregates[granularity]
		if !ok || methods == nil {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // expired meanwhile
		}
		if err != nil {
			return scratch, err
		}
		all := methods[method]
		n := len(all.timestamps)
		scratch, err = decodeSplit(content, start, granularity, scratch, &all)
		overlaps := n > 0 && len(all.timestamps) > n && all.timestamps[n] <= all.timestamps[n-1]
		if err != nil || overlaps {
			all.timestamps, all.values = all.timestamps[:n], all.values[:n]
			a.unread++
		}
		methods[method] = all
	}
	return scratch, nil
}

// parseSplitName reads <start>_<granularity>_v3.
func parseSplitName(name string) (start carbonara.Timestamp, granularity time.Duration, ok bool) {
	parts := strings.Split(name, "_")
	if len(parts) != 3 || parts[2] != "v3" {
		return 0, 0, false
	}
	from, ok1 := parseSeconds(parts[0])
	g, ok2 := parseSeconds(parts[1])
	return carbonara.Timestamp(from), time.Duration(g), ok1 && ok2 && g > 0
}

// parseSeconds reads seconds as nanoseconds, without rounding where they have nine digits after the point at most.
func parseSeconds(text string) (int64, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 || seconds > math.MaxInt64/int64(time.Second)-1 || len(fraction) > 9 {
		f, err := strconv.ParseFloat(text, 64) // 1e-06
		return int64(math.Round(f * 1e9)), err == nil && f >= 0 && f < 9e9
	}
	nanos, err := strconv.ParseInt((fraction + "000000000")[:9], 10, 64)
	return seconds*int64(time.Second) + nanos, err == nil
}

var errSplit = errors.New("the bytes do not decode")

// mostSplitBytes bounds what a compressed split or raw series claims to be.
const mostSplitBytes = 1 << 30

// decompress reads a length of four bytes and one LZ4 block. scratch is used again.
func decompress(src, scratch []byte) ([]byte, error) {
	if len(src) < 4 {
		return scratch, errSplit
	}
	length := int(binary.LittleEndian.Uint32(src))
	const mostRatio = 256 // LZ4 packs 255 bytes into one at most
	if length > mostSplitBytes || length > mostRatio*len(src) {
		return scratch, errSplit
	}
	if cap(scratch) < length {
		scratch = make([]byte, length)
	}
	scratch = scratch[:length]
	if length == 0 {
		return scratch, nil
	}
	if n, err := lz4.UncompressBlock(src[4:], scratch); err != nil || n != length {
		return scratch, errSplit
	}
	return scratch, nil
}

// decodeSplit appends the aggregates of a split, which has one of two forms. The compressed one is the letter c and an
// LZ4 block: the distance of each aggregate to the one before, in granularities of 2 bytes, then all values. The other
// one has 9 bytes for each group: whether it is there, and the value.
func decodeSplit(src []byte, start carbonara.Timestamp, granularity time.Duration, scratch []byte, dst *series) (
	[]byte, error) {
	if len(src) == 0 {
		return scratch, nil
	}
	step := carbonara.Timestamp(granularity)
	if src[0] != 'c' {
		if len(src)%9 != 0 {
			return scratch, errSplit
		}
		for i := 0; i < len(src); i += 9 {
			if src[i] != 0 {
				dst.add(start+carbonara.Timestamp(i/9)*step,
					math.Float64frombits(binary.LittleEndian.Uint64(src[i+1:])))
			}
		}
		return scratch, nil
	}
	plain, err := decompress(src[1:], scratch)
	n := len(plain) / 10
	if err != nil || n*10 != len(plain) || n > carbonara.GroupsPerSplit {
		return plain, errSplit
	}
	at := start
	for i := range n {
		distance := binary.LittleEndian.Uint16(plain[2*i:])
		if i > 0 && distance == 0 {
			return plain, errSplit
		}
		at += carbonara.Timestamp(distance) * step
		dst.add(at, math.Float64frombits(binary.LittleEndian.Uint64(plain[2*n+8*i:])))
	}
	return plain, nil
}

// decodeRaw appends a raw series: compressed, of each measure the distance to the one before in ns, 8 bytes, then all
// values.
func decodeRaw(src, scratch []byte, dst *series) ([]byte, error) {
	plain, err := decompress(src, scratch)
	n := len(plain) / 16
	if err != nil || n*16 != len(plain) {
		return plain, errSplit
	}
	at := uint64(0)
	for i := range n {
		distance := binary.LittleEndian.Uint64(plain[8*i:])
		if at += distance; i > 0 && distance == 0 || at > math.MaxInt64 {
			return plain, errSplit
		}
		dst.add(carbonara.Timestamp(at), math.Float64frombits(binary.LittleEndian.Uint64(plain[8*(n+i):])))
	}
	return plain, nil
}

// unprocessed returns the measures that wait, by metric, in the order of their files.
func (s *fileStorage) unprocessed() (map[uuid.UUID]*series, error) {
	all := make(map[uuid.UUID]*series)
	sacks, err := filepath.Glob(filepath.Join(s.incoming, "incoming*-*"))
	if err != nil {
		return nil, err
	}
	for _, sack := range sacks {
		metrics, err := os.ReadDir(sack)
		if err != nil {
			return nil, err
		}
		for _, metric := range metrics {
			id, err := uuid.Parse(metric.Name())
			if err != nil {
				continue
			}
			if all[id] == nil {
				all[id] = new(series)
			}
			if err := readWaiting(filepath.Join(sack, metric.Name()), all[id]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func readWaiting(dir string, dst *series) error {
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // processed meanwhile: it is in the archives that are read next
		}
		if err != nil {
			return err
		}
		if len(content)%16 != 0 {
			return fmt.Errorf("%s: %w", filepath.Join(dir, file.Name()), errSplit)
		}
		for ; len(content) > 0; content = content[16:] {
			if at := binary.LittleEndian.Uint64(content); at <= math.MaxInt64 {
				dst.add(carbonara.Timestamp(at), math.Float64frombits(binary.LittleEndian.Uint64(content[8:])))
			}
		}
	}
	return nil
}
