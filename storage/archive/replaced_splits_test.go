package archive_test

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestSchemaAndReplacedSplits(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	id, other := uuid.New(), uuid.New()
	commit(t, s,
		func(c *archive.Checkpoint) { c.PutGroups(id, minutes(0, 4000, 1)) },
		func(c *archive.Checkpoint) { c.PutGroups(other, minutes(0, 2, 1)) })
	schema, err := s.Schema(id)
	if err != nil || len(schema) != 1 || schema[0].Granularity != time.Minute ||
		!slices.Equal(schema[0].Columns, columns) {
		t.Fatal(schema, err)
	}
	if !schema.Matches(carbonara.PlanOf([]time.Duration{time.Minute}, columns)) ||
		schema.Matches(carbonara.PlanOf([]time.Duration{time.Minute}, columns[:1])) {
		t.Error("the schema does not match its plan, or matches another")
	}
	// The newest split counts, and what replaces it has its own columns only.
	var keys []carbonara.SplitKey
	if err := s.EachSplit(id, time.Minute, func(key carbonara.SplitKey, _ []carbonara.Column, _ int) error {
		keys = append(keys, key)
		return nil
	}); err != nil || len(keys) != 2 {
		t.Fatal(keys, err)
	}
	fewer := minutes(3600, 400, 1)
	fewer.Columns, fewer.Values = fewer.Columns[:1], fewer.Values[:1]
	commit(t, s, func(c *archive.Checkpoint) { c.ReplaceSplit(id, keys[1], fewer) })
	if schema, err = s.Schema(id); err != nil || !slices.Equal(schema[0].Columns, columns[:1]) {
		t.Fatal(schema, err)
	}
	commit(t, s, func(c *archive.Checkpoint) { c.DropGranularity(id, time.Minute) })
	if schema, err = s.Schema(id); err != nil || len(schema) != 0 {
		t.Fatal(schema, err)
	}
	if schema, err = s.Schema(other); err != nil || len(schema) != 1 {
		t.Fatal(schema, err)
	}
}

func TestPartialGroups(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	id := uuid.New()
	if f, err := s.PartialGroups(id); f != nil || err != nil {
		t.Fatal(f, err)
	}
	at := carbonara.Timestamp(90 * time.Minute)
	want := &archive.PartialGroups{Before: at, Since: []archive.Since{{Granularity: time.Minute, From: 7}},
		Rows: []carbonara.Groups{{Granularity: time.Hour, Starts: []carbonara.Timestamp{carbonara.Timestamp(time.Hour)},
			Columns: columns[:2], Values: [][]float64{{30}, {carbonara.Absent()}}}}}
	commit(t, s, func(c *archive.Checkpoint) { c.SetPartialGroups(id, want) })
	got, err := s.PartialGroups(id)
	if err != nil || got.Before != at || len(got.Rows) != 1 || got.SinceOf(time.Minute) != 7 ||
		got.SinceOf(time.Hour) != 0 {
		t.Fatal(got, err)
	}
	row := got.Row(time.Hour)
	if row == nil || got.Row(time.Minute) != nil || row.Starts[0] != carbonara.Timestamp(time.Hour) ||
		row.Values[0][0] != 30 ||
		math.Float64bits(row.Values[1][0]) != math.Float64bits(carbonara.Absent()) {
		t.Fatal(row)
	}
	lower, upper := archive.MetricBounds(id)
	iter, err := s.DB().NewIter(nil)
	fatal.If(t, err)
	for valid := iter.SeekGE(lower); valid && string(iter.Key()) < string(upper); valid = iter.Next() {
		if intact, damaged := archive.Verify(iter.Key(), iter.Value()); len(intact) != 1 || len(damaged) != 0 {
			t.Error("intact partial groups are taken for damaged")
		}
		bad := slices.Clone(iter.Value())
		bad[len(bad)/2] ^= 1
		if _, damaged := archive.Verify(iter.Key(), bad); len(damaged) != 1 {
			t.Error("damaged partial groups are taken for intact")
		}
		fatal.If(t, s.DB().Set(iter.Key(), bad, nil))
	}
	iter.Close()
	if _, err := s.PartialGroups(id); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
	commit(t, s, func(c *archive.Checkpoint) { c.SetPartialGroups(id, nil) })
	if f, err := s.PartialGroups(id); f != nil || err != nil {
		t.Fatal(f, err)
	}
}
