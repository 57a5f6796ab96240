package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// splitStart is the start of the splits in testdata, which Gnocchi 4.4.2 has written (carbonara.py, serialize). The
// file beside each says what was written: time in nanoseconds, and value in hexadecimal.
const (
	splitStart       = carbonara.Timestamp(1_699_920_000e9)
	splitGranularity = 5 * time.Minute
)

func readTestdata(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	fatal.If(t, err)
	return content
}

func wanted(t *testing.T, name string) (s series) {
	t.Helper()
	var rows [][2]json.RawMessage
	fatal.If(t, json.Unmarshal(readTestdata(t, name+".json"), &rows))
	for _, row := range rows {
		at, err := strconv.ParseInt(string(row[0]), 10, 64)
		fatal.If(t, err)
		v, err := strconv.ParseFloat(strings.Trim(string(row[1]), `"`), 64)
		fatal.If(t, err)
		s.add(carbonara.Timestamp(at), v)
	}
	return s
}

func sameSeries(a, b series) bool {
	return slices.Equal(a.timestamps, b.timestamps) && slices.EqualFunc(a.values, b.values, equal)
}

// Files of Gnocchi are read as they were written.
func TestFilesOfGnocchi(t *testing.T) {
	var scratch []byte
	for _, name := range []string{"split-gaps", "split-one", "split-padded"} {
		var got series
		var err error
		if scratch, err = decodeSplit(readTestdata(t, name), splitStart, splitGranularity, scratch, &got); err != nil {
			t.Fatal(name, err)
		}
		if !sameSeries(got, wanted(t, name)) {
			t.Errorf("%s is read as something else", name)
		}
	}
	var full series
	if _, err := decodeSplit(readTestdata(t, "split-full"), splitStart, splitGranularity, scratch, &full); err != nil ||
		len(full.timestamps) != carbonara.GroupsPerSplit ||
		full.timestamps[0] != splitStart || full.timestamps[3599] != splitStart+
		3599*carbonara.Timestamp(splitGranularity) || !math.IsNaN(full.values[3]) {
		t.Error("a full split", err)
	}
	var raw series
	if _, err := decodeRaw(readTestdata(t, "raw"), nil, &raw); err != nil || !sameSeries(raw, wanted(t, "raw")) {
		t.Error("a raw series", err)
	}
}

// Bytes that are cut short or changed are an error, or other values, but never the end of the program.
func TestDamagedFiles(t *testing.T) {
	for _, name := range []string{"split-gaps", "split-padded", "raw"} {
		content := readTestdata(t, name)
		for i := 0; i < len(content); i += 1 + len(content)/200 {
			changed := slices.Clone(content)
			changed[i] ^= 0x55
			for _, src := range [][]byte{content[:i], changed} {
				var s series
				_, err := decodeSplit(src, splitStart, splitGranularity, nil, &s)
				if err != nil && !errors.Is(err, errSplit) {
					t.Error(err)
				}
				if _, err := decodeRaw(src, nil, new(series)); err != nil && !errors.Is(err, errSplit) {
					t.Error(err)
				}
			}
		}
	}
}

func TestSplitNames(t *testing.T) {
	f := func(name string, start carbonara.Timestamp, granularity time.Duration, want bool) {
		t.Helper()
		at, g, ok := parseSplitName(name)
		if ok != want || ok && (at != start || g != granularity) {
			t.Errorf("%s: %d %v %v", name, at, g, ok)
		}
	}
	f("1699920000.0_300.0_v3", splitStart, splitGranularity, true)
	f("1699920000.25_0.25_v3", splitStart+25e7, 250*time.Millisecond, true)
	f("0.0_1e-06_v3", 0, time.Microsecond, true)
	f("1699920000.0_300.0", 0, 0, false)
	f("1699920000.0_300.0_v2", 0, 0, false)
	f("x_300.0_v3", 0, 0, false)
	f("1.0_0.0_v3", 0, 0, false)
}

// A folder's metrics and waiting measures are found where Gnocchi puts them.
func TestFileStorage(t *testing.T) {
	base := t.TempDir()
	write := func(path string, content []byte) {
		t.Helper()
		path = filepath.Join(base, path)
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o750))
		fatal.If(t, os.WriteFile(path, content, 0o640))
	}
	write("tmp/gnocchi-storage-config", []byte(`{"subdir_len": 16}`))
	id := uuid.MustParse("b156f429-27b8-4b55-bc96-4bc9b6681a1a")
	dir := "b156f42927b84b55/bc964bc9b6681a1a/" + id.String()
	write(dir+"/none_v3", readTestdata(t, "raw"))
	write(dir+"/agg_mean/1699920000.0_300.0_v3", readTestdata(t, "split-gaps"))
	write(dir+"/agg_mean/1701000000.0_300.0_v3", []byte("c broken"))
	write(dir+"/agg_mean/1699920000.0_60.0_v3", nil)
	write("incoming128-7/"+id.String()+"/x", append(le(5, 1.5), le(6, 2.5)...))
	s, err := openFiles(base, base)
	fatal.If(t, err)
	m := newMemorySource(t, 1).d.metrics[1]
	m.ID = id
	a, err := s.read(m)
	if err != nil || a.unread != 1 || a.raw == nil ||
		!sameSeries(a.aggregates[splitGranularity][carbonara.Mean], wanted(t, "split-gaps")) {
		t.Error(a, err)
	}
	waiting, err := s.unprocessed()
	if err != nil || len(waiting) != 1 || !sameSeries(*waiting[id],
		series{[]carbonara.Timestamp{5, 6}, []float64{1.5, 2.5}}) {
		t.Error(waiting, err)
	}
}

// The database and the folder are what gnocchi.conf says as oslo.config reads it.
func TestConfigurationNamesTheSource(t *testing.T) {
	dir := t.TempDir()
	fatal.If(t, os.Mkdir(filepath.Join(dir, "tmp"), 0o750))
	fatal.If(t, os.WriteFile(filepath.Join(dir, "tmp", "gnocchi-storage-config"), []byte(`{"subdir_len": 2}`), 0o640))
	path := filepath.Join(dir, "gnocchi.conf")
	text := "[DEFAULT]\nroot = " + dir + "\n# no\n[storage]\nfile_basepath=$root\n" +
		"[database]\nconnection = postgresql+psycopg2://u:p@h/db?a=b\n"
	fatal.If(t, os.WriteFile(path, []byte(text), 0o640))
	s, err := openConfig(path)
	if err != nil || s.mariaDB || s.database != "postgresql://u:p@h/db?a=b" ||
		!strings.HasPrefix(s.files.rawPath(uuid.Nil), dir) {
		t.Error(s, err)
	}
	fatal.If(t, os.WriteFile(path, []byte(text+"[storage]\ndriver = ceph\n"), 0o640))
	if _, err := openConfig(path); err == nil || !strings.Contains(err.Error(), "driver ceph is not read directly") {
		t.Error(err)
	}
}

func le(at uint64, v float64) []byte {
	var b []byte
	for _, n := range []uint64{at, math.Float64bits(v)} {
		for i := range 8 {
			b = append(b, byte(n>>(8*i)))
		}
	}
	return b
}

func BenchmarkDecodeSplit(b *testing.B) {
	content := readTestdata(b, "split-full")
	var s series
	var scratch []byte
	b.SetBytes(int64(10 * carbonara.GroupsPerSplit))
	for b.Loop() {
		s.timestamps, s.values = s.timestamps[:0], s.values[:0]
		var err error
		if scratch, err = decodeSplit(content, splitStart, splitGranularity, scratch, &s); err != nil ||
			len(s.values) != carbonara.GroupsPerSplit {
			b.Fatal(err)
		}
	}
}
